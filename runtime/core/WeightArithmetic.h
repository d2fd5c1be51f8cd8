// Arithmetic on weights between steps, in the memory in which the backend has them.
#pragma once

#include "runtime/core/WeightRules.h"
#include "syncline/Status.h"

#include <cstddef>
#include <span>
#include <string>

namespace syncline::core {

/// All elements are f32 in the memory of one executable. The operands of a call have equally many
/// elements and do not overlap.
///
/// A call works on what the executable was told to run before it, and what is told after it finds
/// its results. On a device it only enqueues; StepRunner::synchronize() waits. Used by the thread
/// that runs the step, between steps. Errors: internal where the device fails.
class WeightArithmetic {
public:
  virtual ~WeightArithmetic() = default;

  /// Room for n elements, all 0. It lives as long as the executable, so that messages may be under
  /// way until their channel has closed. Errors: badInput that names `what`, where memory is short.
  virtual Result<std::span<float>> allocate(const std::string &what, std::size_t n) = 0;

  virtual Status copy(std::span<float> to, std::span<const float> from) = 0;
  /// to = from - less
  virtual Status subtract(std::span<float> to, std::span<const float> from,
                          std::span<const float> less) = 0;
  virtual Status scale(std::span<float> values, float by) = 0;
  /// to = by·(to + more)
  virtual Status add(std::span<float> to, std::span<const float> more, float by) = 0;
  /// `velocity` is empty without momentum.
  virtual Status apply(const OuterStep &rule, std::span<float> weights, std::span<float> common,
                       std::span<float> velocity, std::span<const float> sum) = 0;
  virtual Status apply(const ElasticPull &rule, std::span<float> weights, std::span<float> centre,
                       std::span<const float> own, std::span<const float> sum) = 0;

  /// Copy to or from the host's memory; both wait for the device.
  virtual Status read(std::span<const float> from, std::span<std::byte> to) = 0;
  virtual Status write(std::span<float> to, std::span<const std::byte> from) = 0;
};

} // namespace syncline::core
