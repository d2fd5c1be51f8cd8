// SchemeCatalog: by which schemes gradients may travel on a cluster, and what each costs.
#pragma once

#include "ir/cluster/Cluster.h"
#include "ir/sync/Sync.h"
#include "syncline/Status.h"

#include <cstdint>
#include <optional>

namespace syncline::cost {

/// What a #cluster.spec offers, defaults expanded (ir/cluster/SPEC.md, "Schemes"). Immutable.
struct SchemeCatalog {
  std::int64_t ranks = 1;
  /// All-reduces: as the cluster states them, else by formula over its link.
  llvm::SmallVector<sync::OptionAttr> collectives;
  sync::OptionAttr servers;       ///< null where there are none
  sync::OptionAttr reduceScatter; ///< only for who asks for it; null where its cost is unknown
  mlir::Attribute gather; ///< of factors: seconds by the bytes that ONE rank contributes; or null
  bool byNccl = false;    ///< NCCL carries the messages
  llvm::SmallVector<cluster::Scheme> unsupported; ///< what the cluster would offer, had NCCL got it
  std::optional<std::int64_t> serverMemory;       ///< bytes that all servers can hold together
  std::optional<std::int64_t> largestMessage;     ///< bytes

  /// The offer of one scheme other than factors; null where the cluster has none.
  sync::OptionAttr option(cluster::Scheme scheme) const;
};

/// Where NCCL carries the messages, its schemes alone are offered (cluster::ncclHas). badInput
/// where no scheme is left that takes every gradient, or none of the all-reduces that the cluster
/// states. A half duplex link carries what a rank sends and what it receives at the same time one
/// after the other, which doubles beta of every scheme. Links are the slowest node's;
/// the cards of a node carry what its devices send at the same time (ir/cluster/SPEC.md, "What a
/// collective costs").
Result<SchemeCatalog> catalogOf(cluster::SpecAttr spec);

/// Whether a cost that the cluster states is derived from its network: a formula over the network's
/// own constants.
bool isOfNetwork(cluster::SpecAttr spec, mlir::Attribute cost);

/// Of a factors message: bytes of one rank's factors. Precondition: offer.gather.
double gatherSeconds(const SchemeCatalog &catalog, std::int64_t bytes);
double gatherTraffic(const SchemeCatalog &catalog, std::int64_t bytes);

} // namespace syncline::cost
