// Summing weights, and the two steps towards each other.
#include "runtime/run/ElasticUpdates.h"

#include <algorithm>
#include <new>

namespace syncline::run {

using Variant = PlanConsistency::Variant;

Result<std::unique_ptr<ElasticUpdates>>
ElasticUpdates::create(const PlanConsistency &plan, double rate, std::span<float> weights,
                       int ranks, core::Channel *channel, LossExchange *losses) {
  std::unique_ptr<ElasticUpdates> made(
      new ElasticUpdates(plan, rate, weights, ranks, channel, losses));
  try {
    made->centre.assign(weights.begin(), weights.end());
    made->own.resize(weights.size());
    made->sum.resize(weights.size());
  } catch (const std::bad_alloc &) {
    return Status::badInput("not enough memory for the weights of EASGD's centre");
  }
  return made;
}

Status ElasticUpdates::beforeStep(std::int64_t number) {
  if (!isDue(number))
    return Status::ok();
  std::ranges::copy(weights, own.begin());
  std::ranges::copy(weights, sum.begin());
  if (!channel)
    return Status::ok();
  if (plan.variant == Variant::sync1) {
    Status s = sumAlongTree();
    return s ? broadcastCentre() : s;
  }
  if (Status s = channel->issue(core::fragmentMessage(0), sum.data(), sum.size() * sizeof(float),
                                ElementType::f32, plan.exchanges.front().scheme);
      !s)
    return s;
  return plan.variant == Variant::sync2 ? wait() : Status::ok();
}

Status ElasticUpdates::sumAlongTree() {
  Status s =
      channel->issueTreeHalf(core::fragmentMessage(0), sum.data(), sum.size() * sizeof(float),
                             ElementType::f32, core::Half::first);
  return s ? wait() : s;
}

Status ElasticUpdates::broadcastCentre() {
  Status s =
      channel->issueTreeHalf(core::fragmentMessage(0), centre.data(), centre.size() * sizeof(float),
                             ElementType::f32, core::Half::second);
  return s ? wait() : s;
}

Status ElasticUpdates::afterStep(std::int64_t number) {
  Status s = isDue(number) ? pull() : Status::ok();
  return s && losses ? exchangeLosses(number) : s;
}

Status ElasticUpdates::exchangeLosses(std::int64_t number) {
  if (isDue(number))
    return losses->send();
  return isDue(number + 1) ? losses->receive() : Status::ok();
}

/// The two steps towards each other.
Status ElasticUpdates::pull() {
  if (channel && plan.variant == Variant::sync3)
    if (Status s = wait(); !s)
      return s;
  // With sync1 only the roots have sums. What other ranks get here as their centre is replaced by
  // the next broadcast.
  const auto all = static_cast<float>(ranks);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] -= share * (own[i] - centre[i]);
    centre[i] += share * (sum[i] - all * centre[i]);
  }
  return Status::ok();
}

Status ElasticUpdates::finish() {
  if (channel && plan.variant == Variant::sync1)
    if (Status s = broadcastCentre(); !s)
      return s;
  std::ranges::copy(centre, weights.begin());
  return Status::ok();
}

} // namespace syncline::run
