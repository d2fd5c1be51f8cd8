// Parameter types of the cluster attributes: doubles that print and read exactly, and points.
#pragma once

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/Hashing.h"

#include <bit>
#include <cstdint>
#include <optional>

namespace syncline::cluster {

/// A double that is compared and hashed by its bits, which uniqued attributes need.
class Real {
public:
  Real(double value = 0) : value(value) {}
  operator double() const { return value; }

  friend bool operator==(Real a, Real b) { return a.bits() == b.bits(); }
  friend llvm::hash_code hash_value(Real real) { return llvm::hash_value(real.bits()); }

private:
  std::uint64_t bits() const { return std::bit_cast<std::uint64_t>(value); }
  double value;
};

/// A measured message, which had `bytes` and took `seconds`.
struct Point {
  std::int64_t bytes = 0;
  Real seconds;

  friend bool operator==(const Point &, const Point &) = default;
  friend llvm::hash_code hash_value(const Point &point) {
    return llvm::hash_combine(point.bytes, point.seconds);
  }
};

/// Prints the shortest decimal that reads back to the same double, in MLIR's syntax, which always
/// has a point.
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, Real real);
mlir::AsmPrinter &operator<<(mlir::AsmPrinter &printer, Real real);
mlir::AsmPrinter &operator<<(mlir::AsmPrinter &printer, const std::optional<Real> &real);
mlir::AsmPrinter &operator<<(mlir::AsmPrinter &printer, const Point &point);

} // namespace syncline::cluster

namespace mlir {

/// Reads a float literal such as 1.0e-05.
template <> struct FieldParser<syncline::cluster::Real> {
  static FailureOr<syncline::cluster::Real> parse(AsmParser &parser);
};

template <> struct FieldParser<std::optional<syncline::cluster::Real>> {
  static FailureOr<std::optional<syncline::cluster::Real>> parse(AsmParser &parser);
};

/// Reads bytes and seconds, such as "[4096, 1.0e-04]".
template <> struct FieldParser<syncline::cluster::Point> {
  static FailureOr<syncline::cluster::Point> parse(AsmParser &parser);
};

} // namespace mlir
