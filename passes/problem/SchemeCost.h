// SchemeCost: the cost of each scheme in seconds on the channel, in bytes that a node moves, and in
// computation. README.md, "Schemes", has the formulas and their sources.
//
// Units: seconds, bytes, elements, operations (a multiply-add is two). Functions are pure and
// thread-safe. A cost is that of one message on otherwise idle links. Preconditions, for all:
// ranks, servers, shapes and samples >= 1; rates finite and >= 0 (operations per second > 0).
#pragma once

#include "passes/problem/CollectiveCost.h"
#include "syncline/PlanConstants.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace syncline::problem {

/// Whether a link carries both directions at once.
enum class Duplex { full, half };

/// How many servers there are, where they run, and the rates of the links to them.
struct ServerLayout {
  int workers = 1;        ///< P
  int servers = 1;        ///< S; colocated ones are the first S workers, so S <= P then
  bool dedicated = false; ///< servers are machines of their own
  LinkRates worker = {};  ///< alpha, beta of a worker's link; gamma where servers are colocated
  LinkRates server = {};  ///< beta of a dedicated server's link and its gamma
  Duplex duplex = Duplex::full;
  /// The maximum bytes of one piece of a server's block. Workers pull a piece from a dedicated
  /// server while they push the next. 0: the whole block is one piece.
  std::int64_t pieceBytes = serverPieceBytes;
};

/// The cost of push, sum at the servers, and pull. It has two straight pieces where pieces overlap,
/// else one. A colocated server on every rank costs what a ring costs, to the last bit.
std::shared_ptr<const CollectiveCost> parameterServerCost(const ServerLayout &layout);

/// The cost of a ring all-gather as a function of the bytes that one rank contributes.
AffineCost allGatherCost(int ranks, const LinkRates &rates);

/// The cost with `secondsPerByte` more for every byte: a line where `cost` is one, else a table of
/// the ends of its straight pieces. Exact up to the rounding of the last piece's slope.
/// Preconditions: the cost's last piece does not fall; secondsPerByte >= 0.
std::shared_ptr<const CollectiveCost> withExtraPerByte(const CollectiveCost &cost,
                                                       double secondsPerByte);

/// The cost of a message of which only `share` of the bytes travel, because its values are rounded
/// for the way: of a formula with so much less beta, else the cost of so many bytes. A share of 1
/// gives the same cost. Preconditions: the cost is a line, a table or a formula; 0 < share <= 1.
std::shared_ptr<const CollectiveCost> narrowed(std::shared_ptr<const CollectiveCost> cost,
                                               double share);

/// Seconds per byte, at least 0, that a large message takes by `whole` beyond what it takes by
/// `collective`. For two costs of a reduce-scatter these are the seconds that a rank spends on
/// updating its shard.
double extraPerByte(const CollectiveCost &whole, const CollectiveCost &collective);

/// Nodes with several devices.
struct NodeLayout {
  int nodes = 1;
  int devicesPerNode = 1;
  int linksPerNode = 1; ///< network cards that the devices of a node share evenly
  LinkRates inside;     ///< between the devices of a node
  LinkRates between;    ///< one network card
};

/// The three stages of a hierarchical all-reduce. A single message takes their sum. A stream of
/// messages overlaps them, so the longest stage sets the pace.
struct HierarchicalCost {
  AffineCost scatter, exchange, gather;
  AffineCost total() const;
};
HierarchicalCost hierarchicalCost(const NodeLayout &layout);

/// NCCL's tree: two trees over the nodes, each for half of the bytes in a pipeline, and chains
/// inside the nodes. Every byte goes up and down every link once. `between` is one device's share
/// of its node's cards; linksPerNode and the bandwidth inside do not count.
AffineCost ncclTreeCost(const NodeLayout &layout);

/// Bytes that a node sends and receives per byte of gradient, both directions counted as Poseidon
/// does. Where servers are colocated the node is worker and server; where they are dedicated it is
/// a worker.
double parameterServerTraffic(const ServerLayout &layout);
/// The traffic of all-reduces that move no more bytes than they must, hierarchical ones included,
/// per byte of gradient: 4(P-1)/P.
double ringTraffic(int ranks);
/// Bytes that an all-reduce by formula moves per byte of a message of at most oneTreeBytes, where
/// that differs from longer messages.
std::optional<double> shortTraffic(Scheme scheme, int ranks);
/// The traffic of an all-gather per byte that one rank contributes: 2(P-1).
double allGatherTraffic(int ranks);

} // namespace syncline::problem
