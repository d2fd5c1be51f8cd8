// The key 'collectives' of a cluster file: what schemes cost, where that is stated.
#pragma once

#include "frontend/files/ClusterFile.h"
#include "frontend/files/YamlMap.h"

namespace syncline::files {

/// The costs that `value` states, in the order of Scheme. Formulas take their constants from
/// `network` unless they have their own.
Result<std::vector<StatedCost>> readCollectives(const YamlValue &value,
                                                const std::optional<Link> &network);

} // namespace syncline::files
