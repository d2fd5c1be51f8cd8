// Samples and their labels.
#pragma once

#include "runtime/data/Preparation.h"
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
  /// Opens `where`: "X,Y" for two files, each .npy or .csv; a folder with pairs of files NAME-x.npy
  /// and NAME-y.npy (see findShards); or a folder with a folder of images for each class (see
  /// ImageFolder). Values of .npy files and images are read when they are needed, and changed as
  /// `images` says. Errors: badInput, naming the file, for wrong shapes, different numbers of
  /// samples, labels and numbers of rows out of range, and images that do not fit the model;
  /// badUsage where `where` is none of them.
  static Result<Dataset> open(const std::string &where, const SampleFormat &format,
                              const ImageOptions &images = {});

  std::int64_t size() const { return store->size(); }
  /// "sample 12 of 'x.npy'", or the file of an image.
  std::string nameOf(std::int64_t sample) const { return store->nameOf(sample); }
  /// The names of the classes of images in folders; else empty.
  const std::vector<std::string> &classes() const { return classNames; }
  /// Files beside the images that are none.
  std::int64_t ignoredFiles() const { return ignored; }
  /// Fills `batch` with these samples in the format's types, one behind the other. Errors:
  /// badInput, naming the file.
  Status read(const Samples &samples, HostBatch &batch) const;

private:
  std::shared_ptr<const SampleStore> store;
  std::vector<std::string> classNames;
  std::int64_t ignored = 0;
  std::int64_t inputBytes = 0, targetBytes = 0; ///< of one sample
};

/// Fills in synthetic samples: normally distributed inputs, or uniform numbers of rows, and labels
/// uniform over the classes. They are the same in every step.
void fillSynthetic(const SampleFormat &format, std::uint64_t seed, int rank, HostBatch &batch);

} // namespace syncline::data
