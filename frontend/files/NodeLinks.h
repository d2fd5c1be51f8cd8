// What joins the devices of a node, by what a topology says of its GPUs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace syncline::files {

/// One `gpu` element of NCCL's topology.
struct NcclGpu {
  std::string name;                       ///< "GPU 7", by its 'dev'
  std::string busId;                      ///< of the PCI element around it; may be empty
  std::optional<std::int64_t> capability; ///< compute capability times ten: 'sm'
  std::int64_t nvlinks = 0;               ///< all links
  std::vector<std::string> targets;       ///< bus ids at the other ends of its NVLinks
  bool hasOtherLinks = false;             ///< AMD's, whose rates are unknown here
  std::optional<double> lanes; ///< bytes/s each way of the slowest PCIe lanes to its processor
};

/// The link between the GPUs of a node.
struct NodeLink {
  /// Bytes/s each way of a device: all its NVLinks together, or where no device has NVLink, the
  /// PCIe lanes of the device that has least. Unknown where the file does not state a device's
  /// links, or leaves them in doubt.
  std::optional<double> bandwidth;
  bool isNvlink = false; ///< whether a device has NVLinks
  /// Why NVLinks that are listed give no bandwidth, such as "GPU 7 has 1 NVLink, GPU 0 has 18".
  /// Empty: there is no doubt.
  std::string doubt;
};

NodeLink nodeLink(const std::vector<NcclGpu> &gpus);

} // namespace syncline::files
