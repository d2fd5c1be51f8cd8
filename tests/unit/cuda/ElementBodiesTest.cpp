// Losses, dropout, variances and updates as the kernels do them, against definitions.
#include "runtime/cuda/kernels/ElementBodies.h"

#include "runtime/core/Adam.h"
#include "runtime/core/Sgd.h"
#include "tests/conformance/References.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

namespace syncline::cuda {
namespace {

using namespace core;

using conformance::Array;
using conformance::randomArray;

/// What a warp does: each lane its classes, then lanes joined over halving distances.
std::array<double, 32> warpLogSum(const float *logits, std::int64_t classes, std::int64_t inner) {
  std::array<LogSum, 32> lanes;
  for (std::int64_t k = 0; k < classes; ++k)
    lanes[static_cast<std::size_t>(k % 32)].add(logits[k * inner]);
  for (std::size_t distance = 16; distance > 0; distance /= 2) {
    const std::array<LogSum, 32> before = lanes;
    for (std::size_t lane = 0; lane < 32; ++lane)
      lanes[lane] = LogSum::join(before[lane], before[lane ^ distance]);
  }
  std::array<double, 32> values;
  for (std::size_t lane = 0; lane < 32; ++lane)
    values[lane] = lanes[lane].value();
  return values;
}

// Loss and gradient over few and many classes and over positions are the definition's, and every
// lane of a warp has the same bits.
TEST(ElementBodiesTest, CrossEntropyIsTheDefinition) {
  for (const Shape &shape : {Shape{4, 6}, Shape{2, 5, 3}, Shape{3, 100}, Shape{2, 33, 2}}) {
    const Array x = randomArray(shape, 1);
    const std::vector<float> logits(x.values.begin(), x.values.end());
    const std::int64_t classes = shape[1], inner = shape.size() > 2 ? shape[2] : 1;
    Shape labels = shape;
    labels.erase(labels.begin() + 1);
    Array target(labels);
    std::vector<std::int64_t> wanted;
    for (std::size_t i = 0; i < target.values.size(); ++i) {
      wanted.push_back(static_cast<std::int64_t>(i) * 3 % classes);
      target.values[i] = static_cast<double>(wanted.back());
    }
    const auto positions = static_cast<double>(wanted.size());
    Array gradient(shape);
    double loss = 0;
    for (std::uint32_t i = 0; i < wanted.size(); ++i) {
      const auto at = crossEntropyPosition(wanted.data(), i, static_cast<std::uint32_t>(classes),
                                           static_cast<std::uint32_t>(inner));
      const auto totals = warpLogSum(logits.data() + at.start, classes, inner);
      for (double total : totals)
        EXPECT_EQ(std::bit_cast<std::uint64_t>(total), std::bit_cast<std::uint64_t>(totals[0]));
      loss += (totals[0] - logits[static_cast<std::size_t>(at.start + at.label * inner)]);
      for (std::int64_t k = 0; k < classes; ++k) {
        const auto place = static_cast<std::size_t>(at.start + k * inner);
        gradient.values[place] =
            crossEntropyGradient(logits[place], totals[0], k == at.label, positions);
      }
    }
    auto forward = [&](const Array &at) { return referenceCrossEntropy(at, target); };
    EXPECT_NEAR(loss / positions, forward(x).values[0], 1e-6);
    EXPECT_LT(relativeError(gradient, numericalGradient(forward, x, Array({}, 1))), 1e-5);
  }
}

// Large logits do not overflow, those of minus infinity add nothing, what is no number stays none.
TEST(ElementBodiesTest, LogSumOfUnusualLogits) {
  const float large[] = {1000, 1000, -1000}, none[] = {-INFINITY, 2, -INFINITY};
  EXPECT_NEAR(warpLogSum(large, 3, 1)[0], 1000 + std::log(2), 1e-9);
  EXPECT_NEAR(warpLogSum(none, 3, 1)[7], 2, 1e-12);
  const float broken[] = {1, NAN, 3};
  EXPECT_TRUE(std::isnan(warpLogSum(broken, 3, 1)[0]));
  EXPECT_TRUE(std::isnan(crossEntropyGradient(1, NAN, false, 4)));
}

// Squared errors and the gradient of their mean.
TEST(ElementBodiesTest, SquaredErrorAndItsGradient) {
  float gradient = 0;
  EXPECT_EQ(squaredError(3, 1, 8, gradient), 4);
  EXPECT_EQ(gradient, 0.5f);
}

// A dropout drawn block by block, in any order, is the one drawn word by word.
TEST(ElementBodiesTest, DropoutDependsOnTheElementOnly) {
  ExecutableOptions options;
  options.seed = 7;
  options.rank = 3;
  const DropoutStream stream = dropoutStream(options, "drop", 0.25);
  const std::vector<float> x(101, 3.0f);
  std::vector<float> y(x.size());
  std::vector<std::uint8_t> mask(x.size());
  const float scale = keptScale(0.25);
  for (std::uint64_t block = 26; block-- > 0;)
    dropoutBlock(stream, 5, block, x.data(), y.data(), mask.data(), x.size(), scale);
  int kept = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool isKept = dropoutWords(stream, 5, i / 4)[i % 4] >= stream.threshold;
    EXPECT_EQ(mask[i], isKept);
    EXPECT_EQ(y[i], isKept ? 3.0f * scale : 0.0f);
    kept += isKept;
  }
  EXPECT_GT(kept, 60);
  EXPECT_LT(kept, 95);
}

// A variance survives the form in which cuDNN keeps it, small ones beside epsilon included.
TEST(ElementBodiesTest, VarianceComesBack) {
  for (float variance : {0.0f, 1e-3f, 1.0f, 123.5f}) {
    const float inverse = inverseDeviationOf(variance, 1e-5f);
    EXPECT_NEAR(inverse, 1 / std::sqrt(variance + 1e-5), 1e-6 * inverse);
    EXPECT_NEAR(varianceOf(inverse, 1e-5f), variance, 1e-6 * (variance + 1e-5));
    EXPECT_GE(varianceOf(inverse, 1e-5f), 0);
  }
}

// An element of SGD by PyTorch's formulas, with each rule.
TEST(ElementBodiesTest, SgdFollowsTheBook) {
  const SgdConstants k = sgdConstants({.rate = 0.1, .momentum = 0.9, .weightDecay = 0.01}, 0.25);
  const double g = 4 * 0.25 + 0.01 * 2, v = 0.9 * 3 + g;
  float w = 2, velocity = 3;
  sgdPlain(w, 4, k);
  EXPECT_NEAR(w, 2 - 0.1 * g, 1e-6);
  w = 2;
  sgdMomentum<false>(w, 4, velocity, k);
  EXPECT_NEAR(velocity, v, 1e-6);
  EXPECT_NEAR(w, 2 - 0.1 * v, 1e-6);
  w = 2, velocity = 3;
  sgdMomentum<true>(w, 4, velocity, k);
  EXPECT_NEAR(w, 2 - 0.1 * (g + 0.9 * v), 1e-6);
}

// Updates of one element by Adam and AdamW, each beside the formulas in double from the same
// weight, for random values of many sizes. The decay is a power of two, so that a gradient that it
// cancels is exact.
TEST(ElementBodiesTest, AdamFollowsTheBook) {
  std::mt19937 draw(std::random_device{}());
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> exponent(-6, 3);
  for (int repeat = 0; repeat < 2000; ++repeat) {
    OptimizerOptions o{.rate = 0.1,
                       .weightDecay = 1.0 / 128,
                       .kind = repeat % 2 ? OptimizerKind::adam : OptimizerKind::adamw};
    float w = static_cast<float>(normal(draw)), m = 0, v = 0;
    double first = 0, second = 0;
    for (int t = 1; t <= 5; ++t) {
      const auto g = static_cast<float>(normal(draw) * std::pow(10, exponent(draw)));
      const AdamCorrection correction = adamCorrection(o.beta1, o.beta2, t);
      AdamConstants k = adamConstants(o, 0.25);
      k.step = static_cast<float>(o.rate * correction.first);
      k.root = static_cast<float>(correction.second);
      double weight = w, gradient = g * 0.25;
      if (o.kind == OptimizerKind::adam)
        gradient += o.weightDecay * weight, adamElement<false>(w, g, m, v, k);
      else
        weight -= o.rate * o.weightDecay * weight, adamElement<true>(w, g, m, v, k);
      first = 0.9 * first + 0.1 * gradient;
      second = 0.999 * second + 0.001 * gradient * gradient;
      weight -= 0.1 * (first / (1 - std::pow(0.9, t))) /
                (std::sqrt(second / (1 - std::pow(0.999, t))) + 1e-8);
      EXPECT_NEAR(w, weight, 1e-6 * (1 + std::fabs(weight)));
    }
    EXPECT_NEAR(v, second, 1e-6 * second);
  }
}

} // namespace
} // namespace syncline::cuda
