// Decodes small constant tensors.
#include "frontend/onnx/ConstantTensor.h"
#include "frontend/onnx/ElementType.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"

#include "onnx/onnx_pb.h"

#include <cstring>

using namespace syncline;
using namespace syncline::frontend;
using onnx::TensorProto;

bool ConstantTensor::isReal() const { return isFloatElement(type); }

template <typename T> static T loadAs(const char *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

static double halfToDouble(const llvm::fltSemantics &semantics, const char *bytes) {
  llvm::APFloat value(semantics, llvm::APInt(16, loadAs<std::uint16_t>(bytes)));
  bool inexact;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return value.convertToDouble();
}

static double realAt(int type, const char *bytes) {
  switch (type) {
  case TensorProto::DOUBLE:
    return loadAs<double>(bytes);
  case TensorProto::FLOAT16:
    return halfToDouble(llvm::APFloat::IEEEhalf(), bytes);
  case TensorProto::BFLOAT16:
    return halfToDouble(llvm::APFloat::BFloat(), bytes);
  default:
    return loadAs<float>(bytes);
  }
}

static std::int64_t intAt(int type, const char *bytes) {
  switch (type) {
  case TensorProto::INT64:
    return loadAs<std::int64_t>(bytes);
  case TensorProto::INT32:
    return loadAs<std::int32_t>(bytes);
  case TensorProto::INT8:
    return loadAs<std::int8_t>(bytes);
  case TensorProto::BOOL:
    return *bytes != 0;
  default:
    return loadAs<std::uint8_t>(bytes);
  }
}

Result<ConstantTensor> frontend::readConstant(const TensorData &data) {
  ConstantTensor result;
  result.type = data.type;
  result.dims = data.dims;
  if (result.size() > maxConstantElements)
    return Status::badInput("tensor '" + data.proto->name() + "' of shape " +
                            nn::toString(data.dims) + " is too large to compute with at import");
  std::string bytes;
  Status status = streamTensor(data, [&](llvm::StringRef chunk) { bytes += chunk; });
  if (!status)
    return status;
  auto width = static_cast<size_t>(elementBytes(data.type));
  for (size_t at = 0; at + width <= bytes.size(); at += width) {
    if (result.isReal())
      result.reals.push_back(realAt(data.type, &bytes[at]));
    else
      result.ints.push_back(intAt(data.type, &bytes[at]));
  }
  return result;
}

double frontend::roundTo(int type, double value) {
  if (type == TensorProto::DOUBLE)
    return value;
  llvm::APFloat number(value);
  bool inexact;
  for (const llvm::fltSemantics *semantics :
       {type == TensorProto::FLOAT     ? &llvm::APFloat::IEEEsingle()
        : type == TensorProto::FLOAT16 ? &llvm::APFloat::IEEEhalf()
                                       : &llvm::APFloat::BFloat(),
        &llvm::APFloat::IEEEdouble()})
    number.convert(*semantics, llvm::APFloat::rmNearestTiesToEven, &inexact);
  return number.convertToDouble();
}

ConstantTensor frontend::integerList(nn::DimsRef values) {
  ConstantTensor list;
  list.type = TensorProto::INT64;
  list.dims = {static_cast<std::int64_t>(values.size())};
  list.ints.assign(values.begin(), values.end());
  return list;
}

mlir::DenseElementsAttr frontend::toAttribute(const ConstantTensor &constant,
                                              mlir::MLIRContext *context) {
  mlir::Type element = elementType(constant.type, context);
  auto type = mlir::RankedTensorType::get(constant.dims, element);
  llvm::SmallVector<mlir::Attribute> values;
  for (double value : constant.reals)
    values.push_back(mlir::FloatAttr::get(element, value));
  for (std::int64_t value : constant.ints)
    values.push_back(mlir::IntegerAttr::get(
        element, llvm::APInt(element.getIntOrFloatBitWidth(), static_cast<std::uint64_t>(value))));
  if (llvm::all_equal(values)) // a splat is stored as one element
    values.resize(1);
  return mlir::DenseElementsAttr::get(type, values);
}
