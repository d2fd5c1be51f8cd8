// Small pieces of C++ text.
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

/// For a comment: as in a string literal, but without the quotes around it. Whatever a file was
/// called, the comment ends where its line does.
std::string oneLine(llvm::StringRef text);

/// "{1, 2, 3}".
std::string braced(llvm::ArrayRef<std::int64_t> values);

/// The shortest double literal that reads back to the same value: "0.1", "1e-05". Infinities and
/// NaN as built-ins.
std::string realLiteral(double value);

/// A literal of an arith.constant's value in its own type; empty for a type without one.
std::string literal(mlir::Attribute value);

/// The C++ type of one element: float, double, std::int64_t, std::int32_t, std::uint8_t, bool.
/// Empty for the 16-bit floats, which C++20 does not have.
llvm::StringRef cppType(mlir::Type type);

} // namespace syncline::codegen
