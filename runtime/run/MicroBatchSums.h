// Sums of gradients over the forward and backward passes of one step.
#pragma once

#include "runtime/core/WeightArithmetic.h"

#include <map>
#include <span>

namespace syncline::run {

/// Where a step has several micro-batches, each overwrites the gradients of the one before. This
/// keeps their sum, as large as the gradients themselves, in the memory that has them. Used by one
/// thread. Errors: as core::WeightArithmetic.
class MicroBatchSums {
public:
  /// `microBatches`, at least 1, is the number of micro-batches of a step. `arithmetic` is the
  /// executable's and outlives this object.
  MicroBatchSums(int microBatches, core::WeightArithmetic &arithmetic)
      : microBatches(microBatches), arithmetic(&arithmetic) {}

  /// Adds what an earlier micro-batch has computed for the bucket.
  Status add(int bucket, std::span<const float> gradients);
  /// Makes of the last micro-batch's gradients the mean over all micro-batches. Does nothing where
  /// none was added since the last call.
  Status finish(int bucket, std::span<float> gradients);

private:
  struct Sum {
    std::span<float> values;
    bool isOpen = false; ///< an earlier micro-batch of the step is in it
  };
  int microBatches;
  core::WeightArithmetic *arithmetic;
  std::map<int, Sum> sums; ///< by bucket
};

} // namespace syncline::run
