// The sum of squares that the norm of all gradients needs.
#pragma once

#include <cstdint>
#include <map>

namespace syncline::cpu {

/// The sum of the n elements' squares, in double and in an order that depends on n alone. Runs on
/// the calling thread's OpenMP threads.
double squaresOf(const float *gradients, std::int64_t n);

/// The squares of a step's gradients, which are sums over the ranks.
struct SquareSums {
  std::map<int, double> whole; ///< by bucket
  std::map<int, double> parts; ///< by bucket by "reduce-scatter", of the part of this rank
  double ofParts = 0;          ///< of all these buckets; in the end over all ranks

  bool isEmpty() const { return whole.empty() && parts.empty(); }
  /// Sums `parts`.
  double *joinParts();
  double total() const;
};

} // namespace syncline::cpu
