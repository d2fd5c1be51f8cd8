// The rows of numbers of a certificate, as parameters of the attribute #sync.states. Their meaning
// is in passes/proof/README.md, "The bound".
#pragma once

#include "ir/cluster/Real.h"

#include <array>

namespace syncline::sync {

/// The maximal number of a problem's merge classes.
inline constexpr std::size_t maxMergeClasses = 3;

/// A relaxation: two weights, and for each merge class a line that lies under its costs.
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

/// A state: how far a partial solution has come.
struct StateRow {
  static constexpr std::int64_t closed = -1;

  cluster::Real free, compute; ///< seconds
  std::int64_t held = 0;       ///< bytes in the limited merge class
  std::uint64_t freedom = 0;   ///< one bit for each pair of piggyback and carrier
  std::array<std::int64_t, maxMergeClasses> open{closed, closed, closed}; ///< bytes

  friend bool operator==(const StateRow &, const StateRow &) = default;
  friend llvm::hash_code hash_value(const StateRow &row);
};

/// Prints "[1.0, 0.0, 0.5, 1.0e-09]". Merge classes at the end whose line is zero are left out.
mlir::AsmPrinter &operator<<(mlir::AsmPrinter &printer, const RelaxationRow &row);
/// Prints "[0.1, 1.0, 0, 0, 4096]". Merge classes at the end that are not open are left out.
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
