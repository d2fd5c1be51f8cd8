// NetworkTable: networks.yaml, which is part of the program, as structs.
#pragma once

#include "frontend/files/ClusterFile.h"

#include <string>
#include <vector>

namespace syncline::files {

/// A kind of link, with its nominal rate and what NCCL reaches on it.
struct NamedLink {
  std::string name;
  Link link;
  bool isOfWholeNode = false; ///< all network cards of a node together
};

/// All kinds of links between nodes, and those between the devices of a node, as the file has them.
const std::vector<NamedLink> &linksBetweenNodes();
const std::vector<NamedLink> &linksInsideNodes();

} // namespace syncline::files
