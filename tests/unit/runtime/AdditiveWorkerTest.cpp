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

/// What a server says of the last of these requests of one worker.
std::string refusal(const std::vector<Request> &requests, Pace pace = {}) {
  Pair pair;
  ShardServer::Options options;
  options.bytes = elements * sizeof(float);
  options.values = options.ticks = pace;
  ShardServer server(options, pair.server);
  const bool ticks = requests.back().kind == Request::Kind::tick;
  Status s;
  std::thread thread([&] { s = ticks ? server.keep(0) : server.serve(0); });
  Connection &at = ticks ? pair.worker.keeper : pair.worker.shards[0];
  constexpr std::size_t bytes = elements * sizeof(float);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_TRUE(sendMessage(*at.to, requests[i]));
    const bool isSecond = i > 0 && requests[i].kind == Request::Kind::initialise;
    if (i + 1 < requests.size() || isSecond) {
      EXPECT_TRUE(sendValues(*at.to, pair.weights.data(), bytes));
    }
    if (i + 1 == requests.size() || requests[i].kind != Request::Kind::elastic)
      continue;
    Reply reply{};
    EXPECT_TRUE(receiveMessage(*at.from, reply));
    EXPECT_TRUE(receiveValues(*at.from, pair.weights.data(), bytes));
  }
  thread.join();
  EXPECT_EQ(s.isOk() ? 0 : s.exitCode(), 1);
  return s.isOk() ? "" : s.message();
}

// A server says who sent what, where a worker's requests cannot be right.
TEST(ShardServer, NamesWhoBreaksTheProtocol) {
  using Kind = Request::Kind;
  const Request first{Kind::initialise};
  const auto push = [](std::int64_t clock) { return Request{Kind::push, 0, clock}; };
  const auto mix = [](std::int64_t clock, double factor) {
    return Request{Kind::elastic, 0, clock, 0, factor};
  };
  EXPECT_EQ(refusal({Request{static_cast<Kind>(1941528482)}}),
            "rank 0 sent request 1941528482 out of place");
  EXPECT_EQ(refusal({first, first}), "rank 0 sent request 'initialise' out of place");
  EXPECT_EQ(refusal({first, push(2)}), "rank 0 sent request 'push' of clock 2, expected 1");
  EXPECT_EQ(refusal({first, push(1), push(1)}),
            "rank 0 sent request 'push' of clock 1, expected 2");
  EXPECT_EQ(refusal({first, push(1), Request{Kind::read, 0, 1, 2}}),
            "rank 0 sent request 'read' of clock 1 for clock 2, expected clock 1 and at most that");
  EXPECT_EQ(refusal({Request{Kind::tick, 0, 3}}),
            "rank 0 sent request 'tick' of clock 3, expected 1");
  const Pace periods{.first = 0, .by = 4};
  EXPECT_EQ(refusal({first, mix(0, 0.5), mix(5, 0.5)}, periods),
            "rank 0 sent request 'elastic' of clock 5, expected 4");
  EXPECT_EQ(refusal({first, mix(0, 0.5), mix(4, 1e9)}, periods),
            "rank 0 sent request 'elastic' of factor 1000000000.000000, rank 0 of factor 0.500000");
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
