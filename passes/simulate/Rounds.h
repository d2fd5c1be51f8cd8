// Rounds: what an all-reduce does, as lists of who sends how much to whom. Combinatorics alone: no
// times, no links.
#pragma once

#include <functional>
#include <vector>

namespace syncline::simulate {

struct Transfer {
  int from = 0, to = 0;
  double share = 0; ///< of the message
};

/// Transfers that a rank begins together, once it has done with the rounds before that it took part
/// in, and is done with once all it sends and receives has arrived. What it receives it then adds,
/// where it adds.
struct Round {
  std::vector<Transfer> transfers;
  bool adds = false;
};

using RoundVisitor = std::function<void(const Round &)>;

/// A ring of these ranks, in this order: sums (adds) or spreads the sums, in n - 1 rounds of
/// share / n to the next rank.
void ringRounds(const std::vector<int> &ranks, double share, bool adds, const RoundVisitor &visit);
/// Recursive doubling, from pairs to all ranks, as the runtime halves any number of ranks.
void doublingRounds(int ranks, const RoundVisitor &visit);
/// Recursive halving that sums, then doubling that spreads.
void halvingDoublingRounds(int ranks, const RoundVisitor &visit);
/// A server on every rank: each sends every other its block (or, spreading, the sum of its own), to
/// the next rank first.
void exchangeRounds(int ranks, bool adds, const RoundVisitor &visit);

} // namespace syncline::simulate
