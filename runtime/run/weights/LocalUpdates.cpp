// Starting and receiving fragments, and the outer optimizer's loops.
#include "runtime/run/weights/LocalUpdates.h"

#include <algorithm>

namespace syncline::run {

Result<std::unique_ptr<LocalUpdates>> LocalUpdates::create(const PlanConsistency &plan,
                                                           ExchangedWeights weights, int ranks,
                                                           core::Channel *channel,
                                                           LossExchange &losses) {
  std::unique_ptr<LocalUpdates> made(new LocalUpdates(plan, weights, ranks, channel, losses));
  SYNCLINE_TRY(made->isDiloco() ? made->allocate() : Status::ok());
  for (const PlanExchange &exchange : made->plan.exchanges) {
    const auto part = [&](std::span<float> all) {
      return all.empty() ? all
                         : all.subspan(static_cast<std::size_t>(exchange.offset) / sizeof(float),
                                       static_cast<std::size_t>(exchange.extent) / sizeof(float));
    };
    made->fragments.push_back(
        {&exchange, part(weights.all), part(made->common), part(made->velocity)});
  }
  return made;
}

Status LocalUpdates::allocate() {
  std::size_t longest = 0;
  for (const PlanExchange &exchange : plan.exchanges)
    longest = std::max(longest, static_cast<std::size_t>(exchange.extent) / sizeof(float));
  const auto take = [&](std::span<float> &to, std::size_t n) {
    const auto made = weights.by.allocate("the weights that ranks have in common", n);
    to = made ? *made : std::span<float>();
    return made ? Status::ok() : made.status();
  };
  SYNCLINE_TRY(take(common, weights.all.size()));
  SYNCLINE_TRY(take(difference, longest));
  if (plan.momentum > 0)
    SYNCLINE_TRY(take(velocity, weights.all.size()));
  return weights.by.copy(common, weights.all);
}

Status LocalUpdates::afterStep(std::int64_t number) {
  steps = number + 1;
  const std::int64_t inPeriod = number % plan.period + 1;
  for (Fragment &fragment : fragments)
    if (fragment.plan->start == inPeriod) {
      SYNCLINE_TRY(losses.send());
      SYNCLINE_TRY(start(fragment));
    }
  for (Fragment &fragment : fragments)
    if (fragment.plan->wait == inPeriod) {
      SYNCLINE_TRY(arrive(fragment, static_cast<float>(plan.mix)));
      SYNCLINE_TRY(losses.receive());
    }
  return Status::ok();
}

Status LocalUpdates::drain() { return underWay && !hasArrived ? wait() : Status::ok(); }

Status LocalUpdates::finish() {
  if (underWay)
    SYNCLINE_TRY(arrive(*underWay, static_cast<float>(plan.mix)));
  for (Fragment &fragment : fragments) {
    if (fragment.sentAfter == steps)
      continue;
    SYNCLINE_TRY(start(fragment));
    SYNCLINE_TRY(arrive(fragment, 0));
  }
  for (Fragment &fragment : fragments)
    SYNCLINE_TRY(isDiloco() ? weights.by.copy(fragment.weights, fragment.common) : Status::ok());
  return Status::ok();
}

std::vector<core::ExchangeState> LocalUpdates::state() {
  std::vector<core::ExchangeState> all{
      {common, {}}, {velocity, {}}, {{}, std::as_writable_bytes(std::span(&steps, 1))}};
  for (Fragment &fragment : fragments)
    all.push_back({{}, std::as_writable_bytes(std::span(&fragment.sentAfter, 1))});
  return all;
}

Status LocalUpdates::start(Fragment &fragment) {
  std::span<float> sent = fragment.weights;
  if (isDiloco()) {
    sent = difference.first(sent.size());
    SYNCLINE_TRY(weights.by.subtract(sent, fragment.common, fragment.weights));
  }
  underWay = &fragment;
  hasArrived = channel == nullptr;
  fragment.sentAfter = steps;
  if (!channel)
    return Status::ok();
  return channel->issue(core::fragmentMessage(fragment.plan->id), sent.data(), sent.size_bytes(),
                        ElementType::f32, fragment.plan->scheme);
}

Status LocalUpdates::wait() {
  hasArrived = true;
  return channel->wait(core::fragmentMessage(underWay->plan->id));
}

Status LocalUpdates::arrive(Fragment &fragment, float mix) {
  SYNCLINE_TRY(drain());
  underWay = nullptr;
  if (mix == 0)
    fragment.sentAfter = steps;
  const core::OuterStep rule{.scale = static_cast<float>(1.0 / ranks),
                             .rate = static_cast<float>(plan.rate),
                             .momentum = static_cast<float>(plan.momentum),
                             .mix = mix};
  if (!isDiloco())
    return weights.by.scale(fragment.weights, rule.scale);
  return weights.by.apply(rule, fragment.weights, fragment.common, fragment.velocity,
                          difference.first(fragment.weights.size()));
}

} // namespace syncline::run
