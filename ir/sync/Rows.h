// Rows of numbers that a joint certificate is made of, as an attribute's parameters. What they
// mean: passes/solver/README.md, "The bound".
#pragma once

#include "ir/cluster/Real.h"

#include <array>

namespace syncline::sync {

/// A problem has at most so many merge classes.
inline constexpr std::size_t maxMergeClasses = 3;

/// A line under the costs of every merge class, and two weights.
struct RelaxationRow {
  struct Line {
    cluster::Real latency, secondsPerByte;

    friend bool operator==(const Line &, const Line &) = default;
  };
  cluster::Real channelWeight; ///< the device's is 1 - channelWeight
  cluster::Real heldWeight;    ///< seconds per byte in the limited merge class
  std::array<Line, maxMergeClasses> lines;

  friend bool operator==(const RelaxationRow &, const RelaxationRow &) = default;
  friend llvm::hash_code hash_value(const RelaxationRow &row);
};

/// How far a partial plan has come.
struct StateRow {
  static constexpr std::int64_t closed = -1;

  cluster::Real free, compute; ///< seconds
  std::int64_t held = 0;       ///< bytes in the limited merge class
  std::uint64_t freedom = 0;   ///< bits, one a pair of piggyback and carrier
  std::array<std::int64_t, maxMergeClasses> open{closed, closed, closed}; ///< bytes

  friend bool operator==(const StateRow &, const StateRow &) = default;
  friend llvm::hash_code hash_value(const StateRow &row);
};

/// "[1.0, 0.0, 0.5, 1.0e-09]": merge classes at the end whose line is zero are left out.
mlir::AsmPrinter &operator<<(mlir::AsmPrinter &printer, const RelaxationRow &row);
/// "[0.1, 1.0, 0, 0, 4096]": merge classes at the end that are not open are left out.
mlir::AsmPrinter &operator<<(mlir::AsmPrinter &printer, const StateRow &row);

} // namespace syncline::sync

namespace mlir {

template <> struct FieldParser<syncline::sync::RelaxationRow> {
  static FailureOr<syncline::sync::RelaxationRow> parse(AsmParser &parser);
};

template <> struct FieldParser<syncline::sync::StateRow> {
  static FailureOr<syncline::sync::StateRow> parse(AsmParser &parser);
};

} // namespace mlir
