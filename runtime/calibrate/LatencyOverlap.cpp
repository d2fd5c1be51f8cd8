// Alternates operations alone, operations beside one message, and one message alone.
#include "runtime/calibrate/LatencyOverlap.h"

#include "runtime/calibrate/Repeat.h"
#include "runtime/core/Statistics.h"

#include <algorithm>
#include <cmath>

namespace syncline::calibrate {

/// Operations take at least so many seconds, and so many times what a message takes alone.
static constexpr double shortestPass = 200e-6, perMessage = 4;
/// Times that each of the three is timed for one sample, by turns.
static constexpr int turns = 10;

Result<std::unique_ptr<LatencyOverlap>> LatencyOverlap::open(transport::Transport &transport,
                                                             Team &team, Device &device) {
  // Plans give short messages to the scheme with the fewest rounds.
  SYNCLINE_TRY_GET(opened, transport::CommunicationThread::create(transport, /*channel=*/0,
                                                                  {Scheme::recursiveDoubling}));
  return std::unique_ptr<LatencyOverlap>(new LatencyOverlap(team, device, std::move(*opened)));
}

/// Seconds of the operations, from before the message is handed over, or of the message if nothing
/// is computed. Ends when the message is over.
Result<double> LatencyOverlap::seconds(bool sends, bool computes) {
  const auto begin = core::Clock::now();
  if (sends)
    SYNCLINE_TRY(channel->issue(0, message.data(), bytes, ElementType::f32));
  if (computes)
    SYNCLINE_TRY(compute());
  const double computed = core::secondsSince(begin);
  if (sends)
    SYNCLINE_TRY(channel->wait(0));
  return computes ? computed : core::secondsSince(begin);
}

/// Chooses the number of runs.
Status LatencyOverlap::choose() {
  constexpr int tried = 1000;
  runs = tried;
  std::vector<double> messages, passes;
  for (int turn = 0; turn < turns; ++turn)
    for (auto [into, sends] : {std::pair(&messages, true), {&passes, false}}) {
      SYNCLINE_TRY_GET(own, seconds(sends, !sends));
      into->push_back(*own);
    }
  SYNCLINE_TRY_GET(pass, team.slowest(core::median(passes)));
  SYNCLINE_TRY_GET(alone, team.slowest(core::median(messages)));
  const double wanted = std::max(shortestPass, perMessage * *alone);
  runs = static_cast<int>(std::ceil(std::max(1.0, tried * wanted / std::max(*pass, 1e-9))));
  return Status::ok();
}

/// One sample: the share of a message's time alone that operations lose to it.
Result<double> LatencyOverlap::round() {
  channel->startStep(0);
  SYNCLINE_TRY(device.begin());
  SYNCLINE_TRY(team.align());
  std::vector<double> alone, beside, messages;
  for (int turn = 0; turn < turns; ++turn)
    for (auto [into, sends, computes] :
         {std::tuple(&alone, false, true), {&beside, true, true}, {&messages, true, false}}) {
      SYNCLINE_TRY_GET(own, seconds(sends, computes));
      into->push_back(*own);
    }
  SYNCLINE_TRY_GET(lost, team.slowest(core::median(beside) - core::median(alone)));
  SYNCLINE_TRY_GET(message, team.slowest(core::median(messages)));
  return std::clamp(*lost / *message, 0.0, 1.0);
}

Result<Summary> LatencyOverlap::measure(double until) {
  SYNCLINE_TRY(choose());
  const Sample sample = [this] { return round(); };
  SYNCLINE_TRY_GET(shares,
                   repeat(std::span(&sample, 1), {.until = until}, [&] { return team.now(); }));
  return shares->front();
}

} // namespace syncline::calibrate
