// A worker of the forms of EASGD that have servers.
#pragma once

#include "runtime/servers/Courier.h"
#include "runtime/servers/ServedWorker.h"

#include <vector>

namespace syncline::servers {

/// The worker's weights W are drawn to the servers' centre C, and C to W. Every `period` steps,
/// with the values before that step and the share a = η·ρ:
///
///     C ← C + a·(W - C)                   on the servers
///     W ← W after the step - a·(W - C)
///
/// The exchange travels while the step computes or, where workers take turns, before it.
class ElasticWorker : public ServedWorker {
public:
  struct Elastic {
    std::int64_t period = 1;
    double share = 0;
    bool takesTurns = false;
  };

  /// `client` outlives the worker.
  ElasticWorker(Client &client, const Elastic &elastic, WorkerOptions options);

  Status begin() override;
  Status beforeStep(std::int64_t number) override;
  Status afterStep(std::int64_t number) override;
  bool isStill(std::int64_t number) const override { return isDue(number + 1); }
  /// The weights become the centre.
  Status finish() override;

private:
  bool isDue(std::int64_t number) const { return number % elastic.period == 0; }
  Status takeGrants(std::int64_t late);
  Status wait();

  const Elastic elastic;
  std::vector<float> sent, centre; ///< W and C of the exchange
  std::uint64_t exchange = 0;      ///< the courier's job with it
  Courier courier;                 ///< ends first, because its jobs use the members above
};

} // namespace syncline::servers
