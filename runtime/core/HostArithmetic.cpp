// Loops over weights.
#include "runtime/core/HostArithmetic.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace syncline::core {

Result<std::span<float>> HostArithmetic::allocate(const std::string &what, std::size_t n) {
  try {
    return std::span(memory.emplace_back(n));
  } catch (const std::bad_alloc &) {
    return Status::badInput("not enough memory for " + what);
  }
}

Status HostArithmetic::copy(std::span<float> to, std::span<const float> from) {
  std::ranges::copy(from, to.begin());
  return Status::ok();
}

Status HostArithmetic::subtract(std::span<float> to, std::span<const float> from,
                                std::span<const float> less) {
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] = from[i] - less[i];
  return Status::ok();
}

Status HostArithmetic::scale(std::span<float> values, float by) {
  for (float &value : values)
    value *= by;
  return Status::ok();
}

Status HostArithmetic::add(std::span<float> to, std::span<const float> more, float by) {
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] = by * (to[i] + more[i]);
  return Status::ok();
}

Status HostArithmetic::apply(const OuterStep &rule, std::span<float> weights,
                             std::span<float> common, std::span<float> velocity,
                             std::span<const float> sum) {
  float none = 0;
  for (std::size_t i = 0; i < weights.size(); ++i)
    rule(weights[i], common[i], velocity.empty() ? none : velocity[i], sum[i]);
  return Status::ok();
}

Status HostArithmetic::apply(const ElasticPull &rule, std::span<float> weights,
                             std::span<float> centre, std::span<const float> own,
                             std::span<const float> sum) {
  for (std::size_t i = 0; i < weights.size(); ++i)
    rule(weights[i], centre[i], own[i], sum[i]);
  return Status::ok();
}

Status HostArithmetic::read(std::span<const float> from, std::span<std::byte> to) {
  std::memcpy(to.data(), from.data(), to.size());
  return Status::ok();
}

Status HostArithmetic::write(std::span<float> to, std::span<const std::byte> from) {
  std::memcpy(to.data(), from.data(), from.size());
  return Status::ok();
}

} // namespace syncline::core
