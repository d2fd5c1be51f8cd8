// A cluster file's text from descriptions that other programs have of a cluster.
#pragma once

#include "frontend/files/Hostfile.h"
#include "frontend/files/NcclTopology.h"

#include <optional>
#include <string>
#include <vector>

namespace syncline::files {

/// What is known of a cluster: by files, of which there may be none, and by what a user adds. Kinds
/// are those of ClusterKinds.h, or 'none' for a device or an inside that is to be left out.
struct ClusterSources {
  std::optional<NcclTopology> topology; ///< of every node
  std::string topologyName;             ///< what errors and comments call it
  std::vector<Host> hosts;              ///< empty: no host file
  std::string hostfileName;

  std::optional<std::int64_t> nodes;
  std::optional<std::int64_t> devicesPerNode; ///< badUsage where a file says it, too
  std::optional<std::string> device, network, inside;
  std::optional<double> bandwidth; ///< bytes/s of one network card
  std::optional<double> latency;   ///< seconds
};

struct ImportedCluster {
  std::string text;               ///< a cluster file, which the parser reads back
  std::vector<std::string> notes; ///< what was assumed, for the user to judge; one line each
};

/// What a user adds counts more than what files say, which counts more than a kind's values.
/// badInput where files contradict each other or the kind of device; badUsage, naming every option
/// that is missing, where they do not say enough together.
Result<ImportedCluster> importedCluster(const ClusterSources &sources);

} // namespace syncline::files
