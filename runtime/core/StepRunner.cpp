// The answers of a backend that captures no steps, scales no loss and clips by no norm.
#include "runtime/core/StepRunner.h"

namespace syncline::core {

static Status cannotCapture() {
  return Status::error(ErrorKind::internal, "this backend captures no steps");
}

Status StepRunner::beginCapture() { return cannotCapture(); }
Status StepRunner::endCapture() { return cannotCapture(); }
Status StepRunner::replay() { return cannotCapture(); }

Status StepRunner::setLossScale(double) {
  return Status::error(ErrorKind::internal, "this backend does not scale the loss");
}

static Status cannotAddSquares() {
  return Status::error(ErrorKind::internal, "this backend adds up no squares of gradients");
}

Status StepRunner::addSquares(int) { return cannotAddSquares(); }
Result<double *> StepRunner::shardSquares() { return cannotAddSquares(); }

} // namespace syncline::core
