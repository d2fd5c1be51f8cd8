// The manifest of a checkpoint, which is written last: a folder without one is no checkpoint.
#pragma once

#include "runtime/run/LossScale.h"
#include "runtime/run/checkpoint/CheckpointFile.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace syncline::run {

/// What a checkpoint belongs to and where its run stood. As JSON it has these values by name, a
/// "schema", and the SHA-256 of the whole text with an empty text in its place.
struct CheckpointManifest {
  static constexpr int schema = 2;
  static constexpr const char *name = "manifest.json";
  static constexpr std::int64_t longest = std::int64_t{64} << 20; ///< bytes of its file

  std::string plan, planHash; ///< name and hash
  std::string modelHash; ///< of the plan's model file; empty in a checkpoint of an older Syncline
  std::string consistency;
  std::string layout; ///< TensorStore::layoutFingerprint() of all ranks
  int ranks = 1;      ///< workers, each with a file
  std::int64_t batch = 1;
  std::int64_t step = 0;                    ///< number of complete steps
  std::int64_t epoch = 0, batchInEpoch = 0; ///< of the next step; 0 without epochs
  std::int64_t samples = 0;                 ///< in the training set; 0 for synthetic samples
  std::string options;                      ///< of the run, as Options::sharedOptions() has them
  double lossSum = 0;                       ///< over the epoch's steps so far
  std::int64_t losses = 0;                  ///< number of these steps
  LossScale::State lossScale;               ///< of the next step; 1 without a scale
  struct Parameter {
    std::string shape;  ///< type and dimensions
    std::string layout; ///< of its moments: TensorStore::layout(), and the bytes reserved
    bool operator==(const Parameter &) const = default;
  };
  std::map<std::string, Parameter> parameters; ///< by name
  std::vector<CheckpointDigest> files;         ///< by rank

  std::string text() const;
  /// Errors: badInput, saying what is wrong with the text. Every number of the result is in its
  /// range: skipped steps are steps, and none is negative.
  static Result<CheckpointManifest> parse(std::string_view text);

  /// Text for a file that is a link, a pipe or a device, or does not match its digest, without the
  /// rank; empty for one that does match.
  static std::string whyBad(const std::string &path, const CheckpointDigest &digest);
};

/// The name of a rank's file.
std::string checkpointFileName(int rank);

} // namespace syncline::run
