// Messages of a plan under way, and their ends.
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

/// The caller holds the mutex. The message is in the queue before its channel can end it.
Failure PlanGroup::enqueue(int channel, UnderWay message, std::uint64_t &ticket) {
  message.ticket = lastTicket + 1;
  message.bytes = static_cast<std::size_t>(message.values.count * core::elementBytes(message.type));
  message.step = present;
  message.stepBegan = stepBegan;
  std::deque<UnderWay> &queue = underWay[channel];
  queue.push_back(message);
  // A message that stayed in the queue without a channel's job would never end.
  const Status s = core::guarded([&] { return handTo(*channels.at(channel), message); });
  if (!s) {
    queue.pop_back();
    return Failure::of(s);
  }
  ticket = ++lastTicket;
  return {};
}

Status PlanGroup::handTo(transport::CommunicationThread &channel, const UnderWay &message) const {
  const int bucket = message.message < 0
                         ? core::otherMessage
                         : open->messages[static_cast<std::size_t>(message.message)].id;
  const Values &values = message.values;
  if (values.half != core::Half::whole)
    return channel.issueSharded(bucket, {.gradients = values.data,
                                         .parameters = values.data,
                                         .bytes = message.bytes,
                                         .type = message.type,
                                         .half = values.half,
                                         .updatesLater = true});
  if (values.operation == gathering)
    return channel.issueGather(bucket, {{values.data, std::int64_t(message.bytes), message.type}});
  return channel.issue(bucket, values.data, message.bytes, message.type, message.scheme);
}

/// What ranks do with a message, for errors.
static std::string_view collectiveOf(const Values &values) {
  if (values.half != core::Half::whole)
    return core::halfName(Scheme::reduceScatter, values.half);
  return values.operation == gathering ? "all-gather" : "all-reduce";
}

Failure PlanGroup::failureOf(const Status &status, const UnderWay &message) const {
  const std::optional<transport::Verdict> verdict = group->watcher()->verdict();
  // Without a verdict it is rank 0, which gives the verdicts, that does not answer.
  Failure failure = Failure::of(status, verdict ? verdict->rank : 0);
  failure.message = message.message;
  failure.step = message.step;
  if (status.kind() != ErrorKind::peerLost)
    failure.text = "rank " + std::to_string(settings.rank) + ": " + failure.text + " in the " +
                   std::string(collectiveOf(message.values)) + " of " + nameOf(message) +
                   " in step " + std::to_string(message.step);
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
  times.push_back({message.message, static_cast<int>(message.values.half), message.step,
                   message.ticket, static_cast<std::int64_t>(message.bytes),
                   schemeName(message.scheme).data(), message.stepBegan + timing.issued,
                   message.stepBegan + timing.started, message.stepBegan + timing.finished});
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
    divideSum(message);
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

/// Makes a message's sum the mean: of this rank's shard where no other rank has its sum.
void PlanGroup::divideSum(const UnderWay &message) const {
  const bool isShard = message.values.half == core::Half::first;
  const core::Range own = isShard ? ownBytes(message.message) : core::Range{0, message.bytes};
  divide(static_cast<std::byte *>(message.values.data) + own.begin,
         static_cast<std::int64_t>(own.size()) / core::elementBytes(message.type), message.type,
         settings.ranks);
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
