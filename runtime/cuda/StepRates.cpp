// Writing the rates, by the turns of steps.
#include "runtime/cuda/StepRates.h"

#include "runtime/cuda/Check.h"
#include "runtime/cuda/kernels/Kernels.h"

namespace syncline::cuda {

void StepRates::begin(std::size_t turn) {
  if (!memory.data() || written[turn] == next)
    return;
  auto *const place = reinterpret_cast<double *>(memory.data()) + turn;
  SYNCLINE_CHECK(setRate(program.device.compute, place, next));
  written[turn] = next;
}

void StepRates::setAll(double rate) {
  next = rate;
  for (std::size_t turn = 0; turn < written.size(); ++turn)
    begin(turn);
}

} // namespace syncline::cuda
