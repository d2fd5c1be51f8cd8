// Pooling as the kernels do it, an element at a time, against the definition.
#include "runtime/cuda/kernels/PoolBodies.h"

#include "runtime/core/StepTypes.h"
#include "tests/conformance/References.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace syncline::cuda {
namespace {

using conformance::Array;
using conformance::Pool;
using conformance::randomArray;
using conformance::referencePool;

struct Case {
  Shape x, y;
  Window window;
};

/// Paddings that differ, windows that go beyond the operand, dilations, one to three dimensions.
std::vector<Case> cases() {
  return {
      {{2, 3, 6, 6}, {2, 3, 3, 3}, {{2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}}},
      {{1, 2, 7, 7}, {1, 2, 4, 4}, {{3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}}},
      {{1, 5, 5, 6}, {1, 5, 3, 3}, {{3, 3}, {2, 2}, {1, 1}, {1, 0}, {1, 1}}},
      {{1, 2, 6, 6}, {1, 2, 3, 3}, {{3, 3}, {2, 2}, {1, 1}, {0, 0}, {0, 0}}},
      {{2, 3, 7, 7}, {2, 3, 1, 1}, {{7, 7}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}},
      {{1, 2, 7, 7}, {1, 2, 3, 3}, {{3, 3}, {1, 1}, {2, 2}, {0, 0}, {0, 0}}},
      {{1, 2, 9, 8}, {1, 2, 4, 2}, {{3, 3}, {2, 4}, {2, 3}, {1, 2}, {1, 1}}},
      {{2, 3, 3, 5}, {2, 3, 1, 1}, {{5, 6}, {2, 1}, {1, 1}, {1, 1}, {1, 0}}},
      {{2, 4, 8}, {2, 4, 4}, {{2}, {2}, {1}, {0}, {0}}},
      {{1, 3, 4, 5, 4}, {1, 3, 2, 3, 2}, {{2, 3, 2}, {2, 2, 2}, {1, 1, 1}, {0, 1, 0}, {0, 1, 0}}},
  };
}

std::vector<float> floats(const Array &array) { return {array.values.begin(), array.values.end()}; }

double worst(const std::vector<float> &actual, const Array &expected) {
  double most = 0;
  EXPECT_EQ(actual.size(), expected.values.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    most = std::max(most, std::abs(actual[i] - expected.values[i]));
  return most;
}

template <typename Tap> void maximum(const Case &c) {
  const Array x = randomArray(c.x, 1), dy = randomArray(c.y, 2);
  const std::vector<float> from = floats(x), gradient = floats(dy);
  const PoolMap map = poolMap(c.x, c.y, c.window, false);
  std::vector<float> y(gradient.size()), dx(from.size());
  std::vector<Tap> workspace(y.size());
  for (std::uint32_t i = 0; i < y.size(); ++i)
    maxPoolAt(map, from.data(), y.data(), workspace.data(), i);
  for (std::uint32_t i = 0; i < dx.size(); ++i)
    maxPoolBackwardAt(map, gradient.data(), workspace.data(), dx.data(), i);
  auto forward = [&](const Array &at) { return referencePool(Pool::maximum, at, c.window, c.y); };
  EXPECT_EQ(worst(y, forward(x)), 0);
  EXPECT_LT(worst(dx, numericalGradient(forward, x, dy, 1e-9)), 1e-5);
}

// The maximum and its gradient, with taps of either width.
TEST(PoolMapTest, MaximumIsTheDefinition) {
  for (const Case &c : cases()) {
    maximum<std::uint8_t>(c);
    maximum<std::int32_t>(c);
  }
}

// Averages of what is inside, and of the whole window, and their gradients.
TEST(PoolMapTest, AverageIsTheDefinition) {
  for (Case c : cases())
    for (const bool countsPadding : {false, true}) {
      c.window.countIncludePad = countsPadding;
      const Array x = randomArray(c.x, 1), dy = randomArray(c.y, 2);
      const std::vector<float> from = floats(x), gradient = floats(dy);
      const PoolMap map = poolMap(c.x, c.y, c.window, false);
      std::vector<float> y(gradient.size()), dx(from.size());
      for (std::uint32_t i = 0; i < y.size(); ++i)
        averagePoolAt(map, from.data(), y.data(), i);
      for (std::uint32_t i = 0; i < dx.size(); ++i)
        averagePoolBackwardAt(map, gradient.data(), dx.data(), i);
      auto forward = [&](const Array &at) {
        return referencePool(countsPadding ? Pool::averageAll : Pool::averageInside, at, c.window,
                             c.y);
      };
      EXPECT_LT(worst(y, forward(x)), 1e-6);
      EXPECT_LT(worst(dx, numericalGradient(forward, x, dy, 0.5)), 1e-6);
    }
}

/// dx of averages as it is defined in floats: all taps of all windows, the first tap first.
std::vector<float> averageGradientByTaps(const Case &c, const std::vector<float> &dy) {
  const auto &[kernel, strides, dilations, begins, ends, groups, countsPadding] = c.window;
  const std::int64_t height = c.x[2], width = c.x[3];
  std::vector<float> dx(static_cast<std::size_t>(core::elementCount(c.x)));
  const auto windows = [&](const auto &use) { // use(result, tap, element of x)
    for (std::int64_t tap = 0; tap < kernel[0] * kernel[1]; ++tap)
      for (std::int64_t i = 0; i < core::elementCount(c.y); ++i) {
        const std::int64_t column = i % c.y[3], row = i / c.y[3] % c.y[2];
        const std::int64_t at = row * strides[0] + tap / kernel[1] * dilations[0] - begins[0];
        const std::int64_t to = column * strides[1] + tap % kernel[1] * dilations[1] - begins[1];
        if (at >= 0 && at < height && to >= 0 && to < width)
          use(static_cast<std::size_t>(i),
              static_cast<std::size_t>((i / (c.y[2] * c.y[3]) * height + at) * width + to));
      }
  };
  std::vector<int> inside(dy.size());
  windows([&](std::size_t result, std::size_t) { ++inside[result]; });
  const auto taps = static_cast<int>(kernel[0] * kernel[1]);
  windows([&](std::size_t result, std::size_t at) {
    dx[at] += dy[result] / static_cast<float>(countsPadding ? taps : inside[result]);
  });
  return dx;
}

// Gradients are summed in the order of taps, to the last bit, however few of them are looked at.
TEST(PoolMapTest, SumsInTheOrderOfTaps) {
  for (Case c : cases())
    for (const bool countsPadding : {false, true}) {
      if (c.x.size() != 4)
        continue;
      c.window.countIncludePad = countsPadding;
      const std::vector<float> gradient = floats(randomArray(c.y, 2));
      const PoolMap map = poolMap(c.x, c.y, c.window, false);
      std::vector<float> dx(static_cast<std::size_t>(core::elementCount(c.x)));
      for (std::uint32_t i = 0; i < dx.size(); ++i)
        averagePoolBackwardAt(map, gradient.data(), dx.data(), i);
      EXPECT_EQ(dx, averageGradientByTaps(c, gradient));
    }
}

/// The results of all functions that take `width` planes at a time.
template <int width> struct Results {
  alignas(16) float y[1024] = {}, dx[1024] = {}, average[1024] = {}, averageDx[1024] = {};
  alignas(16) std::int32_t workspace[1024] = {};

  Results(const PoolMap &map, const float *x, const float *dy, std::uint32_t xs, std::uint32_t ys) {
    for (std::uint32_t i = 0; i < ys / width; ++i) {
      maxPoolAt<width>(map, x, y, workspace, i);
      averagePoolAt<width>(map, x, average, i);
    }
    for (std::uint32_t i = 0; i < xs / width; ++i) {
      maxPoolBackwardAt<width>(map, dy, workspace, dx, i);
      averagePoolBackwardAt<width>(map, dy, averageDx, i);
    }
  }
};

// Four planes side by side give what each gives by itself.
TEST(PoolMapTest, PlanesSideBySideAreComputedTogether) {
  for (Case c : cases()) {
    c.x[1] = c.y[1] = 8;
    const Array x = randomArray(c.x, 1), dy = randomArray(c.y, 2);
    const auto xs = static_cast<std::uint32_t>(x.size()),
               ys = static_cast<std::uint32_t>(dy.size());
    alignas(16) float from[1024], gradient[1024];
    ASSERT_LE(xs, std::size(from));
    std::copy_n(x.values.begin(), xs, from);
    std::copy_n(dy.values.begin(), ys, gradient);
    const PoolMap map = poolMap(c.x, c.y, c.window, true);
    const Results<1> one(map, from, gradient, xs, ys);
    const Results<4> four(map, from, gradient, xs, ys);
    EXPECT_TRUE(std::ranges::equal(one.y, four.y));
    EXPECT_TRUE(std::ranges::equal(one.workspace, four.workspace));
    EXPECT_TRUE(std::ranges::equal(one.dx, four.dx));
    EXPECT_TRUE(std::ranges::equal(one.average, four.average));
    EXPECT_TRUE(std::ranges::equal(one.averageDx, four.averageDx));
  }
}

// The first of equal maxima counts, once. A NaN is a maximum.
TEST(PoolMapTest, FirstOfEqualMaximaTakesTheGradient) {
  const PoolMap map = poolMap({1, 1, 4}, {1, 1, 2}, {{2}, {2}, {1}, {0}, {0}}, false);
  const float x[] = {3, 3, 1, NAN}, dy[] = {5, 7};
  float y[2], dx[4];
  std::uint8_t workspace[2];
  for (std::uint32_t i = 0; i < 2; ++i)
    maxPoolAt(map, x, y, workspace, i);
  for (std::uint32_t i = 0; i < 4; ++i)
    maxPoolBackwardAt(map, dy, workspace, dx, i);
  EXPECT_EQ(y[0], 3);
  EXPECT_TRUE(std::isnan(y[1]));
  EXPECT_EQ((std::vector<float>(dx, dx + 4)), (std::vector<float>{5, 0, 0, 7}));
}

} // namespace
} // namespace syncline::cuda
