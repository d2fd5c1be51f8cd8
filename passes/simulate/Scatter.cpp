// Replays recorded steps, and the mean of the slowest of several ranks.
#include "passes/simulate/Scatter.h"

#include "passes/simulate/Noise.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

namespace syncline::simulate {

int Scatter::steps() const { return isEmpty() ? 0 : static_cast<int>(factors.front().size()); }

double Scatter::of(int rank, int step, std::uint64_t seed) const {
  if (isEmpty())
    return 1;
  const int together = static_cast<int>(factors.size()), count = steps();
  const int group = rank / together, round = step / count;
  const auto place = static_cast<std::uint64_t>(round) << 32 | static_cast<std::uint64_t>(group);
  const auto start = group == 0 ? 0 : randomBits(seed, place) % static_cast<std::uint64_t>(count);
  const auto recorded =
      (start + static_cast<std::uint64_t>(step)) % static_cast<std::uint64_t>(count);
  return factors[static_cast<std::size_t>(rank % together)][recorded];
}

namespace {

/// The slowest of the first `ranks` recorded ranks, step by step; ascending.
std::vector<double> slowestOf(const std::vector<std::vector<double>> &factors, std::size_t ranks) {
  std::vector<double> slowest = factors.front();
  for (std::size_t rank = 1; rank < ranks; ++rank)
    for (std::size_t step = 0; step < slowest.size(); ++step)
      slowest[step] = std::max(slowest[step], factors[rank][step]);
  std::ranges::sort(slowest);
  return slowest;
}

/// The part of the ascending values that are at most `limit`.
double partUpTo(std::span<const double> values, double limit) {
  return static_cast<double>(std::ranges::upper_bound(values, limit) - values.begin()) /
         static_cast<double>(values.size());
}

} // namespace

double Scatter::slowest(int ranks) const {
  if (isEmpty())
    return 1;
  const auto count = static_cast<std::size_t>(ranks), together = factors.size();
  const std::size_t groups = count / together, left = count % together;
  // The probability that no rank's factor is above a value is the product of the groups'.
  const std::vector<double> whole = slowestOf(factors, groups > 0 ? together : left);
  const std::vector<double> rest = left > 0 ? slowestOf(factors, left) : std::vector<double>();
  std::vector<double> values = whole;
  values.insert(values.end(), rest.begin(), rest.end());
  std::ranges::sort(values);
  double mean = 0, below = 0;
  for (double value : values) {
    double upTo = groups > 0 ? std::pow(partUpTo(whole, value), static_cast<double>(groups)) : 1;
    if (left > 0)
      upTo *= partUpTo(rest, value);
    mean += value * (upTo - below);
    below = upTo;
  }
  return mean;
}

Status validate(const Scatter &scatter) {
  constexpr double largest = 1000;
  for (const std::vector<double> &rank : scatter.factors) {
    if (rank.empty() || rank.size() != scatter.factors.front().size())
      return Status::badInput("expected as many factors of every rank, at least one");
    for (double factor : rank)
      if (!(factor > 0 && factor <= largest))
        return Status::badInput("expected factors above 0 and up to 1000, got " +
                                std::to_string(factor));
  }
  return Status::ok();
}

} // namespace syncline::simulate
