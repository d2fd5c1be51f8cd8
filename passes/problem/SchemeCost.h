// SchemeCost: what each way to synchronise a gradient costs, in seconds on the channel, in bytes
// that a node moves, and in computation. Formulas and their sources: README.md, "Schemes".
//
// Units: seconds, bytes, elements, operations (a multiply-add is two). Functions are pure and
// thread-safe. A cost is that of one message on otherwise idle links. Preconditions, for all:
// ranks, servers, shapes and samples >= 1; rates finite and >= 0 (operations per second > 0).
#pragma once

#include "passes/problem/CollectiveCost.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace syncline::problem {

/// Whether a link carries both directions at once.
enum class Duplex { full, half };

/// Where the parameters live and what the wires to them are like.
struct ServerLayout {
  int workers = 1;        ///< P
  int servers = 1;        ///< S; colocated ones are the first S workers, so S <= P then
  bool dedicated = false; ///< servers are machines of their own
  LinkRates worker = {};  ///< alpha, beta of a worker's link; gamma where servers are colocated
  LinkRates server = {};  ///< beta of a dedicated server's link and its gamma
  Duplex duplex = Duplex::full;
  /// Dedicated servers pull one piece of their block while the next is pushed, of at most so many
  /// bytes, as the runtime does. 0: the whole block is one piece.
  std::int64_t pieceBytes = 1 << 20;
};

/// Push, sum at the servers, pull. Straight lines: two where pieces overlap, one elsewhere. A
/// colocated server on every rank costs what a ring costs, to the bit.
std::shared_ptr<const CollectiveCost> parameterServerCost(const ServerLayout &layout);

/// Ring all-gather, by the bytes that one rank contributes.
AffineCost allGatherCost(int ranks, const LinkRates &rates);

/// Nodes with several devices.
struct NodeLayout {
  int nodes = 1;
  int devicesPerNode = 1;
  int linksPerNode = 1; ///< network cards that the devices of a node share evenly
  LinkRates inside;     ///< between the devices of a node
  LinkRates between;    ///< of one network card
};

/// The three stages of a hierarchical all-reduce. A lone message takes their sum; a stream of
/// messages overlaps them and the longest sets the pace.
struct HierarchicalCost {
  AffineCost scatter, exchange, gather;
  AffineCost total() const;
};
HierarchicalCost hierarchicalCost(const NodeLayout &layout);

/// Bytes a node sends and receives per byte of gradient, both directions counted as Poseidon does.
/// For `layout`, of a node that is worker and server where servers are colocated, and of a worker
/// where they are dedicated.
double parameterServerTraffic(const ServerLayout &layout);
/// All-reduces that move no byte more than they must, hierarchical ones included: 4(P-1)/P.
double ringTraffic(int ranks);
/// What an all-reduce by formula moves per byte of a message of at most oneTreeBytes, where that is
/// not what it moves per byte of others.
std::optional<double> shortTraffic(Scheme scheme, int ranks);
/// An all-gather's, per byte that one rank contributes: 2(P-1).
double allGatherTraffic(int ranks);

/// Merge class options for the four all-reduces and reduce-scatter by formula.
std::vector<SchemeOption> formulaCollectives(int ranks, const LinkRates &rates);

/// Servers by formula.
SchemeOption serverOption(const ServerLayout &layout);

} // namespace syncline::problem
