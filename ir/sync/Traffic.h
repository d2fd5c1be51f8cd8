// Traffic: how many bytes a node moves for a message, both directions.
#pragma once

#include "ir/sync/Sync.h"

namespace syncline::sync {

/// The longest message that our runtime sends over one tree; longer ones go over two.
inline constexpr std::int64_t oneTreeBytes = 32 << 10;

/// What an option's messages of at most oneTreeBytes move per byte, where that is not its `traffic`
/// (S7). The rank with a parent and two children moves 4 bytes per byte over two trees, in one of
/// which it is a leaf, and 6 over one; a root with as many children as there are other ranks, 3 or
/// 2 and 4 or 2. NCCL has two trees for every message.
inline std::optional<double> shortTraffic(OptionAttr option, bool byNccl) {
  if (option.getScheme() != cluster::Scheme::tree || byNccl)
    return std::nullopt;
  return 2 * std::max(0.0, double(option.getTraffic()) - 1);
}

/// Whether NCCL carries the messages of the module that the operation stands in.
inline bool isByNccl(mlir::Operation *op) {
  auto module = op->getParentOfType<mlir::ModuleOp>();
  auto spec =
      module ? module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr) : cluster::SpecAttr();
  return spec && spec.getNccl();
}

inline double bytesMoved(OptionAttr option, std::int64_t bytes, bool byNccl) {
  double perByte = option.getTraffic();
  if (const auto ofShort = shortTraffic(option, byNccl); ofShort && bytes <= oneTreeBytes)
    perByte = *ofShort;
  return perByte * static_cast<double>(bytes);
}

} // namespace syncline::sync
