// Samples and their labels, and the choice of a rank's samples in each step.
#pragma once

#include "runtime/data/Array.h"

#include <span>
#include <vector>

namespace syncline::data {

/// Types and shapes of a step's input and target, from the plan.
struct SampleFormat {
  ElementType inputType = ElementType::f32, targetType = ElementType::i64;
  Shape inputShape, targetShape; ///< the first dimension is the batch
  bool classes = true;           ///< targets are class indices
  std::int64_t classCount = 0;   ///< 0 for unknown, then labels are not checked
};

/// A pair of arrays with samples along the first dimension, checked against a format.
class Dataset {
public:
  /// Opens "X,Y": two files, each .npy or .csv. A CSV line holds a sample's values in row-major
  /// order. Errors: badInput, naming the file, for wrong shapes, different numbers of samples, or
  /// labels out of range.
  static Result<Dataset> open(const std::string &pair, const SampleFormat &format);

  std::int64_t size() const { return samples; }
  /// Writes the samples with these indices, in the format's types, one behind the other.
  void read(std::span<const std::int64_t> indices, std::byte *inputs, std::byte *targets) const;

private:
  Array x, y;
  SampleFormat format;
  std::int64_t samples = 0;
};

/// Chooses the samples of a rank's batch. With P ranks of batch K, global batch g of an epoch takes
/// samples [g·P·K, (g+1)·P·K) of the epoch's order, and rank r takes block r of them. Samples that
/// do not fill a global batch are left out.
class Sampler {
public:
  Sampler(std::int64_t samples, int ranks, int rank, std::int64_t batch, bool shuffle,
          std::uint64_t seed);

  std::int64_t batchesPerEpoch() const { return batches; }
  /// The number of samples that an epoch leaves out.
  std::int64_t dropped() const { return samples - batches * ranks * batch; }
  /// The indices of the rank's samples in step `step`, counted over all epochs. Precondition:
  /// batchesPerEpoch() > 0.
  std::span<const std::int64_t> indices(std::int64_t step);

private:
  void beginEpoch(std::int64_t epoch);
  const std::int64_t samples, ranks, rank, batch, batches;
  const bool shuffle;
  const std::uint64_t seed;
  std::int64_t epoch = -1;
  std::vector<std::int64_t> order;
};

/// Fills in synthetic samples: normally distributed inputs, and labels uniform over the classes.
/// They are the same in every step.
void fillSynthetic(const SampleFormat &format, std::uint64_t seed, int rank, std::byte *inputs,
                   std::byte *targets);

} // namespace syncline::data
