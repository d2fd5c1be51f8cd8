// The one table of supported ONNX element types.
#include "frontend/onnx/ElementType.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include "onnx/onnx_pb.h"

#include <algorithm>

using namespace syncline;
using onnx::TensorProto;

namespace {

enum class ElementKind { real, whole, natural };

struct ElementRow {
  int number; ///< of TensorProto.DataType
  ElementKind kind;
  unsigned bits; ///< 1 for a truth value, which takes a byte
};

constexpr ElementRow elementRows[] = {{TensorProto::DOUBLE, ElementKind::real, 64},
                                      {TensorProto::FLOAT, ElementKind::real, 32},
                                      {TensorProto::FLOAT16, ElementKind::real, 16},
                                      {TensorProto::BFLOAT16, ElementKind::real, 16},
                                      {TensorProto::INT64, ElementKind::whole, 64},
                                      {TensorProto::INT32, ElementKind::whole, 32},
                                      {TensorProto::INT16, ElementKind::whole, 16},
                                      {TensorProto::INT8, ElementKind::whole, 8},
                                      {TensorProto::UINT64, ElementKind::natural, 64},
                                      {TensorProto::UINT32, ElementKind::natural, 32},
                                      {TensorProto::UINT16, ElementKind::natural, 16},
                                      {TensorProto::UINT8, ElementKind::natural, 8},
                                      {TensorProto::BOOL, ElementKind::whole, 1}};

/// Null for a type that is not supported.
const ElementRow *rowOf(int number) {
  const ElementRow *row =
      llvm::find_if(elementRows, [=](const ElementRow &row) { return row.number == number; });
  return row == std::end(elementRows) ? nullptr : row;
}

bool isOfKind(int number, ElementKind kind) {
  const ElementRow *row = rowOf(number);
  return row && row->kind == kind;
}

} // namespace

std::int64_t frontend::elementBytes(int onnxType) {
  const ElementRow *row = rowOf(onnxType);
  return row ? std::max(1u, row->bits / 8) : 0;
}

mlir::Type frontend::elementType(int onnxType, mlir::MLIRContext *context) {
  const ElementRow *row = rowOf(onnxType);
  if (!row)
    return {};
  if (row->kind != ElementKind::real)
    return mlir::IntegerType::get(context, row->bits,
                                  row->kind == ElementKind::natural ? mlir::IntegerType::Unsigned
                                                                    : mlir::IntegerType::Signless);
  if (onnxType == TensorProto::BFLOAT16)
    return mlir::BFloat16Type::get(context);
  return row->bits == 64   ? mlir::Type(mlir::Float64Type::get(context))
         : row->bits == 32 ? mlir::Type(mlir::Float32Type::get(context))
                           : mlir::Type(mlir::Float16Type::get(context));
}

int frontend::elementNumber(mlir::Type type) {
  for (int number = 1; onnx::TensorProto_DataType_IsValid(number); ++number)
    if (elementType(number, type.getContext()) == type)
      return number;
  return 0;
}

bool frontend::isFloatElement(int onnxType) { return isOfKind(onnxType, ElementKind::real); }

bool frontend::isUnsignedElement(int onnxType) { return isOfKind(onnxType, ElementKind::natural); }

std::string frontend::whyNotInStep(int onnxType) {
  if (!isFloatElement(onnxType) || onnxType == TensorProto::FLOAT)
    return {};
  return "expected elements of float, got " + elementName(onnxType) +
         ": training keeps weights and activations in float32, so export the model in it "
         "('--precision bf16' computes products in bfloat16)";
}

std::string frontend::elementName(int onnxType) {
  if (!onnx::TensorProto_DataType_IsValid(onnxType))
    return "element type " + std::to_string(onnxType);
  return llvm::StringRef(
             onnx::TensorProto_DataType_Name(static_cast<TensorProto::DataType>(onnxType)))
      .lower();
}
