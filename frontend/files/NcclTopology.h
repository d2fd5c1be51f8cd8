// NCCL's (and RCCL's) description of one node, as NCCL_TOPO_DUMP_FILE writes and NCCL_TOPO_FILE
// reads it.
#pragma once

#include "frontend/files/NodeLinks.h"
#include "syncline/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace syncline::files {

/// What a topology says of a node. What it leaves out is unknown, not absent.
struct NcclTopology {
  /// GPUs; 0: the file has PCI devices without saying which of them are GPUs.
  std::int64_t devices = 0;
  std::int64_t cards = 0; ///< network interfaces of the highest speed; 0: none is listed
  /// Bytes/s each way of one card; unknown where files that describe a kind of machine (and not a
  /// run) list cards by their PCI class only.
  std::optional<double> cardBandwidth;
  std::vector<NcclGpu> gpus; ///< empty where the file describes a kind of machine, and not a run
  NodeLink inside;           ///< what joins them; unknown where there are none
};

/// Every failure is badInput with file and line: not XML, no topology of one node, an attribute
/// that is no number, no GPU.
Result<NcclTopology> parseNcclTopology(std::string_view text, std::string_view fileName);

/// Reads and parses `path`, which may hold at most 16 MiB.
Result<NcclTopology> readNcclTopology(const std::string &path);

} // namespace syncline::files
