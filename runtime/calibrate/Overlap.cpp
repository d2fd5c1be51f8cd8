// How much computation, how long messages, and how often.
#include "runtime/calibrate/Overlap.h"

#include "runtime/calibrate/Repeat.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace syncline::calibrate {

/// Where there is hardly time to measure at all, a sample is this part of it.
static constexpr double minPart = 1.0 / 30;
/// Messages that one sample has time for alone, and that must at least pass beside the computation.
static constexpr int messagesAlongside = 2, messagesThrough = 2;
/// How much longer than that a sample may become for these.
static constexpr int maxGrowth = 4;

Result<double> Overlap::compute() {
  return device.time([this] { return device.runAll(passes); });
}

std::int64_t Overlap::place(std::int64_t length) {
  if (next + length > maxBytes)
    next = 0;
  return std::exchange(next, next + length);
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
  bytes = minBytes;
  double seconds = 0;
  // Not the first one, which prepares.
  for (int run = 0; run < 2; ++run) {
    Result<double> once = computeAlone();
    if (!once)
      return once.status();
    seconds = *once;
  }
  const double wanted = std::min(minPart * (until - team.now()), longEnough);
  passes = static_cast<int>(std::ceil(std::max(wanted / seconds, 1.0)));
  Result<double> message = messagesAlone(2);
  if (!message)
    return message.status();
  const double most = std::min(std::max(wanted, seconds) / messagesAlongside / *message,
                               static_cast<double>(maxBytes / minBytes));
  while (static_cast<double>(2 * bytes) <= most * static_cast<double>(minBytes))
    bytes *= 2;
  for (const int limit = maxGrowth * passes; passes < limit; passes *= 2) {
    Result<Both> both = computeBeside();
    if (!both || both->messages >= messagesThrough)
      return both.status();
  }
  return Status::ok();
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
  if (both->messages > 0 && !isStable(summarize(row.messages), StopRule().share)) {
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
