// Copies and reductions by the maps that kernels walk, against the indices that they stand for.
#include "runtime/cuda/kernels/IndexMaps.h"

#include "tests/conformance/Array.h"

#include <gtest/gtest.h>

#include <cstring>

namespace syncline::cuda {
namespace {

using namespace core;

using conformance::Array;
using conformance::forEachIndex;
using conformance::randomArray;

std::vector<float> floats(const Array &array) { return {array.values.begin(), array.values.end()}; }

/// What the copy kernel does, a word after the other.
void copyOnHost(float *to, const Shape &toStrides, const float *from, const Shape &fromStrides,
                const Shape &shape, std::uint64_t alignment) {
  std::vector<CopyLoop> loops = mergedLoops(shape, toStrides, fromStrides);
  const int word = widen(loops, sizeof(float), alignment);
  const auto map = copyMap(loops);
  ASSERT_TRUE(map);
  for (std::uint32_t i = 0; i < map->count; ++i) {
    std::int64_t toAt, fromAt;
    map->locate(i, toAt, fromAt);
    std::memcpy(reinterpret_cast<std::byte *>(to) + toAt * word,
                reinterpret_cast<const std::byte *>(from) + fromAt * word,
                static_cast<std::size_t>(word));
  }
}

/// The words that a copy of these loops is made of.
int wordOf(std::vector<CopyLoop> loops, int elementBytes, std::uint64_t alignment) {
  return widen(loops, elementBytes, alignment);
}

// A slice with steps of both signs takes the elements that it names, and its backward puts them
// back there.
TEST(IndexMapsTest, SliceTakesWhatItNames) {
  const Shape whole{2, 8, 5, 6}, part{2, 4, 3, 6}, starts{0, 7, 0, 5}, steps{1, -2, 2, -1};
  const Array x = randomArray(whole, 1);
  const std::vector<float> from = floats(x);
  std::vector<float> y(2 * 4 * 3 * 6), back(from.size(), 0);
  const Walk walk = walkOf(denseStrides(whole), starts, steps);
  copyOnHost(y.data(), denseStrides(part), from.data() + walk.offset, walk.strides, part, 4);
  copyOnHost(back.data() + walk.offset, walk.strides, y.data(), denseStrides(part), part, 4);
  std::size_t number = 0, same = 0;
  forEachIndex(part, [&](const Shape &at) {
    Shape source = at;
    for (std::size_t d = 0; d < at.size(); ++d)
      source[d] = starts[d] + at[d] * steps[d];
    EXPECT_EQ(y[number++], static_cast<float>(x[source]));
    same += back[x.flat(source)] == static_cast<float>(x[source]);
  });
  EXPECT_EQ(same, y.size());
  EXPECT_EQ(std::count(back.begin(), back.end(), 0.0f),
            static_cast<std::ptrdiff_t>(from.size() - y.size()));
}

// A padded tensor holds the operand where the paddings say, without what is cropped.
TEST(IndexMapsTest, PadPlacesWhatRemains) {
  const Shape from{2, 3, 4, 4}, to{2, 6, 3, 6}, begins{0, 2, -1, 1};
  const Array x = randomArray(from, 2);
  const std::vector<float> source = floats(x);
  std::vector<float> y(2 * 6 * 3 * 6, 7.0f);
  const PadPart part = padPart(from, to, begins);
  const Shape ones(4, 1);
  const Walk skipped = walkOf(denseStrides(from), part.skips, ones),
             placed = walkOf(denseStrides(to), part.starts, ones);
  copyOnHost(y.data() + placed.offset, placed.strides, source.data() + skipped.offset,
             skipped.strides, part.extents, 4);
  Array expected(to, 7);
  forEachIndex(from, [&](const Shape &at) {
    Shape place = at;
    for (std::size_t d = 0; d < at.size(); ++d) {
      place[d] += begins[d];
      if (place[d] < 0 || place[d] >= to[d])
        return;
    }
    expected[place] = x[at];
  });
  EXPECT_EQ(y, floats(expected));
}

// Every permutation of three dimensions moves every element to its place.
TEST(IndexMapsTest, TransposeMovesEveryElement) {
  const Array x = randomArray({3, 4, 5}, 3);
  const std::vector<float> from = floats(x);
  for (const Shape &permutation : {Shape{0, 1, 2}, Shape{0, 2, 1}, Shape{1, 0, 2}, Shape{1, 2, 0},
                                   Shape{2, 0, 1}, Shape{2, 1, 0}}) {
    Shape shape, strides;
    for (std::int64_t d : permutation) {
      shape.push_back(x.shape[static_cast<std::size_t>(d)]);
      strides.push_back(denseStrides(x.shape)[static_cast<std::size_t>(d)]);
    }
    std::vector<float> y(from.size());
    copyOnHost(y.data(), denseStrides(shape), from.data(), strides, shape, 16);
    Array expected(shape);
    forEachIndex(x.shape, [&](const Shape &at) {
      Shape place;
      for (std::int64_t d : permutation)
        place.push_back(at[static_cast<std::size_t>(d)]);
      expected[place] = x[at];
    });
    EXPECT_EQ(y, floats(expected));
  }
}

// Parts of a concatenation, wide enough for words of 16 bytes, end up one behind the other.
TEST(IndexMapsTest, ConcatPlacesParts) {
  const Array a = randomArray({2, 3, 4}, 4), b = randomArray({2, 5, 4}, 5);
  Array expected({2, 8, 4});
  std::vector<float> y(64);
  std::int64_t before = 0;
  for (const Array *part : {&a, &b}) {
    const std::vector<float> from = floats(*part);
    const std::int64_t run = part->shape[1] * 4;
    copyOnHost(y.data() + before * 4, {32, 1}, from.data(), {run, 1}, {2, run}, 16);
    forEachIndex(part->shape,
                 [&](const Shape &at) { expected[{at[0], at[1] + before, at[2]}] = (*part)[at]; });
    before += part->shape[1];
  }
  EXPECT_EQ(y, floats(expected));
}

// Elements join into words only where extents, strides and addresses allow it.
TEST(IndexMapsTest, WordsAreAsWideAsTheyMayBe) {
  EXPECT_EQ(wordOf({{64, 1, 1}}, 4, 256), 16);
  EXPECT_EQ(wordOf({{64, 1, 1}}, 1, 256), 16);
  EXPECT_EQ(wordOf({{64, 1, 1}}, 4, 8), 8);
  EXPECT_EQ(wordOf({{6, 1, 1}}, 4, 256), 8);
  EXPECT_EQ(wordOf({{5, 1, 1}}, 4, 256), 4);
  EXPECT_EQ(wordOf({{64, 1, 2}}, 4, 256), 4);
  EXPECT_EQ(wordOf({{64, -1, 1}}, 4, 256), 4);
  EXPECT_EQ(wordOf({{3, 8, 6}, {4, 1, 1}}, 4, 256), 8);
  EXPECT_EQ(wordOf({{3, 8, 7}, {4, 1, 1}}, 4, 256), 4);
  EXPECT_EQ(wordOf({{3, 8, -4}, {4, 1, 1}}, 4, 256), 16);
  EXPECT_EQ(wordOf({}, 4, 256), 4);
}

// A copy of a single element is one word; more loops than a map holds are refused.
TEST(IndexMapsTest, MapsHoldEightLoops) {
  EXPECT_EQ(copyMap({})->count, 1u);
  EXPECT_EQ(copyMap(std::vector<CopyLoop>(8, {2, 3, 5}))->count, 256u);
  EXPECT_FALSE(copyMap(std::vector<CopyLoop>(9, {2, 3, 5})));
}

/// What the reduction kernels do: parts, threads of a block, and the tree that joins them.
std::vector<float> reduceOnHost(const ReduceMap &map, const std::vector<float> &x,
                                std::uint32_t parts, std::uint32_t threads) {
  std::vector<float> y(map.results);
  for (std::uint32_t result = 0; result < map.results; ++result) {
    double sum = 0;
    for (std::uint32_t part = 0; part < parts; ++part) {
      const std::uint32_t first = partBegin(map.terms, parts, part);
      const std::uint32_t last = partBegin(map.terms, parts, part + 1);
      for (std::uint32_t thread = 0; thread < threads; ++thread)
        sum += combineTerms<core::Sum>(x.data(), map, result, first + thread, last, threads);
    }
    y[result] = static_cast<float>(sum);
  }
  return y;
}

// Sums over any axes, in any number of parts and by any number of threads, hold each term once.
TEST(IndexMapsTest, ReductionSumsEachTermOnce) {
  const Array x = randomArray({3, 5, 4, 6}, 6);
  for (const Shape &axes : {Shape{0}, Shape{1}, Shape{3}, Shape{2, 3}, Shape{0, 2, 3}, Shape{-1, 0},
                            Shape{1, 3}, Shape{0, 1, 2, 3}, Shape{}}) {
    Shape kept = x.shape;
    for (std::int64_t axis : axes)
      kept[static_cast<std::size_t>(axis < 0 ? axis + 4 : axis)] = 1;
    Array expected(kept);
    forEachIndex(x.shape, [&](const Shape &at) {
      Shape to = at;
      for (std::size_t d = 0; d < to.size(); ++d)
        to[d] = kept[d] == 1 ? 0 : to[d];
      expected[to] += x[at];
    });
    const auto map = reduceMap(x.shape, denseStrides(x.shape), axes);
    ASSERT_TRUE(map);
    EXPECT_EQ(map->results * map->terms, 360u);
    for (auto [parts, threads] : {std::pair(1u, 1u), {1u, 32u}, {4u, 1u}, {7u, 16u}}) {
      const std::vector<float> y = reduceOnHost(*map, floats(x), parts, threads);
      for (std::size_t i = 0; i < y.size(); ++i)
        EXPECT_NEAR(y[i], expected.values[i], 1e-5) << "result " << i;
    }
  }
}

// Blocks take the results whose terms lie side by side, threads the others.
TEST(IndexMapsTest, ReductionKnowsWhereItsTermsLie) {
  EXPECT_TRUE(reduceMap({4, 5, 6}, denseStrides({4, 5, 6}), {2})->isAlongRows);
  EXPECT_TRUE(reduceMap({4, 5, 6}, denseStrides({4, 5, 6}), {0, 2})->isAlongRows);
  EXPECT_FALSE(reduceMap({4, 5, 6}, denseStrides({4, 5, 6}), {0})->isAlongRows);
  EXPECT_FALSE(reduceMap({4, 5, 6}, denseStrides({4, 5, 6}), {1})->isAlongRows);
  EXPECT_TRUE(reduceMap({4, 5, 1}, denseStrides({4, 5, 1}), {1})->isAlongRows);
}

} // namespace
} // namespace syncline::cuda
