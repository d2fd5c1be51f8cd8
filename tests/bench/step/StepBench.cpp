// bench-step NETWORK [BATCH [STEPS [fp32|bf16]]]: times one rank's step on one thread and says
// where it goes.
#include "runtime/cpu/CpuBackend.h"
#include "tests/bench/step/Network.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>

namespace {

using namespace syncline::core;
using namespace syncline;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Small values everywhere: denormals and infinities would distort the times.
void fillParameters(Executable &executable) {
  const Interval interval = executable.space(Space::parameters);
  auto *values = static_cast<float *>(interval.data);
  for (std::int64_t i = 0; i < interval.bytes / 4; ++i)
    values[i] = static_cast<float>(i % 17 - 8) * 0.002f;
  const Interval input = executable.space(Space::input);
  for (std::int64_t i = 0; i < input.bytes / 4; ++i)
    static_cast<float *>(input.data)[i] = static_cast<float>(i % 255) / 255.0f - 0.5f;
}

/// The step's operations by kind and kernel, most expensive first.
void printProfile(const Executable &executable, const std::vector<double> &seconds) {
  struct Line {
    double seconds = 0;
    int count = 0, reorders = 0;
  };
  std::map<std::string, Line> lines;
  const auto operations = executable.operations();
  for (std::size_t i = 0; i < operations.size(); ++i) {
    Line &line = lines[operations[i].name + " " + operations[i].implementation];
    line.seconds += seconds[i];
    line.reorders += operations[i].reorders;
    ++line.count;
  }
  std::vector<std::pair<std::string, Line>> sorted(lines.begin(), lines.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const auto &a, const auto &b) { return a.second.seconds > b.second.seconds; });
  for (const auto &[name, line] : sorted)
    std::printf("%9.2f ms %4d ops %3d reorders  %s\n", line.seconds * 1e3, line.count,
                line.reorders, name.c_str());
}

int fail(const Status &status) {
  std::fprintf(stderr, "bench-step: %s\n", status.message().c_str());
  return status.exitCode();
}

} // namespace

int main(int count, char **arguments) {
  const std::string network = count > 1 ? arguments[1] : "resnet50";
  const std::int64_t batch = count > 2 ? std::atoll(arguments[2]) : 4;
  const int steps = count > 3 ? std::atoi(arguments[3]) : 4;
  constexpr std::int64_t gibibyte = std::int64_t{1} << 30;
  ExecutableOptions options;
  options.precision =
      count > 4 && arguments[4] == std::string("bf16") ? Precision::bf16 : Precision::fp32;
  options.sizes = {
      batch * 3 * 224 * 224 * 4, batch * 8, gibibyte, gibibyte, gibibyte, gibibyte * 16};
  auto created = cpu::createCpuExecutable(options);
  if (!created)
    return fail(created.status());
  Executable &executable = **created;
  if (!bench::buildNetwork(network, batch, executable))
    return fail(Status::badInput("no network '" + network + "'"));
  if (Status status = executable.finish(); !status)
    return fail(status);
  if (Status status = executable.setOptimizer({.rate = 1e-6, .momentum = 0.9}); !status)
    return fail(status);
  fillParameters(executable);

  std::vector<double> best(executable.operations().size(), 1e30);
  double bestStep = 1e30;
  for (int step = 0; step < steps; ++step) {
    const double begin = now();
    executable.beginStep(step);
    for (int i = 0; i < static_cast<int>(best.size()); ++i) {
      const double start = now();
      if (Status status = executable.run(i); !status)
        return fail(status);
      best[i] = std::min(best[i], now() - start);
    }
    bestStep = std::min(bestStep, now() - begin);
  }
  printProfile(executable, best);
  std::printf("%s batch %lld: %.1f ms a step, loss %g, scratch and velocity %.1f MiB\n",
              network.c_str(), static_cast<long long>(batch), bestStep * 1e3, executable.loss(),
              static_cast<double>(executable.extraBytes()) / (1 << 20));
  return 0;
}
