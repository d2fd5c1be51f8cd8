// bench-convolution [BATCH [ROUNDS]]: times our convolutions by kernels of one element and oneDNN's
// in turn, for the layers of three networks at 224 x 224 images. Prints ours / oneDNN's.
#include "runtime/cpu/BlockedConvolution.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

namespace {

using namespace syncline;
using namespace syncline::cpu;
using Tag = dnnl::memory::format_tag;

struct Layer {
  const char *network;
  std::int64_t channels, outputs, extent;
};

/// Every different one with strides of 1.
constexpr Layer layers[] = {
    {"efficientnet_b0", 32, 16, 112},  {"efficientnet_b0", 16, 96, 112},
    {"efficientnet_b0", 96, 24, 56},   {"efficientnet_b0", 24, 144, 56},
    {"efficientnet_b0", 144, 24, 56},  {"efficientnet_b0", 144, 40, 28},
    {"efficientnet_b0", 40, 240, 28},  {"efficientnet_b0", 240, 40, 28},
    {"efficientnet_b0", 240, 80, 14},  {"efficientnet_b0", 80, 480, 14},
    {"efficientnet_b0", 480, 80, 14},  {"efficientnet_b0", 480, 112, 14},
    {"efficientnet_b0", 112, 672, 14}, {"efficientnet_b0", 672, 112, 14},
    {"efficientnet_b0", 672, 192, 7},  {"efficientnet_b0", 192, 1152, 7},
    {"efficientnet_b0", 1152, 192, 7}, {"efficientnet_b0", 1152, 320, 7},
    {"efficientnet_b0", 320, 1280, 7}, {"resnet50", 64, 64, 56},
    {"resnet50", 64, 256, 56},         {"resnet50", 256, 64, 56},
    {"resnet50", 256, 128, 56},        {"resnet50", 128, 512, 28},
    {"resnet50", 512, 128, 28},        {"resnet50", 512, 256, 28},
    {"resnet50", 256, 1024, 14},       {"resnet50", 1024, 256, 14},
    {"resnet50", 1024, 512, 14},       {"resnet50", 512, 2048, 7},
    {"resnet50", 2048, 512, 7},        {"squeezenet1_1", 64, 16, 55},
    {"squeezenet1_1", 16, 64, 55},     {"squeezenet1_1", 128, 16, 55},
    {"squeezenet1_1", 128, 32, 27},    {"squeezenet1_1", 32, 128, 27},
    {"squeezenet1_1", 256, 32, 27},    {"squeezenet1_1", 256, 48, 13},
    {"squeezenet1_1", 48, 192, 13},    {"squeezenet1_1", 384, 48, 13},
    {"squeezenet1_1", 384, 64, 13},    {"squeezenet1_1", 64, 256, 13},
    {"squeezenet1_1", 512, 64, 13},    {"squeezenet1_1", 512, 1000, 13},
};

constexpr double secondsOfRound = 0.05; // of both sides together, roughly
constexpr double ratePerSecond = 5e10;  // operations, to choose repetitions by

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

/// The best seconds of ours and of oneDNN's of one round, in turn.
template <typename Ours, typename Theirs>
std::pair<double, double> timeRound(int repetitions, const Ours &ours, const Theirs &theirs) {
  double best = INFINITY, bestOther = INFINITY;
  for (int i = 0; i < repetitions; ++i) {
    const double begin = now();
    ours();
    const double middle = now();
    theirs();
    best = std::min(best, middle - begin);
    bestOther = std::min(bestOther, now() - middle);
  }
  return {best, bestOther};
}

/// Prints one layer's figures. Its median ratio over rounds.
double timeLayer(const Layer &layer, std::int64_t batch, int rounds) {
  const auto image = [&](std::int64_t channels) {
    return activationLayout({batch, channels, layer.extent, layer.extent}, DataType::f32);
  };
  const Layout bias({layer.outputs}, DataType::f32, Tag::a);
  const Layout weights({layer.outputs, layer.channels, 1, 1}, DataType::f32,
                       vectorLanes() == 8 ? Tag::OIhw8i8o : Tag::OIhw16i16o);
  const Layout from = image(layer.channels), to = image(layer.outputs);
  const std::optional<BlockedConvolution> convolution = BlockedConvolution::of(from, weights, to);
  if (!convolution) {
    std::fprintf(stderr, "bench-convolution: this processor has neither AVX2 nor AVX-512\n");
    std::exit(1);
  }

  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  std::mt19937 random(1);
  const auto make = [&](const Layout &layout) {
    dnnl::memory made(layout, engine);
    std::uniform_real_distribution<float> draw(-1, 1);
    std::generate_n(static_cast<float *>(made.get_data_handle()), layout.get_size() / sizeof(float),
                    [&] { return draw(random); });
    return made;
  };
  const dnnl::memory x = make(from), w = make(weights), b = make(bias), y = make(to);
  const dnnl::convolution_forward::primitive_desc desc({dnnl::prop_kind::forward_training,
                                                        dnnl::algorithm::convolution_direct,
                                                        from,
                                                        weights,
                                                        bias,
                                                        to,
                                                        {1, 1},
                                                        {0, 0},
                                                        {0, 0}},
                                                       engine);
  dnnl::convolution_forward primitive(desc);
  const auto pointer = [](const dnnl::memory &memory) {
    return static_cast<float *>(memory.get_data_handle());
  };
  const auto ours = [&] { convolution->run(pointer(x), pointer(w), pointer(b), pointer(y)); };
  const auto theirs = [&] {
    primitive.execute(
        stream, {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, w}, {DNNL_ARG_BIAS, b}, {DNNL_ARG_DST, y}});
    stream.wait();
  };

  const double operations = 2.0 * static_cast<double>(batch * layer.channels * layer.outputs *
                                                      layer.extent * layer.extent);
  const int repetitions =
      std::max(1, static_cast<int>(secondsOfRound * ratePerSecond / (2 * operations)));
  std::vector<double> seconds, otherSeconds, ratios;
  timeRound(1, ours, theirs); // fills caches and pages
  for (int round = 0; round < rounds; ++round) {
    const auto [own, other] = timeRound(repetitions, ours, theirs);
    seconds.push_back(own);
    otherSeconds.push_back(other);
    ratios.push_back(own / other);
  }
  std::printf("%-16s %5lld > %4lld, %3lld^2  %8.1f %8.1f %7.2f  %s\n", layer.network,
              static_cast<long long>(layer.channels), static_cast<long long>(layer.outputs),
              static_cast<long long>(layer.extent), median(seconds) * 1e6,
              median(otherSeconds) * 1e6, median(ratios), desc.impl_info_str());
  std::fflush(stdout);
  return median(ratios);
}

} // namespace

int main(int count, char **arguments) {
  const std::int64_t batch = count > 1 ? std::atoll(arguments[1]) : 4;
  const int rounds = count > 2 ? std::atoi(arguments[2]) : 9;
  const dnnl_version_t *version = dnnl_version();
  std::printf("oneDNN %d.%d.%d, batch %lld, medians of %d rounds, microseconds\n", version->major,
              version->minor, version->patch, static_cast<long long>(batch), rounds);
  std::printf("%-32s %8s %8s %7s\n", "network, channels > outputs", "ours", "oneDNN", "ratio");
  std::vector<double> ratios;
  for (const Layer &layer : layers)
    ratios.push_back(timeLayer(layer, batch, rounds));
  std::ranges::sort(ratios);
  std::printf("%zu layers: median %.2f, %.2f to %.2f\n", ratios.size(), median(ratios),
              ratios.front(), ratios.back());
  return 0;
}
