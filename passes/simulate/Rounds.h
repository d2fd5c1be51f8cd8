// Rounds: an all-reduce as lists of which rank sends how much to which. No times and no links.
#pragma once

#include "syncline/Scheme.h"

#include <functional>
#include <vector>

namespace syncline::simulate {

struct Transfer {
  int from = 0, to = 0;
  double share = 0; ///< part of the message
};

/// Transfers that begin together. A rank begins its transfers once it is done with the earlier
/// rounds that it took part in, and is done with them once all that it sends and receives has
/// arrived. Where `adds`, it then adds what it received.
struct Round {
  std::vector<Transfer> transfers;
  bool adds = false;
};

using RoundVisitor = std::function<void(const Round &)>;

/// A scheme by which all ranks have the same role, as rounds.
struct SchemeRounds {
  Scheme scheme;
  double (*count)(double ranks); ///< about how many rounds there are
  double tasksPerRank;           ///< about how many tasks a rank has in a round
  bool onPowersOfTwo;            ///< ranks do the same only where their number is a power of two
  void (*visit)(int ranks, const RoundVisitor &visit);
  /// Visits the rounds of one rank that stands for all.
  void (*visitOne)(int ranks, const std::function<void(double share, bool adds)> &visit);
};

/// The rounds of a scheme, with a row for each such scheme; null for trees, servers, the
/// hierarchical all-reduce and "library". A gathered message's bytes are one rank's share.
const SchemeRounds *roundsOf(Scheme scheme);

/// A ring of these ranks, in this order. It sums (adds), or spreads the sums, in n - 1 rounds of
/// share / n to the next rank.
void ringRounds(const std::vector<int> &ranks, double share, bool adds, const RoundVisitor &visit);
/// A server on every rank: each rank sends every other its block (or, spreading, the sum of its
/// own), beginning with the next rank.
void exchangeRounds(int ranks, bool adds, const RoundVisitor &visit);

} // namespace syncline::simulate
