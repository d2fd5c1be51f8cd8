// The parts of a cluster file that describe links: 'network', 'inside', 'servers' and 'overrides'.
#pragma once

#include "frontend/files/ClusterFile.h"
#include "frontend/files/YamlMap.h"
#include "syncline/PlanConstants.h"

namespace syncline::files {

/// Each reads one key of `root` where the file has it. Call them in this order, after the ranks
/// are known: each refers to what those before it have set in `cluster`.
Status readNetwork(const YamlMap &root, ClusterFile &cluster);
Status readInside(const YamlMap &root, ClusterFile &cluster);
Status readServers(const YamlMap &root, ClusterFile &cluster);
Status readOverrides(const YamlMap &root, ClusterFile &cluster);

/// The kind that `map` names by 'kind', nothing where it has none; `what` is "device" or "link".
/// An unknown kind is an error with those there are.
Result<std::optional<std::string>> readKind(const YamlMap &map, std::string_view what,
                                            std::span<const std::string_view> kinds);

} // namespace syncline::files
