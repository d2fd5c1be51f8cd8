// Handing over messages: which calls a group takes, and which it refuses.
#include "runtime/api/Mean.h"
#include "runtime/api/PlanGroup.h"
#include "runtime/api/Reduction.h"

#include <algorithm>

namespace syncline::api {

Failure PlanGroup::checkValues(const Values &values) const {
  const std::optional<ElementType> type = elementTypeOf(values.type);
  if (!type)
    return Failure::badUsage("expected a syncline_type, got " + std::to_string(values.type));
  if (values.operation != SYNCLINE_SUM && values.operation != SYNCLINE_MEAN)
    return Failure::badUsage("expected a syncline_operation, got " +
                             std::to_string(values.operation));
  if (values.operation == SYNCLINE_MEAN && !hasMean(*type))
    return Failure::badUsage("no mean over ranks for element type '" +
                             std::string(core::elementName(*type)) + "'");
  constexpr std::int64_t most = std::int64_t{1} << 42;
  if (values.count < 0 || values.count > most)
    return Failure::badUsage("expected a count from 0 to " + std::to_string(most) + ", got " +
                             std::to_string(values.count));
  const auto address = reinterpret_cast<std::uintptr_t>(values.data);
  if (values.count > 0 && (address == 0 || address % core::elementBytes(*type) != 0))
    return Failure::badUsage(address == 0 ? "expected the address of data, got NULL"
                                          : "expected data aligned to elements of '" +
                                                std::string(core::elementName(*type)) + "'");
  return {};
}

/// The values are all of a message of the plan.
Failure PlanGroup::checkWhole(int message, const Values &values) const {
  if (Failure f = checkValues(values); !f.isOk())
    return f;
  const syncline_message_info &info = open->messages[static_cast<std::size_t>(message)];
  if (values.type == info.type && values.count == info.count)
    return {};
  return Failure::badUsage("message " + std::to_string(message) + ": expected " +
                           std::to_string(info.count) + " elements of '" +
                           std::string(core::elementName(*elementTypeOf(info.type))) + "', got " +
                           std::to_string(values.count) + " of '" +
                           std::string(core::elementName(*elementTypeOf(values.type))) + "'");
}

Failure PlanGroup::checkSharded(int message) const {
  if (Failure f = open->checkMessage(message); !f.isOk())
    return f;
  const syncline_message_info &info = open->messages[static_cast<std::size_t>(message)];
  if (info.is_sharded)
    return {};
  return Failure::badUsage("message " + std::to_string(message) + " travels by '" + info.scheme +
                           "': expected a message that is_sharded");
}

Failure PlanGroup::checkIdle(int message) const {
  for (const auto &[channel, queue] : underWay)
    if (std::ranges::find(queue, message, &UnderWay::message) != queue.end())
      return Failure::badUsage("message " + std::to_string(message) +
                               " is still under way: expected that its ticket has ended");
  return {};
}

Failure PlanGroup::checkOrder(int message) const {
  if (Failure f = checkIdle(message); !f.isOk())
    return f;
  if (message > lastIssued)
    return {};
  return Failure::badUsage("message " + std::to_string(message) + " was issued after message " +
                           std::to_string(lastIssued) + " in step " + std::to_string(present) +
                           ": expected the plan's order, each message once");
}

Failure PlanGroup::issue(int message, const Values &values, std::uint64_t &ticket) {
  Failure f = open->checkMessage(message);
  if (!f.isOk())
    return f;
  const syncline_message_info &info = open->messages[static_cast<std::size_t>(message)];
  const std::string name = "message " + std::to_string(message);
  if (open->plan.consistency.isLocal())
    return Failure::badUsage(name + ": " + info.why_not +
                             "; expected syncline_all_reduce() for the weights alone");
  if (!info.is_carried)
    return Failure::badUsage(name + " travels by '" + info.scheme + "': " + info.why_not +
                             "; expected syncline_all_reduce() for it");
  if (f = checkWhole(message, values); !f.isOk())
    return f;
  return handOver(message, values, ticket);
}

Failure PlanGroup::gather(int message, const Values &values, std::uint64_t &ticket) {
  Failure f = open->checkMessage(message);
  if (!f.isOk())
    return f;
  const syncline_message_info &info = open->messages[static_cast<std::size_t>(message)];
  if (!info.is_gathered)
    return Failure::badUsage("message " + std::to_string(message) + " travels by '" + info.scheme +
                             "': expected a message that is_gathered");
  if (f = checkValues(values); !f.isOk())
    return f;
  Values gathered = values;
  gathered.operation = gathering;
  return handOver(message, gathered, ticket);
}

Failure PlanGroup::shardOf(int message, std::int64_t &offset, std::int64_t &count) const {
  if (Failure f = checkSharded(message); !f.isOk())
    return f;
  const core::Range own = ownBytes(message);
  const auto size = core::elementBytes(open->plan.buckets[static_cast<std::size_t>(message)].type);
  offset = static_cast<std::int64_t>(own.begin) / size;
  count = static_cast<std::int64_t>(own.size()) / size;
  return {};
}

/// This rank's part of a message of the plan that is sharded.
core::Range PlanGroup::ownBytes(int message) const {
  const run::PlanBucket &bucket = open->plan.buckets[static_cast<std::size_t>(message)];
  return channels.at(bucket.channel)->shardOf(static_cast<std::size_t>(bucket.bytes), bucket.type);
}

Failure PlanGroup::reduceScatter(int message, const Values &values, std::uint64_t &ticket) {
  Failure f = checkSharded(message);
  if (f.isOk())
    f = checkWhole(message, values);
  if (!f.isOk())
    return f;
  Values first = values;
  first.half = core::Half::first;
  return handOver(message, first, ticket);
}

Failure PlanGroup::allGather(int message, const Values &values, std::uint64_t &ticket) {
  Failure f = checkSharded(message);
  if (f.isOk())
    f = checkWhole(message, values);
  if (!f.isOk())
    return f;
  Values second = values;
  second.operation = gathering;
  second.half = core::Half::second;
  return handOver(message, second, ticket);
}

/// What is right beside its place among the messages.
Failure PlanGroup::handOver(int message, const Values &values, std::uint64_t &ticket) {
  const auto place = static_cast<std::size_t>(message);
  std::lock_guard lock(mutex);
  Failure f = checkGoesOn();
  if (!f.isOk())
    return f;
  const bool isSecond = values.half == core::Half::second;
  if (f = isSecond ? checkIdle(message) : checkOrder(message); !f.isOk())
    return f;
  f = enqueue(open->messages[place].channel,
              {.message = message,
               .values = values,
               .type = *elementTypeOf(values.type),
               .scheme = open->plan.buckets[place].scheme},
              ticket);
  if (f.isOk() && !isSecond)
    lastIssued = message;
  return f;
}

Failure PlanGroup::allReduce(const Values &values, std::uint64_t &ticket) {
  if (Failure f = checkValues(values); !f.isOk())
    return f;
  const ElementType type = *elementTypeOf(values.type);
  const Scheme scheme = open->others.of(values.count * core::elementBytes(type)).scheme;
  std::lock_guard lock(mutex);
  if (Failure f = checkGoesOn(); !f.isOk())
    return f;
  return enqueue(channels.begin()->first, {.values = values, .type = type, .scheme = scheme},
                 ticket);
}

} // namespace syncline::api
