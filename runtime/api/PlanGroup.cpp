// Issuing messages of a plan, and their ends.
#include "runtime/api/PlanGroup.h"

#include "runtime/api/Mean.h"
#include "runtime/api/Reduction.h"

#include <algorithm>

namespace syncline::api {

/// The most messages that a trace holds.
static constexpr std::size_t mostTimes = std::size_t{1} << 16;

/// The group whose `done` this thread calls; null elsewhere.
static thread_local const PlanGroup *inDone = nullptr;

Failure PlanGroup::checkMayBlock(const char *call) const {
  if (inDone != this)
    return {};
  return Failure::badUsage(std::string(call) +
                           " in 'done' would wait for itself: expected it on another thread");
}

std::string PlanGroup::prefix() const { return "group '" + settings.name + "': "; }

std::string PlanGroup::nameOf(const UnderWay &message) const {
  return message.message < 0
             ? core::messageName(core::otherMessage)
             : core::messageName(open->messages[static_cast<std::size_t>(message.message)].id);
}

bool PlanGroup::isIdle() const {
  return std::ranges::all_of(underWay, [](const auto &queue) { return queue.second.empty(); });
}

bool PlanGroup::isUnderWay(std::uint64_t ticket) const {
  return std::ranges::any_of(underWay, [&](const auto &queue) {
    return std::ranges::find(queue.second, ticket, &UnderWay::ticket) != queue.second.end();
  });
}

Failure PlanGroup::check() const {
  std::lock_guard lock(mutex);
  return checkGoesOn();
}

Failure PlanGroup::checkGoesOn() const {
  if (!broken.isOk())
    return broken;
  const std::optional<transport::Verdict> verdict = group->watcher()->verdict();
  if (!verdict)
    return {};
  return {SYNCLINE_PEER_LOST,
          prefix() + "rank " + std::to_string(settings.rank) + ": lost " + verdict->describe(),
          verdict->rank};
}

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

Failure PlanGroup::checkOrder(int message) const {
  for (const auto &[channel, queue] : underWay)
    if (std::ranges::find(queue, message, &UnderWay::message) != queue.end())
      return Failure::badUsage("message " + std::to_string(message) +
                               " is still under way: expected that its ticket has ended");
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
  if (f = checkValues(values); !f.isOk())
    return f;
  const ElementType type = *elementTypeOf(info.type);
  if (values.type != info.type || values.count != info.count)
    return Failure::badUsage(name + ": expected " + std::to_string(info.count) + " elements of '" +
                             std::string(core::elementName(type)) + "', got " +
                             std::to_string(values.count) + " of '" +
                             std::string(core::elementName(*elementTypeOf(values.type))) + "'");
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

/// What is right beside its place among the messages.
Failure PlanGroup::handOver(int message, const Values &values, std::uint64_t &ticket) {
  const auto place = static_cast<std::size_t>(message);
  std::lock_guard lock(mutex);
  Failure f = checkGoesOn();
  if (!f.isOk())
    return f;
  if (f = checkOrder(message); !f.isOk())
    return f;
  f = enqueue(open->messages[place].channel,
              {.message = message,
               .values = values,
               .type = *elementTypeOf(values.type),
               .scheme = open->plan.buckets[place].scheme},
              ticket);
  if (f.isOk())
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

/// The caller holds the mutex. The message is in the queue before its channel can end it.
Failure PlanGroup::enqueue(int channel, UnderWay message, std::uint64_t &ticket) {
  message.ticket = lastTicket + 1;
  message.bytes = static_cast<std::size_t>(message.values.count * core::elementBytes(message.type));
  message.step = present;
  message.stepBegan = stepBegan;
  std::deque<UnderWay> &queue = underWay[channel];
  queue.push_back(message);
  const int bucket = message.message < 0
                         ? core::otherMessage
                         : open->messages[static_cast<std::size_t>(message.message)].id;
  // A message that stayed in the queue without a channel's job would never end.
  const Status s = core::guarded([&] {
    transport::CommunicationThread &on = *channels.at(channel);
    if (message.values.operation == gathering)
      return on.issueGather(bucket,
                            {{message.values.data, std::int64_t(message.bytes), message.type}});
    return on.issue(bucket, message.values.data, message.bytes, message.type, message.scheme);
  });
  if (!s) {
    queue.pop_back();
    return Failure::of(s);
  }
  ticket = ++lastTicket;
  return {};
}

Failure PlanGroup::failureOf(const Status &status, const UnderWay &message) const {
  const std::optional<transport::Verdict> verdict = group->watcher()->verdict();
  // Without a verdict it is rank 0, which gives the verdicts, that does not answer.
  Failure failure = Failure::of(status, verdict ? verdict->rank : 0);
  failure.message = message.message;
  failure.step = message.step;
  if (status.kind() != ErrorKind::peerLost)
    failure.text = "rank " + std::to_string(settings.rank) + ": " + failure.text + " in the " +
                   (message.values.operation == gathering ? "all-gather" : "all-reduce") + " of " +
                   nameOf(message) + " in step " + std::to_string(message.step);
  failure.text = prefix() + failure.text;
  return failure;
}

/// Tells the other ranks what they cannot know, and ends all other messages.
void PlanGroup::spread(const Failure &failure) {
  if (failure.code != SYNCLINE_PEER_LOST)
    group->watcher()->fail(failure.text);
  group->transport()->interrupt();
}

void PlanGroup::record(const UnderWay &message, const core::BucketTiming &timing) {
  while (!times.empty() &&
         (times.size() >= mostTimes || times.front().step <= present - settings.tracedSteps))
    times.pop_front();
  times.push_back({message.message, 0, message.step, message.ticket,
                   static_cast<std::int64_t>(message.bytes), schemeName(message.scheme).data(),
                   message.stepBegan + timing.issued, message.stepBegan + timing.started,
                   message.stepBegan + timing.finished});
}

/// The first message of a channel's queue is taken up, on the channel's thread.
void PlanGroup::begins(int channel) {
  std::lock_guard lock(mutex);
  const Values &values = underWay.at(channel).front().values;
  carriers.at(channel).set(reductionTag(values.type, values.operation));
}

/// The end of the first message of a channel's queue, on the channel's thread.
void PlanGroup::arrived(int channel, const core::BucketTiming &timing, const Status &status) {
  UnderWay message;
  Failure failure;
  bool isFirst = false;
  {
    std::lock_guard lock(mutex);
    message = underWay.at(channel).front();
    if (!status && broken.isOk()) {
      broken = failureOf(status, message);
      isFirst = true;
    }
    if (!status)
      failed[message.ticket] = failure = broken;
    else
      static_cast<void>(core::guarded([&] { return record(message, timing), Status::ok(); }));
  }
  if (isFirst)
    spread(failure);
  if (status && message.values.operation == SYNCLINE_MEAN)
    divide(message.values.data, message.values.count, message.type, settings.ranks);
  if (settings.done) {
    syncline_error error;
    failure.tell(&error);
    inDone = this;
    settings.done(settings.doneContext, message.ticket, &error);
    inDone = nullptr;
  }
  {
    std::lock_guard lock(mutex);
    underWay.at(channel).pop_front();
  }
  ended.notify_all();
}

Failure PlanGroup::wait(std::uint64_t ticket, double seconds) {
  std::unique_lock lock(mutex);
  if (ticket == 0 || ticket > lastTicket)
    return Failure::badUsage("expected a ticket of this group, got " + std::to_string(ticket));
  const auto hasEnded = [&] { return !isUnderWay(ticket); };
  if (Failure f = checkMayBlock("syncline_wait()"); seconds != 0 && !hasEnded() && !f.isOk())
    return f;
  if (seconds < 0)
    ended.wait(lock, hasEnded);
  else if (!ended.wait_until(lock, core::deadlineIn(seconds), hasEnded))
    return {SYNCLINE_TIMED_OUT, "ticket " + std::to_string(ticket) + " is still under way after " +
                                    std::to_string(seconds) + " s"};
  const auto found = failed.find(ticket);
  return found == failed.end() ? Failure() : found->second;
}

Failure PlanGroup::step() {
  std::lock_guard lock(mutex);
  if (Failure f = checkGoesOn(); !f.isOk())
    return f;
  ++present;
  lastIssued = -1;
  stepBegan = core::secondsSince(joined);
  for (auto &[id, channel] : channels)
    channel->startStep(present);
  return {};
}

Failure PlanGroup::trace(syncline_message_time *to, std::int64_t capacity,
                         std::int64_t &count) const {
  if (capacity < 0)
    return Failure::badUsage("expected a capacity from 0 on, got " + std::to_string(capacity));
  if (capacity > 0 && !to)
    return Failure::badUsage("expected room for " + std::to_string(capacity) + " times, got NULL");
  std::lock_guard lock(mutex);
  const auto isOld = [&](const auto &time) { return time.step <= present - settings.tracedSteps; };
  const auto first = std::ranges::find_if_not(times, isOld);
  count = times.end() - first;
  std::copy(times.end() - std::min<std::int64_t>(count, capacity), times.end(), to);
  return {};
}

} // namespace syncline::api
