// The plans for smaller sizes of a dimension that a plan's folder holds besides its own.
#pragma once

#include "syncline/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace syncline::codegen {

/// A plan for one size of a dimension of the model's inputs.
struct SizedFolder {
  std::string folder; ///< its path
  std::int64_t size = 0;
};

/// What lengths.json lists.
struct SizedFolders {
  std::string dimension;
  std::vector<SizedFolder> smaller; ///< ascending by size; empty where there is no lengths.json
  std::int64_t largest = 0;         ///< the size of the folder's own plan
};

/// Reads the folder's lengths.json where there is one, and compares its hashes with those of the
/// plans. Errors: badInput, naming the file, for a malformed one and for another plan.
Result<SizedFolders> readSmaller(const std::string &folder);

} // namespace syncline::codegen
