// The answers of a backend that captures no steps, runs none ahead, scales and weighs no loss and
// adds up no squares of gradients.
#include "runtime/core/StepRunner.h"

namespace syncline::core {

static Status cannotCapture() {
  return Status::error(ErrorKind::internal, "this backend captures no steps");
}

Status StepRunner::beginCapture() { return cannotCapture(); }
Status StepRunner::endCapture() { return cannotCapture(); }
Status StepRunner::replay() { return cannotCapture(); }

static Status cannotRunAhead() {
  return Status::error(ErrorKind::internal, "this backend runs no steps ahead");
}

Status StepRunner::endStep() { return cannotRunAhead(); }
Result<StepOutcome> StepRunner::outcome(std::int64_t) { return cannotRunAhead(); }

Status StepRunner::setLossScale(double) {
  return Status::error(ErrorKind::internal, "this backend does not scale the loss");
}

Status StepRunner::weighLoss(double) {
  return Status::error(ErrorKind::internal, "this backend does not weigh the loss");
}

static Status cannotAddSquares() {
  return Status::error(ErrorKind::internal, "this backend adds up no squares of gradients");
}

Status StepRunner::addSquares(int) { return cannotAddSquares(); }
Result<double *> StepRunner::shardSquares() { return cannotAddSquares(); }

} // namespace syncline::core
