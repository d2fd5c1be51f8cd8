// NcclCost: how long NCCL's collectives take. README.md, "NCCL", has the formulas.
//
// Units: seconds and bytes. Functions are pure and thread-safe.
#pragma once

#include "passes/problem/CollectiveCost.h"

#include <memory>
#include <optional>
#include <vector>

namespace syncline::problem {

/// What NCCL's messages meet on a link, by protocol.
struct NcclProtocol {
  double latency = 0; ///< seconds of a message, >= 0
  double share = 1;   ///< of the link's rate, that long messages reach; > 0
};
struct NcclLink {
  double secondsPerByte = 0; ///< each way; between nodes, of all cards that a cluster may use
  NcclProtocol ll, ll128, simple;
  std::optional<NcclProtocol> inSwitch; ///< sums in the switch (NVLS): bytes summed, by the rate
};

/// `nodes` nodes of `devices` devices each.
struct NcclLayout {
  int nodes = 1;
  int devices = 1;
  NcclLink inside;  ///< between the devices of a node; without meaning for one device
  NcclLink between; ///< without meaning for one node
};

/// NCCL's algorithms for an all-reduce. In the last two the switch in a node adds up its devices'
/// bytes, alone or below trees over the nodes.
enum class NcclAlgorithm { ring, tree, inSwitch, switchTree };

/// The lines, one a protocol, whose minimum is an algorithm's time; empty where the layout does
/// not have the algorithm. Precondition: nodes, devices >= 1, rates above zero.
std::vector<AffineCost> ncclLines(NcclAlgorithm algorithm, const NcclLayout &layout);

/// The time by ring, by tree, by reduce-scatter (two calls, one for each half of a ring), or by
/// `library`, NCCL's own choice: the minimum of all its algorithms and protocols, and barely less,
/// so that a planner takes it before the algorithm that it chooses. The time has straight
/// pieces, never falls, and is 0 for one rank. Preconditions: as ncclLines; the scheme is one of
/// the four.
std::shared_ptr<const CollectiveCost> ncclCost(Scheme scheme, const NcclLayout &layout);

/// The time of an all-gather around the ring, by the bytes that one rank contributes.
std::shared_ptr<const CollectiveCost> ncclGatherCost(const NcclLayout &layout);

/// The rates of a rank that exchanges parts of a message with each other rank while all do: its
/// sends go by Simple, to other nodes eight at a time. The latency is for one other rank.
LinkRates ncclExchangeRates(const NcclLayout &layout);

} // namespace syncline::problem
