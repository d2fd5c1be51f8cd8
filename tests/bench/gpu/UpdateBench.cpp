// The optimizer's update of one bucket beside a copy that moves as many bytes, both on a GPU.
//
//   bench-gpu-update [MIB]
//
// MIB is the bucket's size, by default 256. Prints one JSON object: bytes that each of both moves,
// and the median seconds that it takes.
#include "runtime/core/BackendModule.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include <cuda_runtime_api.h>

using namespace syncline::core;
using namespace syncline;

namespace {

constexpr int warmUp = 5, rounds = 21, together = 10;
/// Read weight, gradient, velocity; write weight, velocity.
constexpr std::int64_t accesses = 5;

[[noreturn]] void fail(const std::string &message) {
  std::fprintf(stderr, "bench-gpu-update: error: %s\n", message.c_str());
  std::exit(1);
}

void check(const Status &status) {
  if (!status)
    fail(status.message());
}

void check(cudaError_t error) {
  if (error != cudaSuccess)
    fail(cudaGetErrorString(error));
}

/// Median seconds of one of `together` calls that are enqueued at once and waited for once.
double medianSeconds(const std::function<void()> &enqueue, const std::function<void()> &wait) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  for (int round = 0; round < warmUp + rounds; ++round) {
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < together; ++i)
      enqueue();
    wait();
    if (round >= warmUp)
      seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count() / together);
  }
  std::nth_element(seconds.begin(), seconds.begin() + rounds / 2, seconds.end());
  return seconds[rounds / 2];
}

/// One parameter in one bucket, with momentum and weight decay.
double secondsOfUpdate(const Backend &backend, std::int64_t bytes) {
  ExecutableOptions options;
  options.sizes.parameters = options.sizes.gradients = bytes;
  Result<std::unique_ptr<Executable>> made = backend.createExecutable(options);
  if (!made)
    fail(made.status().message());
  Executable &executable = **made;
  StepBuilder &step = executable.builder();
  const Shape shape{bytes / 4};
  step.tensor({"w", Space::parameters, ElementType::f32, shape, 0, bytes});
  step.tensor({"w", Space::gradients, ElementType::f32, shape, 0, bytes});
  step.bucket({0, 0, "ring", 0, bytes});
  step.phase("update");
  step.update(0);
  check(executable.finish());
  check(executable.setOptimizer({0.1, 0.9, 1e-4, false}));
  executable.beginStep(0);
  const int update = static_cast<int>(executable.operations().size()) - 1;
  return medianSeconds([&] { check(executable.run(update)); },
                       [&] { check(executable.synchronize()); });
}

/// Reads and writes half of `moved` bytes each, inside the device's memory.
double secondsOfCopy(std::size_t moved) {
  void *from = nullptr, *to = nullptr;
  check(cudaMalloc(&from, moved / 2));
  check(cudaMalloc(&to, moved / 2));
  check(cudaMemset(from, 0, moved / 2));
  const double seconds = medianSeconds(
      [&] { check(cudaMemcpyAsync(to, from, moved / 2, cudaMemcpyDeviceToDevice, nullptr)); },
      [&] { check(cudaDeviceSynchronize()); });
  check(cudaFree(from));
  check(cudaFree(to));
  return seconds;
}

} // namespace

int main(int argc, char **argv) {
  const std::int64_t mebibytes = argc > 1 ? std::atoll(argv[1]) : 256;
  if (argc > 2 || mebibytes < 1 || mebibytes > 4096)
    fail("expected the bucket's size, 1 to 4096 MiB");
  const Result<const Backend *> backend = loadBackend(backendModulePath("cuda"));
  if (!backend)
    fail(backend.status().message());
  check((*backend)->available());
  const std::int64_t bytes = mebibytes << 20, moved = accesses * bytes;
  const double update = secondsOfUpdate(**backend, bytes);
  const double copy = secondsOfCopy(static_cast<std::size_t>(moved));
  std::printf("{\"bytes\": %lld, \"update\": %.9f, \"copy\": %.9f}\n",
              static_cast<long long>(moved), update, copy);
  return 0;
}
