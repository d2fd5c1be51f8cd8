// Every all-reduce scheme against gather-and-sum, ranks as threads over loopback.
#include "Messages.h"
#include "Ranks.h"

#include "runtime/core/Channel.h"
#include "runtime/transport/collectives/AllReduce.h"

#include <algorithm>
#include <tuple>

namespace syncline {
namespace {

using namespace transport;
using namespace syncline::testing;

std::unique_ptr<AllReduce> make(Scheme scheme, Group &group, int ranksPerNode = 1) {
  auto made = createAllReduce(scheme, *group.transport(), "test" + std::to_string(ranksPerNode),
                              {ranksPerNode});
  EXPECT_TRUE(made.isOk()) << made.status().message();
  return made ? std::move(*made) : nullptr;
}

struct Work {
  ElementType type;
  std::size_t count;
};

/// Lengths around the number of ranks, around the borders of segments, and long; types in turn.
std::vector<Work> workFor(int ranks, int salt) {
  const std::size_t p = ranks;
  std::vector<Work> all;
  for (std::size_t count :
       {std::size_t{0}, std::size_t{1}, p - 1, p, p + 1, std::size_t{1000}, 16 * p - 1, 16 * p + 1,
        8192 * p, 8192 * p + 3, 65537 * p, std::size_t{1000003}})
    all.push_back({summable[salt++ % std::size(summable)], count});
  return all;
}

/// Runs all work on all ranks; checks the sums, and that all ranks hold the same bits.
void checkSums(Scheme scheme, int ranks, int ranksPerNode) {
  const std::vector<Work> work =
      workFor(ranks, ranks + static_cast<int>(schemeName(scheme).size()));
  std::vector<std::vector<Message>> results(ranks);
  runRanks(ranks, [&](int rank, Group &group) {
    auto allReduce = make(scheme, group, ranksPerNode);
    ASSERT_TRUE(allReduce);
    for (std::size_t i = 0; i < work.size(); ++i) {
      Message m = randomMessage(work[i].type, work[i].count, rank, static_cast<int>(i));
      Status s = allReduce->run(m.data(), m.size(), work[i].type);
      ASSERT_TRUE(s.isOk()) << s.message();
      results[rank].push_back(std::move(m));
    }
  });
  for (std::size_t i = 0; i < work.size(); ++i) {
    const auto &[type, count] = work[i];
    ASSERT_EQ(results[0].size(), work.size());
    EXPECT_EQ(difference(type, results[0][i], gatherAndSum(type, count, ranks, static_cast<int>(i)),
                         ranks),
              "");
    for (int r = 1; r < ranks; ++r)
      ASSERT_TRUE(results[r][i] == results[0][i])
          << "ranks 0 and " << r << " differ, " << count << " elements";
  }
}

class AllReduceSums : public ::testing::TestWithParam<std::tuple<Scheme, int>> {};

// Any number of ranks, any length, any type gives the sum, with the same bits on every rank.
TEST_P(AllReduceSums, MatchGatherAndSum) {
  const auto &[scheme, ranks] = GetParam();
  for (int perNode = 1; perNode <= ranks; ++perNode)
    if (perNode == 1 || (scheme == Scheme::hierarchical && ranks % perNode == 0))
      checkSums(scheme, ranks, perNode);
}

std::vector<Scheme> summingSchemes() {
  auto schemes = allReduceSchemes();
  return {schemes.begin(), schemes.end()};
}

INSTANTIATE_TEST_SUITE_P(Schemes, AllReduceSums,
                         ::testing::Combine(::testing::ValuesIn(summingSchemes()),
                                            ::testing::Range(1, 10)),
                         [](const auto &info) {
                           std::string name = std::string(schemeName(std::get<0>(info.param))) +
                                              "_on_" + std::to_string(std::get<1>(info.param));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

class AllReduceScheme : public ::testing::TestWithParam<Scheme> {};

// Equal values give equal bits when they are summed again.
TEST_P(AllReduceScheme, Repeats) {
  runRanks(5, [&](int rank, Group &group) {
    auto allReduce = make(GetParam(), group);
    const Message message = randomMessage(ElementType::f32, 300001, rank, 1);
    Message first = message;
    ASSERT_TRUE(allReduce->run(first.data(), first.size(), ElementType::f32).isOk());
    for (int again = 0; again < 3; ++again) {
      Message m = message;
      ASSERT_TRUE(allReduce->run(m.data(), m.size(), ElementType::f32).isOk());
      ASSERT_TRUE(m == first);
    }
  });
}

// Thousands of short messages behind each other, while one rank is late now and then.
TEST_P(AllReduceScheme, ShortMessagesInARow) {
  runRanks(4, [&](int rank, Group &group) {
    auto allReduce = make(GetParam(), group, 2);
    for (int i = 0; i < 3000; ++i) {
      if (i % 500 == 100 * rank)
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      std::vector<std::int32_t> v(1 + i % 7 * 1000, i + rank);
      ASSERT_TRUE(allReduce->run(v.data(), v.size() * 4, ElementType::i32).isOk());
      ASSERT_EQ(v.front(), 4 * i + 6);
      ASSERT_EQ(v.back(), 4 * i + 6);
    }
  });
}

// Bytes have no sum, and half an element is no element: errors, not wrong results.
TEST_P(AllReduceScheme, RefusesWhatHasNoSum) {
  runRanks(2, [&](int, Group &group) {
    char bytes[6] = {};
    auto allReduce = make(GetParam(), group);
    EXPECT_EQ(allReduce->run(bytes, 1, ElementType::u8).kind(), ErrorKind::badInput);
    EXPECT_EQ(allReduce->run(bytes, 6, ElementType::f32).kind(), ErrorKind::internal);
  });
}

INSTANTIATE_TEST_SUITE_P(Schemes, AllReduceScheme, ::testing::ValuesIn(summingSchemes()),
                         [](const auto &info) {
                           std::string name(schemeName(info.param));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// A reduce-scatter and an all-gather, or a sum up the tree and a broadcast down it, give the bits
// of both at once.
TEST(AllReduce, Halves) {
  for (Scheme scheme : {Scheme::ring, Scheme::halvingDoubling, Scheme::tree})
    for (int ranks : {1, 2, 3, 5})
      for (std::size_t count : {std::size_t{2}, std::size_t{1000}, std::size_t{300'000}}) {
        std::vector<std::vector<Message>> results(static_cast<std::size_t>(ranks));
        runRanks(ranks, [&](int rank, Group &group) {
          auto allReduce = make(scheme, group);
          Message whole = randomMessage(ElementType::f32, count, rank, 1), halves = whole;
          ASSERT_TRUE(allReduce->run(whole.data(), whole.size(), ElementType::f32).isOk());
          for (core::Half half : {core::Half::first, core::Half::second})
            ASSERT_TRUE(
                allReduce->runHalf(halves.data(), halves.size(), ElementType::f32, half).isOk());
          results[static_cast<std::size_t>(rank)] = {whole, halves};
        });
        for (const std::vector<Message> &own : results) {
          ASSERT_EQ(own.size(), 2u);
          EXPECT_EQ(own[0], own[1])
              << schemeName(scheme) << ", " << ranks << " ranks, " << count << " elements";
        }
      }
}

// A scheme without halves says so, and bytes that have no sum have no half of it.
TEST(AllReduce, RefusesHalves) {
  runRanks(2, [&](int, Group &group) {
    char bytes[8] = {};
    auto servers = make(Scheme::parameterServer, group);
    EXPECT_EQ(servers->runHalf(bytes, 8, ElementType::f32, core::Half::first).kind(),
              ErrorKind::internal);
    auto ring = make(Scheme::ring, group);
    EXPECT_EQ(ring->runHalf(bytes, 1, ElementType::u8, core::Half::first).kind(),
              ErrorKind::badInput);
  });
}

// Schemes that complete something else than the gradients are refused.
TEST(AllReduce, OtherSchemes) {
  runRanks(2, [](int, Group &group) {
    for (Scheme scheme : {Scheme::reduceScatter, Scheme::factors}) {
      EXPECT_FALSE(isAllReduce(scheme));
      auto made = createAllReduce(scheme, *group.transport(), "test", {});
      ASSERT_FALSE(made.isOk());
      EXPECT_EQ(made.status().message(),
                "scheme '" + std::string(schemeName(scheme)) + "' is no all-reduce");
    }
  });
}

// Nodes that are not full have no hierarchy.
TEST(AllReduce, UnevenNodes) {
  runRanks(3, [&](int, Group &group) {
    auto made = createAllReduce(Scheme::hierarchical, *group.transport(), "test", {2});
    ASSERT_FALSE(made.isOk());
    EXPECT_EQ(made.status().kind(), ErrorKind::badInput);
    EXPECT_EQ(made.status().message(), "scheme 'hierarchical' needs nodes of equally many ranks: 3 "
                                       "ranks are no multiple of 2 ranks a node");
  });
}

} // namespace
} // namespace syncline
