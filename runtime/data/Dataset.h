// Samples and their labels.
#pragma once

#include "runtime/data/Lengths.h"
#include "runtime/data/Preparation.h"
#include "runtime/data/SampleStore.h"
#include "runtime/data/Sampler.h"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace syncline::data {

/// One step's samples of a rank in the host's memory.
struct HostBatch {
  /// All samples' values of the first input, then those of the next.
  std::vector<std::byte> inputs;
  std::vector<std::byte> targets;
  std::size_t length = 0; ///< as Samples::length

  /// The values of input `number`.
  std::span<const std::byte> input(const SampleFormat &format, std::size_t number) const;
};

/// Samples in files, checked against a format. Thread-safe.
class Dataset {
public:
  /// Opens `where`: "X,Y" for two files, each .npy or .csv, or "NAME=X,..,Y" for models of several
  /// inputs (see parseFiles); a folder with files NAME-x.npy and NAME-y.npy (see findShards); or a
  /// folder with a folder of images for each class (see ImageFolder). Values of .npy files and
  /// images are read when they are needed, and changed as `images` says. Errors: badInput, naming
  /// the file, for wrong shapes, different numbers of samples, labels and numbers of rows out of
  /// range, and images that do not fit the model; badUsage where `where` is none of them.
  /// Samples of several `lengths` are in .npy files, each as wide as its longest one; `format` is
  /// then the longest's.
  static Result<Dataset> open(const std::string &where, const SampleFormat &format,
                              const ImageOptions &images = {}, const Lengths &lengths = {});

  std::int64_t size() const { return store->size(); }
  /// "sample 12 of 'x.npy'", or the file of an image.
  std::string nameOf(std::int64_t sample) const { return store->nameOf(sample); }
  /// The names of the classes of images in folders; else empty.
  const std::vector<std::string> &classes() const { return classNames; }
  /// Files beside the images that are none.
  std::int64_t ignoredFiles() const { return ignored; }
  /// Folders beside the images, which are not looked into.
  std::int64_t ignoredFolders() const { return nested; }
  /// Whether some labels are core::ignoredLabel, or classes have weights.
  bool weighsLabels() const { return store->weighsLabels(); }
  /// Whether classes have weights.
  bool weighsClasses() const { return hasClassWeights; }
  /// The sum of the labels' weights, which are 1 without weights of classes, and 0 of ignored ones.
  /// Precondition: weighsLabels().
  double weightOfLabels(std::span<const std::int64_t> samples) const;
  /// The number of the greatest length.
  std::size_t longest() const { return ofSamples.isEmpty() ? 0 : ofSamples.count() - 1; }
  /// The number of each sample's length; empty where all have one.
  std::vector<std::uint8_t> lengths() const;
  /// The places of a sample along the dimension of the length; 0 where all have one length.
  std::int64_t placesOf(std::int64_t sample) const { return store->placesOf(sample); }
  /// Fills `batch` with these samples in the format's types, or in those of their length, one
  /// behind the other. Errors: badInput, naming the file.
  Status read(const Samples &samples, HostBatch &batch) const;

private:
  std::shared_ptr<const SampleStore> store;
  std::vector<std::string> classNames;
  std::int64_t ignored = 0, nested = 0; ///< files and folders
  bool hasClassWeights = false;
  Status readCut(const Samples &samples, HostBatch &batch) const;
  Status readLongest(const Samples &samples, HostBatch &batch) const;
  Lengths ofSamples;
  std::vector<std::int64_t> inputBytes; ///< of one sample
  std::int64_t targetBytes = 0;         ///< likewise; 0 without targets
};

/// Fills in synthetic samples: normally distributed inputs, uniform numbers of rows, zeros and ones
/// for other integers, and labels uniform over the classes. The first of the last dimension's
/// zeros and ones is one, since a mask keeps something. They are the same in every step.
void fillSynthetic(const SampleFormat &format, std::uint64_t seed, int rank, HostBatch &batch);

} // namespace syncline::data
