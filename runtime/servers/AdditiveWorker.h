// A worker of SSP, ASP and DSSP.
#pragma once

#include "runtime/servers/ClockKeeper.h"
#include "runtime/servers/Courier.h"
#include "runtime/servers/ServedWorker.h"

#include <array>
#include <vector>

namespace syncline::servers {

/// After each step the worker pushes a share of the difference that the step made to its weights,
/// ticks, and keeps that share of the difference only. The share is 1/P, so that the steps of P
/// workers together are one step along the mean gradient. A whole step is rounded less than one
/// along a part of the gradient.
///
/// It trains on with its own weights W, the cache, while these contain the steps of all workers up
/// to its own clock less the upper bound; otherwise it waits for a read. At most one read is under
/// way; steps that are made meanwhile stay in the weights:
///
///     W ← W + read - (W when the read began)
///
/// A server answers a worker's requests in their order, so that a read contains all of its pushes
/// before the read and none after it.
class AdditiveWorker : public ServedWorker {
public:
  /// `client` outlives the worker.
  AdditiveWorker(Client &client, const Bounds &bounds, int workers, WorkerOptions options);

  Status begin() override;
  Status beforeStep(std::int64_t number) override;
  Status afterStep(std::int64_t number) override;
  bool isStill(std::int64_t) const override { return true; }
  Status finish() override;

private:
  Status takeGrant();
  Status refresh(std::int64_t need);
  void startRead();
  Status takeRead();
  Status wait(std::uint64_t job);

  const Bounds bounds;
  const float share;
  std::vector<float> base;                   ///< the weights before the step
  std::array<std::vector<float>, 2> updates; ///< that are pushed
  std::array<std::uint64_t, 2> pushes{};     ///< the courier's jobs with the updates
  std::vector<float> atRead, answer;         ///< the weights when the read began; its result
  std::uint64_t read = 0;                    ///< the courier's job with the read; 0 for none
  std::int64_t readClock = 0, contained = 0; ///< the read's clock; the least one in its result
  std::int64_t cached = 0;                   ///< the least clock that the weights contain
  std::int64_t least = 0;                    ///< the least clock at the last grant
  Courier courier;                           ///< ends first, because its jobs use the members above
};

} // namespace syncline::servers
