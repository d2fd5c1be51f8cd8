// Copying outcomes between steps.
#include "runtime/cuda/StepOutcomes.h"

#include <new>

namespace syncline::cuda {

StepOutcomes::StepOutcomes(const Program &program) : program(program) {
  void *host = nullptr;
  SYNCLINE_CHECK(cudaMallocHost(&host, 2 * sizeof(NotedOutcome)));
  noted.reset(new (host) NotedOutcome[2]);
}

void StepOutcomes::note(std::int64_t step, const GradientNorm &norm) const {
  SYNCLINE_CHECK(noteOutcome(program.device.compute, program.loss, program.keptFlag,
                             norm.isUsed() ? norm.hostPlace() : nullptr, &noted[turnOf(step)]));
  end(step).record(program.device.compute);
}

core::StepOutcome StepOutcomes::of(std::int64_t step, const GradientNorm &norm) const {
  const NotedOutcome &found = noted[turnOf(step)];
  core::StepOutcome outcome;
  if (program.hasLoss)
    outcome.loss = found.loss;
  outcome.isUpdateFinite = found.kept == 0;
  if (norm.isUsed())
    outcome.gradientNorm = found.gradientNorm;
  return outcome;
}

} // namespace syncline::cuda
