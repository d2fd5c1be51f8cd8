// A product of stacks of matrices, prepared for cuBLASLt.
#pragma once

#include "runtime/core/Strides.h"
#include "runtime/cuda/Preparation.h"

#include <memory>
#include <vector>

namespace syncline::cuda {

/// y[rows, columns] = op(a) · op(b) for each element of the stack. Matrices are dense
/// and row-major.
struct ProductShape {
  std::int64_t rows = 0, columns = 0, inner = 0;
  bool transposeA = false, transposeB = false;
  /// The loops of the stack, outermost first, with strides in elements: `to` is the stride of a and
  /// `from` that of b; y is dense. Empty for one product.
  std::vector<core::CopyLoop> stack;
};

struct ProductOperands {
  ElementType type = ElementType::f32; ///< type of a and b: f32 or bf16
  Place<const std::byte> a, b;
  Place<const float> bias; ///< one value for each column, or null
  Place<float> y;
  bool addsToResult = false; ///< adds the product to y's values
};

class Product {
public:
  /// Chooses the algorithm. Fails where cuBLASLt has none.
  Product(Preparation &p, const ProductShape &shape, const ProductOperands &operands);

  /// Enqueues the product on the compute stream.
  void run() const;

private:
  struct Plan;
  std::shared_ptr<Plan> plan;
};

} // namespace syncline::cuda
