// IndexSet against std::set.
#include "passes/solver/IndexSet.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace syncline::solver {

namespace {

void expectSameNeighbours(const IndexSet &fast, const std::set<std::size_t> &plain,
                          std::size_t index) {
  auto from = plain.lower_bound(index);
  std::optional<std::size_t> first, last;
  if (from != plain.end())
    first = *from;
  if (from != plain.begin())
    last = *std::prev(from);
  ASSERT_EQ(fast.firstFrom(index), first) << index;
  ASSERT_EQ(fast.lastBelow(index), last) << index;
}

/// Sizes on both sides of every level's edge, sets from empty to full.
TEST(IndexSet, FindsTheNeighboursThatAStdSetFinds) {
  std::mt19937_64 engine(1);
  for (std::size_t size : {1, 2, 63, 64, 65, 4095, 4096, 4097, 300000}) {
    IndexSet fast(size);
    std::set<std::size_t> plain;
    for (int step = 0; step < 300; ++step) {
      for (std::size_t index : {std::size_t{0}, size - 1, size, engine() % size})
        ASSERT_NO_FATAL_FAILURE(expectSameNeighbours(fast, plain, index)) << "size " << size;
      std::size_t added = engine() % size;
      fast.insert(added);
      plain.insert(added);
    }
  }
}

} // namespace
} // namespace syncline::solver
