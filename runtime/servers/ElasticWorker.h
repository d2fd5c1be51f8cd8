// A worker of the forms of EASGD that have servers.
#pragma once

#include "runtime/servers/AdditiveWorker.h"

namespace syncline::servers {

/// The worker's weights W are drawn to the servers' centre C, and C to W. Every `period` steps,
/// with the values before that step and the share a = η·ρ:
///
///     C ← C + a·(W - C)                   on the servers
///     W ← W after the step - a·(W - C)
///
/// The exchange travels while the step computes or, where workers take turns, before it.
class ElasticWorker : public core::Exchanges {
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
  Status drain() override { return Status::ok(); }
  /// The weights become the centre.
  Status finish() override;
  double waitedSeconds() const override { return counts.waited; }
  core::DriftCounts drift() const override { return counts; }
  int stopSignal() const override { return signal; }
  void recordRequests() override { client.log().start(); }
  std::vector<core::ServerRequest> takeRequests() override { return client.log().take(); }

private:
  bool isDue(std::int64_t number) const { return number % elastic.period == 0; }
  Status takeGrants(std::int64_t late);
  Status wait();

  Client &client;
  const Elastic elastic;
  const WorkerOptions options;
  std::vector<float> sent, centre; ///< W and C of the exchange
  std::uint64_t exchange = 0;      ///< the courier's job with it
  std::int64_t clock = 0;          ///< number of complete steps
  std::int64_t unanswered = 0;     ///< ticks
  int signal = 0;
  core::DriftCounts counts;
  Courier courier; ///< ends first, because its jobs use the members above
};

} // namespace syncline::servers
