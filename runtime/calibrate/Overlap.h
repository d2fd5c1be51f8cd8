// Computation and messages at the same time: what they cost each other.
#pragma once

#include "runtime/calibrate/Device.h"
#include "runtime/calibrate/Findings.h"
#include "runtime/calibrate/Team.h"

namespace syncline::calibrate {

/// A fixed amount of computation, timed alone and while the channel has a message under way all the
/// time. Long messages, all by the ring: short ones keep a processor as busy as computation does,
/// and each of their rounds may wait for a slice of the scheduler's; where training computes, the
/// channel moves long ones. All ranks together.
class Overlap {
public:
  virtual ~Overlap() = default;

  /// Until the median of the computation's factor is stable or `until`, by the team's clock.
  /// Interference::messages is not measured here. All ranks find the same. Errors: peerLost.
  Result<Interference> measure(double until);

  static constexpr std::int64_t minBytes = 1 << 20;  ///< of a message
  static constexpr std::int64_t maxBytes = 64 << 20; ///< more than caches hold

protected:
  /// Beside each other, on the slowest rank.
  struct Both {
    double computing = 0; ///< seconds of the computation
    double message = 0;   ///< seconds of one message
    int messages = 0;     ///< that passed while every rank computed; 0: `message` says nothing
  };

  /// `team` and `device` outlive this object. One sample computes for `longEnough` seconds.
  Overlap(Team &team, Device &device, double longEnough)
      : team(team), device(device), longEnough(longEnough) {}

  /// Messages of `bytes` follow each other from before the computation's start until it is through
  /// on all ranks.
  virtual Result<Both> computeBeside() = 0;
  /// Seconds of one of so many messages of `bytes`, on the slowest rank, while nobody computes.
  virtual Result<double> messagesAlone(int count) = 0;

  /// Seconds of the computation on this rank.
  Result<double> compute();
  /// Where the next message of so many bytes begins in a buffer of maxBytes: behind the last one,
  /// as gradients in training do. Copying what a cache holds costs less.
  std::int64_t place(std::int64_t length);

  Team &team;
  Device &device;
  int passes = 1;                ///< of all kernels of the device, in one sample
  std::int64_t bytes = minBytes; ///< of a message

private:
  struct Row;
  Status choose(double until);
  Result<double> computeAlone();
  Result<double> round(Row &row);

  const double longEnough;
  std::int64_t next = 0; ///< behind the last message
};

} // namespace syncline::calibrate
