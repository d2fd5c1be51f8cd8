// Sums of squares by blocks, which are equal for any number of threads.
#include "runtime/cpu/Squares.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace syncline::cpu {

double squaresOf(const float *gradients, std::int64_t n) {
  constexpr std::int64_t block = 4096;
  const std::int64_t blocks = (n + block - 1) / block;
  std::vector<double> sums(static_cast<std::size_t>(blocks));
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < blocks; ++i) {
    const float *const g = gradients + i * block;
    const std::int64_t count = std::min(block, n - i * block);
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t k = 0; k < count; ++k)
      sum += static_cast<double>(g[k]) * static_cast<double>(g[k]);
    sums[static_cast<std::size_t>(i)] = sum;
  }
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

static double sumOf(const std::map<int, double> &squares, double sum) {
  for (const auto &[bucket, own] : squares)
    sum += own;
  return sum;
}

double *SquareSums::joinParts() {
  ofParts = sumOf(parts, 0);
  return &ofParts;
}

double SquareSums::total() const { return sumOf(whole, ofParts); }

} // namespace syncline::cpu
