// Samples and their labels.
#pragma once

#include "runtime/data/SampleStore.h"
#include "runtime/data/Sampler.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace syncline::data {

/// One step's samples of a rank in the host's memory.
struct HostBatch {
  std::vector<std::byte> inputs, targets;
};

/// Samples in files, checked against a format. Thread-safe.
class Dataset {
public:
  /// Opens `where`: "X,Y" for two files, each .npy or .csv, or a folder with pairs of files
  /// NAME-x.npy and NAME-y.npy (see findShards). Values of .npy files are read when they are
  /// needed. Errors: badInput, naming the file, for wrong shapes, different numbers of samples, or
  /// labels out of range; badUsage where `where` is neither.
  static Result<Dataset> open(const std::string &where, const SampleFormat &format);

  std::int64_t size() const { return store->size(); }
  /// "sample 12 of 'x.npy'".
  std::string nameOf(std::int64_t sample) const { return store->nameOf(sample); }
  /// Fills `batch` with these samples in the format's types, one behind the other. Errors:
  /// badInput, naming the file.
  Status read(const Samples &samples, HostBatch &batch) const;

private:
  std::shared_ptr<const SampleStore> store;
  std::int64_t inputBytes = 0, targetBytes = 0; ///< of one sample
};

/// Fills in synthetic samples: normally distributed inputs, and labels uniform over the classes.
/// They are the same in every step.
void fillSynthetic(const SampleFormat &format, std::uint64_t seed, int rank, HostBatch &batch);

} // namespace syncline::data
