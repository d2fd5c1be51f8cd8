// The rows of numbers of a certificate, as a parameter of the attribute #sync.relaxations. Their
// meaning is in passes/proof/README.md, "The bound".
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

/// Prints "[1.0, 0.0, 0.5, 1.0e-09]". Merge classes at the end whose line is zero are left out.
mlir::AsmPrinter &operator<<(mlir::AsmPrinter &printer, const RelaxationRow &row);

} // namespace syncline::sync

namespace mlir {

template <> struct FieldParser<syncline::sync::RelaxationRow> {
  static FailureOr<syncline::sync::RelaxationRow> parse(AsmParser &parser);
};

} // namespace mlir
