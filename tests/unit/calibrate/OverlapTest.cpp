// Computation beside messages, with ranks as threads over loopback.
#include "runtime/calibrate/Overlap.h"
#include "tests/unit/runtime/Ranks.h"

namespace syncline::calibrate {
namespace {

// Every rank finds the same; computation alone takes many slices of the scheduler, messages are
// measured beside it, and nothing that is timed runs faster beside the other by more than noise.
TEST(Overlap, MeasuresBothWays) {
  std::vector<Interference> all(2);
  syncline::testing::runRanks(2, [&](int rank, Group &group) {
    auto device = Device::create(1);
    ASSERT_TRUE(device.isOk());
    auto team = Team::create(*group.transport(), "test");
    ASSERT_TRUE(team.isOk());
    auto overlap = Overlap::open(*group.transport(), **team, **device);
    ASSERT_TRUE(overlap.isOk());
    Result<Interference> found = (*overlap)->measure(6);
    ASSERT_TRUE(found.isOk()) << found.status().message();
    all[rank] = *found;
  });
  const Interference &found = all[0];
  EXPECT_GT(found.alone.median, 0.05); // a tenth of a second, less noise
  EXPECT_GE(found.computation.samples, 3);
  // On loopback messages take all the processor that they get.
  EXPECT_GT(found.computation.median, 0.9);
  EXPECT_LT(found.computation.median, 20);
  ASSERT_EQ(found.sizes.size(), 2u);
  for (const OverlapFinding &size : found.sizes) {
    EXPECT_GE(size.computation.samples, 3);
    EXPECT_GE(size.messages.samples, 1);
    EXPECT_GT(size.messages.median, 0.5);
  }
  EXPECT_EQ(found.sizes[0].bytes, 1 << 20);
  EXPECT_EQ(found.computation.median, all[1].computation.median);
  EXPECT_EQ(found.sizes[1].messages.median, all[1].sizes[1].messages.median);
}

TEST(Overlap, FactorsAreAtLeastOne) {
  Interference found;
  EXPECT_EQ(found.factor(), 1);
  found.computation = summarize({0.97});
  EXPECT_EQ(found.factor(), 1);
  found.computation = summarize({1.4});
  EXPECT_DOUBLE_EQ(found.factor(), 1.4);
}

} // namespace
} // namespace syncline::calibrate
