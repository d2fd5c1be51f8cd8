// Cutting messages: every byte once, in order, in whole elements.
#include "runtime/transport/collectives/Blocks.h"

#include <gtest/gtest.h>

namespace syncline {
namespace {

using namespace transport;

/// The segments of all blocks cover `bytes` bytes exactly once, in order.
void expectCovered(const Blocks &blocks, std::size_t bytes, std::size_t element) {
  std::size_t next = 0;
  for (int b = 0; b < blocks.count(); ++b) {
    ASSERT_EQ(blocks.block(b).begin, next);
    for (int s = 0; s < blocks.segments(); ++s) {
      core::Range r = blocks.segment(b, s);
      ASSERT_LE(r.begin, r.end);
      ASSERT_LE(r.size(), blocks.segmentBytes());
      ASSERT_EQ(r.size() % element, 0u);
      if (r.size() == 0)
        continue;
      ASSERT_EQ(r.begin, next);
      next = r.end;
    }
    ASSERT_EQ(blocks.block(b).end, next);
  }
  ASSERT_EQ(next, bytes);
  ASSERT_EQ(blocks.bytes(), bytes);
}

// Equal blocks of any length.
TEST(Blocks, CoverTheMessage) {
  for (int count : {1, 2, 3, 4, 7, 16, 64})
    for (std::size_t element : {2, 4, 8})
      for (std::size_t n : {0ul, 1ul, 2ul, 15ul, 16ul, 17ul, 1023ul, 65537ul, 9000001ul}) {
        Blocks blocks(count, n * element, element);
        expectCovered(blocks, n * element, element);
        ASSERT_LE(blocks.segmentBytes(), Segments::largest);
        for (int b = 0; b < count; ++b)
          ASSERT_LE(blocks.block(b).size(), n * element / count + 128) << count << " " << n;
      }
}

// Blocks of given sizes, empty ones among them.
TEST(Blocks, UnequalSizes) {
  std::size_t sizes[] = {0, 5, 0, 1000003, 1, 70000, 0};
  Blocks blocks(sizes);
  expectCovered(blocks, 1070009, 1);
  for (int b = 0; b < 7; ++b)
    EXPECT_EQ(blocks.block(b).size(), sizes[b]);
  Blocks none(std::span(sizes, 1));
  expectCovered(none, 0, 1);
}

// A range's own segments.
TEST(Segments, CoverTheRange) {
  for (std::size_t begin : {0ul, 64ul, 4096ul})
    for (std::size_t n : {0ul, 1ul, 16ul, 16384ul, 16385ul, 65536ul, 65600ul, 500000ul}) {
      Segments segments({begin, begin + n * 4}, 4);
      std::size_t next = begin;
      for (int i = 0; i < segments.count(); ++i) {
        ASSERT_EQ(segments[i].begin, next);
        ASSERT_GT(segments[i].size(), 0u);
        ASSERT_LE(segments[i].size(), Segments::largest);
        next = segments[i].end;
      }
      ASSERT_EQ(next, begin + n * 4);
    }
}

} // namespace
} // namespace syncline
