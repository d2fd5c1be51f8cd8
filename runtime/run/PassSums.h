// Sums of gradients over the forward and backward passes of one step.
#pragma once

#include "runtime/core/WeightArithmetic.h"

#include <map>
#include <span>

namespace syncline::run {

/// Where a step has several passes, each pass overwrites the gradients of the pass before. This
/// keeps their sum, as large as the gradients themselves, in the memory that has them. Used by one
/// thread. Errors: as core::WeightArithmetic.
class PassSums {
public:
  /// `passes`, at least 1, is the number of passes of a step. `arithmetic` is the executable's and
  /// outlives this object.
  PassSums(int passes, core::WeightArithmetic &arithmetic)
      : passes(passes), arithmetic(&arithmetic) {}

  /// Adds what an earlier pass has computed for the bucket.
  Status add(int bucket, std::span<const float> gradients);
  /// Makes of the last pass's gradients the mean over all passes. Does nothing where no pass was
  /// added since the last call.
  Status finish(int bucket, std::span<float> gradients);

private:
  struct Sum {
    std::span<float> values;
    bool isOpen = false; ///< an earlier pass of the step is in it
  };
  int passes;
  core::WeightArithmetic *arithmetic;
  std::map<int, Sum> sums; ///< by bucket
};

} // namespace syncline::run
