// ONNX element types and what they are in MLIR.
#pragma once

#include "mlir/IR/Types.h"

#include <cstdint>
#include <string>

namespace syncline::frontend {

/// Numbers of TensorProto.DataType are passed as int: files may hold any.

/// The MLIR type, or null for one that is not supported (strings, complex numbers, ...).
mlir::Type elementType(int onnxType, mlir::MLIRContext *context);

/// The number of a type that elementType gives; 0 for others.
int elementNumber(mlir::Type type);

/// Bytes of one element in raw data; 0 for a type that is not supported.
std::int64_t elementBytes(int onnxType);

bool isFloatElement(int onnxType);
bool isUnsignedElement(int onnxType);

/// Why no tensor of a step can have these elements, in one clause: they are floating-point, but not
/// float. Empty for all others.
std::string whyNotInStep(int onnxType);

/// "float", "int64", ...; "element type 99" for unknown numbers.
std::string elementName(int onnxType);

} // namespace syncline::frontend
