// Choosing the amount of computation and the messages, and measuring them.
#include "runtime/calibrate/Overlap.h"

#include "runtime/calibrate/Repeat.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace syncline::calibrate {

/// A sample takes at most this part of the available time.
static constexpr double minPart = 1.0 / 30;
/// Messages that would fit into one sample alone, and the least number that must complete beside
/// the computation.
static constexpr int messagesAlongside = 4, messagesThrough = 2;
/// The factor by which a sample may be prolonged so that they complete.
static constexpr int maxGrowth = 4;

Result<double> Overlap::compute() {
  return device.time([this] { return device.runAll(passes); });
}

std::int64_t Overlap::place(std::int64_t length) {
  if (next + length > maxBytes)
    next = 0;
  return std::exchange(next, next + length);
}

/// Seconds of the computation on the slowest rank without messages.
Result<double> Overlap::computeAlone() {
  SYNCLINE_TRY(team.align());
  Result<double> own = compute();
  return own ? team.slowest(*own) : own;
}

/// Chooses the number of passes over all kernels in one sample, and the messages' size.
Status Overlap::choose(double until) {
  passes = 1;
  bytes = minBytes;
  SYNCLINE_TRY_GET(seconds, takeWarm([this] { return computeAlone(); }));
  const double wanted = std::min(minPart * (until - team.now()), longEnough);
  passes = static_cast<int>(std::ceil(std::max(wanted / *seconds, 1.0)));
  SYNCLINE_TRY_GET(message, messagesAlone(2));
  const double most = std::min(std::max(wanted, *seconds) / messagesAlongside / *message,
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

/// The samples of all rounds.
struct Overlap::Row {
  std::vector<double> alone, messages;
};

/// One round: the computation's time beside messages, relative to its time alone.
Result<double> Overlap::round(Row &row) {
  SYNCLINE_TRY_GET(alone, computeAlone());
  SYNCLINE_TRY_GET(both, computeBeside());
  row.alone.push_back(*alone);
  if (both->messages > 0 && !isStable(summarize(row.messages), StopRule().share)) {
    SYNCLINE_TRY_GET(message, messagesAlone(both->messages));
    row.messages.push_back(both->message / *message);
  }
  return both->computing / *alone;
}

Result<Interference> Overlap::measure(double until) {
  SYNCLINE_TRY(choose(until));
  Row row;
  const Sample sample = [&] { return round(row); };
  SYNCLINE_TRY_GET(ratios,
                   repeat(std::span(&sample, 1), {.until = until}, [&] { return team.now(); }));
  return Interference{.alone = summarize(row.alone),
                      .computation = ratios->front(),
                      .beside = summarize(row.messages),
                      .bytes = bytes,
                      .messages = {}};
}

} // namespace syncline::calibrate
