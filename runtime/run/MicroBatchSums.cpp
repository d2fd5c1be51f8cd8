// Adds up the gradients of micro-batches.
#include "runtime/run/MicroBatchSums.h"

#include <utility>

namespace syncline::run {

Status MicroBatchSums::add(int bucket, std::span<const float> gradients) {
  Sum &sum = sums[bucket];
  if (std::exchange(sum.isOpen, true))
    return arithmetic->add(sum.values, gradients, 1);
  if (sum.values.empty()) {
    SYNCLINE_TRY_GET(made, arithmetic->allocate("the sums of several batches", gradients.size()));
    sum.values = *made;
  }
  return arithmetic->copy(sum.values, gradients);
}

Status MicroBatchSums::finish(int bucket, std::span<float> gradients) {
  Sum &sum = sums[bucket];
  if (!std::exchange(sum.isOpen, false))
    return Status::ok();
  return arithmetic->add(gradients, sum.values, 1.0F / static_cast<float>(microBatches));
}

} // namespace syncline::run
