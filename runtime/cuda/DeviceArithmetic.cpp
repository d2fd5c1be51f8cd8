// Enqueuing copies and kernels.
#include "runtime/cuda/DeviceArithmetic.h"

#include "runtime/cuda/kernels/WeightKernels.h"

namespace syncline::cuda {

namespace {

constexpr const char *place = "the exchange of weights: ";

std::int64_t countOf(std::span<const float> all) { return static_cast<std::int64_t>(all.size()); }

} // namespace

Result<std::span<float>> DeviceArithmetic::allocate(const std::string &what, std::size_t n) {
  std::span<float> made;
  const auto bytes = static_cast<std::int64_t>(n * sizeof(float));
  const Status s = statusOf("", [&] {
    if (n == 0)
      return;
    program.device.makeCurrent();
    program.expectRoom(what, bytes);
    DeviceMemory &room = memory.emplace_back(bytes);
    SYNCLINE_CHECK(cudaMemsetAsync(room.data(), 0, n * sizeof(float), stream()));
    made = {reinterpret_cast<float *>(room.data()), n};
  });
  return s ? Result<std::span<float>>(made) : s;
}

/// Enqueues what changes these elements, which may be weights.
template <typename F>
Status DeviceArithmetic::change(std::span<const float> elements, const F &enqueue) {
  return statusOf(place, [&] {
    program.device.makeCurrent();
    if (program.space(Space::parameters).holds(elements.data()))
      program.weights.touch();
    enqueue();
  });
}

Status DeviceArithmetic::copy(std::span<float> to, std::span<const float> from) {
  return change(to, [&] {
    SYNCLINE_CHECK(cudaMemcpyAsync(to.data(), from.data(), to.size_bytes(),
                                   cudaMemcpyDeviceToDevice, stream()));
  });
}

Status DeviceArithmetic::subtract(std::span<float> to, std::span<const float> from,
                                  std::span<const float> less) {
  return change(to, [&] {
    SYNCLINE_CHECK(subtractElements(stream(), to.data(), from.data(), less.data(), countOf(to)));
  });
}

Status DeviceArithmetic::scale(std::span<float> values, float by) {
  return change(
      values, [&] { SYNCLINE_CHECK(scaleElements(stream(), values.data(), by, countOf(values))); });
}

Status DeviceArithmetic::add(std::span<float> to, std::span<const float> more, float by) {
  return change(
      to, [&] { SYNCLINE_CHECK(addElements(stream(), to.data(), more.data(), by, countOf(to))); });
}

Status DeviceArithmetic::apply(const core::OuterStep &rule, std::span<float> weights,
                               std::span<float> common, std::span<float> velocity,
                               std::span<const float> sum) {
  return change(weights, [&] {
    SYNCLINE_CHECK(outerStep(stream(), rule, weights.data(), common.data(), velocity.data(),
                             sum.data(), countOf(weights)));
  });
}

Status DeviceArithmetic::apply(const core::ElasticPull &rule, std::span<float> weights,
                               std::span<float> centre, std::span<const float> own,
                               std::span<const float> sum) {
  return change(weights, [&] {
    SYNCLINE_CHECK(elasticPull(stream(), rule, weights.data(), centre.data(), own.data(),
                               sum.data(), countOf(weights)));
  });
}

Status DeviceArithmetic::transfer(void *to, const void *from, std::size_t bytes,
                                  cudaMemcpyKind kind) {
  return statusOf(place, [&] {
    program.device.makeCurrent();
    program.device.copy(to, from, bytes, kind);
  });
}

Status DeviceArithmetic::read(std::span<const float> from, std::span<std::byte> to) {
  return transfer(to.data(), from.data(), to.size(), cudaMemcpyDeviceToHost);
}

Status DeviceArithmetic::write(std::span<float> to, std::span<const std::byte> from) {
  SYNCLINE_TRY(change(to, [] {}));
  return transfer(to.data(), from.data(), from.size(), cudaMemcpyHostToDevice);
}

} // namespace syncline::cuda
