// Samples and their labels, and which of them a rank sees in a step.
#pragma once

#include "runtime/data/Array.h"

#include <span>
#include <vector>

namespace syncline {

/// What a step takes and compares with; from the plan.
struct SampleFormat {
  ElementType inputType = ElementType::f32, targetType = ElementType::i64;
  Shape inputShape, targetShape; ///< with the batch in front
  bool classes = true;           ///< targets are class indices
  std::int64_t classCount = 0;   ///< 0: not known, not checked
};

/// Pairs of arrays with samples along the first dimension, checked against a format.
class Dataset {
public:
  /// "X,Y": two files, each .npy or .csv. A CSV line holds a sample's values in row-major order.
  /// Errors: badInput, naming the file: shapes, numbers of samples, labels out of range.
  static Result<Dataset> open(const std::string &pair, const SampleFormat &format);

  std::int64_t size() const { return samples; }
  /// Writes the samples of these indices, in the format's types, one behind the other.
  void read(std::span<const std::int64_t> indices, std::byte *inputs, std::byte *targets) const;

private:
  Array x, y;
  SampleFormat format;
  std::int64_t samples = 0;
};

/// Which samples a rank's batch holds. Global batch g of an epoch takes samples [g·P·K, (g+1)·P·K)
/// of the epoch's order; rank r has block r of it. What does not fill a global batch is left out.
class Sampler {
public:
  Sampler(std::int64_t samples, int ranks, int rank, std::int64_t batch, bool shuffle,
          std::uint64_t seed);

  std::int64_t batchesPerEpoch() const { return batches; }
  /// Samples that an epoch leaves out.
  std::int64_t dropped() const { return samples - batches * ranks * batch; }
  /// The rank's samples in step `step`, counted over all epochs. Precondition: batchesPerEpoch() >
  /// 0.
  std::span<const std::int64_t> indices(std::int64_t step);

private:
  void beginEpoch(std::int64_t epoch);
  const std::int64_t samples, ranks, rank, batch, batches;
  const bool shuffle;
  const std::uint64_t seed;
  std::int64_t epoch = -1;
  std::vector<std::int64_t> order;
};

/// Invented samples: inputs normal, labels uniform over the classes; the same for every step.
void fillSynthetic(const SampleFormat &format, std::uint64_t seed, int rank, std::byte *inputs,
                   std::byte *targets);

} // namespace syncline
