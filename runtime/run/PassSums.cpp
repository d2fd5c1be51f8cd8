// Adds up the gradients of passes.
#include "runtime/run/PassSums.h"

#include <utility>

namespace syncline::run {

Status PassSums::add(int bucket, std::span<const float> gradients) {
  Sum &sum = sums[bucket];
  if (std::exchange(sum.isOpen, true))
    return arithmetic->add(sum.values, gradients, 1);
  if (sum.values.empty()) {
    SYNCLINE_TRY_GET(made, arithmetic->allocate("the sums of several batches", gradients.size()));
    sum.values = *made;
  }
  return arithmetic->copy(sum.values, gradients);
}

Status PassSums::finish(int bucket, std::span<float> gradients) {
  Sum &sum = sums[bucket];
  if (!std::exchange(sum.isOpen, false))
    return Status::ok();
  return arithmetic->add(gradients, sum.values, 1.0F / static_cast<float>(passes));
}

} // namespace syncline::run
