// What workers have in common that exchange with servers, by whatever rule.
#pragma once

#include "runtime/core/Exchanges.h"
#include "runtime/servers/Client.h"

#include <functional>
#include <span>
#include <vector>

namespace syncline::servers {

/// What all workers share with the run.
struct WorkerOptions {
  std::span<float> weights; ///< with their initial values
  bool isFirst = false;     ///< sends the initial values to the servers
  /// The signal that this rank has received; 0 for none.
  std::function<int()> signal = [] { return 0; };
};

/// Nothing under way touches the weights between steps.
class ServedWorker : public core::Exchanges {
public:
  Status drain() override { return Status::ok(); }
  double waitedSeconds() const override { return counts.waited; }
  core::DriftCounts drift() const override { return counts; }
  int stopSignal() const override { return signal; }
  void recordRequests() override { client.log().start(); }
  std::vector<core::ServerRequest> takeRequests() override { return client.log().take(); }

protected:
  /// `client` outlives the worker.
  ServedWorker(Client &client, WorkerOptions options)
      : client(client), options(std::move(options)) {}

  Client &client;
  const WorkerOptions options;
  std::int64_t clock = 0;      ///< number of complete steps
  std::int64_t unanswered = 0; ///< ticks
  int signal = 0;
  core::DriftCounts counts;
};

} // namespace syncline::servers
