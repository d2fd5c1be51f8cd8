// A channel's queue: order, timings, schemes, errors; ranks as threads over loopback.
#include "Ranks.h"

#include "runtime/transport/CommunicationThread.h"

namespace syncline {
namespace {

using namespace transport;

using testing::runRanks;

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
        EXPECT_TRUE(
            channel->issue(b, buckets[b].data(), buckets[b].size() * 4, ElementType::f32).isOk());
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

// The algorithm that NCCL chooses exists in NCCL only.
TEST(CommunicationThread, RefusesNcclsChoice) {
  runRanks(1, [](int, Group &group) {
    const auto made =
        CommunicationThread::create(*group.transport(), 3, {Scheme::ring, Scheme::library});
    ASSERT_FALSE(made.isOk());
    EXPECT_EQ(made.status().kind(), ErrorKind::badInput);
    EXPECT_EQ(made.status().message(),
              "channel 3: scheme 'library' is the algorithm that NCCL chooses, which only plans "
              "for '--backend cuda' can use");
  });
}

// What is thrown on the channel's thread is an error like any other.
TEST(CommunicationThread, ExceptionsEndTheRun) {
  runRanks(
      1,
      [](int, Group &group) {
        auto channel = std::move(*CommunicationThread::create(
            *group.transport(), 0, {Scheme::reduceScatter}, {},
            [](int, const core::SumOverRanks &) -> Status { throw std::bad_alloc(); }));
        std::vector<float> values(4);
        channel->startStep(0);
        EXPECT_TRUE(
            channel->issueSharded(0, {values.data(), values.data(), 16, ElementType::f32}).isOk());
        Status s = channel->wait(0);
        ASSERT_FALSE(s.isOk());
        EXPECT_EQ(s.message(), "out of memory");
        EXPECT_EQ(s.exitCode(), 1);
      },
      true, false);
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
      EXPECT_TRUE(first->issue(0, a.data(), a.size() * 4, ElementType::f32).isOk());
      EXPECT_TRUE(second->issue(1, b.data(), b.size() * 4, ElementType::f32).isOk());
      ASSERT_TRUE(second->wait(1).isOk());
      ASSERT_TRUE(first->wait(0).isOk());
      ASSERT_EQ(a.front() + a.back(), 6);
      ASSERT_EQ(b.front() + b.back(), 60);
    }
  });
}

// Buckets of one channel may travel by different schemes.
TEST(CommunicationThread, SchemeOfEachBucket) {
  runRanks(3, [](int rank, Group &group) {
    const std::vector<Scheme> schemes{Scheme::tree, Scheme::ring, Scheme::recursiveDoubling};
    auto channel = std::move(*CommunicationThread::create(*group.transport(), 0, schemes));
    for (int step = 0; step < 10; ++step) {
      channel->startStep(step);
      std::vector<std::vector<float>> buckets(3, std::vector<float>(50000, 1));
      for (int b = 0; b < 3; ++b)
        EXPECT_TRUE(
            channel
                ->issue(b, buckets[b].data(), buckets[b].size() * 4, ElementType::f32, schemes[b])
                .isOk());
      double loss = rank;
      EXPECT_TRUE(channel->issue(-1, &loss, sizeof loss, ElementType::f64).isOk());
      for (int b = 0; b < 3; ++b) {
        ASSERT_TRUE(channel->wait(b).isOk());
        ASSERT_EQ(buckets[b], std::vector<float>(50000, 3));
      }
      ASSERT_TRUE(channel->wait(-1).isOk());
      ASSERT_EQ(loss, 3);
    }
  });
}

// A scheme that the channel was not opened with is our fault, said by wait().
TEST(CommunicationThread, SchemeNotOffered) {
  runRanks(1, [](int, Group &group) {
    auto channel = std::move(*CommunicationThread::create(*group.transport(), 0));
    float x = 1;
    EXPECT_TRUE(channel->issue(0, &x, sizeof x, ElementType::f32, Scheme::tree).isOk());
    EXPECT_EQ(channel->wait(0).kind(), ErrorKind::internal);
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
