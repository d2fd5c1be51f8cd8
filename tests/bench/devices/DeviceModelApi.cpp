// passes/cost/DeviceModel as a shared library with C's calls, for fit.py.
#include "passes/cost/DeviceModel.h"

using namespace syncline::cost;

namespace {

DeviceNumbers numbersOf(const double *values) {
  DeviceNumbers numbers;
  for (const auto &[name, field] : deviceNumbers)
    numbers.*field = *values++;
  return numbers;
}

} // namespace

extern "C" {

int numberCount() { return static_cast<int>(deviceNumbers.size()); }

const char *numberName(int index) {
  return deviceNumbers[static_cast<std::size_t>(index)].first.data();
}

double numberDefault(int index) {
  return DeviceNumbers().*deviceNumbers[static_cast<std::size_t>(index)].second;
}

const char *kernelClassName(int index) { return className(static_cast<KernelClass>(index)).data(); }

/// The seconds of a step of `count` kernels, each of which is 13 numbers: how many there are, its
/// class, then those of `Kernel` in order. Seconds by class are added to `classes`.
double stepSeconds(int count, const double *kernels, int precision, const double *numbers,
                   double *classes) {
  const DeviceNumbers device = numbersOf(numbers);
  double seconds = 0, launches = 0;
  for (const double *k = kernels; k != kernels + 13 * count; k += 13) {
    const Kernel kernel{.kind = static_cast<KernelClass>(k[1]),
                        .flops = k[2],
                        .bytes = k[3],
                        .m = k[4],
                        .n = k[5],
                        .k = k[6],
                        .batch = k[7],
                        .steps = k[8],
                        .launches = k[9],
                        .layoutBytes = k[10],
                        .hasWindow = k[11] != 0,
                        .isUnaligned = k[12] != 0};
    const double each = kernelSeconds(kernel, static_cast<Precision>(precision), device);
    seconds += k[0] * each;
    classes[static_cast<int>(k[1])] += k[0] * each;
    launches += k[0] * k[9];
  }
  return seconds * issueFactor(seconds, launches, device);
}
}
