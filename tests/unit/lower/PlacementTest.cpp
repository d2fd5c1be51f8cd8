// Placement: never overlaps, close to the bound, deterministic, quick.
#include "passes/lower/Placement.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <random>

using namespace syncline::lower;

namespace {

std::vector<Buffer> randomBuffers(std::uint32_t seed, std::size_t count) {
  std::mt19937 random(seed);
  std::vector<Buffer> buffers;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t first = random() % 200;
    buffers.push_back({first, first + static_cast<std::int64_t>(random() % 50),
                       static_cast<std::int64_t>(random() % 64) * 64});
  }
  return buffers;
}

/// A training step: activation i waits for the backward of layer i, gradients live for two steps.
std::vector<Buffer> trainingStep(std::int64_t layers, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Buffer> buffers;
  for (std::int64_t i = 0; i < layers; ++i) {
    const auto bytes = static_cast<std::int64_t>(1 + random() % 1000) * 64;
    const std::int64_t backward = 3 * layers - 2 * i;
    buffers.push_back({i, backward, bytes});
    buffers.push_back({backward - 2, backward, bytes});
  }
  return buffers;
}

/// The lowest offset for each buffer, in the order of the list, found by looking at all others.
std::vector<std::int64_t> lowestOffsets(const std::vector<Buffer> &buffers) {
  std::vector<std::int64_t> offsets;
  for (const Buffer &buffer : buffers) {
    std::int64_t offset = 0;
    for (bool moved = buffer.bytes > 0; moved;) {
      moved = false;
      for (std::size_t j = 0; j < offsets.size(); ++j) {
        const Buffer &other = buffers[j];
        const bool together = buffer.first <= other.last && other.first <= buffer.last;
        const std::int64_t end = offsets[j] + other.bytes;
        if (together && offsets[j] < offset + buffer.bytes && offset < end) {
          offset = end;
          moved = true;
        }
      }
    }
    offsets.push_back(offset);
  }
  return offsets;
}

void expectApart(const std::vector<Buffer> &buffers, const Placement &placement) {
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_LE(placement.offsets[i] + buffers[i].bytes, placement.bytes);
    for (std::size_t j = 0; j < i; ++j) {
      const bool together =
          buffers[i].first <= buffers[j].last && buffers[j].first <= buffers[i].last;
      const bool overlap = placement.offsets[i] < placement.offsets[j] + buffers[j].bytes &&
                           placement.offsets[j] < placement.offsets[i] + buffers[i].bytes;
      ASSERT_FALSE(together && overlap) << "buffers " << j << " and " << i;
    }
  }
}

double ratio(const std::vector<Buffer> &buffers) {
  return static_cast<double>(place(buffers).bytes) / static_cast<double>(liveBytes(buffers));
}

} // namespace

TEST(Placement, BuffersThatLiveTogetherLieApart) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    const auto buffers = randomBuffers(seed, 100);
    expectApart(buffers, place(buffers));
  }
}

TEST(Placement, EachBufferLiesInTheLowestGap) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const auto buffers = randomBuffers(seed, 1 + seed);
    std::vector<std::size_t> order(buffers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    EXPECT_EQ(firstFit(buffers, order).offsets, lowestOffsets(buffers)) << "seed " << seed;
  }
}

TEST(Placement, BuffersThatNeverMeetShareOnePlace) {
  const Placement placement = place({{0, 1, 64}, {2, 3, 64}, {4, 4, 64}});
  EXPECT_EQ(placement.bytes, 64);
}

TEST(Placement, TheLastUserAndTheNextProducerMeet) {
  // Both ends are inclusive: an operation reads one and writes the other.
  EXPECT_EQ(place({{0, 1, 64}, {1, 2, 64}}).bytes, 128);
}

TEST(Placement, LiveBytesCountsTheFullestMoment) {
  EXPECT_EQ(liveBytes({{0, 4, 10}, {1, 2, 20}, {2, 3, 30}, {4, 4, 25}}), 60);
  EXPECT_EQ(liveBytes({}), 0);
}

TEST(Placement, IsNeverSmallerThanTheBoundAndCloseToIt) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    EXPECT_GE(ratio(randomBuffers(seed, 100)), 1.0);
    EXPECT_LE(ratio(randomBuffers(seed, 100)), 1.25) << "seed " << seed;
    EXPECT_LE(ratio(trainingStep(100, seed)), 1.05) << "seed " << seed;
  }
}

TEST(Placement, GivesTheSameAnswerAgain) {
  const auto buffers = randomBuffers(7, 300);
  EXPECT_EQ(place(buffers).offsets, place(buffers).offsets);
}

TEST(Placement, EmptyBuffersTakeNoRoom) {
  EXPECT_EQ(place({{0, 9, 0}, {0, 9, 64}, {3, 3, 0}}).bytes, 64);
  EXPECT_EQ(place({}).bytes, 0);
}

TEST(Placement, PlacesThousandsOfBuffersInSeconds) {
  const auto buffers = trainingStep(2500, 1);
  const auto begin = std::chrono::steady_clock::now();
  place(buffers);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(spent.count(), 60.0);
}
