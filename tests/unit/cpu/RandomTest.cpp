// The random numbers that runs are reproduced by.
#include "runtime/core/Random.h"

#include <gtest/gtest.h>

namespace syncline {
namespace {

using namespace core;

TEST(RandomTest, PhiloxGivesThePublishedVectors) {
  // Known answers of philox4x32-10 in the Random123 distribution (kat_vectors).
  EXPECT_EQ(philox({0, 0}, {0, 0, 0, 0}),
            (std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}),
            (std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(RandomTest, StableHashIsFnv1a) {
  EXPECT_EQ(stableHash(""), 0xcbf29ce484222325u);
  EXPECT_EQ(stableHash("a"), 0xaf63dc4c8601ec8cu);
}

} // namespace
} // namespace syncline
