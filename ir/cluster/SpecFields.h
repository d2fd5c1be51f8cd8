// The fields of a #cluster.spec by name. A changed spec is made of them without a call of twenty
// positional arguments.
#pragma once

#include "ir/cluster/Cluster.h"
#include "syncline/Status.h"

namespace syncline::cluster {

/// Attributes are immutable: take the fields of one, change some, and get the attribute of the
/// result. The fields mean what SPEC.md says. Refers to the attribute's context.
struct SpecFields {
  llvm::StringRef name;
  std::int64_t ranks = 1, devicesPerNode = 1, cardsPerNode = 1, groups = 1;
  DeviceAttr device;
  LinkAttr link, inside; ///< null where the cluster has none
  bool halfDuplex = false;
  double interference = 1;
  std::optional<double> productsInterference, memoryInterference; ///< that factor where absent
  std::optional<double> latencyInterference;                      ///< likewise
  std::optional<double> messageInterference;                      ///< 2 where absent
  llvm::SmallVector<CollectiveAttr> collectives;
  ServersAttr servers;                        ///< null where they are colocated, one on every rank
  std::optional<std::int64_t> largestMessage; ///< bytes
  llvm::SmallVector<OverrideAttr> overrides;
  bool nccl = false; ///< whether NCCL carries the messages

  SpecFields() = default;
  explicit SpecFields(SpecAttr spec);

  SpecAttr get(mlir::MLIRContext *context) const;

  /// Replaces the link of every network card, of the servers and of the overridden nodes, and the
  /// rates of every formula, by what `change` makes of it. The link inside a node stays.
  void changeNetwork(llvm::function_ref<LinkAttr(LinkAttr)> change);

  /// Sets the ranks of the cluster and of every formula.
  void setRanks(std::int64_t count);
};

/// The cluster on which all computation takes so many times as long. Precondition: factor > 0.
SpecAttr slowedBy(SpecAttr spec, double factor);

/// badInput where a cluster of `ranks` has no rank for a colocated server of the spec, or no node
/// for one of its overrides. `what` begins the message: "--nodes: 'lab.yaml'".
Status expectRoom(SpecAttr spec, std::int64_t ranks, const std::string &what);

/// The link with another latency; those of NCCL's protocols and switch change in proportion. A
/// latency of zero has no proportion, so the protocols of such a link stay.
LinkAttr withAlpha(LinkAttr link, double alpha);

/// The slowest of what two links reach by NCCL's protocols; null where one of them says nothing.
ProtocolsAttr slowerOf(ProtocolsAttr a, ProtocolsAttr b);

} // namespace syncline::cluster
