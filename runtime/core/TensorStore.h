// The tensors of a prepared step, and access to their values.
#pragma once

#include "runtime/core/StepTypes.h"
#include "syncline/Status.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace syncline::core {

/// A tensor's bytes in a space have whatever layout the backend chose. Elementwise work (sums over
/// ranks, the optimizer) may run on the raw bytes of a bucket when all ranks have the same
/// layoutFingerprint(). All other access goes through read() and write(), whose values are dense
/// and row-major.
class TensorStore {
public:
  virtual ~TensorStore() = default;

  /// All tensors in order of declaration.
  virtual std::span<const StepTensor> tensors() const = 0;
  /// The tensor's index in tensors(), or -1. Names are unique within a space.
  virtual int find(Space space, std::string_view name) const = 0;

  /// The whole space. Another thread may use a bucket's interval of it between the bucket's issue
  /// and the return of its wait.
  virtual Interval space(Space space) = 0;

  /// Copy a tensor to or from dense row-major host memory. `dense` has the tensor's dense size.
  /// Both wait for the device. While a step runs, arena tensors have no defined values, because
  /// they share memory.
  virtual Status read(int tensor, std::span<std::byte> dense) = 0;
  virtual Status write(int tensor, std::span<const std::byte> dense) = 0;

  /// How the tensor's bytes lie in its interval. Where two tensors of one type and shape have equal
  /// texts, equal values have equal bytes.
  virtual std::string layout(int tensor) const = 0;
  /// Two ranks have equal fingerprints exactly when all that ranks exchange (parameters, gradients
  /// and gathered factors) has the same layouts on both.
  virtual std::string layoutFingerprint() const = 0;
};

} // namespace syncline::core
