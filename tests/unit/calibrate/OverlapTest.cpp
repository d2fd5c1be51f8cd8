// Computation beside messages, with ranks as threads over loopback.
#include "runtime/calibrate/Overlap.h"
#include "runtime/calibrate/LatencyOverlap.h"
#include "runtime/run/Backends.h"
#include "tests/unit/runtime/Ranks.h"

namespace syncline::calibrate {
namespace {

// Computation alone takes many slices of the scheduler, and messages are measured beside it. Both
// are timed in turns, so that the noise of a busy machine is in both: the bounds are what no noise
// in one of them reaches.
TEST(Overlap, MeasuresBothWays) {
  std::vector<Interference> all(2);
  syncline::testing::runRanks(2, [&](int rank, transport::Group &group) {
    auto device = Device::create(**run::openBackend("cpu"), {});
    ASSERT_TRUE(device.isOk());
    auto team = Team::create(*group.transport(), "test");
    ASSERT_TRUE(team.isOk());
    auto overlap = openHostOverlap(Scheme::tree, *group.transport(), **team, **device, {});
    ASSERT_TRUE(overlap.isOk());
    Result<Interference> found = (*overlap)->measure(5);
    ASSERT_TRUE(found.isOk()) << found.status().message();
    all[rank] = *found;
  });
  const Interference &found = all[0];
  EXPECT_GT(found.alone.median, 0.05); // half a second at most
  EXPECT_GE(found.computation.samples, 3);
  EXPECT_GE(found.beside.samples, 1);
  EXPECT_GE(found.bytes, 1 << 20);
  EXPECT_EQ(found.computation.median, all[1].computation.median);
  EXPECT_EQ(found.beside.median, all[1].beside.median);
  EXPECT_EQ(found.bytes, all[1].bytes);
  // What products and the others took lies around what all took.
  for (const Summary Interference::*by : {&Interference::products, &Interference::memory}) {
    EXPECT_EQ((found.*by).samples, found.computation.samples);
    EXPECT_EQ((found.*by).median, (all[1].*by).median);
    EXPECT_GT((found.*by).median, 0.5);
  }
  // On loopback messages take all the processor that they get.
  EXPECT_GT(found.computation.median, 0.5);
  EXPECT_LT(found.computation.median, 40);
  EXPECT_GT(found.beside.median, 0.25);
}

// Every rank finds the same share of a short message's time.
TEST(Overlap, MeasuresShortMessages) {
  std::vector<Summary> all(2);
  syncline::testing::runRanks(2, [&](int rank, transport::Group &group) {
    auto device = Device::create(**run::openBackend("cpu"), {});
    ASSERT_TRUE(device.isOk());
    auto team = Team::create(*group.transport(), "test");
    ASSERT_TRUE(team.isOk());
    auto overlap = LatencyOverlap::open(*group.transport(), **team, **device);
    ASSERT_TRUE(overlap.isOk());
    Result<Summary> found = (*overlap)->measure(1);
    ASSERT_TRUE(found.isOk()) << found.status().message();
    all[rank] = *found;
  });
  EXPECT_GE(all[0].samples, 3);
  EXPECT_GE(all[0].lowerQuartile, 0);
  EXPECT_LE(all[0].upperQuartile, 1);
  EXPECT_EQ(all[0].median, all[1].median);
}

// Operations that lose half of the message's time take twice as long meanwhile.
TEST(Overlap, LatencyFactorsFollowFromTheShareLost) {
  Interference found;
  found.latency = summarize({0});
  EXPECT_EQ(found.latencyFactor(), 1);
  found.latency = summarize({0.5});
  EXPECT_EQ(found.latencyFactor(), 2);
  found.latency = summarize({1});
  EXPECT_EQ(found.latencyFactor(), Interference::maxFactor);
}

// A scheme has a factor of its own where that is surely not the ring's.
TEST(Overlap, DiffersWhereIntervalsAreApart) {
  Interference ring, other;
  ring.computation = {.samples = 9, .median = 1.3, .low = 1.25, .high = 1.35};
  EXPECT_FALSE(other.differsFrom(ring));
  other.computation = {.samples = 9, .median = 1.4, .low = 1.34, .high = 1.5};
  EXPECT_FALSE(other.differsFrom(ring));
  other.computation.low = 1.36;
  EXPECT_TRUE(other.differsFrom(ring));
  EXPECT_TRUE(ring.differsFrom(other));
}

// Classes of operations are told apart where both intervals are; each has a factor of its own.
TEST(Overlap, TellsClassesWhereIntervalsAreApart) {
  Interference found;
  EXPECT_FALSE(found.tellsClasses());
  found.products = {.samples = 9, .median = 1.25, .low = 1.2, .high = 1.3};
  found.memory = {.samples = 9, .median = 1.4, .low = 1.29, .high = 1.5};
  EXPECT_FALSE(found.tellsClasses());
  found.memory.low = 1.31;
  EXPECT_TRUE(found.tellsClasses());
  found.beside = summarize({2});
  EXPECT_DOUBLE_EQ(found.factor(found.products), 1 / 0.6);
  Interference ring = found;
  EXPECT_FALSE(found.differsFrom(ring));
  ring.memory = {.samples = 9, .median = 1.7, .low = 1.6, .high = 1.8};
  EXPECT_TRUE(found.differsFrom(ring));
}

// Messages that take as long as alone: the ratio itself. Where they take twice as long, half a
// second of them alone costs what a second beside computation does: 1 - 1/1.25 a second, 0.4 in
// half of one, so that 0.6 of it is left.
TEST(Overlap, FactorsChargeWhatMessagesTakeAlone) {
  Interference found;
  EXPECT_EQ(found.factor(), 1);
  found.computation = summarize({0.97});
  EXPECT_EQ(found.factor(), 1);
  found.computation = summarize({1.25});
  EXPECT_DOUBLE_EQ(found.factor(), 1.25);
  found.beside = summarize({0.9});
  EXPECT_DOUBLE_EQ(found.factor(), 1.25);
  found.beside = summarize({2});
  EXPECT_DOUBLE_EQ(found.factor(), 1 / 0.6);
  found.beside = summarize({6});
  EXPECT_EQ(found.factor(), Interference::maxFactor);
}

} // namespace
} // namespace syncline::calibrate
