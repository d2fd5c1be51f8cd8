// Convolutions by kernels of one element against sums in double.
#include "runtime/cpu/BlockedConvolution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace syncline::cpu {
namespace {

using Tag = dnnl::memory::format_tag;

struct Case {
  std::int64_t samples, channels, outputs, height, width;
  bool hasBias = true;
};

/// A convolution of random numbers, in blocks whose padding is 0.
class Layer {
public:
  explicit Layer(const Case &of)
      : of(of), x(make({of.samples, of.channels, of.height, of.width}, Tag::nChw16c)),
        w(make({of.outputs, of.channels, 1, 1}, Tag::OIhw16i16o)),
        y(make({of.samples, of.outputs, of.height, of.width}, Tag::nChw16c, false)),
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
    return BlockedConvolution::of(x.layout, w.layout, y.layout);
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

  Case of;

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

class BlockedConvolutionTest : public testing::Test {
protected:
  void SetUp() override {
    if (!Layer({1, 16, 16, 1, 1}).convolution())
      GTEST_SKIP() << "this processor has no AVX-512";
  }
};

// Every number of pixels in the last tile, odd numbers of blocks on both sides, several parts.
TEST_F(BlockedConvolutionTest, AllTiles) {
  for (std::int64_t width = 1; width <= 8; ++width)
    for (const std::int64_t blocks : {1, 2, 3})
      for (const bool hasBias : {false, true}) {
        Layer layer({2, 16 * blocks, 16 * (4 - blocks), 1, width, hasBias});
        layer.run();
        EXPECT_LE(layer.error(), 3e-7) << width << " pixels, " << blocks << " blocks";
      }
  for (const Case &of : {Case{2, 16, 32, 16, 15}, Case{1, 2048, 16, 6, 6}}) {
    Layer layer(of);
    layer.run();
    EXPECT_LE(layer.error(), 3e-7);
  }
}

// The last block's other channels are 0 afterwards too.
TEST_F(BlockedConvolutionTest, PaddedChannels) {
  Layer layer({2, 24, 40, 3, 3});
  layer.run();
  EXPECT_LE(layer.error(), 3e-7);
  const std::size_t pixels = 9, block = 16 * pixels, last = 2 * block;
  for (const std::size_t sample : {0, 1})
    for (std::size_t pixel = 0; pixel < pixels; ++pixel)
      for (std::size_t lane = 8; lane < 16; ++lane)
        EXPECT_EQ(layer.y.values[sample * 3 * block + last + pixel * 16 + lane], 0.0f);
}

TEST_F(BlockedConvolutionTest, LosesLessThanOneSum) {
  for (const std::int64_t channels : {144, 480, 1152}) {
    Layer layer({1, channels, 32, 8, 8, false});
    layer.run();
    const double parts = layer.error();
    EXPECT_LE(parts, 0.65 * layer.errorOfOneSum()) << channels << " channels";
    EXPECT_LE(parts, 2e-7) << channels << " channels";
  }
}

TEST_F(BlockedConvolutionTest, OtherLayoutsAreLeftToOneDnn) {
  const dnnl::memory::dims image{1, 16, 4, 4}, kernel{16, 16, 1, 1};
  const auto images = [&](Tag tag) { return Layout(image, DataType::f32, tag); };
  const auto weights = [&](Tag tag) { return Layout(kernel, DataType::f32, tag); };
  const Layout blocked = images(Tag::nChw16c), blockedWeights = weights(Tag::OIhw16i16o);
  EXPECT_TRUE(BlockedConvolution::of(blocked, blockedWeights, blocked));
  EXPECT_FALSE(BlockedConvolution::of(images(Tag::nchw), blockedWeights, blocked));
  EXPECT_FALSE(BlockedConvolution::of(images(Tag::nhwc), blockedWeights, images(Tag::nhwc)));
  EXPECT_FALSE(BlockedConvolution::of(blocked, weights(Tag::OIhw16o16i), blocked));
  const Layout rounded = withType(blocked, DataType::bf16);
  EXPECT_FALSE(BlockedConvolution::of(rounded, blockedWeights, rounded));
}

} // namespace
} // namespace syncline::cpu
