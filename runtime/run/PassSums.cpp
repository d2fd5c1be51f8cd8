// Adds up the gradients of passes.
#include "runtime/run/PassSums.h"

#include <algorithm>
#include <functional>

namespace syncline::run {

void PassSums::add(int bucket, std::span<const float> gradients) {
  Sum &sum = sums[bucket];
  if (!sum.isOpen) {
    sum.values.assign(gradients.begin(), gradients.end());
    sum.isOpen = true;
    return;
  }
  std::ranges::transform(sum.values, gradients, sum.values.begin(), std::plus<>());
}

void PassSums::finish(int bucket, std::span<float> gradients) {
  Sum &sum = sums[bucket];
  if (!sum.isOpen)
    return;
  const float part = 1.0F / static_cast<float>(passes);
  std::ranges::transform(sum.values, gradients, gradients.begin(),
                         [part](float earlier, float last) { return (earlier + last) * part; });
  sum.isOpen = false;
}

} // namespace syncline::run
