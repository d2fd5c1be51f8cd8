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

Overlap::Computed Overlap::computedBetween(const std::vector<double> &marks) {
  return {marks[3] - marks[1], marks[2] - marks[1], marks[3] - marks[2]};
}

Result<Overlap::Computed> Overlap::compute() {
  SYNCLINE_TRY(device.begin());
  SYNCLINE_TRY(device.runAll(passes, 1));
  const auto marks = device.marks();
  return marks ? Result<Computed>(computedBetween(*marks)) : marks.status();
}

Result<Overlap::Computed> Overlap::slowest(const Computed &own) {
  Computed all;
  for (double Computed::*seconds : {&Computed::all, &Computed::products, &Computed::memory}) {
    SYNCLINE_TRY_GET(most, team.slowest(own.*seconds));
    all.*seconds = *most;
  }
  return all;
}

std::int64_t Overlap::place(std::int64_t length) {
  if (next + length > maxBytes)
    next = 0;
  return std::exchange(next, next + length);
}

/// The computation on the slowest rank without messages.
Result<Overlap::Computed> Overlap::computeAlone() {
  SYNCLINE_TRY(team.align());
  Result<Computed> own = compute();
  return own ? slowest(*own) : own;
}

/// Chooses the number of passes over all kernels in one sample, and the messages' size.
Status Overlap::choose(double until) {
  passes = 1;
  bytes = minBytes;
  SYNCLINE_TRY_GET(seconds, takeWarm([this]() -> Result<double> {
                     const Result<Computed> alone = computeAlone();
                     return alone ? Result<double>(alone->all) : alone.status();
                   }));
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
  std::vector<double> products, memory; ///< beside messages, relative to alone
};

/// One round: the computation's time beside messages, relative to its time alone.
Result<double> Overlap::round(Row &row) {
  SYNCLINE_TRY_GET(alone, computeAlone());
  SYNCLINE_TRY_GET(both, computeBeside());
  row.alone.push_back(alone->all);
  row.products.push_back(both->computing.products / alone->products);
  row.memory.push_back(both->computing.memory / alone->memory);
  if (both->messages > 0 && !isStable(summarize(row.messages), StopRule().share)) {
    SYNCLINE_TRY_GET(message, messagesAlone(both->messages));
    row.messages.push_back(both->message / *message);
  }
  return both->computing.all / alone->all;
}

Result<Interference> Overlap::measure(double until) {
  SYNCLINE_TRY(choose(until));
  Row row;
  const Sample sample = [&] { return round(row); };
  SYNCLINE_TRY_GET(ratios,
                   repeat(std::span(&sample, 1), {.until = until}, [&] { return team.now(); }));
  Interference found{.alone = summarize(row.alone),
                     .computation = ratios->front(),
                     .beside = summarize(row.messages),
                     .bytes = bytes,
                     .messages = {}};
  for (auto [samples, into] :
       {std::pair(&row.products, &found.products), std::pair(&row.memory, &found.memory)}) {
    removeWarmUps(*samples, found.computation);
    *into = summarize(*samples);
  }
  return found;
}

} // namespace syncline::calibrate
