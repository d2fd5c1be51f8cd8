// Memory of a step.
#include "runtime/cuda/Program.h"

#include "runtime/cuda/MemoryText.h"

#include <algorithm>

namespace syncline::cuda {

namespace {

constexpr std::array<Space, spaceCount> allSpaces{
    Space::input, Space::target, Space::parameters, Space::gradients, Space::state, Space::arena};

/// Bytes free on the current device, and what it is called.
std::pair<std::int64_t, std::string> freeMemory(int index) {
  std::size_t free = 0, total = 0;
  cudaDeviceProp properties{};
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  check(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties");
  return {static_cast<std::int64_t>(free),
          "device " + std::to_string(index) + " (" + properties.name + ")"};
}

} // namespace

Program::Program(const ExecutableOptions &options)
    : options(options), table(options.sizes), device(options.device) {
  allocateSpaces();
  void *host = nullptr;
  check(cudaMallocHost(&host, sizeof(float)), "cudaMallocHost");
  loss = static_cast<float *>(host);
}

Program::~Program() {
  cudaSetDevice(device.index);
  cudaStreamSynchronize(device.compute);
  cudaStreamSynchronize(device.channel);
  if (loss)
    cudaFreeHost(loss);
}

void Program::allocateSpaces() {
  const auto [free, name] = freeMemory(device.index);
  if (std::int64_t needed = totalBytes(options.sizes); needed > free)
    throw Failure{ErrorKind::badInput, shortageText(options.sizes, free, name)};
  for (Space which : allSpaces) {
    DeviceMemory &memory = spaces[static_cast<int>(which)];
    try {
      memory = DeviceMemory(options.sizes.of(which));
    } catch (const Failure &failure) {
      if (failure.kind != ErrorKind::badInput)
        throw;
      throw Failure{ErrorKind::badInput, shortageText(options.sizes, free, name)};
    }
    if (memory.bytes() > 0)
      check(cudaMemsetAsync(memory.data(), 0, static_cast<std::size_t>(memory.bytes()),
                            device.compute),
            "cudaMemsetAsync");
  }
  check(cudaStreamSynchronize(device.compute), "cudaStreamSynchronize");
}

std::byte *Program::data(Tensor tensor) const {
  const StepTensor &info = table.of(tensor);
  return space(info.space).data() + info.offset;
}

void Program::allocateScratch() {
  try {
    scratch = DeviceMemory(scratchPlan.bytes());
  } catch (const Failure &failure) {
    if (failure.kind != ErrorKind::badInput)
      throw;
    const auto [free, name] = freeMemory(device.index);
    throw Failure{ErrorKind::badInput, "not enough memory on " + name + ": operations need " +
                                           bytesText(scratchPlan.bytes()) + " of scratch, " +
                                           bytesText(free) + " are free"};
  }
}

} // namespace syncline::cuda
