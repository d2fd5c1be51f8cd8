// The median that runtime and command share.
#include "runtime/core/Statistics.h"

#include <gtest/gtest.h>

namespace syncline {
namespace {

using namespace core;

// An odd number of values has a middle one.
TEST(Statistics, MedianOfOddNumbers) {
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({3, 3, 1, 4, 2}), 3);
}

// An even number of values has two middle ones, and their mean is the median.
TEST(Statistics, MedianOfEvenNumbers) {
  EXPECT_EQ(median({4, 1}), 2.5);
  EXPECT_EQ(median({8, 2, 4, 100}), 6);
}

// No values have the median 0.
TEST(Statistics, MedianOfNothing) { EXPECT_EQ(median({}), 0); }

} // namespace
} // namespace syncline
