// SchemeCatalog: the schemes that a cluster offers to gradients, each with its cost.
#pragma once

#include "ir/cluster/Cluster.h"
#include "ir/sync/Sync.h"
#include "syncline/Status.h"

#include <cstdint>
#include <optional>

namespace syncline::cost {

/// The schemes of a #cluster.spec, defaults expanded (ir/cluster/SPEC.md, "Schemes"). Immutable.
struct SchemeCatalog {
  std::int64_t ranks = 1;
  /// The all-reduces that the cluster states, or else those by formula over its link.
  llvm::SmallVector<sync::OptionAttr> collectives;
  sync::OptionAttr servers;       ///< parameter servers; null where there are none
  sync::OptionAttr reduceScatter; ///< offered only on request; null where its cost is unknown
  mlir::Attribute gather; ///< cost of factors by the bytes that ONE rank contributes; or null
  bool byNccl = false;    ///< NCCL carries the messages
  llvm::SmallVector<cluster::Scheme>
      unsupported;                            ///< stated by the cluster, but not carried by NCCL
  std::optional<std::int64_t> serverMemory;   ///< bytes that all servers can hold together
  std::optional<std::int64_t> largestMessage; ///< bytes

  /// The option of one scheme other than factors; null where the cluster does not offer it.
  sync::OptionAttr option(cluster::Scheme scheme) const;
};

/// The catalog of a cluster. Where NCCL carries the messages, only its schemes are offered
/// (cluster::ncclHas). A half duplex link carries what a rank sends and what it receives one after
/// the other, which doubles the beta of every scheme. Links are the slowest node's; the cards of a
/// node carry what its devices send at the same time (ir/cluster/SPEC.md, "What a collective
/// costs"). Returns badInput where no scheme is left that takes every gradient, or none of the
/// all-reduces that the cluster states.
Result<SchemeCatalog> catalogOf(cluster::SpecAttr spec);

/// Whether a cost that the cluster states is a formula over the network's own constants, and so is
/// derived from the network.
bool isOfNetwork(cluster::SpecAttr spec, mlir::Attribute cost);

/// Seconds and traffic of a factors message; `bytes` is the size of one rank's factors.
/// Precondition: catalog.gather.
double gatherSeconds(const SchemeCatalog &catalog, std::int64_t bytes);
double gatherTraffic(const SchemeCatalog &catalog, std::int64_t bytes);

} // namespace syncline::cost
