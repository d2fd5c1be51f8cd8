// SchemeCatalog: the schemes that a cluster offers to gradients, each with its cost.
#pragma once

#include "ir/cluster/Cluster.h"
#include "passes/problem/CollectiveCost.h"
#include "passes/problem/Interference.h"
#include "syncline/Status.h"
#include "syncline/WirePrecision.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace syncline::cost {

/// The schemes of a #cluster.spec, defaults expanded (ir/cluster/SPEC.md, "Schemes"). Immutable.
struct SchemeCatalog {
  std::int64_t ranks = 1;
  /// The all-reduces that the cluster states, or else those by formula over its link.
  std::vector<problem::SchemeOption> collectives;
  std::optional<problem::SchemeOption> servers;       ///< parameter servers, where there are any
  std::optional<problem::SchemeOption> reduceScatter; ///< offered only on request
  /// Cost of factors, and of an embedding's rows, by the bytes that ONE rank contributes. Null
  /// where it is unknown.
  std::shared_ptr<const problem::CollectiveCost> gather, rows;
  bool byNccl = false; ///< NCCL carries the messages
  /// Stated by the cluster, but not had by what carries the messages: NCCL or, for `library`,
  /// Syncline's transport.
  std::vector<Scheme> unsupported;
  std::optional<std::int64_t> serverMemory;   ///< bytes that all servers can hold together
  std::optional<std::int64_t> largestMessage; ///< bytes
  WirePrecision wire = WirePrecision::fp32;   ///< the type in which gradients and factors travel
  /// How much slower operations are beside messages of each scheme; every option's `lost` follows
  /// from it. Empty on one rank, which sends none.
  std::vector<problem::SchemeInterference> interference;

  problem::SchemeInterference interferenceOf(Scheme scheme) const {
    return interference.empty() ? problem::SchemeInterference()
                                : interference[static_cast<std::size_t>(scheme)];
  }

  /// Whether messages of some scheme slow classes of operations unequally. All have numbers by
  /// class then.
  bool tellsClasses() const { return !interference.empty() && interference.front().of; }

  /// The option of one scheme other than factors; null where the cluster does not offer it. It
  /// lives as long as the catalog.
  const problem::SchemeOption *option(Scheme scheme) const;
  /// The cost of the all-gather of a scheme with isGathered(); null where it is not offered.
  std::shared_ptr<const problem::CollectiveCost> gatherOf(Scheme scheme) const {
    return hasRows(scheme) ? rows : gather;
  }
};

/// The catalog of a cluster. All sizes are those of gradients of f32, whatever the wire; it changes
/// the seconds and the traffic of a byte. A scheme's formula then has so much less beta, and a
/// stated cost that is no formula is that of so many bytes less. Sums take as long as those of f32.
/// A reduce-scatter gathers parameters, which travel in f32. Where NCCL carries the messages, only
/// its schemes are offered (isCarried). A half duplex link carries what a rank sends and
/// what it receives one after the other, which doubles the beta of every scheme. Links are the
/// slowest node's; the cards of a node carry what its devices send at the same time
/// (ir/cluster/SPEC.md, "What a collective costs"). Returns badInput where no scheme is left that
/// takes every gradient, or none of the all-reduces that the cluster states.
Result<SchemeCatalog> catalogOf(cluster::SpecAttr spec, WirePrecision wire = WirePrecision::fp32);

/// Whether a cost that the cluster states is a formula over the network's own constants, and so is
/// derived from the network.
bool isOfNetwork(cluster::SpecAttr spec, mlir::Attribute cost);

/// Whether schemes cost what NCCL's protocols reach on the links: NCCL carries the messages, and
/// its numbers are known for every link.
bool isByProtocols(cluster::SpecAttr spec);

/// The bytes that travel for each byte of a message of gradients by the scheme. The rows of an
/// embedding travel beside their numbers, as they are.
double wireShareOf(Scheme scheme, WirePrecision wire);

/// Seconds and traffic of a gathered message; `bytes` are those of one rank's factors, or of its
/// rows with their numbers. Precondition: catalog.gatherOf(scheme).
double gatherSeconds(const SchemeCatalog &catalog, Scheme scheme, std::int64_t bytes);
double gatherTraffic(const SchemeCatalog &catalog, Scheme scheme, std::int64_t bytes);

/// Sets what the option's message, by a gathered scheme, takes from computation, given its time.
void setGatherLost(const SchemeCatalog &catalog, problem::FactorOption &option);

} // namespace syncline::cost
