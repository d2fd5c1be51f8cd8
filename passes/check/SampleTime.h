// How an operation's seconds grow with the ranks whose samples it computes.
#pragma once

#include "ir/plan/Plan.h"

namespace syncline::check {

/// The seconds that one more rank's samples add to an operation, as a part of those that one rank's
/// samples take. `ranks` is the number of ranks whose samples it computes here. The part is 1, but
/// for the gradient of an embedding. That clears the whole table, however many rows it adds, and
/// its time is linear in the bytes that it reads and writes (P23f).
inline double partOfOneMore(mlir::Operation *op, std::int64_t ranks) {
  auto call = mlir::dyn_cast<plan::CallOp>(op);
  if (!call || call.getCallee() != plan::Kernel::embeddingBackward)
    return 1;
  const auto bytes = [](mlir::ValueRange values) {
    double sum = 0;
    for (mlir::Value value : values)
      sum += static_cast<double>(plan::denseBytes(mlir::cast<mlir::MemRefType>(value.getType())));
    return sum;
  };
  const double own = bytes(call.getIns()) / static_cast<double>(ranks);
  return own / (own + bytes(call.getOuts()));
}

/// The seconds of an operation over all ranks' samples, as a multiple of those over one rank's.
inline double timesOfOne(mlir::Operation *op, std::int64_t ranks) {
  return 1 + partOfOneMore(op, ranks) * static_cast<double>(ranks - 1);
}

} // namespace syncline::check
