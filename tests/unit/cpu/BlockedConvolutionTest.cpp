// Convolutions by kernels of one element against sums in double, by each kind of vectors that this
// processor has.
#include "runtime/cpu/BlockedConvolution.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace syncline::cpu {
namespace {

using Tag = dnnl::memory::format_tag;

/// Layouts of images and weights in blocks of one vector.
Tag imageTag(Vectors vectors) { return vectors == Vectors::avx2 ? Tag::nChw8c : Tag::nChw16c; }
Tag weightTag(Vectors vectors) {
  return vectors == Vectors::avx2 ? Tag::OIhw8i8o : Tag::OIhw16i16o;
}

struct Case {
  std::int64_t samples, channels, outputs, height, width;
  bool hasBias = true;
};

/// A convolution of random numbers, in blocks whose padding is 0.
class Layer {
public:
  Layer(Vectors by, const Case &of)
      : of(of), by(by), x(make({of.samples, of.channels, of.height, of.width}, imageTag(by))),
        w(make({of.outputs, of.channels, 1, 1}, weightTag(by))),
        y(make({of.samples, of.outputs, of.height, of.width}, imageTag(by), false)),
        bias(static_cast<std::size_t>(of.outputs)) {
    for (float &value : bias)
      value = of.hasBias ? draw() : 0.0f;
  }

  struct Operand {
    Layout layout;
    std::vector<float> values;

    float &at(std::int64_t a, std::int64_t b, std::int64_t i = 0, std::int64_t j = 0) {
      const std::int64_t index[] = {a, b, i, j};
      return values[static_cast<std::size_t>(elementOffset(layout, index))];
    }
  };

  std::optional<BlockedConvolution> convolution() const {
    return BlockedConvolution::of(by, x.layout, w.layout, y.layout);
  }
  void run() {
    convolution()->run(x.values.data(), w.values.data(), of.hasBias ? bias.data() : nullptr,
                       y.values.data());
  }
  /// The result's relative error against sums in double.
  double error() {
    double difference = 0, norm = 0;
    forEachResult([&](std::int64_t n, std::int64_t o, std::int64_t i, std::int64_t j) {
      double sum = bias[static_cast<std::size_t>(o)];
      for (std::int64_t c = 0; c < of.channels; ++c)
        sum += static_cast<double>(x.at(n, c, i, j)) * w.at(o, c);
      difference += std::pow(y.at(n, o, i, j) - sum, 2);
      norm += sum * sum;
    });
    return std::sqrt(difference / norm);
  }
  /// The error of adding up in one float, one channel after the other.
  double errorOfOneSum() {
    forEachResult([&](std::int64_t n, std::int64_t o, std::int64_t i, std::int64_t j) {
      float sum = bias[static_cast<std::size_t>(o)];
      for (std::int64_t c = 0; c < of.channels; ++c)
        sum = std::fma(x.at(n, c, i, j), w.at(o, c), sum);
      y.at(n, o, i, j) = sum;
    });
    return error();
  }

  /// The sums that the header of BlockedConvolution tells, one result at a time.
  void sumInParts() {
    forEachResult([&](std::int64_t n, std::int64_t o, std::int64_t i, std::int64_t j) {
      float sum = bias[static_cast<std::size_t>(o)];
      for (std::int64_t begin = 0; begin < of.channels; begin += 32) {
        float parts[2] = {}; // of even and of odd channels
        for (std::int64_t c = begin; c < std::min(begin + 32, of.channels); ++c)
          parts[c % 2] = std::fma(x.at(n, c, i, j), w.at(o, c), parts[c % 2]);
        sum += parts[0] + parts[1];
      }
      y.at(n, o, i, j) = sum;
    });
  }
  /// The results in the order of a plain layout.
  std::vector<float> plainResults() {
    std::vector<float> results;
    forEachResult([&](std::int64_t n, std::int64_t o, std::int64_t i, std::int64_t j) {
      results.push_back(y.at(n, o, i, j));
    });
    return results;
  }

  Case of;
  Vectors by;

private:
  float draw() { return std::uniform_real_distribution<float>(-1, 1)(random); }

  Operand make(const dnnl::memory::dims &dims, Tag tag, bool isDrawn = true) {
    Operand made{Layout(dims, DataType::f32, tag), {}};
    // A result that is not written stays NaN.
    made.values.assign(made.layout.get_size() / sizeof(float),
                       isDrawn ? 0.0f : std::numeric_limits<float>::quiet_NaN());
    if (isDrawn)
      for (std::int64_t a = 0; a < dims[0]; ++a)
        for (std::int64_t b = 0; b < dims[1]; ++b)
          for (std::int64_t i = 0; i < dims[2]; ++i)
            for (std::int64_t j = 0; j < dims[3]; ++j)
              made.at(a, b, i, j) = draw();
    return made;
  }
  template <typename Visit> void forEachResult(const Visit &visit) const {
    for (std::int64_t n = 0; n < of.samples; ++n)
      for (std::int64_t o = 0; o < of.outputs; ++o)
        for (std::int64_t i = 0; i < of.height; ++i)
          for (std::int64_t j = 0; j < of.width; ++j)
            visit(n, o, i, j);
  }

