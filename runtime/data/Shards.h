// Samples in files of inputs and targets.
#pragma once

#include "runtime/data/Lengths.h"
#include "runtime/data/Preparation.h"
#include "runtime/data/SampleFile.h"
#include "runtime/data/SampleFiles.h"

#include <optional>
#include <utility>
#include <vector>

namespace syncline::data {

/// The samples of all files, one group of inputs and targets behind the other.
class Shards : public SampleStore {
public:
  /// Inputs are images that `preparation` changes, or stay as they are where it is null. Errors:
  /// badInput, naming the file, for wrong shapes, different numbers of samples, or values that are
  /// out of range.
  /// With `lengths`, `format` is that of the longest; samples of files with fewer places are padded
  /// to it, by zeros and by labels that are ignored.
  static Result<std::unique_ptr<Shards>> open(const std::vector<SampleFiles> &groups,
                                              const SampleFormat &format,
                                              std::shared_ptr<const Preparation> preparation = {},
                                              const Lengths &lengths = {});

  std::int64_t size() const override { return shards.empty() ? 0 : shards.back().end; }
  std::string nameOf(std::int64_t sample) const override;
  Status readInput(std::int64_t sample, std::size_t number, std::int64_t epoch,
                   std::byte *to) const override;
  Status readTarget(std::int64_t sample, std::byte *to) const override;
  std::size_t lengthOf(std::int64_t sample) const override { return find(sample).first->length; }
  std::int64_t placesOf(std::int64_t sample) const override { return find(sample).first->places; }
  bool weighsLabels() const override;
  double weightOfLabels(std::int64_t sample) const override;

private:
  struct Shard {
    std::vector<SampleFile> inputs;
    std::optional<SampleFile> target; ///< none where the format has none
    std::int64_t size() const { return inputs.front().size(); }
    std::int64_t end = 0;    ///< number of samples in this shard and those before it
    std::int64_t places = 0; ///< of its samples along the dimension of the length, if they have one
    std::size_t length = 0;  ///< the number of the smallest length that holds them
  };
  static Status openTarget(Shard &shard, const std::string &path, const SampleFormat &format,
                           const std::vector<std::size_t> &varied);
  static Result<Shard> openShard(const SampleFiles &group, const SampleFormat &format,
                                 const Lengths &lengths);
  /// Reads a sample of `file` in the format's shape.
  static Status readPadded(const SampleFile &file, std::int64_t place, ElementType type,
                           const Shape &shape, std::int64_t padding, std::byte *to);
  /// Labels were checked when the file was opened, but it may be written to.
  Status checkLabels(const Shard &shard, std::int64_t place, const std::byte *labels) const;
  /// The shard that holds a sample, and the sample's place in it.
  std::pair<const Shard *, std::int64_t> find(std::int64_t sample) const;

  std::vector<Shard> shards;
  std::vector<ElementType> inputTypes;
  ElementType targetType = ElementType::i64;
  std::vector<Shape> inputShapes; ///< of one sample, with 1 in place of the batch
  Shape targetShape;              ///< likewise
  std::int64_t labelCount = 0;    ///< of a sample; 0 where targets are no classes
  std::int64_t classCount = 0;    ///< 0 for unknown
  std::shared_ptr<const Preparation> preparation;
};

} // namespace syncline::data
