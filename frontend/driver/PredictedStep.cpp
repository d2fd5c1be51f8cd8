// Reads a plan's prediction.
#include "frontend/driver/PredictedStep.h"

#include "ir/FirstOf.h"
#include "ir/sync/Sync.h"
#include "passes/problem/Rounding.h"

using namespace mlir;

namespace syncline::driver {

double stepOf(ModuleOp plan) {
  auto prediction = firstOf<sync::PredictionOp>(plan);
  return prediction ? prediction.getStep().convertToDouble() : 0;
}

bool isShorter(double step, double other) { return step < other && problem::differ(step, other); }

} // namespace syncline::driver
