// What is said where a plan does not fit a device.
#include "runtime/cuda/MemoryText.h"

#include <gtest/gtest.h>

namespace syncline::cuda {
namespace {

// Sizes have three digits.
TEST(MemoryTextTest, SizesHaveThreeDigits) {
  EXPECT_EQ(bytesText(0), "0 B");
  EXPECT_EQ(bytesText(1023), "1023 B");
  EXPECT_EQ(bytesText(1024), "1.00 KiB");
  EXPECT_EQ(bytesText(std::int64_t{25} << 20), "25.0 MiB");
  EXPECT_EQ(bytesText(std::int64_t{640} << 30), "640 GiB");
  EXPECT_EQ(bytesText(std::int64_t{1000} << 20), "0.98 GiB");
}

// The largest spaces come first, empty ones not at all.
TEST(MemoryTextTest, ShortageNamesTheLargestSpaces) {
  SpaceSizes sizes;
  sizes.arena = std::int64_t{70} << 30;
  sizes.parameters = sizes.gradients = std::int64_t{10} << 30;
  sizes.input = 1536;
  EXPECT_EQ(totalBytes(sizes), (std::int64_t{90} << 30) + 1536);
  EXPECT_EQ(shortageText(sizes, std::int64_t{79} << 30, "device 0 (X)"),
            "not enough memory on device 0 (X): the plan needs 90.0 GiB (arena 70.0 GiB, "
            "parameters 10.0 GiB, gradients 10.0 GiB, input 1.50 KiB), 79.0 GiB are free; a "
            "smaller batch needs less");
}

} // namespace
} // namespace syncline::cuda
