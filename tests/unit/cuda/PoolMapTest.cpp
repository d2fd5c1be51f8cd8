// Pooling as the kernels do it, an element at a time, against the definition.
#include "runtime/cuda/PoolMap.h"

#include "tests/conformance/References.h"

#include <gtest/gtest.h>

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

// Of equal maxima the first counts, once; what is not a number is seen.
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
