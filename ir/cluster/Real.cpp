// Prints and reads doubles and points.
#include "ir/cluster/Real.h"

#include <array>
#include <charconv>
#include <string_view>

using namespace mlir;

namespace syncline::cluster {

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, Real real) {
  std::array<char, 32> buffer;
  const auto result =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), static_cast<double>(real));
  const std::string_view text(buffer.data(), static_cast<std::size_t>(result.ptr - buffer.data()));
  // MLIR's float literals need a point: 1e-05 reads as an integer followed by a name.
  if (text.find('.') != std::string_view::npos)
    return os << text;
  const std::size_t exponent = std::min(text.find('e'), text.size());
  return os << text.substr(0, exponent) << ".0" << text.substr(exponent);
}

AsmPrinter &operator<<(AsmPrinter &printer, Real real) {
  printer.getStream() << real;
  return printer;
}

AsmPrinter &operator<<(AsmPrinter &printer, const std::optional<Real> &real) {
  return real ? printer << *real : printer;
}

AsmPrinter &operator<<(AsmPrinter &printer, const Point &point) {
  return printer << "[" << point.bytes << ", " << point.seconds << "]";
}

} // namespace syncline::cluster

namespace mlir {

using syncline::cluster::Point;
using syncline::cluster::Real;

FailureOr<Real> FieldParser<Real>::parse(AsmParser &parser) {
  double value = 0;
  if (parser.parseFloat(value))
    return failure();
  return Real(value);
}

FailureOr<std::optional<Real>> FieldParser<std::optional<Real>>::parse(AsmParser &parser) {
  FailureOr<Real> real = FieldParser<Real>::parse(parser);
  if (failed(real))
    return failure();
  return std::optional<Real>(*real);
}

FailureOr<Point> FieldParser<Point>::parse(AsmParser &parser) {
  Point point;
  if (parser.parseLSquare() || parser.parseInteger(point.bytes) || parser.parseComma())
    return failure();
  FailureOr<Real> seconds = FieldParser<Real>::parse(parser);
  if (failed(seconds) || parser.parseRSquare())
    return failure();
  point.seconds = *seconds;
  return point;
}

} // namespace mlir
