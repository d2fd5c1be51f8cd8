// A worker and its servers as threads over links inside the process, and servers that break what a
// plan states.
#include "runtime/servers/AdditiveWorker.h"
#include "runtime/servers/LocalLink.h"
#include "runtime/servers/ShardServer.h"

#include <gtest/gtest.h>
#include <thread>
#include <tuple>

namespace syncline {
namespace {

using namespace servers;

/// Nobody is ever lost.
class NoPeers : public core::Peers {
public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  double timeoutSeconds() const override { return 20; }
  Result<std::vector<std::string>> exchange(const std::string &, const std::string &) override {
    return std::vector<std::string>();
  }
  Status verdict() const override { return Status::ok(); }
  std::shared_ptr<void> waitingFor(int) override { return nullptr; }
  Status blame(int, const std::string &message) override {
    return Status::error(ErrorKind::peerLost, message);
  }
};

void join(Connection &worker, Connection &server) {
  std::tie(worker.to, server.from) = localLink();
  std::tie(server.to, worker.from) = localLink();
}

constexpr std::size_t elements = 32;

/// One worker with one shard, and the server's ends of its links.
struct Pair {
  Pair() {
    worker.shards.resize(1);
    server.workers.resize(1);
    server.ticks.resize(1);
    join(worker.shards[0], server.workers[0]);
    join(worker.keeper, server.ticks[0]);
  }

  std::vector<float> weights = std::vector<float>(elements, 1);
  Connections worker, server;
  NoPeers peers;
  Client client{worker, Roles{1, 1, {{0, elements * sizeof(float)}}}, peers};
};

// A lone worker's steps arrive at the server, and it ends with the server's values.
TEST(AdditiveWorker, PushesItsSteps) {
  Pair pair;
  ShardServer::Options options;
  options.bytes = elements * sizeof(float);
  options.keeper = ClockKeeper(Bounds::ssp(2), 1);
  ShardServer server(options, pair.server);
  std::thread values([&] { EXPECT_TRUE(server.serve(0)); });
  std::thread ticks([&] { EXPECT_TRUE(server.keep(0)); });
  AdditiveWorker worker(pair.client, Bounds::ssp(2), 1, {pair.weights, true});
  ASSERT_TRUE(worker.begin());
  for (int step = 0; step < 5; ++step) {
    ASSERT_TRUE(worker.beforeStep(step));
    for (float &w : pair.weights)
      w += static_cast<float>(step);
    ASSERT_TRUE(worker.afterStep(step));
  }
  ASSERT_TRUE(worker.finish());
  EXPECT_EQ(pair.weights, std::vector<float>(elements, 11));
  EXPECT_EQ(worker.drift().steps, 5);
  EXPECT_LE(worker.drift().largestStaleness, 2);
  values.join();
  ticks.join();
  EXPECT_TRUE(server.isDone());
}

/// A server that answers every tick with this lead, and every read as if it contained the steps up
/// to this clock.
void answer(Connections &links, std::int64_t lead, std::int64_t contained) {
  std::thread values([&links, contained] {
    Request request{};
    std::vector<float> payload(elements);
    while (receiveMessage(*links.workers[0].from, request)) {
      if (request.kind == Request::Kind::initialise || request.kind == Request::Kind::push)
        (void)receiveValues(*links.workers[0].from, payload.data(), elements * sizeof(float));
      if (request.kind != Request::Kind::read)
        continue;
      (void)sendMessage(*links.workers[0].to, Reply{Reply::Kind::ready, 0, contained});
      (void)sendValues(*links.workers[0].to, payload.data(), elements * sizeof(float));
    }
  });
  Request request{};
  while (receiveMessage(*links.ticks[0].from, request))
    (void)sendMessage(*links.ticks[0].to, Reply{Reply::Kind::ready, 0, request.clock, lead});
  values.join();
}

/// What a worker with staleness 2 says of such a server, within ten steps.
Status train(std::int64_t lead, std::int64_t contained) {
  Pair pair;
  std::thread server([&] { answer(pair.server, lead, contained); });
  Status s;
  {
    AdditiveWorker worker(pair.client, Bounds::ssp(2), 1, {pair.weights, true});
    s = worker.begin();
    for (int step = 0; step < 10 && s; ++step) {
      s = worker.beforeStep(step);
      if (s)
        s = worker.afterStep(step);
    }
  }
  pair.worker = {}; // closes the links
  server.join();
  return s;
}

// A lead that exceeds the plan's bound is our own fault.
TEST(AdditiveWorker, ExcessiveLead) {
  EXPECT_TRUE(train(2, 10)) << "within the bound";
  const Status s = train(3, 10);
  ASSERT_FALSE(s);
  EXPECT_EQ(s.exitCode(), 3);
  EXPECT_EQ(s.message(), "a worker may begin a step with a lead of 3 steps, expected at most 2");
}

// Weights older than the plan promises are our own fault.
TEST(AdditiveWorker, ExcessiveStaleness) {
  const Status s = train(0, 1);
  ASSERT_FALSE(s);
  EXPECT_EQ(s.exitCode(), 3);
  EXPECT_EQ(s.message(), "the weights before step 4 contain the steps of all workers up to step 1 "
                         "only, expected up to 2");
}

} // namespace
} // namespace syncline
