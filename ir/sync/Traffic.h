// Computes the bytes that a node moves for a message, in both directions.
#pragma once

#include "ir/cluster/Cluster.h"
#include "ir/sync/Sync.h"

namespace syncline::sync {

/// The longest message that Syncline's transport sends over one tree. Longer ones go over two.
inline constexpr std::int64_t oneTreeBytes = 32 << 10;

/// How the messages of a module travel.
struct Carrier {
  bool byNccl = false; ///< whether NCCL carries them
  WirePrecision wire = WirePrecision::fp32;
};

/// How the messages of the operation's module travel.
inline Carrier carrierOf(mlir::Operation *op) {
  auto module = op->getParentOfType<mlir::ModuleOp>();
  auto spec =
      module ? module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr) : cluster::SpecAttr();
  return {spec && spec.getNccl(), cluster::wireOf(op)};
}

/// The bytes that a node moves per byte of an option's messages of at most oneTreeBytes, where that
/// differs from the option's `traffic` (S7). A rank with a parent and two children moves 6 bytes
/// over one tree; over two trees it moves 4, because it is a leaf in one of them. A root whose
/// children are all other ranks moves 4 or 2 over one tree, and 3 or 2 over two. NCCL uses two
/// trees for every message. On a wire of 16 bits all of these are halved.
inline std::optional<double> shortTraffic(OptionAttr option, const Carrier &carrier) {
  if (option.getScheme() != cluster::Scheme::tree || carrier.byNccl)
    return std::nullopt;
  return 2 * std::max(0.0, double(option.getTraffic()) - wireShare(carrier.wire));
}

inline double bytesMoved(OptionAttr option, std::int64_t bytes, const Carrier &carrier) {
  double perByte = option.getTraffic();
  if (const auto ofShort = shortTraffic(option, carrier); ofShort && bytes <= oneTreeBytes)
    perByte = *ofShort;
  return perByte * static_cast<double>(bytes);
}

} // namespace syncline::sync
