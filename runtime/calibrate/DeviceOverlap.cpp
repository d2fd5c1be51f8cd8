// Kernels on one stream and messages on another.
#include "runtime/calibrate/DeviceChannels.h"
#include "runtime/calibrate/Overlap.h"

#include <algorithm>
#include <utility>

namespace syncline::calibrate {
namespace {

/// Seconds of computation in one sample. A device is not subject to a scheduler's time slices, so
/// few suffice.
constexpr double manyKernels = 0.02;

class DeviceOverlap final : public Overlap {
public:
  DeviceOverlap(Scheme scheme, Team &team, Device &device, std::shared_ptr<DeviceChannels> given)
      : Overlap(team, device, manyKernels), channels(std::move(given)),
        route(channels->route(scheme)) {}

private:
  Result<Both> computeBeside() override;
  Result<double> messagesAlone(int count) override;

  /// One sample on this rank.
  struct Sample {
    Computed computing;
    double end = 0;           ///< end of the computation
    std::vector<double> ends; ///< end of the warm-up and of each message, from the same beginning
  };
  Status begin();
  Status sendAll();
  Status waitForAll();
  Result<Sample> sample();

  const std::shared_ptr<DeviceChannels> channels;
  const Route route;
  int count = 4; ///< number of messages that outlast the computation
};

/// Begins a sample with one message, which uses up the burst that passes after a pause and lets all
/// ranks begin together.
Status DeviceOverlap::begin() {
  SYNCLINE_TRY(team.align());
  SYNCLINE_TRY(channels->begin());
  SYNCLINE_TRY(channels->send(route, 0, minBytes, place(minBytes)));
  return channels->wait(route, 0);
}

Status DeviceOverlap::sendAll() {
  for (int message = 1; message <= count; ++message)
    SYNCLINE_TRY(channels->send(route, message, bytes, place(bytes)));
  return Status::ok();
}

Status DeviceOverlap::waitForAll() {
  for (int message = 1; message <= count; ++message)
    SYNCLINE_TRY(channels->wait(route, message));
  return Status::ok();
}

/// All messages are enqueued before the computation, so that they follow each other beside it.
Result<DeviceOverlap::Sample> DeviceOverlap::sample() {
  const std::function<Status()> steps[] = {[this] { return begin(); }, [this] { return sendAll(); },
                                           [this] { return device.runAll(passes, 1); },
                                           [this] { return waitForAll(); }};
  for (const auto &step : steps)
    SYNCLINE_TRY(step());
  SYNCLINE_TRY_GET(seconds, device.marks());
  Sample own{computedBetween(*seconds), (*seconds)[3], {}};
  for (const core::BucketTiming &message : route.channel->timings())
    own.ends.push_back(message.finished);
  if (own.ends.size() != static_cast<std::size_t>(count) + 1)
    return Status::error(ErrorKind::internal, "a channel timed " + std::to_string(own.ends.size()) +
                                                  " messages of " + std::to_string(count + 1));
  return own;
}

Result<Overlap::Both> DeviceOverlap::computeBeside() {
  for (;; count *= 2) {
    SYNCLINE_TRY_GET(own, sample());
    const auto through = std::count_if(own->ends.begin() + 1, own->ends.end(),
                                       [&](double end) { return end <= own->end; });
    SYNCLINE_TRY_GET(passed, team.share(static_cast<double>(through)));
    const auto [least, most] = std::minmax_element(passed->begin(), passed->end());
    // On some rank all messages ended before the computation, so twice as many are sent, up to
    // the limit.
    if (static_cast<int>(*most) == count && 2 * count < DeviceChannels::maxUnderWay)
      continue;
    const int messages = static_cast<int>(*least);
    SYNCLINE_TRY_GET(computing, slowest(own->computing));
    const double seconds = own->ends[static_cast<std::size_t>(messages)] - own->ends.front();
    SYNCLINE_TRY_GET(message, team.slowest(seconds / std::max(1, messages)));
    return Both{*computing, *message, messages};
  }
}

Result<double> DeviceOverlap::messagesAlone(int wanted) {
  const int beside = std::exchange(count, wanted);
  const std::function<Status()> steps[] = {
      [this] { return begin(); }, [this] { return device.mark(1); }, [this] { return sendAll(); },
      [this] { return waitForAll(); }, [this] { return device.mark(2); }};
  Status s;
  for (const auto &step : steps)
    s = s ? step() : s;
  count = beside;
  if (!s)
    return s;
  const auto seconds = device.marks();
  return seconds ? team.slowest(((*seconds)[2] - (*seconds)[1]) / wanted) : seconds.status();
}

} // namespace

std::unique_ptr<Overlap> createDeviceOverlap(Scheme scheme, Team &team, Device &device,
                                             std::shared_ptr<DeviceChannels> channels) {
  return std::make_unique<DeviceOverlap>(scheme, team, device, std::move(channels));
}

} // namespace syncline::calibrate
