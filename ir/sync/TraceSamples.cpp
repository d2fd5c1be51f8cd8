// Writes, reads and verifies `sync.samples`.
#include "ir/sync/TraceSamples.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace syncline::sync {

std::optional<std::int64_t> samplesOf(TraceOp trace) {
  auto samples = trace->getAttrOfType<IntegerAttr>(samplesAttr);
  return samples ? std::optional(samples.getInt()) : std::nullopt;
}

void setSamples(TraceOp trace, std::int64_t samples) {
  trace->setAttr(samplesAttr, Builder(trace->getContext()).getI64IntegerAttr(samples));
}

LogicalResult verifySamples(Operation *op, Attribute attribute) {
  auto samples = dyn_cast<IntegerAttr>(attribute);
  auto trace = dyn_cast<TraceOp>(op);
  if (trace && trace.getOfStep() && samples && samples.getType().isInteger(64) &&
      samples.getInt() >= 1)
    return success();
  return op->emitError("S23: expected '")
         << samplesAttr << "' on a trace that is of a step, an i64 of at least 1";
}

} // namespace syncline::sync
