// What is said where a plan does not fit a device.
#include "runtime/cuda/MemoryText.h"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

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

// The largest spaces come first, empty ones not at all; five tensors, the largest first.
TEST(MemoryTextTest, ShortageNamesTheLargest) {
  core::SpaceSizes sizes;
  sizes.arena = std::int64_t{70} << 30;
  sizes.parameters = sizes.gradients = std::int64_t{10} << 30;
  sizes.input = 1536;
  EXPECT_EQ(totalBytes(sizes), (std::int64_t{90} << 30) + 1536);
  const std::int64_t free = std::int64_t{79} << 30;
  const std::int64_t headroom = std::int64_t{1} << 30;
  EXPECT_EQ(shortageText(sizes, 0, headroom, free, "device 0 (X)", {}),
            "not enough memory on device 0 (X): the plan needs 90.0 GiB (arena 70.0 GiB, "
            "parameters 10.0 GiB, gradients 10.0 GiB, input 1.50 KiB) and libraries 1.00 GiB, 79.0 "
            "GiB are free; a smaller batch needs less");
  std::vector<core::StepTensor> tensors;
  for (const auto &[name, space, mebibytes] : {std::tuple("a", Space::arena, 1),
                                               {"b", Space::parameters, 640},
                                               {"b", Space::gradients, 640},
                                               {"c", Space::state, 3},
                                               {"d", Space::input, 2},
                                               {"e", Space::arena, 4}})
    tensors.push_back({name, space, ElementType::f32, {1}, 0, std::int64_t{mebibytes} << 20});
  EXPECT_EQ(
      shortageText({.parameters = 4 << 20}, std::int64_t{3} << 30, headroom, 1 << 20, "d", tensors),
      "not enough memory on d: the plan needs 3.00 GiB (scratch 3.00 GiB, parameters 4.00 "
      "MiB) and libraries 1.00 GiB, 1.00 MiB are free; the largest tensors: 'b' (parameters, 640 "
      "MiB), 'b' "
      "(gradients, 640 MiB), 'e' (arena, 4.00 MiB), 'c' (state, 3.00 MiB), 'd' (input, 2.00 "
      "MiB); a smaller batch needs less");
}

} // namespace
} // namespace syncline::cuda
