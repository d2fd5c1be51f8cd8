// Workers and dedicated servers, ranks as threads over loopback.
#include "Messages.h"
#include "NarrowTransport.h"
#include "Ranks.h"

#include "runtime/core/StepTypes.h"
#include "runtime/transport/collectives/DedicatedServers.h"

#include <barrier>

namespace syncline {
namespace {

using namespace transport;
using namespace syncline::testing;

struct Work {
  ElementType type;
  std::size_t count;
};

class Servers : public ::testing::TestWithParam<ServerGroup> {};

// Any number of workers and servers gives the sum over the workers, with the same bits on each.
TEST_P(Servers, MatchGatherAndSum) {
  const ServerGroup servers = GetParam();
  const std::size_t s = servers.servers;
  std::vector<Work> work;
  for (std::size_t count : {std::size_t{0}, std::size_t{1}, s - 1, s, s + 1, std::size_t{1000},
                            std::size_t{65536}, std::size_t{500009}})
    work.push_back({summable[(work.size() + servers.workers) % std::size(summable)], count});
  std::vector<std::vector<Message>> results(servers.workers);
  runRanks(servers.workers + servers.servers, [&](int rank, Group &group) {
    if (rank >= servers.workers) {
      auto server = std::move(*DedicatedServer::create(*group.transport(), "test", servers));
      for (const Work &w : work)
        ASSERT_TRUE(server->serve(w.count * core::elementBytes(w.type), w.type).isOk());
      return;
    }
    auto client = std::move(*createServerClient(*group.transport(), "test", servers));
    for (std::size_t i = 0; i < work.size(); ++i) {
      Message m = randomMessage(work[i].type, work[i].count, rank, static_cast<int>(i));
      ASSERT_TRUE(client->run(m.data(), m.size(), work[i].type).isOk());
      results[rank].push_back(std::move(m));
    }
  });
  for (std::size_t i = 0; i < work.size(); ++i)
    for (int r = 0; r < servers.workers; ++r) {
      ASSERT_EQ(results[r].size(), work.size());
      if (r == 0) {
        EXPECT_EQ(difference(work[i].type, results[0][i],
                             gatherAndSum(work[i].type, work[i].count, servers.workers,
                                          static_cast<int>(i)),
                             servers.workers),
                  "");
      } else {
        EXPECT_TRUE(results[r][i] == results[0][i]);
      }
    }
}
std::vector<ServerGroup> groups() {
  std::vector<ServerGroup> all{{2, 5}};
  for (int workers = 1; workers <= 5; ++workers)
    for (int servers = 1; servers <= 3; ++servers)
      all.push_back({workers, servers});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Groups, Servers, ::testing::ValuesIn(groups()), [](const auto &info) {
  return std::to_string(info.param.workers) + "_and_" + std::to_string(info.param.servers);
});

// Pulling overlaps pushing and the servers' sums: a long message passes links that hold one piece
// each, where a worker that pushed it all before it pulled would wait for ever.
TEST(DedicatedServers, OverlapsBothDirections) {
  constexpr ServerGroup roles{3, 2};
  constexpr std::size_t count = 2000003;
  NarrowNetwork network;
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < roles.workers + roles.servers; ++rank)
    ranks.emplace_back([&, rank] {
      NarrowTransport transport(network, rank, roles.workers + roles.servers);
      if (rank >= roles.workers) {
        auto server = std::move(*DedicatedServer::create(transport, "test", roles));
        Status s = server->serve(count * 4, ElementType::i32);
        EXPECT_TRUE(s.isOk()) << s.message();
        return;
      }
      auto client = std::move(*createServerClient(transport, "test", roles));
      Message m = randomMessage(ElementType::i32, count, rank, 1);
      Status s = client->run(m.data(), m.size(), ElementType::i32);
      ASSERT_TRUE(s.isOk()) << s.message();
      EXPECT_EQ(difference(ElementType::i32, m,
                           gatherAndSum(ElementType::i32, count, roles.workers, 1), roles.workers),
                "");
    });
  for (std::thread &rank : ranks)
    rank.join();
}

// A server that joins and then never opens its side of a link is named by all who wait for it.
TEST(DedicatedServers, ServerThatDoesNotConnectIsNamed) {
  Result<Socket> listener = Socket::listen(0);
  ASSERT_TRUE(listener.isOk()) << listener.status().message();
  const int port = listener->localPort(), fd = listener->release();
  std::barrier finished(3);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 3; ++rank)
    ranks.emplace_back([&, rank] {
      GroupOptions options;
      options.rank = rank;
      options.size = 3;
      options.workers = 2;
      options.port = port;
      options.listener = rank == 0 ? fd : -1;
      options.startSeconds = 4;
      auto group = Group::join(options);
      EXPECT_TRUE(group.isOk()) << group.status().message();
      if (group.isOk() && rank < 2) {
        EXPECT_TRUE((*group)->connect(test::patience).isOk());
        Status s = createServerClient(*(*group)->transport(), "test", {2, 1}).status();
        EXPECT_EQ(s.kind(), ErrorKind::peerLost);
        EXPECT_NE(s.message().find("lost server 0 (rank 2) (it answers, but did not come in time)"),
                  std::string::npos)
            << s.message();
      }
      finished.arrive_and_wait();
    });
  for (std::thread &rank : ranks)
    rank.join();
}

// Roles that do not add up to the run's ranks are refused on both sides.
TEST(DedicatedServers, WrongGroup) {
  runRanks(2, [](int, Group &group) {
    for (ServerGroup wrong : {ServerGroup{2, 0}, ServerGroup{0, 2}, ServerGroup{2, 2}}) {
      EXPECT_EQ(createServerClient(*group.transport(), "test", wrong).status().kind(),
                ErrorKind::badInput);
      EXPECT_EQ(DedicatedServer::create(*group.transport(), "test", wrong).status().kind(),
                ErrorKind::badInput);
    }
  });
}

} // namespace
} // namespace syncline
