// Arithmetic on weights that lie in the device's memory.
#pragma once

#include "runtime/core/WeightArithmetic.h"
#include "runtime/cuda/Program.h"

#include <vector>

namespace syncline::cuda {

/// Enqueues on the stream of the computation. The program outlives it.
class DeviceArithmetic final : public core::WeightArithmetic {
public:
  explicit DeviceArithmetic(Program &program) : program(program) {}

  Result<std::span<float>> allocate(const std::string &what, std::size_t n) override;
  Status copy(std::span<float> to, std::span<const float> from) override;
  Status subtract(std::span<float> to, std::span<const float> from,
                  std::span<const float> less) override;
  Status scale(std::span<float> values, float by) override;
  Status add(std::span<float> to, std::span<const float> more, float by) override;
  Status apply(const core::OuterStep &rule, std::span<float> weights, std::span<float> common,
               std::span<float> velocity, std::span<const float> sum) override;
  Status apply(const core::ElasticPull &rule, std::span<float> weights, std::span<float> centre,
               std::span<const float> own, std::span<const float> sum) override;
  Status read(std::span<const float> from, std::span<std::byte> to) override;
  Status write(std::span<float> to, std::span<const std::byte> from) override;

private:
  template <typename F> Status change(std::span<const float> elements, const F &enqueue);
  Status transfer(void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind);
  cudaStream_t stream() const { return program.device.compute; }

  Program &program;
  std::vector<DeviceMemory> memory;
};

} // namespace syncline::cuda
