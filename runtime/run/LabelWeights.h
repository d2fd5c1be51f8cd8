// What the loss of a micro-batch weighs in its step where labels weigh differently.
#pragma once

#include "runtime/data/Dataset.h"

#include <cstdint>

namespace syncline::run {

/// Makes the mean of the micro-batches' mean losses, over ranks and the micro-batches of a step,
/// the mean over all labels of the step that are not ignored, by their classes' weights. Every rank
/// has all labels and knows the samples of all ranks, so that nothing travels. Not thread-safe.
class LabelWeights {
public:
  /// The part of a step that is this rank's.
  struct Share {
    bool isOverRanks; ///< the mean is that of all ranks; otherwise of this rank's micro-batches
    int ranks;
    data::BatchShare samples; ///< this rank's of a step, of all its micro-batches
    int microBatches;         ///< of a step
  };

  /// `data` weighs labels and outlives this object; the samples are ordered as by data::Sampler.
  LabelWeights(const data::Dataset &data, const Share &share, bool shuffle, std::uint64_t seed);

  /// The weight of the labels of this rank's micro-batch `microBatch`, counted over all steps, over
  /// the mean weight of a micro-batch of its step, also where ranks have unequal batches. Exactly 1
  /// where all micro-batches of the step have equally many labels of weight 1; NaN where those of
  /// the step weigh nothing. With weights of classes a micro-batch that weighs nothing has the
  /// weight of one label, by which StepRunner::weighLoss() divides it: what smoothing adds to its
  /// loss counts.
  double of(std::int64_t microBatch);

private:
  const data::Dataset &data;
  const Share share;
  data::Sampler sampler; ///< of all ranks' samples
};

} // namespace syncline::run
