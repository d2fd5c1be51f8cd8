// One thread computes, another carries messages.
#include "runtime/calibrate/Overlap.h"

#include "runtime/calibrate/Repeat.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>
#include <utility>

namespace syncline::calibrate {

/// Seconds of computation in one sample: many of a scheduler's slices. Where there is hardly time
/// to measure at all, this part of it.
static constexpr double longEnough = 0.5, leastPart = 1.0 / 30;
/// Messages that one sample has time for alone, and that must at least pass beside the computation.
static constexpr int messagesAlongside = 2, messagesThrough = 2;
/// How much longer than that a sample may become for these.
static constexpr int mostGrowth = 4;

Result<std::unique_ptr<Overlap>> Overlap::open(Transport &transport, Team &team, Device &device) {
  auto channel = createAllReduce("ring", transport, "calibrate/overlap", {});
  if (!channel)
    return channel.status();
  return std::unique_ptr<Overlap>(new Overlap(team, device, std::move(*channel)));
}

/// Seconds on this rank.
Result<double> Overlap::compute() {
  auto start = Clock::now();
  for (int pass = 0; pass < passes; ++pass)
    for (const std::vector<Kernel> *kernels : {&device.compute(), &device.memory()})
      for (const Kernel &kernel : *kernels)
        if (Status s = device.run(kernel); !s)
          return s;
  return secondsSince(start);
}

/// Seconds on the slowest rank while nobody sends.
Result<double> Overlap::computeAlone() {
  if (Status s = team.align(); !s)
    return s;
  Result<double> own = compute();
  return own ? team.slowest(*own) : own;
}

/// How often all kernels run for one sample, and how long messages are.
Status Overlap::choose(double until) {
  passes = 1;
  bytes = leastBytes;
  double seconds = 0;
  // Not the first one, which prepares.
  for (int run = 0; run < 2; ++run) {
    Result<double> once = computeAlone();
    if (!once)
      return once.status();
    seconds = *once;
  }
  const double wanted = std::min(leastPart * (until - team.now()), longEnough);
  passes = static_cast<int>(std::ceil(std::max(wanted / seconds, 1.0)));
  Result<double> message = messagesAlone(2);
  if (!message)
    return message.status();
  const double most = std::min(std::max(wanted, seconds) / messagesAlongside / *message,
                               static_cast<double>(mostBytes / leastBytes));
  while (static_cast<double>(2 * bytes) <= most * static_cast<double>(leastBytes))
    bytes *= 2;
  for (const int limit = mostGrowth * passes; passes < limit; passes *= 2) {
    Result<Both> both = computeBeside();
    if (!both || both->messages >= messagesThrough)
      return both.status();
  }
  return Status::ok();
}

/// One message. Whether all ranks had said that they are through: each puts a one in front, so that
/// all end after the same message without asking each other beside it.
Result<bool> Overlap::carry(std::int64_t length, bool isThrough) {
  // Somewhere else than the last one, as in training: copying what a cache holds costs less.
  const std::size_t elements = length / sizeof(float);
  if (next + elements > buffer.size())
    next = 0;
  float *message = &buffer[next];
  next += elements;
  message[0] = isThrough ? 1 : 0;
  if (Status s = channel->run(message, length, ElementType::f32); !s)
    return s;
  return std::exchange(message[0], 0) == static_cast<float>(team.size());
}

/// What the channel's thread did.
struct Overlap::Carried {
  Status status;
  std::vector<Clock::time_point> ends; ///< of the warm-up and of each message
};

/// Messages follow each other on a thread of their own, as on a channel, from before the
/// computation's start until it is through on all ranks.
Result<Overlap::Both> Overlap::computeBeside() {
  Carried carried;
  std::atomic<bool> hasBegun = false, isThrough = false;
  std::thread thread([&] {
    carried.status = team.align();
    for (bool isLast = false; carried.status && !isLast;) {
      Result<bool> passed = carry(carried.ends.empty() ? leastBytes : bytes, isThrough);
      carried.status = passed.status();
      isLast = passed && *passed;
      carried.ends.push_back(Clock::now());
      // The first message uses up what passes as a burst after a rest.
      hasBegun = true;
      hasBegun.notify_one();
    }
    hasBegun = true;
    hasBegun.notify_one();
  });
  hasBegun.wait(false);
  Result<double> computed = compute();
  const auto end = Clock::now();
  isThrough = true;
  thread.join();
  if (!carried.status || !computed)
    return carried.status ? computed.status() : carried.status;
  const auto past = std::upper_bound(carried.ends.begin(), carried.ends.end(), end);
  const auto own = std::max<std::int64_t>(0, past - carried.ends.begin() - 1);
  Result<double> computing = team.slowest(*computed);
  if (!computing)
    return computing.status();
  Result<std::vector<double>> counts = team.share(static_cast<double>(own));
  if (!counts)
    return counts.status();
  const int count = static_cast<int>(*std::min_element(counts->begin(), counts->end()));
  const double seconds =
      std::chrono::duration<double>(carried.ends[count] - carried.ends.front()).count();
  Result<double> message = team.slowest(seconds / std::max(1, count));
  if (!message)
    return message.status();
  return Both{*computing, *message, count};
}

/// Seconds of one of so many messages, on the slowest rank, while nobody computes.
Result<double> Overlap::messagesAlone(int count) {
  Status status;
  double seconds = 0;
  std::thread([&] {
    status = team.align();
    Clock::time_point start;
    for (int message = 0; message <= count && status; ++message) {
      status = carry(message == 0 ? leastBytes : bytes, false).status();
      if (message == 0)
        start = Clock::now();
    }
    seconds = secondsSince(start) / count;
  }).join();
  return status ? team.slowest(seconds) : status;
}

/// What the rounds say.
struct Overlap::Row {
  std::vector<double> alone, messages;
};

/// The computation's time beside messages, to that alone.
Result<double> Overlap::round(Row &row) {
  Result<double> alone = computeAlone();
  if (!alone)
    return alone;
  Result<Both> both = computeBeside();
  if (!both)
    return both.status();
  row.alone.push_back(*alone);
  if (both->messages > 0 && !isStable(summarize(row.messages), Patience().share)) {
    Result<double> message = messagesAlone(both->messages);
    if (!message)
      return message;
    row.messages.push_back(both->message / *message);
  }
  return both->computing / *alone;
}

Result<Interference> Overlap::measure(double until) {
  if (Status s = choose(until); !s)
    return s;
  Row row;
  const Sample sample = [&] { return round(row); };
  auto ratios = repeat(std::span(&sample, 1), {.until = until}, [&] { return team.now(); });
  if (!ratios)
    return ratios.status();
  return Interference{.alone = summarize(row.alone),
                      .computation = ratios->front(),
                      .beside = summarize(row.messages),
                      .bytes = bytes,
                      .messages = {}};
}

} // namespace syncline::calibrate
