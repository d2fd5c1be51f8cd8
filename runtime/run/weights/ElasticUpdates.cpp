// Summing weights, and the two steps towards each other.
#include "runtime/run/weights/ElasticUpdates.h"

namespace syncline::run {

using Variant = PlanConsistency::Variant;

Result<std::unique_ptr<ElasticUpdates>>
ElasticUpdates::create(const PlanConsistency &plan, double rate, ExchangedWeights weights,
                       int ranks, core::Channel *channel, LossExchange *losses) {
  std::unique_ptr<ElasticUpdates> made(
      new ElasticUpdates(plan, rate, weights, ranks, channel, losses));
  SYNCLINE_TRY(made->allocate());
  return made;
}

Status ElasticUpdates::allocate() {
  for (std::span<float> *each : {&centre, &own, &sum}) {
    SYNCLINE_TRY_GET(room,
                     weights.by.allocate("the weights of EASGD's centre", weights.all.size()));
    *each = *room;
  }
  return weights.by.copy(centre, weights.all);
}

Status ElasticUpdates::beforeStep(std::int64_t number) {
  if (!isDue(number))
    return Status::ok();
  SYNCLINE_TRY(weights.by.copy(own, weights.all));
  SYNCLINE_TRY(weights.by.copy(sum, weights.all));
  if (!channel)
    return Status::ok();
  if (plan.variant == Variant::sync1) {
    Status s = sumAlongTree();
    return s ? broadcastCentre() : s;
  }
  SYNCLINE_TRY(channel->issue(core::fragmentMessage(0), sum.data(), sum.size_bytes(),
                              ElementType::f32, plan.exchanges.front().scheme));
  return plan.variant == Variant::sync2 ? wait() : Status::ok();
}

Status ElasticUpdates::sumAlongTree() {
  Status s = channel->issueHalf(core::fragmentMessage(0), sum.data(), sum.size_bytes(),
                                ElementType::f32, Scheme::tree, core::Half::first);
  return s ? wait() : s;
}

Status ElasticUpdates::broadcastCentre() {
  Status s = channel->issueHalf(core::fragmentMessage(0), centre.data(), centre.size_bytes(),
                                ElementType::f32, Scheme::tree, core::Half::second);
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
    SYNCLINE_TRY(wait());
  // With sync1 only the roots have sums. What other ranks get here as their centre is replaced by
  // the next broadcast.
  return weights.by.apply(core::ElasticPull{share, static_cast<float>(ranks)}, weights.all, centre,
                          own, sum);
}

Status ElasticUpdates::finish() {
  if (channel && plan.variant == Variant::sync1)
    SYNCLINE_TRY(broadcastCentre());
  return weights.by.copy(weights.all, centre);
}

} // namespace syncline::run
