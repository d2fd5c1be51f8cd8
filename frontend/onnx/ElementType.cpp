// The one table of supported ONNX element types.
#include "frontend/onnx/ElementType.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"

#include "onnx/onnx_pb.h"

using namespace syncline;
using onnx::TensorProto;

std::int64_t frontend::elementBytes(int onnxType) {
  switch (onnxType) {
  case TensorProto::DOUBLE:
  case TensorProto::INT64:
  case TensorProto::UINT64:
    return 8;
  case TensorProto::FLOAT:
  case TensorProto::INT32:
  case TensorProto::UINT32:
    return 4;
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
  case TensorProto::INT16:
  case TensorProto::UINT16:
    return 2;
  case TensorProto::UINT8:
  case TensorProto::INT8:
  case TensorProto::BOOL:
    return 1;
  }
  return 0;
}

mlir::Type frontend::elementType(int onnxType, mlir::MLIRContext *context) {
  const auto whole = [&](unsigned bits) { return mlir::IntegerType::get(context, bits); };
  const auto natural = [&](unsigned bits) {
    return mlir::IntegerType::get(context, bits, mlir::IntegerType::Unsigned);
  };
  switch (onnxType) {
  case TensorProto::DOUBLE:
    return mlir::Float64Type::get(context);
  case TensorProto::FLOAT:
    return mlir::Float32Type::get(context);
  case TensorProto::FLOAT16:
    return mlir::Float16Type::get(context);
  case TensorProto::BFLOAT16:
    return mlir::BFloat16Type::get(context);
  case TensorProto::INT64:
    return whole(64);
  case TensorProto::INT32:
    return whole(32);
  case TensorProto::INT16:
    return whole(16);
  case TensorProto::INT8:
    return whole(8);
  case TensorProto::UINT64:
    return natural(64);
  case TensorProto::UINT32:
    return natural(32);
  case TensorProto::UINT16:
    return natural(16);
  case TensorProto::UINT8:
    return natural(8);
  case TensorProto::BOOL:
    return whole(1);
  }
  return {};
}

int frontend::elementNumber(mlir::Type type) {
  for (int number = 1; onnx::TensorProto_DataType_IsValid(number); ++number)
    if (elementType(number, type.getContext()) == type)
      return number;
  return 0;
}

bool frontend::isFloatElement(int onnxType) {
  return onnxType == TensorProto::FLOAT || onnxType == TensorProto::DOUBLE ||
         onnxType == TensorProto::FLOAT16 || onnxType == TensorProto::BFLOAT16;
}

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
