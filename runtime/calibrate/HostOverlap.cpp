// One thread computes while another carries messages.
#include "runtime/calibrate/Overlap.h"
#include "runtime/core/Guarded.h"
#include "runtime/transport/collectives/AllReduce.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

namespace syncline::calibrate {

using core::Clock;

namespace {

/// Seconds of computation in one sample, which is many of a scheduler's time slices.
constexpr double manySlices = 0.5;

class HostOverlap final : public Overlap {
public:
  HostOverlap(Team &team, Device &device, std::unique_ptr<transport::AllReduce> channel)
      : Overlap(team, device, manySlices), channel(std::move(channel)),
        buffer(maxBytes / sizeof(float)) {}

private:
  Result<Both> computeBeside() override;
  Result<double> messagesAlone(int count) override;
  Result<bool> carry(std::int64_t length, bool isThrough);

  const std::unique_ptr<transport::AllReduce> channel;
  std::vector<float> buffer;
};

/// Carries one message. Returns whether all ranks have finished computing: each writes a one in
/// front of the message when it has, so that all ranks stop after the same message without
/// further exchange.
Result<bool> HostOverlap::carry(std::int64_t length, bool isThrough) {
  float *message = &buffer[static_cast<std::size_t>(place(length)) / sizeof(float)];
  message[0] = isThrough ? 1 : 0;
  SYNCLINE_TRY(channel->run(message, length, ElementType::f32));
  return std::exchange(message[0], 0) == static_cast<float>(team.size());
}

/// The record of the channel's thread.
struct Carried {
  Status status;
  std::vector<Clock::time_point> ends; ///< end of the warm-up and of each message
};

Result<Overlap::Both> HostOverlap::computeBeside() {
  Carried carried;
  std::atomic<bool> hasBegun = false, isThrough = false;
  std::thread thread([&] {
    carried.status = core::guarded([&] {
      Status s = team.align();
      for (bool isLast = false; s && !isLast;) {
        Result<bool> passed = carry(carried.ends.empty() ? minBytes : bytes, isThrough);
        s = passed.status();
        isLast = passed && *passed;
        carried.ends.push_back(Clock::now());
        // The first message uses up the burst that passes after a pause.
        hasBegun = true;
        hasBegun.notify_one();
      }
      return s;
    });
    hasBegun = true;
    hasBegun.notify_one();
  });
  hasBegun.wait(false);
  Result<Computed> computed = compute();
  const auto end = Clock::now();
  isThrough = true;
  thread.join();
  if (!carried.status || !computed)
    return carried.status ? computed.status() : carried.status;
  const auto past = std::upper_bound(carried.ends.begin(), carried.ends.end(), end);
  const auto own = std::max<std::int64_t>(0, past - carried.ends.begin() - 1);
  SYNCLINE_TRY_GET(computing, slowest(*computed));
  SYNCLINE_TRY_GET(counts, team.share(static_cast<double>(own)));
  const int count = static_cast<int>(*std::min_element(counts->begin(), counts->end()));
  const double seconds =
      std::chrono::duration<double>(carried.ends[count] - carried.ends.front()).count();
  SYNCLINE_TRY_GET(message, team.slowest(seconds / std::max(1, count)));
  return Both{*computing, *message, count};
}

Result<double> HostOverlap::messagesAlone(int count) {
  Status status;
  double seconds = 0;
  std::thread([&] {
    status = core::guarded([&] {
      Status s = team.align();
      Clock::time_point start;
      for (int message = 0; message <= count && s; ++message) {
        s = carry(message == 0 ? minBytes : bytes, false).status();
        if (message == 0)
          start = Clock::now();
      }
      seconds = core::secondsSince(start) / count;
      return s;
    });
  }).join();
  return status ? team.slowest(seconds) : status;
}

} // namespace

Result<std::unique_ptr<Overlap>> openHostOverlap(Scheme scheme, transport::Transport &transport,
                                                 Team &team, Device &device,
                                                 const transport::RankLayout &layout) {
  SYNCLINE_TRY_GET(channel,
                   transport::createAllReduce(scheme, transport, "calibrate/overlap", layout));
  return std::unique_ptr<Overlap>(std::make_unique<HostOverlap>(team, device, std::move(*channel)));
}

} // namespace syncline::calibrate
