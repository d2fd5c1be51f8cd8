// Decodes small constant tensors.
#include "frontend/onnx/ConstantTensor.h"
#include "frontend/onnx/ElementType.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/MathExtras.h"

#include "onnx/onnx_pb.h"

#include <cstring>

using namespace syncline;
using namespace syncline::frontend;
using onnx::TensorProto;

bool ConstantTensor::isReal() const { return isFloatElement(type); }

void ConstantTensor::setAtOtherBatch(ConstantTensor other) {
  other.atOtherBatch.reset();
  atOtherBatch =
      hasElementsOf(other) ? nullptr : std::make_shared<const ConstantTensor>(std::move(other));
}

template <typename T> static T loadAs(const char *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

static const llvm::fltSemantics &semanticsOf(int type) {
  return type == TensorProto::DOUBLE     ? llvm::APFloat::IEEEdouble()
         : type == TensorProto::FLOAT16  ? llvm::APFloat::IEEEhalf()
         : type == TensorProto::BFLOAT16 ? llvm::APFloat::BFloat()
                                         : llvm::APFloat::IEEEsingle();
}

static double toDouble(llvm::APFloat number) {
  bool inexact;
  number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return number.convertToDouble();
}

static double realAt(int type, const char *bytes) {
  switch (type) {
  case TensorProto::DOUBLE:
    return loadAs<double>(bytes);
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
    return toDouble({semanticsOf(type), llvm::APInt(16, loadAs<std::uint16_t>(bytes))});
  default:
    return loadAs<float>(bytes);
  }
}

static std::int64_t intAt(int type, const char *bytes) {
  std::uint64_t value = 0; // raw data has the low bytes first
  std::memcpy(&value, bytes, static_cast<std::size_t>(elementBytes(type)));
  return wrap(type, value);
}

Result<ConstantTensor> frontend::readConstant(const TensorData &data) {
  ConstantTensor result;
  result.type = data.type;
  result.dims = data.dims;
  if (result.size() > maxConstantElements)
    return Status::badInput("tensor '" + data.proto->name() + "' of shape " +
                            nn::toString(data.dims) + " is too large to compute with at import");
  std::string bytes;
  SYNCLINE_TRY(streamTensor(data, [&](llvm::StringRef chunk) { bytes += chunk; }));
  auto width = static_cast<size_t>(elementBytes(data.type));
  for (size_t at = 0; at + width <= bytes.size(); at += width) {
    if (result.isReal())
      result.reals.push_back(realAt(data.type, &bytes[at]));
    else
      result.ints.push_back(intAt(data.type, &bytes[at]));
  }
  if (exceedsInt64(result))
    return Status::badInput("tensor '" + data.proto->name() +
                            "': integers of uint64 from 2^63 on are not supported");
  return result;
}

double frontend::roundTo(int type, double value) {
  if (type == TensorProto::DOUBLE)
    return value;
  if (type == TensorProto::FLOAT)
    return static_cast<float>(value);
  llvm::APFloat number(value);
  bool inexact;
  number.convert(semanticsOf(type), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return toDouble(number);
}

double frontend::nearestReal(int type, std::int64_t value) {
  llvm::APFloat number(semanticsOf(type));
  number.convertFromAPInt(llvm::APInt(64, static_cast<std::uint64_t>(value)), /*IsSigned=*/true,
                          llvm::APFloat::rmNearestTiesToEven);
  return toDouble(number);
}

double frontend::nearestReal(int type, _Float128 value) {
  std::uint64_t words[2];
  static_assert(sizeof(words) == sizeof(value));
  std::memcpy(words, &value, sizeof(value));
  llvm::APFloat number(llvm::APFloat::IEEEquad(), llvm::APInt(128, words));
  bool inexact;
  number.convert(semanticsOf(type), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return toDouble(number);
}

std::int64_t frontend::wrap(int type, std::uint64_t value) {
  if (type == TensorProto::BOOL)
    return value != 0;
  const auto bits = static_cast<unsigned>(8 * elementBytes(type));
  return isUnsignedElement(type)
             ? static_cast<std::int64_t>(value & llvm::maskTrailingOnes<std::uint64_t>(bits))
             : llvm::SignExtend64(value, bits);
}

void frontend::roundElements(ConstantTensor &constant) {
  for (double &value : constant.reals)
    value = roundTo(constant.type, value);
  for (std::int64_t &value : constant.ints)
    value = wrap(constant.type, static_cast<std::uint64_t>(value));
}

bool frontend::exceedsInt64(const ConstantTensor &constant) {
  return constant.type == TensorProto::UINT64 &&
         llvm::any_of(constant.ints, [](std::int64_t value) { return value < 0; });
}

ConstantTensor frontend::filled(const ConstantTensor &value, nn::DimsRef dims) {
  ConstantTensor result;
  result.type = value.type;
  result.dims = nn::Dims(dims);
  if (value.isReal())
    result.reals.assign(result.size(), value.reals[0]);
  else
    result.ints.assign(result.size(), value.ints[0]);
  return result;
}

ConstantTensor frontend::integerList(nn::DimsRef values) {
  ConstantTensor list;
  list.type = TensorProto::INT64;
  list.dims = {static_cast<std::int64_t>(values.size())};
  list.ints.assign(values.begin(), values.end());
  return list;
}

/// The values as numbers of the type T; one stands for all where they are equal.
template <typename T, typename From>
static mlir::DenseElementsAttr packed(mlir::RankedTensorType type, const std::vector<From> &from) {
  std::vector<T> values(from.begin(), from.end());
  const auto isFirst = [&](const T &value) {
    return std::memcmp(&value, values.data(), sizeof(T)) == 0;
  };
  if (llvm::all_of(values, isFirst))
    values.resize(1);
  return mlir::DenseElementsAttr::get(type, llvm::ArrayRef<T>(values));
}

mlir::DenseElementsAttr frontend::toAttribute(const ConstantTensor &constant,
                                              mlir::MLIRContext *context) {
  mlir::Type element = elementType(constant.type, context);
  auto type = mlir::RankedTensorType::get(constant.dims, element);
  if (element.isF32())
    return packed<float>(type, constant.reals);
  if (element.isSignlessInteger(64))
    return packed<std::int64_t>(type, constant.ints);
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
