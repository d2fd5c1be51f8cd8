// The choice of a rank's samples in each step.
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace syncline::data {

/// Which samples a rank takes in each step.
struct Samples {
  std::int64_t epoch = 0;
  std::vector<std::int64_t> indices; ///< into the data set
  std::size_t length = 0;            ///< its number, where samples have several lengths
};

/// A rank's part of each global batch of `all` samples: `count` of them, from number `first` on.
struct BatchShare {
  std::int64_t first = 0, count = 1, all = 1;

  static BatchShare ofEqual(std::int64_t ranks, std::int64_t rank, std::int64_t batch) {
    return {rank * batch, batch, ranks * batch};
  }
};

/// Chooses the samples of a rank's batch. Global batch g of an epoch takes samples [g·B, (g+1)·B)
/// of the epoch's order, and a rank its share of them; P ranks of batch K have B = P·K, and rank r
/// block r. Samples that do not fill a global batch are left out. Samples of several lengths are
/// put into an order in which each global batch has one length (dealOut()). Thread-safe.
class Sampler {
public:
  /// `lengths` has the number of each sample's length; empty where all have one.
  Sampler(std::int64_t samples, const BatchShare &share, bool shuffle, std::uint64_t seed,
          std::vector<std::uint8_t> lengths = {});
  /// For ranks of equal batches.
  Sampler(std::int64_t samples, int ranks, int rank, std::int64_t batch, bool shuffle,
          std::uint64_t seed, std::vector<std::uint8_t> lengths = {})
      : Sampler(samples, BatchShare::ofEqual(ranks, rank, batch), shuffle, seed,
                std::move(lengths)) {}

  std::int64_t batchesPerEpoch() const { return batches; }
  /// The number of samples that an epoch leaves out.
  std::int64_t dropped() const { return samples - batches * share.all; }
  /// The rank's samples in step `step`, counted over all epochs. They depend on the step and the
  /// constructor's arguments alone. Precondition: batchesPerEpoch() > 0.
  Samples at(std::int64_t step);

private:
  void beginEpoch(std::int64_t epoch);
  const std::int64_t samples;
  const BatchShare share;
  const std::int64_t batches;
  const bool shuffle;
  const std::uint64_t seed;
  const std::vector<std::uint8_t> lengths; ///< by sample
  std::mutex mutex;                        ///< guards what follows
  std::int64_t epoch = -1;                 ///< whose order is in place
  std::vector<std::int64_t> order;
  std::vector<std::size_t> batchLengths; ///< by global batch; empty where there is one length
};

} // namespace syncline::data
