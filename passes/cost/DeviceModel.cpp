// The formula: what binds a kernel is its computation, its bytes, or its launch.
#include "passes/cost/DeviceModel.h"

#include <algorithm>
#include <cmath>

namespace syncline::cost {
namespace {

struct Tile {
  double rows, columns;
  double share; ///< of the speed of the largest: smaller tiles read operands more often
};

/// cuBLAS's tiles, as NVIDIA's guide to matrix products orders them.
constexpr auto tiles = std::to_array<Tile>({{256, 128, 1},
                                            {128, 256, 1},
                                            {128, 128, 0.92},
                                            {128, 64, 0.78},
                                            {64, 128, 0.78},
                                            {64, 64, 0.62}});
/// A product is cut along k no finer than this.
constexpr double leastCut = 512;

bool isProduct(KernelClass kind) {
  switch (kind) {
  case KernelClass::product:
  case KernelClass::batched:
  case KernelClass::convolution:
  case KernelClass::grouped:
  case KernelClass::recurrent:
    return true;
  case KernelClass::depthwise:
  case KernelClass::pointwise:
  case KernelClass::normalization:
  case KernelClass::softmax:
  case KernelClass::pooling:
  case KernelClass::move:
  case KernelClass::embedding:
  case KernelClass::optimizer:
    return false;
  }
  return false;
}

/// The number of a device that is the share of a class.
NamedNumber shareNumber(KernelClass kind) {
  switch (kind) {
  case KernelClass::product:
    return {"product", &DeviceNumbers::product};
  case KernelClass::batched:
    return {"batched", &DeviceNumbers::batched};
  case KernelClass::convolution:
    return {"convolution", &DeviceNumbers::convolution};
  case KernelClass::grouped:
    return {"grouped", &DeviceNumbers::grouped};
  case KernelClass::depthwise:
    return {"depthwise", &DeviceNumbers::depthwise};
  case KernelClass::recurrent:
    return {"recurrent", &DeviceNumbers::recurrent};
  case KernelClass::pointwise:
    return {"pointwise", &DeviceNumbers::pointwise};
  case KernelClass::normalization:
    return {"normalization", &DeviceNumbers::normalization};
  case KernelClass::softmax:
    return {"softmax", &DeviceNumbers::softmax};
  case KernelClass::pooling:
    return {"pooling", &DeviceNumbers::pooling};
  case KernelClass::move:
    return {"move", &DeviceNumbers::move};
  case KernelClass::embedding:
    return {"embedding", &DeviceNumbers::embedding};
  case KernelClass::optimizer:
    return {"optimizer", &DeviceNumbers::optimizer};
  }
  return {};
}

double shareOf(KernelClass kind, const DeviceNumbers &device) {
  return device.*shareNumber(kind).second;
}

/// FLOP/s at which a kernel's products would go on if tiles filled the device.
double productRate(const Kernel &kernel, Precision precision, const DeviceNumbers &device) {
  const double peak = device.peak(precision);
  const double share = shareOf(kernel.kind, device);
  if (peak > device.fp32 && precision != Precision::fp32)
    return peak * share * device.matrix * (kernel.isUnaligned ? device.unaligned : 1);
  // Without matrix units: plain arithmetic loses less, and Winograd's algorithm saves some.
  const double faster = kernel.hasWindow ? device.winograd : 1;
  return std::max(peak, device.fp32) * device.vector * std::sqrt(share) * faster;
}

} // namespace

std::string_view className(KernelClass kind) { return shareNumber(kind).first; }

std::optional<Precision> parsePrecision(std::string_view name) {
  constexpr auto names =
      std::to_array<std::pair<std::string_view, Precision>>({{"fp32", Precision::fp32},
                                                             {"tf32", Precision::tf32},
                                                             {"bf16", Precision::bf16},
                                                             {"fp16", Precision::fp16}});
  for (const auto &[text, precision] : names)
    if (text == name)
      return precision;
  return std::nullopt;
}

double DeviceNumbers::peak(Precision precision) const {
  switch (precision) {
  case Precision::fp32:
    return fp32;
  case Precision::tf32:
    return tf32;
  case Precision::bf16:
    return bf16;
  case Precision::fp16:
    return fp16;
  }
  return 0;
}

double tileShare(const Kernel &kernel, double multiprocessors) {
  double best = 0;
  const double useful = kernel.m * kernel.n * kernel.batch;
  for (const Tile &tile : tiles) {
    const double count =
        std::ceil(kernel.m / tile.rows) * std::ceil(kernel.n / tile.columns) * kernel.batch;
    const double cuts = std::clamp(std::floor(multiprocessors / count), 1.0,
                                   std::max(1.0, std::floor(kernel.k / leastCut)));
    const double waves = std::ceil(count * cuts / multiprocessors);
    const double done = waves * multiprocessors / cuts * tile.rows * tile.columns;
    best = std::max(best, useful / done * tile.share);
  }
  return std::min(best, 1.0);
}

double kernelSeconds(const Kernel &kernel, Precision precision, const DeviceNumbers &device) {
  double computing = 0;
  double movingShare = shareOf(kernel.kind, device);
  if (isProduct(kernel.kind)) {
    const double rate = productRate(kernel, precision, device);
    computing = kernel.flops / (rate * tileShare(kernel, device.multiprocessors));
    movingShare = device.pointwise;
  }
  const bool converts = device.peak(precision) > device.fp32 && precision != Precision::fp32;
  const double converting =
      converts ? device.conversion * kernel.layoutBytes / device.bandwidth : 0;
  const double moving = kernel.bytes / (device.bandwidth * device.memory * movingShare);
  const double begins = device.launch * kernel.steps * kernel.launches;
  return (std::max(computing, moving) + converting + begins) * device.slowdown;
}

double issueFactor(double seconds, double launches, const DeviceNumbers &device) {
  const double issuing = launches * device.issue * device.slowdown;
  return seconds > 0 ? std::max(1.0, issuing / seconds) : 1;
}

} // namespace syncline::cost
