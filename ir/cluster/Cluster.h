// The cluster dialect's C++ face: include this to use its attributes.
#pragma once

#include "ir/cluster/Real.h"

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Dialect.h"

#include "ir/cluster/ClusterDialect.h.inc"
#include "ir/cluster/ClusterEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/cluster/ClusterAttrs.h.inc"

namespace syncline::cluster {

/// Discardable attribute of a module: the `#cluster.spec` its plan is made for (C7).
inline constexpr llvm::StringLiteral specAttr = "cluster.spec";

/// Discardable attribute of a module: a dictionary of `#cluster.times` by layer, measured (C8).
inline constexpr llvm::StringLiteral profileAttr = "cluster.profile";

/// Whether `attr` gives the time of a collective: a formula, a line or a table.
inline bool isCost(mlir::Attribute attr) {
  return attr && llvm::isa<FormulaAttr, AffineAttr, TableAttr>(attr);
}

/// Whether a scheme is an all-reduce: every rank ends up with the sum, without servers or factors.
bool isAllReduce(Scheme scheme);

/// Whether NCCL carries messages by this scheme: by its Ring or Tree, by its reduce-scatter and
/// all-gather, or by its sends and receives.
bool ncclHas(Scheme scheme);

/// The most channels that NCCL gives a collective (C16).
inline constexpr std::int64_t maxNcclChannels = 64;

/// The spec with its messages carried by NCCL, or, where `nccl` is null, not.
SpecAttr withNccl(SpecAttr spec, NcclAttr nccl);

/// The largest interference that a spec may have (C15).
inline constexpr double maxInterference = 1000;

/// How many times as long a rank's operations take while a message is under way on one of its
/// channels: at least 1, which is also what a spec without it has.
double interference(SpecAttr spec);

/// Every step waits for the slowest node: the values that hold for the cluster as a whole.
///
/// The largest slowdown of its nodes.
double slowdown(SpecAttr spec);
/// The device of the slowest node: rates divided by, overhead times the slowdown.
DeviceAttr slowestDevice(SpecAttr spec);
/// The largest alpha, beta and gamma of its nodes' links; null where the spec has no link.
LinkAttr slowestLink(SpecAttr spec);

} // namespace syncline::cluster
