// The ring against gather-and-sum, ranks as threads over loopback.
#include "Ranks.h"

#include "runtime/transport/CommunicationThread.h"
#include "runtime/transport/RingAllReduce.h"

#include <cstring>
#include <random>

namespace syncline {
namespace {

using testing::runRanks;

std::vector<float> valuesOf(int rank, std::size_t count, int salt) {
  std::mt19937 random(rank * 1000 + salt);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> v(count);
  for (float &x : v)
    x = uniform(random);
  return v;
}

/// Obviously right: every rank's values, summed in double.
std::vector<double> referenceSum(int ranks, std::size_t count, int salt) {
  std::vector<double> sum(count);
  for (int r = 0; r < ranks; ++r) {
    std::vector<float> v = valuesOf(r, count, salt);
    for (std::size_t i = 0; i < count; ++i)
      sum[i] += v[i];
  }
  return sum;
}

struct Case {
  int ranks;
  std::vector<std::size_t> counts;
};

class RingSums : public ::testing::TestWithParam<Case> {};

// Any number of ranks and any length gives the sum, with the same bits everywhere.
TEST_P(RingSums, MatchGatherAndSum) {
  const auto &[ranks, counts] = GetParam();
  std::vector<std::vector<std::vector<float>>> results(ranks);
  runRanks(ranks, [&, n = ranks, &counts = counts](int rank, Group &group) {
    auto ring = std::move(*RingAllReduce::create(*group.transport(), "test"));
    for (std::size_t i = 0; i < counts.size(); ++i) {
      std::vector<float> v = valuesOf(rank, counts[i], static_cast<int>(i));
      Status s = ring->run(v.data(), v.size() * 4, ElementType::f32);
      ASSERT_TRUE(s.isOk()) << s.message();
      results[rank].push_back(v);
    }
  });
  for (std::size_t i = 0; i < counts.size(); ++i) {
    std::vector<double> wanted = referenceSum(ranks, counts[i], static_cast<int>(i));
    for (int r = 0; r < ranks; ++r) {
      ASSERT_EQ(results[r].size(), counts.size());
      ASSERT_EQ(0, std::memcmp(results[r][i].data(), results[0][i].data(), counts[i] * 4));
      for (std::size_t e = 0; e < counts[i]; ++e)
        ASSERT_NEAR(results[r][i][e], wanted[e], 1e-6 * ranks) << "element " << e;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, RingSums,
                         ::testing::Values(Case{1, {0, 1, 1000}},
                                           Case{2, {0, 1, 2, 3, 31, 32, 33, 1000, 100000, 1000003}},
                                           Case{3, {1, 2, 3, 4, 47, 48, 49, 777, 300001, 1000003}},
                                           Case{4, {1, 3, 5, 63, 64, 65, 131072, 524288, 2000001}},
                                           Case{5, {1, 4, 6, 80, 81, 500009}},
                                           Case{7, {6, 8, 112, 123457}}));

// The segments of the chunks cover every byte of the message exactly once, in order.
TEST(RingSchedule, CoversTheMessage) {
  for (int ranks : {1, 2, 3, 4, 7, 16, 64})
    for (std::size_t count : {0ul, 1ul, 2ul, 15ul, 16ul, 17ul, 1023ul, 65537ul, 9000001ul}) {
      RingSchedule schedule(ranks, count * 4, 4);
      std::size_t next = 0;
      for (int c = 0; c < ranks; ++c)
        for (int s = 0; s < schedule.segments; ++s) {
          RingSchedule::Range r = schedule.range(c, s);
          ASSERT_LE(r.begin, r.end);
          ASSERT_LE(r.size(), schedule.segmentBytes);
          ASSERT_EQ(r.size() % 4, 0u);
          if (r.size() == 0)
            continue;
          ASSERT_EQ(r.begin, next);
          next = r.end;
        }
      ASSERT_EQ(next, count * 4) << ranks << " ranks, " << count << " elements";
    }
}

// f64 and integers are summed as what they are.
TEST(RingAllReduce, OtherElementTypes) {
  runRanks(3, [](int rank, Group &group) {
    auto ring = std::move(*RingAllReduce::create(*group.transport(), "test"));
    std::vector<double> d(1001, 1e-12 * (rank + 1));
    ASSERT_TRUE(ring->run(d.data(), d.size() * 8, ElementType::f64).isOk());
    for (double x : d)
      ASSERT_NEAR(x, 6e-12, 1e-24);
    std::vector<std::int64_t> n(17, (std::int64_t{1} << 40) + rank);
    ASSERT_TRUE(ring->run(n.data(), n.size() * 8, ElementType::i64).isOk());
    for (std::int64_t x : n)
      ASSERT_EQ(x, 3 * (std::int64_t{1} << 40) + 3);
  });
}

// Bytes have no sum: an error, not a wrong result.
TEST(RingAllReduce, RefusesBytes) {
  runRanks(1, [](int, Group &group) {
    char c = 0;
    auto ring = std::move(*RingAllReduce::create(*group.transport(), "test"));
    Status s = ring->run(&c, 1, ElementType::u8);
    EXPECT_EQ(s.kind(), ErrorKind::badInput);
  });
}

// Buckets travel in the order of issue while the caller goes on; wait returns their sums.
TEST(CommunicationThread, SumsInOrder) {
  runRanks(4, [](int rank, Group &group) {
    auto channel = std::move(*CommunicationThread::create(*group.transport(), 0));
    for (int step = 0; step < 20; ++step) {
      channel->startStep(step);
      std::vector<std::vector<float>> buckets;
      for (std::size_t n : {5u, 40000u, 1u, 300000u})
        buckets.emplace_back(n, static_cast<float>(rank + step));
      for (int b = 0; b < 4; ++b)
        channel->issue(b, buckets[b].data(), buckets[b].size() * 4, ElementType::f32);
      for (int b = 0; b < 4; ++b) {
        Status s = channel->wait(b);
        ASSERT_TRUE(s.isOk()) << s.message();
        for (float x : buckets[b])
          ASSERT_EQ(x, static_cast<float>(6 + 4 * step));
      }
      auto timings = channel->timings();
      ASSERT_EQ(timings.size(), 4u);
      for (int b = 0; b < 4; ++b) {
        EXPECT_EQ(timings[b].bucket, b);
        EXPECT_LE(timings[b].issued, timings[b].started);
        EXPECT_LE(timings[b].started, timings[b].finished);
        if (b > 0) {
          EXPECT_LE(timings[b - 1].finished, timings[b].started);
        }
      }
    }
  });
}

// Two channels share the transport without mixing their messages.
TEST(CommunicationThread, ChannelsDoNotMix) {
  runRanks(3, [](int rank, Group &group) {
    auto first = std::move(*CommunicationThread::create(*group.transport(), 0));
    auto second = std::move(*CommunicationThread::create(*group.transport(), 1));
    for (int step = 0; step < 10; ++step) {
      first->startStep(step);
      second->startStep(step);
      std::vector<float> a(200000, 1), b(300000, 10);
      first->issue(0, a.data(), a.size() * 4, ElementType::f32);
      second->issue(1, b.data(), b.size() * 4, ElementType::f32);
      ASSERT_TRUE(second->wait(1).isOk());
      ASSERT_TRUE(first->wait(0).isOk());
      ASSERT_EQ(a.front() + a.back(), 6);
      ASSERT_EQ(b.front() + b.back(), 60);
    }
  });
}

// A bucket nobody issued is our fault, said at once.
TEST(CommunicationThread, WaitWithoutIssue) {
  runRanks(1, [](int, Group &group) {
    auto channel = std::move(*CommunicationThread::create(*group.transport(), 0));
    EXPECT_EQ(channel->wait(3).kind(), ErrorKind::internal);
  });
}

} // namespace
} // namespace syncline
