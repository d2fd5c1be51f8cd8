// What the host learns of a step: its outcome where steps run ahead, and the times of its marks.
#include "runtime/cuda/CudaExecutable.h"

#include <utility>

namespace syncline::cuda {

Status CudaExecutable::endStep() {
  if (!begun)
    return begun;
  return statusOf("the step's end: ", [&] {
    program.device.makeCurrent();
    if (!outcomes)
      outcomes.emplace(program);
    norm.factor(); // where it is due, the norm
    outcomes->note(present, norm);
  });
}

Result<core::StepOutcome> CudaExecutable::outcome(std::int64_t step) {
  if (!outcomes)
    return Status::error(ErrorKind::internal, "no step has ended");
  SYNCLINE_TRY(waitFor(outcomes->end(step)));
  seen = step;
  return outcomes->of(step, norm);
}

Status CudaExecutable::mark(int place) {
  return statusOf("mark: ", [&] {
    program.device.makeCurrent();
    while (marked.size() < static_cast<std::size_t>(place))
      marked.emplace_back(EventUse::time);
    const Event &mark = place == 0 ? stepStart() : marked[static_cast<std::size_t>(place) - 1];
    mark.recordEach(program.device.compute);
  });
}

Result<std::vector<double>> CudaExecutable::marks() {
  std::vector<double> seconds{0};
  const Status read = statusOf("marks: ", [&] {
    for (const Event &mark : marked)
      seconds.push_back(secondsBetween(stepStart(), mark));
  });
  return read ? Result<std::vector<double>>(std::move(seconds)) : read;
}

} // namespace syncline::cuda
