// Prints literals.
#include "codegen/step/Text.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

#include <array>
#include <charconv>
#include <cmath>

using namespace mlir;

namespace syncline::codegen {

std::string quoted(llvm::StringRef text) {
  std::string result = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || c == '?') // a question mark could begin a trigraph
      result += '\\';
    if (byte >= 0x20 && byte < 0x7f) {
      result += c;
      continue;
    }
    result += '\\'; // an octal escape ends after three digits; a hexadecimal one would not
    for (int shift : {6, 3, 0})
      result += static_cast<char>('0' + ((byte >> shift) & 7));
  }
  return result + '"';
}

std::string oneLine(llvm::StringRef text) {
  const std::string literal = quoted(text);
  return literal.substr(1, literal.size() - 2);
}

std::string braced(llvm::ArrayRef<std::int64_t> values) {
  return "{" + llvm::join(llvm::map_range(values, [](auto v) { return std::to_string(v); }), ", ") +
         "}";
}

template <typename Real> static std::string shortest(Real value, const char *suffix) {
  const std::string infinity = ("__builtin_inf" + llvm::Twine(suffix) + "()").str();
  if (std::isnan(value))
    return ("__builtin_nan" + llvm::Twine(suffix) + "(\"\")").str();
  if (std::isinf(value))
    return (llvm::Twine(value < 0 ? "-" : "") + infinity).str();
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return text + suffix;
}

std::string realLiteral(double value) { return shortest(value, ""); }

std::string literal(Attribute value) {
  if (auto real = dyn_cast<FloatAttr>(value)) {
    if (real.getType().isF32())
      return shortest(real.getValue().convertToFloat(), "f");
    return real.getType().isF64() ? shortest(real.getValueAsDouble(), "") : "";
  }
  auto integer = dyn_cast<IntegerAttr>(value);
  if (!integer || cppType(integer.getType()).empty())
    return "";
  if (integer.getType().isInteger(1))
    return integer.getValue().isZero() ? "false" : "true";
  const std::string digits =
      std::to_string(integer.getType().isUnsignedInteger()
                         ? static_cast<std::int64_t>(integer.getValue().getZExtValue())
                         : integer.getValue().getSExtValue());
  return (cppType(integer.getType()) + "{" + digits + "}").str();
}

llvm::StringRef cppType(Type type) {
  if (type.isF32())
    return "float";
  if (type.isF64())
    return "double";
  if (type.isInteger(64))
    return "std::int64_t";
  if (type.isInteger(32))
    return "std::int32_t";
  if (type.isInteger(8))
    return "std::uint8_t";
  return type.isInteger(1) ? "bool" : "";
}

} // namespace syncline::codegen
