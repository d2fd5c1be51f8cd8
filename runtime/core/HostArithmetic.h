// Arithmetic on weights that lie in the host's memory.
#pragma once

#include "runtime/core/WeightArithmetic.h"

#include <vector>

namespace syncline::core {

/// Each call is done when it returns.
class HostArithmetic final : public WeightArithmetic {
public:
  Result<std::span<float>> allocate(const std::string &what, std::size_t n) override;
  Status copy(std::span<float> to, std::span<const float> from) override;
  Status subtract(std::span<float> to, std::span<const float> from,
                  std::span<const float> less) override;
  Status scale(std::span<float> values, float by) override;
  Status add(std::span<float> to, std::span<const float> more, float by) override;
  Status apply(const OuterStep &rule, std::span<float> weights, std::span<float> common,
               std::span<float> velocity, std::span<const float> sum) override;
  Status apply(const ElasticPull &rule, std::span<float> weights, std::span<float> centre,
               std::span<const float> own, std::span<const float> sum) override;
  Status read(std::span<const float> from, std::span<std::byte> to) override;
  Status write(std::span<float> to, std::span<const std::byte> from) override;

private:
  std::vector<std::vector<float>> memory;
};

} // namespace syncline::core
