// The plans for smaller sizes of a dimension, or for smaller batches of some ranks, that a plan's
// folder holds besides its own.
#pragma once

#include "syncline/Status.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace syncline::codegen {

/// A plan for one size of a dimension of the model's inputs.
struct SizedFolder {
  std::string folder; ///< its path
  std::int64_t size = 0;
};

/// The dimension that batches.json names.
inline constexpr std::string_view batchDimension = "batch";

/// What batches.json says beside its list: the batches of unequal ranks, and what they follow from.
struct RankBatches {
  std::vector<std::int64_t> ofRanks;
  std::vector<double> slowdowns; ///< of the ranks, as the cluster file has them
  /// A rank without slowdown computes a step of b samples in fixed + perSample·b seconds.
  double fixed = 0, perSample = 0;
  std::int64_t equal = 0; ///< samples of each rank without balance
  double equalStep = 0;   ///< predicted seconds of the step without balance

  std::int64_t samples() const {
    return std::accumulate(ofRanks.begin(), ofRanks.end(), std::int64_t{0});
  }
  /// The seconds that a rank computes in a step.
  double secondsOf(std::size_t rank) const {
    return slowdowns[rank] * (fixed + perSample * static_cast<double>(ofRanks[rank]));
  }
};

/// The keys of batches.json that hold these.
nlohmann::json batchesJson(const RankBatches &batches);

/// What lengths.json or batches.json lists.
struct SizedFolders {
  std::string dimension;
  std::vector<SizedFolder> smaller;        ///< ascending by size; empty where there is no such file
  std::int64_t largest = 0;                ///< the size of the folder's own plan
  std::optional<RankBatches> batches = {}; ///< of batches.json
};

/// Reads the folder's lengths.json or batches.json where there is one, and compares its hashes with
/// those of the plans. Errors: badInput, naming the file, for a malformed one, for another plan and
/// for other ranks than the plan's.
Result<SizedFolders> readSmaller(const std::string &folder);

} // namespace syncline::codegen
