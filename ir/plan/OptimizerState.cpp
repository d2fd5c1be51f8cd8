// Counts the elements that a rank updates.
#include "ir/plan/OptimizerState.h"

#include "ir/nn/NN.h"

std::int64_t syncline::plan::optimizerBytes(ProgramOp program) {
  const OptimizerKind kind = nn::optimizerOf(program);
  if (kind == OptimizerKind::sgd)
    return 0;
  std::int64_t updated =
      program.getSpaces().getAs<mlir::IntegerAttr>(stringifySpace(Space::parameters)).getInt();
  constexpr std::int64_t element = 4; // f32
  const auto ranks = static_cast<std::int64_t>(program.getRanks());
  for (auto bucket : program.getOps<BucketOp>())
    if (updatesItself(bucket)) {
      const std::int64_t elements = static_cast<std::int64_t>(bucket.getExtent()) / element;
      updated -= (elements - (elements + ranks - 1) / ranks) * element;
    }
  return updated * stateSlots(kind);
}
