// Computation and messages at the same time: what they cost each other.
#pragma once

#include "runtime/calibrate/Device.h"
#include "runtime/calibrate/Findings.h"
#include "runtime/calibrate/Team.h"

namespace syncline::calibrate {

/// A fixed amount of computation, timed alone and while the channel has a message under way all the
/// time. Long messages: short ones keep a processor as busy as computation does, and each of their
/// rounds may wait for a slice of the scheduler's; where training computes, the channel moves long
/// ones. All ranks together.
class Overlap {
public:
  /// `team` and `device` outlive this object. Errors: peerLost.
  static Result<std::unique_ptr<Overlap>> open(Transport &transport, Team &team, Device &device);

  /// Until the median of the computation's factor is stable or `until`, by the team's clock.
  /// Interference::messages is not measured here. All ranks find the same.
  Result<Interference> measure(double until);

private:
  static constexpr std::int64_t leastBytes = 1 << 20; ///< of a message; all pass by the ring
  static constexpr std::int64_t mostBytes = 64 << 20; ///< more than caches hold
  struct Carried;
  struct Row;
  /// Beside each other, on the slowest rank.
  struct Both {
    double computing = 0; ///< seconds of the computation
    double message = 0;   ///< seconds of one message
    int messages = 0;     ///< that passed while every rank computed; 0: `message` says nothing
  };

  Overlap(Team &team, Device &device, std::unique_ptr<AllReduce> channel)
      : team(team), device(device), channel(std::move(channel)), buffer(mostBytes / sizeof(float)) {
  }
  Status choose(double until);
  Result<double> compute();
  Result<double> computeAlone();
  Result<bool> carry(std::int64_t length, bool isThrough);
  Result<Both> computeBeside();
  Result<double> messagesAlone(int count);
  Result<double> round(Row &row);

  Team &team;
  Device &device;
  const std::unique_ptr<AllReduce> channel;
  std::vector<float> buffer;
  std::size_t next = 0;            ///< where the next message lies in it
  int passes = 1;                  ///< of all kernels of the device, in one sample
  std::int64_t bytes = leastBytes; ///< of a message
};

} // namespace syncline::calibrate
