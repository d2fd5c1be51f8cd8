// The copies in bf16 of weights that convolutions and products read.
#pragma once

#include "runtime/cuda/Layout.h"
#include "runtime/cuda/kernels/BFloat16.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace syncline::cuda {

struct Program;

/// A copy has its weight's order, and copies lie to each other as their weights do, so that a
/// kernel that updates many weights at once finds the places of their copies.
///
/// Copies are kept from step to step: the kernel that updates a weight also writes its copy, and
/// refresh() rounds all of them after anything else has written weights. Not kept are copies of
/// weights of which other ranks update a part (reduce-scatter). Each step rounds these, by one
/// launch for all that changed at one place of the step, before the first operation that reads one.
class RoundedWeights {
public:
  /// The program outlives it.
  explicit RoundedWeights(const Program &program) : program(program) {}

  // While the step is built.

  /// Whether a copy in this layout is one of these: of a parameter, in its own order.
  bool holds(Tensor tensor, const Layout &layout) const;
  /// States that the operation that is being prepared reads the copy. Returns what the operation
  /// has to enqueue first, null where nothing.
  std::function<void()> read(Tensor tensor);
  /// States that the parameters in these bytes change their values from here on.
  void changed(std::int64_t offset, std::int64_t bytes) { changes.emplace_back(offset, bytes); }
  /// The part of the parameters that has copies: its begin, a multiple of 512, and its bytes.
  std::pair<std::int64_t, std::int64_t> extent() const;

  // While it runs, on the thread that runs operations.

  /// States that something other than an update has written parameters, or has written copies.
  void touch() { isStale = true; }
  /// Enqueues the rounding of all kept copies, if touch() has been called since the last time. Not
  /// while a step is captured.
  void refresh();
  /// Rounds the copy of this parameter, if it is kept.
  void round(Tensor tensor) const;
  /// The copies that an update of these bytes of the parameters has to write, null for none.
  BFloat16 *updated(std::int64_t begin, std::int64_t bytes) const;

private:
  struct Weight {
    Tensor tensor;
    bool isKept;
    std::size_t made; ///< how many of `changes` had been stated when it was rounded last
  };
  struct Launch {
    std::size_t made;
    std::vector<Tensor> tensors;
  };

  /// Whether this rank's updates write all of the tensor.
  bool isUpdatedWhole(Tensor tensor) const;
  /// The number of the last change of this tensor, counted from 1; 0 for none.
  std::size_t lastChange(Tensor tensor) const;
  void round(std::span<const Tensor> tensors) const;

  const Program &program;
  std::vector<Weight> weights;
  std::vector<std::shared_ptr<Launch>> launches;
  std::vector<std::pair<std::int64_t, std::int64_t>> changes; ///< offset and bytes
  bool isStale = true;
};

} // namespace syncline::cuda