  std::mt19937 random{1};

public:
  Operand x, w, y;
  std::vector<float> bias;
};

class BlockedConvolutionTest : public testing::TestWithParam<Vectors> {
protected:
  void SetUp() override {
    if (!hasVectors(by))
      GTEST_SKIP() << "this processor lacks these vectors";
  }
  const Vectors by = GetParam();
  const std::int64_t lanes = by == Vectors::avx2 ? 8 : 16;
};

INSTANTIATE_TEST_SUITE_P(By, BlockedConvolutionTest,
                         testing::Values(Vectors::avx2, Vectors::avx512),
                         [](const testing::TestParamInfo<Vectors> &info) {
                           return info.param == Vectors::avx2 ? "Avx2" : "Avx512";
                         });

// Every number of pixels in the last tile, odd numbers of blocks on both sides, several parts.
TEST_P(BlockedConvolutionTest, AllTiles) {
  for (std::int64_t width = 1; width <= 8; ++width)
    for (const std::int64_t blocks : {1, 2, 3, 5})
      for (const bool hasBias : {false, true}) {
        Layer layer(by, {2, lanes * blocks, lanes * (6 - blocks), 1, width, hasBias});
        layer.run();
        EXPECT_LE(layer.error(), 3e-7) << width << " pixels, " << blocks << " blocks";
      }
  for (const Case &of : {Case{2, 16, 32, 16, 15}, Case{1, 2048, 16, 6, 6}}) {
    Layer layer(by, of);
    layer.run();
    EXPECT_LE(layer.error(), 3e-7);
  }
}

// The last block's other channels are 0 afterwards too.
TEST_P(BlockedConvolutionTest, PaddedChannels) {
  Layer layer(by, {2, lanes * 3 / 2, lanes * 5 / 2, 3, 3});
  layer.run();
  EXPECT_LE(layer.error(), 3e-7);
  const std::int64_t pixels = 9, block = lanes * pixels, last = 2 * block;
  for (const std::int64_t sample : {0, 1})
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel)
      for (std::int64_t lane = lanes / 2; lane < lanes; ++lane) {
        const std::int64_t at = sample * 3 * block + last + pixel * lanes + lane;
        EXPECT_EQ(layer.y.values[static_cast<std::size_t>(at)], 0.0f);
      }
}

TEST_P(BlockedConvolutionTest, LosesLessThanOneSum) {
  for (const std::int64_t channels : {144, 480, 1152}) {
    Layer layer(by, {1, channels, 32, 8, 8, false});
    layer.run();
    const double parts = layer.error();
    EXPECT_LE(parts, 0.65 * layer.errorOfOneSum()) << channels << " channels";
    EXPECT_LE(parts, 2e-7) << channels << " channels";
  }
}

TEST_P(BlockedConvolutionTest, ThreadsChangeNoBit) {
  const int before = omp_get_max_threads();
  std::vector<std::vector<float>> results;
  for (const int threads : {1, 2, 5}) {
    omp_set_num_threads(threads);
    Layer layer(by, {3, 72, 40, 13, 11});
    layer.run();
    results.push_back(layer.plainResults());
  }
  omp_set_num_threads(before);
  EXPECT_EQ(results[1], results[0]);
  EXPECT_EQ(results[2], results[0]);
}

// The parts are those that the header tells: even and odd channels of 32, whatever the vectors.
TEST_P(BlockedConvolutionTest, AddsEvenAndOddChannelsOf32) {
  Layer layer(by, {2, 88, 24, 5, 4});
  layer.run();
  const std::vector<float> results = layer.plainResults();
  layer.sumInParts();
  EXPECT_EQ(results, layer.plainResults());
}

TEST_P(BlockedConvolutionTest, OtherLayoutsAreLeftToOneDnn) {
  const dnnl::memory::dims image{1, 16, 4, 4}, kernel{16, 16, 1, 1};
  const auto images = [&](Tag tag) { return Layout(image, DataType::f32, tag); };
  const auto weights = [&](Tag tag) { return Layout(kernel, DataType::f32, tag); };
  const auto found = [&](const Layout &x, const Layout &w, const Layout &y) {
    return BlockedConvolution::of(by, x, w, y).has_value();
  };
  const Layout blocked = images(imageTag(by)), blockedWeights = weights(weightTag(by));
  EXPECT_TRUE(found(blocked, blockedWeights, blocked));
  EXPECT_FALSE(found(images(Tag::nchw), blockedWeights, blocked));
  EXPECT_FALSE(found(images(Tag::nhwc), blockedWeights, images(Tag::nhwc)));
  EXPECT_FALSE(found(blocked, blockedWeights, images(Tag::nhwc)));
  EXPECT_FALSE(found(blocked, weights(Tag::OIhw16o16i), blocked));
  EXPECT_FALSE(found(blocked, weights(Tag::OIhw8o8i), blocked));
  const Vectors others = by == Vectors::avx2 ? Vectors::avx512 : Vectors::avx2;
  const Layout otherwise = images(imageTag(others));
  EXPECT_FALSE(found(otherwise, weights(weightTag(others)), otherwise));
  const Layout rounded = withType(blocked, DataType::bf16);
  EXPECT_FALSE(found(rounded, blockedWeights, rounded));
}

} // namespace
} // namespace syncline::cpu
