// Samples in files of inputs and targets.
#pragma once

#include "runtime/data/Preparation.h"
#include "runtime/data/SampleFile.h"
#include "runtime/data/SampleFiles.h"

#include <utility>
#include <vector>

namespace syncline::data {

/// The samples of all files, one group of inputs and targets behind the other.
class Shards : public SampleStore {
public:
  /// Inputs are images that `preparation` changes, or stay as they are where it is null. Errors:
  /// badInput, naming the file, for wrong shapes, different numbers of samples, or values that are
  /// out of range.
  static Result<std::unique_ptr<Shards>> open(const std::vector<SampleFiles> &groups,
                                              const SampleFormat &format,
                                              std::shared_ptr<const Preparation> preparation = {});

  std::int64_t size() const override { return shards.empty() ? 0 : shards.back().end; }
  std::string nameOf(std::int64_t sample) const override;
  Status readInput(std::int64_t sample, std::size_t number, std::int64_t epoch,
                   std::byte *to) const override;
  Status readTarget(std::int64_t sample, std::byte *to) const override;
  bool ignoresLabels() const override;
  std::int64_t countedLabels(std::int64_t sample) const override;

private:
  struct Shard {
    std::vector<SampleFile> inputs;
    SampleFile target;
    std::int64_t end = 0; ///< number of samples in this shard and those before it
  };
  /// Labels were checked when the file was opened, but it may be written to.
  Status checkLabels(const Shard &shard, std::int64_t place, const std::byte *labels) const;
  /// The shard that holds a sample, and the sample's place in it.
  std::pair<const Shard *, std::int64_t> find(std::int64_t sample) const;

  std::vector<Shard> shards;
  std::vector<ElementType> inputTypes;
  ElementType targetType = ElementType::i64;
  std::int64_t labelCount = 0; ///< of a sample; 0 where targets are no classes
  std::int64_t classCount = 0; ///< 0 for unknown
  std::shared_ptr<const Preparation> preparation;
};

} // namespace syncline::data
