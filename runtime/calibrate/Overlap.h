// Measuring how simultaneous computation and messages slow each other.
#pragma once

#include "runtime/calibrate/Device.h"
#include "runtime/calibrate/Findings.h"
#include "runtime/calibrate/Team.h"
#include "runtime/transport/collectives/AllReduce.h"

namespace syncline::calibrate {

class DeviceChannels;

/// Times a fixed amount of computation alone and while the channel always has a message under way.
/// Messages are long and travel by one scheme. Short messages would keep a processor as busy as
/// computation does, and each of their rounds may wait for a scheduler's time slice; in training
/// the channel carries long messages during computation. All ranks measure together.
class Overlap {
public:
  virtual ~Overlap() = default;

  /// Measures until the median of the computation's factor is stable, or until the time `until` of
  /// the team's clock. Does not measure Interference::messages. All ranks get the same result.
  /// Errors: peerLost.
  Result<Interference> measure(double until);

  static constexpr std::int64_t minBytes = 1 << 20;  ///< least size of a message
  static constexpr std::int64_t maxBytes = 64 << 20; ///< largest size, more than caches hold

protected:
  /// Seconds of one sample's computation, and of its operations of each class.
  struct Computed {
    double all = 0, products = 0, memory = 0;
  };
  /// Times of simultaneous computation and messages on the slowest rank.
  struct Both {
    Computed computing;
    double message = 0; ///< seconds of one message
    /// Messages completed while every rank computed; with 0, `message` is undefined.
    int messages = 0;
  };

  /// `team` and `device` outlive this object. The computation of one sample takes
  /// `longEnough` seconds.
  Overlap(Team &team, Device &device, double longEnough)
      : team(team), device(device), longEnough(longEnough) {}

  /// Computes while messages of `bytes` follow each other, from before the computation's start
  /// until its end on all ranks.
  virtual Result<Both> computeBeside() = 0;
  /// Seconds of one of `count` messages of `bytes` on the slowest rank, while no rank computes.
  virtual Result<double> messagesAlone(int count) = 0;

  /// The computation on this rank.
  Result<Computed> compute();
  /// That between the marks of runAll() from place 1 on.
  static Computed computedBetween(const std::vector<double> &marks);
  /// The slowest rank's times.
  Result<Computed> slowest(const Computed &own);
  /// The place of the next message of `length` bytes in a buffer of maxBytes. It follows the
  /// last message, as gradients do in training, because copying bytes that a cache holds would
  /// be cheaper.
  std::int64_t place(std::int64_t length);

  Team &team;
  Device &device;
  int passes = 1;                ///< runs of all kernels in one sample
  std::int64_t bytes = minBytes; ///< of a message

private:
  struct Row;
  Status choose(double until);
  Result<Computed> computeAlone();
  Result<double> round(Row &row);

  const double longEnough;
  std::int64_t next = 0; ///< end of the last message
};

/// Creates the measurement for messages that the host carries by the scheme, a sum: one thread
/// computes while another carries them. All ranks call it together; the arguments outlive the
/// result. Errors: peerLost.
Result<std::unique_ptr<Overlap>> openHostOverlap(Scheme scheme, transport::Transport &transport,
                                                 Team &team, Device &device,
                                                 const transport::RankLayout &layout);
/// Creates the measurement for messages by the scheme on a device's streams. `team` and `device`
/// outlive it.
std::unique_ptr<Overlap> createDeviceOverlap(Scheme scheme, Team &team, Device &device,
                                             std::shared_ptr<DeviceChannels> channels);

} // namespace syncline::calibrate
