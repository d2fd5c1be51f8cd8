// What the host learns of steps of which the next one may have begun.
#pragma once

#include "runtime/core/StepRunner.h"
#include "runtime/cuda/Event.h"
#include "runtime/cuda/GradientNorm.h"
#include "runtime/cuda/Program.h"
#include "runtime/cuda/kernels/OutcomeKernels.h"

#include <array>
#include <memory>

namespace syncline::cuda {

/// A step's loss, flag and norm have one place each, which the next step writes again. A kernel
/// between two steps therefore copies them to a place of the step's own. The program outlives it.
/// All functions throw Failure.
class StepOutcomes {
public:
  explicit StepOutcomes(const Program &program);

  /// Enqueues the copy behind the step's work. `norm` is the program's.
  void note(std::int64_t step, const GradientNorm &norm) const;
  /// What step `step` ends with. The step after the next one uses it again.
  const Event &end(std::int64_t step) const { return ends[turnOf(step)]; }
  /// Precondition: end(step) has been reached.
  core::StepOutcome of(std::int64_t step, const GradientNorm &norm) const;

private:
  struct FreeHost {
    void operator()(NotedOutcome *memory) const { cudaFreeHost(memory); }
  };
  static std::size_t turnOf(std::int64_t step) { return static_cast<std::size_t>(step % 2); }

  const Program &program;
  std::unique_ptr<NotedOutcome[], FreeHost> noted; ///< by turn
  std::array<Event, 2> ends{Event(EventUse::order), Event(EventUse::order)};
};

} // namespace syncline::cuda
