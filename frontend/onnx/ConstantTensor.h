// A small tensor whose values are known while a model is imported: shapes, axes, indices.
#pragma once

#include "frontend/onnx/TensorData.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <memory>
#include <vector>

namespace syncline::frontend {

/// Larger tensors are not computed with at import.
inline constexpr std::int64_t maxConstantElements = std::int64_t(1) << 22;

/// Integers and booleans are kept in `ints`, floating-point values in `reals`; the other is empty.
struct ConstantTensor {
  int type = 0; ///< TensorProto.DataType, one of the supported
  nn::Dims dims{};
  std::vector<std::int64_t> ints{};
  std::vector<double> reals{};
  /// Depends on a data tensor's shape.
  bool fromShape = false;
  /// What it is at BatchLayout::otherBatch, where that differs.
  std::shared_ptr<const ConstantTensor> atOtherBatch{};

  bool isReal() const;
  std::int64_t size() const { return nn::elementCount(dims); }
  bool hasElementsOf(const ConstantTensor &other) const {
    return dims == other.dims && ints == other.ints && reals == other.reals;
  }
  /// Keeps `other` as what the constant is at another batch, unless it is the same.
  void setAtOtherBatch(ConstantTensor other);
};

/// A constant that is broadcast to larger dimensions, which have too many elements to compute with
/// at import.
struct RepeatedTensor {
  ConstantTensor values;
  nn::Dims dims, dimsAtOtherBatch;
};

/// Reads values; an error when there are more than maxConstantElements.
Result<ConstantTensor> readConstant(const TensorData &data);

/// The nearest value that the floating-point type holds; an infinity beyond its largest.
double roundTo(int type, double value);
/// The value of the floating-point type that is nearest to the number, rounded once.
double nearestReal(int type, std::int64_t value);
double nearestReal(int type, _Float128 value);
/// An integer as its type, one of TensorProto.DataType, holds it: arithmetic wraps around. Those of
/// uint64 from 2^63 on, which `ConstantTensor` cannot hold, become negative.
std::int64_t wrap(int type, std::uint64_t value);
/// Every element as the constant's type holds it: by roundTo or wrap.
void roundElements(ConstantTensor &constant);
/// Whether an element is one of uint64 from 2^63 on.
bool exceedsInt64(const ConstantTensor &constant);

/// A constant of these dimensions whose elements all are the first one of `value`.
ConstantTensor filled(const ConstantTensor &value, nn::DimsRef dims);

/// An int64 tensor of rank one.
ConstantTensor integerList(nn::DimsRef values);

/// The constant as an attribute of nn.constant.
mlir::DenseElementsAttr toAttribute(const ConstantTensor &constant, mlir::MLIRContext *context);

} // namespace syncline::frontend
