// One product of stacks of matrices, prepared for cuBLASLt.
#pragma once

#include "runtime/core/Strides.h"
#include "runtime/cuda/Preparation.h"

#include <memory>
#include <vector>

namespace syncline::cuda {

/// y[rows, columns] = op(a) · op(b), as many times as the stack says; matrices are dense row-major.
struct ProductShape {
  std::int64_t rows = 0, columns = 0, inner = 0;
  bool transposeA = false, transposeB = false;
  /// Outermost first, strides in elements: `to` of a, `from` of b; y lies dense. Empty for one
  /// product.
  std::vector<CopyLoop> stack;
};

struct ProductOperands {
  ElementType type = ElementType::f32; ///< of a and b; f32 or bf16
  Place<const std::byte> a, b;
  Place<const float> bias; ///< one value a column, or none
  Place<float> y;
  bool addsToResult = false; ///< to what y holds
};

class Product {
public:
  /// Picks the algorithm. Fails where cuBLASLt has none.
  Product(Preparation &p, const ProductShape &shape, const ProductOperands &operands);

  /// Enqueues on the compute stream.
  void run() const;

private:
  struct Plan;
  std::shared_ptr<const Plan> plan;
};

} // namespace syncline::cuda
