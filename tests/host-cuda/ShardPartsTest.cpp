// How a sharded bucket is dealt out.
#include "runtime/cuda/nccl/NcclCollectives.h"

#include <gtest/gtest.h>

namespace syncline::hostcuda {
namespace {

// Every rank's part begins where 16 bytes can be read at once; together they are the bucket.
TEST(ShardTest, PartsBeginAligned) {
  for (const std::size_t count : {1, 7, 50, 1000, 4097})
    for (const int ranks : {1, 2, 3, 8}) {
      std::size_t end = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const core::Range part = cuda::shardOfRank(rank, ranks, 4 * count, ElementType::f32);
        EXPECT_EQ(part.begin, end);
        EXPECT_EQ(part.begin % 16, 0u);
        end = part.end;
      }
      EXPECT_EQ(end, 4 * count);
    }
}

} // namespace
} // namespace syncline::hostcuda
