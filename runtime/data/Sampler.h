// The choice of a rank's samples in each step.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace syncline::data {

/// Which samples a rank takes in each step.
struct Samples {
  std::int64_t epoch = 0;
  std::vector<std::int64_t> indices; ///< into the data set
  std::size_t length = 0;            ///< its number, where samples have several lengths
};

/// Chooses the samples of a rank's batch. With P ranks of batch K, global batch g of an epoch takes
/// samples [g·P·K, (g+1)·P·K) of the epoch's order, and rank r takes block r of them. Samples that
/// do not fill a global batch are left out. Samples of several lengths are put into an order in
/// which each global batch has one length (dealOut()). Thread-safe.
class Sampler {
public:
  /// `lengths` has the number of each sample's length; empty where all have one.
  Sampler(std::int64_t samples, int ranks, int rank, std::int64_t batch, bool shuffle,
          std::uint64_t seed, std::vector<std::uint8_t> lengths = {});

  std::int64_t batchesPerEpoch() const { return batches; }
  /// The number of samples that an epoch leaves out.
  std::int64_t dropped() const { return samples - batches * ranks * batch; }
  /// The rank's samples in step `step`, counted over all epochs. They depend on the step and the
  /// constructor's arguments alone. Precondition: batchesPerEpoch() > 0.
  Samples at(std::int64_t step);

private:
  void beginEpoch(std::int64_t epoch);
  const std::int64_t samples, ranks, rank, batch, batches;
  const bool shuffle;
  const std::uint64_t seed;
  const std::vector<std::uint8_t> lengths; ///< by sample
  std::mutex mutex;                        ///< guards what follows
  std::int64_t epoch = -1;                 ///< whose order is in place
  std::vector<std::int64_t> order;
  std::vector<std::size_t> batchLengths; ///< by global batch; empty where there is one length
};

} // namespace syncline::data
