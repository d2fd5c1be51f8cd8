// Who a process is, from flags and from the environment.
#include "FindIdentity.h"

namespace syncline {
namespace {

using namespace launch;
using testing::expectUsage, testing::find, testing::Variables;

// Nothing said: as many local ranks as the plan has; a plan for one rank is run here.
TEST(Identity, Default) {
  auto four = find({});
  EXPECT_TRUE(four->launchesLocally);
  EXPECT_EQ(four->size, 4);
  EXPECT_FALSE(find({}, {}, {.ranks = 1})->launchesLocally);
}

// Without a plan there are as many ranks as were, or are to be, started.
TEST(Identity, AnyRanks) {
  const RunShape any{.ranks = RunShape::anyRanks};
  EXPECT_EQ(find({}, {.localRanks = 3}, any)->size, 3);
  EXPECT_TRUE(find({}, {.localRanks = 3}, any)->launchesLocally);
  EXPECT_EQ(find({}, {}, any)->size, 1);
  EXPECT_FALSE(find({}, {}, any)->launchesLocally);
  const Variables torchrun{{"RANK", "6"}, {"WORLD_SIZE", "7"}, {"MASTER_ADDR", "host"}};
  EXPECT_EQ(find(torchrun, {}, any)->size, 7);
  EXPECT_EQ(find({}, {.rank = 1, .ranks = 5}, any)->size, 5);
}

// More ranks and servers than an int counts are refused, not added up.
TEST(Identity, MoreThanCanBeCounted) {
  expectUsage(find({}, {.localRanks = 2147483647}, {.ranks = 2, .servers = 1}),
              "'-n 2147483647': more ranks than can be counted");
}

// A port is one that a rank can listen on.
TEST(Identity, NoPort) {
  for (const char *port : {"0", "65535", "2147483647"})
    expectUsage(find({{"RANK", "1"},
                      {"WORLD_SIZE", "4"},
                      {"MASTER_ADDR", "h"},
                      {"MASTER_PORT", port},
                      {"TORCHELASTIC_USE_AGENT_STORE", "True"}}),
                "environment variable 'MASTER_PORT': expected a port from 1 to 65534, got '" +
                    std::string(port) + "'");
}

// An agent of torchrun has the port that it announces; one inherited without a port has none.
TEST(Identity, AnAgentHasThePortThatItAnnounces) {
  Variables variables{{"MASTER_ADDR", "h"}, {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
  IdentityFlags flags;
  flags.rank = 1;
  flags.ranks = 4;
  const int usual = find(variables, flags)->masterPort;
  EXPECT_EQ(usual, find({{"MASTER_ADDR", "h"}}, flags)->masterPort);
  variables["MASTER_PORT"] = "4000";
  EXPECT_EQ(find(variables, flags)->masterPort, 4001);
}

// A plan for a large cluster does not flood the one host it is tried on; as one of its ranks a
// process may well run.
TEST(Identity, MoreRanksThanOneHostStarts) {
  EXPECT_TRUE(find({}, {}, {.ranks = maxLocalRanks}).isOk());
  expectUsage(find({}, {}, {.ranks = 100000}),
              "100000 ranks on one host: at most 256 are started here; start them on several hosts "
              "by torchrun, mpirun or srun");
  IdentityFlags flags;
  flags.rank = 7;
  flags.ranks = 100000;
  EXPECT_TRUE(find({}, flags, {.ranks = 100000}).isOk());
}

// Contradictions name both sides.
TEST(Identity, Contradictions) {
  expectUsage(find({{"RANK", "0"}}), "environment variable 'RANK' is set, but 'WORLD_SIZE' is not");
  expectUsage(find({{"RANK", "4"}, {"WORLD_SIZE", "4"}}), "'RANK=4' is no rank of 'WORLD_SIZE=4'");
  expectUsage(find({{"RANK", "x"}, {"WORLD_SIZE", "4"}}),
              "environment variable 'RANK': expected a number, got 'x'");
  Variables two{{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "h"}};
  expectUsage(find(two), "the plan is for 4 ranks, 'WORLD_SIZE' says 2; 'compile --nodes 2' "
                         "makes one that fits");
  IdentityFlags flags;
  flags.localRanks = 4;
  expectUsage(find(two, flags), "'-n 4' contradicts 'WORLD_SIZE', which says 2 ranks");
  flags.rank = 1;
  expectUsage(find({}, flags),
              "'-n' starts local ranks; it does not go with '--rank' and '--ranks'");
  flags.localRanks.reset();
  expectUsage(find({}, flags), "'--rank' and '--ranks' go together");
  flags.ranks = 1;
  expectUsage(find({}, flags), "'--rank 1' is no rank of '--ranks 1'");
}

// Servers are ranks behind the workers: started with them, and counted by whoever starts each.
TEST(Identity, Servers) {
  const RunShape plan{.ranks = 4, .servers = 2};
  IdentityFlags flags;
  for (bool says : {false, true}) {
    if (says)
      flags.localRanks = 4;
    auto all = find({}, flags, plan);
    ASSERT_TRUE(all.isOk()) << all.status().message();
    EXPECT_TRUE(all->launchesLocally);
    EXPECT_EQ(all->size, 6);
  }
  for (int rank : {0, 3, 4, 5}) {
    auto one = find({{"RANK", std::to_string(rank)}, {"WORLD_SIZE", "6"}, {"MASTER_ADDR", "h"}},
                    flags, plan);
    ASSERT_TRUE(one.isOk()) << one.status().message();
    EXPECT_EQ(one->isServer(), rank >= 4);
    EXPECT_EQ(one->workers(), 4);
  }
  auto lone = find({}, {}, {.ranks = 1, .servers = 1});
  EXPECT_TRUE(lone->launchesLocally);
  EXPECT_EQ(lone->size, 2);
}

// Another number of processes than the plan's is refused with both numbers.
TEST(Identity, ServersThatContradictThePlan) {
  const RunShape plan{.ranks = 4, .servers = 2};
  IdentityFlags flags;
  flags.localRanks = 6;
  expectUsage(find({}, flags, plan), "the plan is for 4 ranks and 2 servers, '-n' says 6");
  expectUsage(find({{"RANK", "0"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "h"}}, {}, plan),
              "the plan is for 4 ranks and 2 servers, 6 processes together; 'WORLD_SIZE' says 4");
}

// A node is what the flag, else the starter, else the plan takes for one.
TEST(Identity, RanksOfANode) {
  const RunShape plan{.ranks = 4, .ranksPerNode = 2};
  Variables v{{"RANK", "3"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "h"}};
  EXPECT_EQ(find(v, {}, plan)->localSize, 2);
  EXPECT_EQ(find(v, {}, plan)->localRank, 1);
  v["LOCAL_WORLD_SIZE"] = "4";
  v["LOCAL_RANK"] = "3";
  EXPECT_EQ(find(v, {}, plan)->localSize, 4);
  IdentityFlags flags;
  flags.ranksPerNode = 2;
  EXPECT_EQ(find(v, flags, plan)->localSize, 2);
  EXPECT_EQ(find(v, flags, plan)->localRank, 1);
  flags.ranksPerNode = 4;
  expectUsage(find(v, flags, plan), "the plan is for 2 ranks a node, '--ranks-per-node' says 4");
  EXPECT_EQ(find(v, flags)->localSize, 4);
}

// A plan for several nodes may run on one machine: each rank there is another of that machine's.
TEST(Identity, RanksOfAMachine) {
  const RunShape plan{.ranks = 4, .ranksPerNode = 2};
  Variables v{{"RANK", "3"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "h"}, {"LOCAL_RANK", "3"}};
  EXPECT_EQ(find(v, {}, plan)->machineRank, 3);
  EXPECT_EQ(find(v, {.ranksPerNode = 2}, plan)->localRank, 1);
  EXPECT_EQ(find(v, {.ranksPerNode = 2}, plan)->machineRank, 3);
  v["LOCAL_RANK"] = "1";
  EXPECT_EQ(find(v, {}, plan)->machineRank, 1);
  v["SYNCLINE_MACHINE_RANK"] = "2"; // by the local launcher, which knows
  EXPECT_EQ(find(v, {}, plan)->localRank, 1);
  EXPECT_EQ(find(v, {}, plan)->machineRank, 2);
  EXPECT_EQ(find({}, {.rank = 3, .ranks = 4}, plan)->machineRank, 1);
}

// All local ranks meet on this host, wherever others do.
TEST(Identity, LocalMeeting) {
  const Variables others{{"MASTER_ADDR", "node1"}, {"MASTER_PORT", "29611"}};
  auto id = find(others, {.localRanks = 4});
  ASSERT_TRUE(id.isOk()) << id.status().message();
  EXPECT_TRUE(id->launchesLocally);
  EXPECT_EQ(id->masterAddress, "127.0.0.1");
}

// Flags go before the environment, which says where all meet.
TEST(Identity, FlagsFirst) {
  const IdentityFlags flags{.rank = 1, .ranks = 4};
  Variables v{{"RANK", "0"}, {"WORLD_SIZE", "2"}};
  auto id = find(v, flags);
  ASSERT_TRUE(id.isOk()) << id.status().message();
  EXPECT_EQ(id->rank, 1);
  EXPECT_EQ(id->masterAddress, "127.0.0.1");
  EXPECT_EQ(id->masterPort, 29500);
  v.insert({{"MASTER_ADDR", "m"}, {"MASTER_PORT", "5"}});
  id = find(v, flags);
  EXPECT_EQ(id->masterAddress, "m");
  EXPECT_EQ(id->masterPort, 5);
  v["MASTER_PORT"] = "0";
  expectUsage(find(v, flags),
              "environment variable 'MASTER_PORT': expected a port from 1 to 65534, got '0'");
}

} // namespace
} // namespace syncline
