// Which accelerator a rank takes.
#include "runtime/run/Backends.h"

#include <gtest/gtest.h>

namespace syncline {
namespace {

using namespace run;

int chosen(const DeviceWish &wish, int count) {
  const Result<int> device = chooseDevice(wish, count, "cuda");
  EXPECT_TRUE(device.isOk()) << device.status().message();
  return device.isOk() ? *device : -1;
}

std::string refusal(const DeviceWish &wish, int count) {
  const Result<int> device = chooseDevice(wish, count, "cuda");
  EXPECT_EQ(device.status().exitCode(), 1);
  return device.isOk() ? "" : device.status().message();
}

TEST(DeviceChoice, GivesEachLocalRankItsOwn) {
  EXPECT_EQ(chosen({{}, false, 0}, 2), 0);
  EXPECT_EQ(chosen({{}, false, 1}, 2), 1);
  EXPECT_EQ(refusal({{}, false, 2}, 2),
            "local rank 2 has no device of its own: this machine shows 2 of backend 'cuda'; "
            "'--share-device' lets ranks share them");
}

TEST(DeviceChoice, DealsSharedOnesOut) {
  EXPECT_EQ(chosen({{}, true, 1}, 2), 1);
  EXPECT_EQ(chosen({{}, true, 2}, 2), 0);
  EXPECT_EQ(chosen({{}, true, 3}, 1), 0);
}

TEST(DeviceChoice, TakesTheOneThatIsNamed) {
  EXPECT_EQ(chosen({1, false, 0}, 2), 1);
  EXPECT_EQ(refusal({2, false, 0}, 2), "no device 2: this machine shows 2 of backend 'cuda'");
  EXPECT_NE(refusal({-1, false, 0}, 2), "");
}

// Whatever was asked for: what is missing is the backend's to say.
TEST(DeviceChoice, LeavesMachinesWithoutAnyToTheBackend) {
  EXPECT_EQ(chosen({{}, false, 3}, 0), 0);
  EXPECT_EQ(chosen({5, false, 0}, 0), 0);
  EXPECT_EQ(chosen({{}, true, 3}, 0), 0);
}

} // namespace
} // namespace syncline
