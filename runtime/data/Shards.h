// Samples in pairs of files: inputs and targets.
#pragma once

#include "runtime/data/Preparation.h"
#include "runtime/data/SampleFile.h"
#include "runtime/data/SampleStore.h"

#include <utility>
#include <vector>

namespace syncline::data {

/// The names of files with inputs and with targets.
using FilePair = std::pair<std::string, std::string>;

/// The pairs NAME-x.npy and NAME-y.npy of a folder, sorted by NAME, byte by byte. Other files are
/// ignored. Errors: badInput, naming the folder or the file, for a .npy file without its partner
/// and for a folder without pairs.
Result<std::vector<FilePair>> findShards(const std::string &folder);

/// The samples of all pairs, one pair behind the other.
class Shards : public SampleStore {
public:
  /// Inputs are images that `preparation` changes, or stay as they are where it is null. Errors:
  /// badInput, naming the file, for wrong shapes, different numbers of samples, or labels that are
  /// out of range.
  static Result<std::unique_ptr<Shards>> open(const std::vector<FilePair> &pairs,
                                              const SampleFormat &format,
                                              std::shared_ptr<const Preparation> preparation = {});

  std::int64_t size() const override { return shards.empty() ? 0 : shards.back().end; }
  std::string nameOf(std::int64_t sample) const override;
  Status readInput(std::int64_t sample, std::int64_t epoch, std::byte *to) const override;
  Status readTarget(std::int64_t sample, std::byte *to) const override;

private:
  struct Shard {
    SampleFile x, y;
    std::int64_t end = 0; ///< number of samples in this shard and those before it
  };
  /// The shard that holds a sample, and the sample's place in it.
  std::pair<const Shard *, std::int64_t> find(std::int64_t sample) const;

  std::vector<Shard> shards;
  ElementType inputType = ElementType::f32, targetType = ElementType::i64;
  std::shared_ptr<const Preparation> preparation;
};

} // namespace syncline::data
