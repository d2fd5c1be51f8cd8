// Adding up the weights of the labels of a micro-batch and of its step.
#include "runtime/run/LabelWeights.h"

#include <limits>
#include <span>

namespace syncline::run {

LabelWeights::LabelWeights(const data::Dataset &data, const Share &share, bool shuffle,
                           std::uint64_t seed)
    : data(data), share(share), sampler(data.size(), {0, share.samples.all, share.samples.all},
                                        shuffle, seed, data.lengths()) {}

double LabelWeights::of(std::int64_t microBatch) {
  const data::Samples step = sampler.at(microBatch / share.microBatches);
  const std::span<const std::int64_t> all(step.indices);
  const auto mine = all.subspan(static_cast<std::size_t>(share.samples.first),
                                static_cast<std::size_t>(share.samples.count));
  const std::size_t each = mine.size() / static_cast<std::size_t>(share.microBatches);
  const auto own =
      mine.subspan(static_cast<std::size_t>(microBatch % share.microBatches) * each, each);
  const double total = data.weightOfLabels(share.isOverRanks ? all : mine);
  if (total == 0)
    return std::numeric_limits<double>::quiet_NaN();
  const double microBatches = share.microBatches * (share.isOverRanks ? share.ranks : 1);
  double weight = data.weightOfLabels(own);
  if (weight == 0 && data.weighsClasses())
    weight = 1;
  return weight * microBatches / total;
}

} // namespace syncline::run
