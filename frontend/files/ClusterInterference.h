// What the keys `interference` of a cluster file say: of the cluster, and of one scheme's messages.
#pragma once

#include "frontend/files/ClusterFile.h"
#include "frontend/files/YamlMap.h"

namespace syncline::files {

/// Reads the key of the whole file, where there is one.
Status readInterference(const YamlMap &root, ClusterFile &cluster);

/// Reads the key beside a scheme's cost: one number, or a map of classes of operations.
Status readInterference(const YamlValue &value, StatedCost &cost);

} // namespace syncline::files
