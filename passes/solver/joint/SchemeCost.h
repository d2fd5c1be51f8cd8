// SchemeCost: what each way to synchronise a gradient costs, in seconds on the channel, in bytes
// that a node moves, and in computation. Formulas and their sources: README.md, "Schemes".
//
// Units: seconds, bytes, elements, operations (a multiply-add is two). Functions are pure and
// thread-safe. A cost is that of one message on otherwise idle links. Preconditions, for all:
// ranks, servers, shapes and samples >= 1; rates finite and >= 0 (operations per second > 0).
#pragma once

#include "passes/solver/CollectiveCost.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace syncline::solver {

/// A matrix gradient that is a sum of outer products: x^T dy with x of samples x inputs, dy of
/// samples x outputs.
struct FactorShape {
  std::int64_t inputs = 0;  ///< M
  std::int64_t outputs = 0; ///< N'
  std::int64_t samples = 0; ///< K on one rank: the batch, times tokens or pixels
  int elementBytes = 4;

  /// Of the gradient.
  std::int64_t bytes() const { return inputs * outputs * elementBytes; }
  /// Of one rank's two factors.
  std::int64_t factorBytes() const { return samples * (inputs + outputs) * elementBytes; }
};

/// A gradient that can be rebuilt from what the ranks gather: a matrix's (see factorsOf), or any
/// other that an operation computes from two tensors, sample by sample.
struct Factors {
  std::int64_t bytes = 0; ///< of one rank's two factors
  double rebuild = 0;     ///< seconds to rebuild one rank's share
};

/// A matrix gradient's: K outer products on a device of so many operations per second.
Factors factorsOf(const FactorShape &shape, double operationsPerSecond);

/// Whether a link carries both directions at once.
enum class Duplex { full, half };

/// Where the parameters live and what the wires to them are like.
struct ServerLayout {
  int workers = 1;        ///< P
  int servers = 1;        ///< S; colocated ones are the first S workers, so S <= P then
  bool dedicated = false; ///< servers are machines of their own
  LinkRates worker;       ///< alpha, beta of a worker's link; gamma where servers are colocated
  LinkRates server;       ///< beta of a dedicated server's link and its gamma
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
/// An all-gather's, per byte that one rank contributes: 2(P-1).
double allGatherTraffic(int ranks);

/// Poseidon's rule: by factors when 2K(P-1)(M+N') <= 2MN'(P+S-2)/S, in elements both ways, servers
/// colocated.
bool poseidonPrefersFactors(const FactorShape &shape, int ranks, int servers);
/// The largest P (not rounded) at which the rule with P = S prefers factors: 2MN' / (K(M+N')).
double poseidonCrossover(const FactorShape &shape);

} // namespace syncline::solver
