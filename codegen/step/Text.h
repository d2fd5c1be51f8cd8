// Prints literals and types as C++ text.
#pragma once

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace syncline::codegen {

/// A string literal with its quotes; everything but printable ASCII is escaped.
std::string quoted(llvm::StringRef text);

/// The text for a comment: escaped as in a string literal, without quotes around it. It contains no
/// line break, whatever a file is called.
std::string oneLine(llvm::StringRef text);

/// The values in braces: "{1, 2, 3}".
std::string braced(llvm::ArrayRef<std::int64_t> values);

/// The shortest double literal that reads back to the same value: "0.1", "1e-05". Infinities and
/// NaN are printed as built-ins.
std::string realLiteral(double value);

/// A literal of an arith.constant's value in its own type; empty for a type without one.
std::string literal(mlir::Attribute value);

/// The C++ type of one element: float, double, std::int64_t, std::int32_t, std::uint8_t, bool.
/// Empty for the 16-bit floats, which C++20 does not have.
llvm::StringRef cppType(mlir::Type type);

} // namespace syncline::codegen
