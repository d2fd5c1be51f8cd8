// Starting and receiving fragments, and the outer optimizer's loops.
#include "runtime/run/LocalUpdates.h"

#include <algorithm>
#include <new>

namespace syncline::run {

Result<std::unique_ptr<LocalUpdates>> LocalUpdates::create(const PlanConsistency &plan,
                                                           std::span<float> weights, int ranks,
                                                           core::Channel *channel,
                                                           LossExchange &losses) {
  std::unique_ptr<LocalUpdates> made(new LocalUpdates(plan, ranks, channel, losses));
  std::size_t longest = 0;
  for (const PlanExchange &exchange : made->plan.exchanges)
    longest = std::max(longest, static_cast<std::size_t>(exchange.extent) / sizeof(float));
  if (made->isDiloco())
    try {
      made->common.assign(weights.begin(), weights.end());
      made->difference.resize(longest);
      if (plan.momentum > 0)
        made->velocity.resize(weights.size());
    } catch (const std::bad_alloc &) {
      return Status::badInput("not enough memory for the weights that ranks have in common");
    }
  for (const PlanExchange &exchange : made->plan.exchanges) {
    const auto part = [&](std::span<float> all) {
      return all.empty() ? all
                         : all.subspan(static_cast<std::size_t>(exchange.offset) / sizeof(float),
                                       static_cast<std::size_t>(exchange.extent) / sizeof(float));
    };
    made->fragments.push_back({&exchange, part(weights), part(made->common), part(made->velocity)});
  }
  return made;
}

Status LocalUpdates::afterStep(std::int64_t number) {
  steps = number + 1;
  const std::int64_t inPeriod = number % plan.period + 1;
  for (Fragment &fragment : fragments)
    if (fragment.plan->start == inPeriod) {
      Status s = losses.send();
      if (s)
        s = start(fragment);
      if (!s)
        return s;
    }
  for (Fragment &fragment : fragments)
    if (fragment.plan->wait == inPeriod) {
      Status s = arrive(fragment, static_cast<float>(plan.mix));
      if (s)
        s = losses.receive();
      if (!s)
        return s;
    }
  return Status::ok();
}

Status LocalUpdates::drain() { return underWay && !hasArrived ? wait() : Status::ok(); }

Status LocalUpdates::finish() {
  if (underWay)
    if (Status s = arrive(*underWay, static_cast<float>(plan.mix)); !s)
      return s;
  for (Fragment &fragment : fragments) {
    if (fragment.sentAfter == steps)
      continue;
    if (Status s = start(fragment); !s)
      return s;
    if (Status s = arrive(fragment, 0); !s)
      return s;
  }
  for (Fragment &fragment : fragments)
    std::copy(fragment.common.begin(), fragment.common.end(), fragment.weights.begin());
  return Status::ok();
}

std::vector<std::span<std::byte>> LocalUpdates::state() {
  std::vector<std::span<std::byte>> all{std::as_writable_bytes(std::span(common)),
                                        std::as_writable_bytes(std::span(velocity)),
                                        std::as_writable_bytes(std::span(&steps, 1))};
  for (Fragment &fragment : fragments)
    all.push_back(std::as_writable_bytes(std::span(&fragment.sentAfter, 1)));
  return all;
}

Status LocalUpdates::start(Fragment &fragment) {
  std::span<float> sent = fragment.weights;
  if (isDiloco()) {
    sent = std::span(difference).first(sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i)
      sent[i] = fragment.common[i] - fragment.weights[i];
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
  if (Status s = drain(); !s)
    return s;
  underWay = nullptr;
  if (mix == 0)
    fragment.sentAfter = steps;
  const auto scale = static_cast<float>(1.0 / ranks), rate = static_cast<float>(plan.rate),
             momentum = static_cast<float>(plan.momentum);
  if (!isDiloco()) {
    for (float &weight : fragment.weights)
      weight *= scale;
    return Status::ok();
  }
  for (std::size_t i = 0; i < fragment.weights.size(); ++i) {
    float step = difference[i] * scale;
    if (momentum > 0) {
      float &velocity = fragment.velocity[i];
      velocity = momentum * velocity + step;
      step += momentum * velocity;
    }
    float &common = fragment.common[i], &weight = fragment.weights[i];
    common -= rate * step;
    weight = mix == 0 ? common : (1 - mix) * common + mix * weight;
  }
  return Status::ok();
}

} // namespace syncline::run
