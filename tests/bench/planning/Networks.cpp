// Shapes of the networks, written in forward order and turned around.
#include "tests/bench/planning/Networks.h"

#include <algorithm>
#include <cmath>

namespace syncline::solver {

using namespace problem;

namespace {

constexpr double operationsPerSecond = 8e12;

/// Adds layers in forward order; finish() turns them around and times them.
class NetworkBuilder {
public:
  NetworkBuilder(std::string name, std::int64_t samples) : samples(samples) {
    network.name = std::move(name);
  }

  /// A matrix of inputs x outputs, applied to `rows` rows a sample; its bias where it has one.
  void dense(std::int64_t inputs, std::int64_t outputs, bool hasBias, std::int64_t rows = 1) {
    FactorShape shape{inputs, outputs, samples * rows};
    if (hasBias)
      add(4 * outputs, {}, 0, true);
    Factors factors = factorsOf(shape, operationsPerSecond);
    add(shape.bytes(), factors, 2 * factors.reconstruct, false);
  }

  /// A convolution on squares of `side` pixels, whose factors are its input and the gradient of
  /// its output.
  void convolution(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t side,
                   std::int64_t stride, bool hasBias) {
    std::int64_t pixels = (side / stride) * (side / stride);
    if (hasBias)
      add(4 * out, {}, 0, true);
    double reconstruct = 2.0 * static_cast<double>(samples * pixels * in * out * kernel * kernel) /
                         operationsPerSecond;
    Factors factors{4 * samples * (in * side * side + out * pixels), reconstruct};
    add(4 * in * out * kernel * kernel, factors, 2 * reconstruct, false);
  }

  void vector(std::int64_t elements) { add(4 * elements, {}, 0, false); }

  Network finish() {
    std::ranges::reverse(items);
    double ready = 0;
    for (std::size_t k = 0; k < items.size(); ++k) {
      Gradient gradient = items[k].gradient;
      gradient.ready = ready += 3e-5 + items[k].seconds;
      // In backward order a weight stands right before its bias.
      if (items[k].isBias)
        gradient.carrier = k - 1;
      network.gradients.push_back(gradient);
    }
    return std::move(network);
  }

private:
  struct Item {
    Gradient gradient;
    double seconds = 0;
    bool isBias = false;
  };

  void add(std::int64_t bytes, std::optional<Factors> factors, double seconds, bool isBias) {
    Gradient gradient;
    gradient.bytes = bytes;
    gradient.factors = factors;
    items.push_back({gradient, seconds, isBias});
  }

  Network network;
  std::int64_t samples;
  std::vector<Item> items;
};

} // namespace

Network vgg16(std::int64_t batch) {
  NetworkBuilder builder("VGG-16", batch);
  std::int64_t in = 3, side = 224;
  for (auto [out, count] :
       {std::pair<std::int64_t, int>{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}}) {
    for (int i = 0; i < count; ++i) {
      builder.convolution(in, out, 3, side, 1, true);
      in = out;
    }
    side /= 2;
  }
  builder.dense(25088, 4096, true);
  builder.dense(4096, 4096, true);
  builder.dense(4096, 1000, true);
  return builder.finish();
}

Network resNet(int depth, std::int64_t batch) {
  NetworkBuilder builder("ResNet-" + std::to_string(depth), batch);
  auto normalised = [&](std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t side,
                        std::int64_t stride) {
    builder.convolution(in, out, kernel, side, stride, false);
    builder.vector(out);
    builder.vector(out);
  };
  normalised(3, 64, 7, 224, 2);
  const int blocks[] = {3, depth == 50 ? 4 : 8, depth == 50 ? 6 : 36, 3};
  std::int64_t in = 64, side = 56;
  for (int stage = 0; stage < 4; ++stage) {
    std::int64_t width = std::int64_t{64} << stage, out = 4 * width;
    for (int block = 0; block < blocks[stage]; ++block) {
      std::int64_t stride = block == 0 && stage > 0 ? 2 : 1;
      if (block == 0)
        normalised(in, out, 1, side, stride);
      normalised(in, width, 1, side, 1);
      normalised(width, width, 3, side, stride);
      side /= stride;
      normalised(width, out, 1, side, 1);
      in = out;
    }
  }
  builder.dense(2048, 1000, true);
  return builder.finish();
}

Network transformer(int blocks, std::int64_t width, std::int64_t tokens) {
  NetworkBuilder builder("transformer of " + std::to_string(blocks) + " blocks, " +
                             std::to_string(tokens) + " tokens",
                         tokens);
  builder.vector(50257 * width);
  builder.vector(1024 * width);
  for (int block = 0; block < blocks; ++block) {
    builder.vector(width);
    builder.vector(width);
    builder.dense(width, 3 * width, true);
    builder.dense(width, width, true);
    builder.vector(width);
    builder.vector(width);
    builder.dense(width, 4 * width, true);
    builder.dense(4 * width, width, true);
  }
  builder.vector(width);
  return builder.finish();
}

Network synthetic(std::size_t count) {
  NetworkBuilder builder("synthetic", 32);
  for (std::size_t k = 0; k < count; k += 3) {
    auto channels = static_cast<std::int64_t>(
        2048 * std::pow(2, -std::floor(4.0 * static_cast<double>(count - k) /
                                       static_cast<double>(count + 1))));
    builder.dense(channels, channels, false);
    for (std::size_t i = k + 1; i < std::min(count, k + 3); ++i)
      builder.vector(channels);
  }
  return builder.finish();
}

} // namespace syncline::solver
