// Nonnegative least squares in three unknowns, by trying every subset of them.
#include "runtime/calibrate/LinkFit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace syncline::calibrate {
namespace {

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

/// Solves a symmetric system for the unknowns in `mask`, with the others 0, by elimination with
/// pivots. Nothing where the system is singular.
std::optional<Vector> solve(Matrix a, Vector b, unsigned mask) {
  for (unsigned i = 0; i < 3; ++i)
    if (!(mask >> i & 1)) {
      for (unsigned j = 0; j < 3; ++j)
        a[i][j] = a[j][i] = i == j;
      b[i] = 0;
    }
  for (unsigned column = 0; column < 3; ++column) {
    unsigned pivot = column;
    for (unsigned row = column + 1; row < 3; ++row)
      if (std::abs(a[row][column]) > std::abs(a[pivot][column]))
        pivot = row;
    // The caller has scaled columns to length 1.
    if (std::abs(a[pivot][column]) < 1e-9)
      return std::nullopt;
    std::swap(a[pivot], a[column]);
    std::swap(b[pivot], b[column]);
    for (unsigned row = 0; row < 3; ++row) {
      if (row == column)
        continue;
      const double factor = a[row][column] / a[column][column];
      for (unsigned j = 0; j < 3; ++j)
        a[row][j] -= factor * a[column][j];
      b[row] -= factor * b[column];
    }
  }
  return Vector{b[0] / a[0][0], b[1] / a[1][1], b[2] / a[2][2]};
}

LinkConstants constants(const Vector &x) { return {x[0], x[1], x[2]}; }

double squaredErrors(const LinkConstants &c, std::span<const Observation> observations) {
  double sum = 0;
  for (const Observation &o : observations)
    sum += std::pow(o.weight * (c.predict(o) / o.seconds - 1), 2);
  return sum;
}

} // namespace

std::optional<Observation> ringRounds(Scheme scheme, int ranks, double bytes, double seconds) {
  const double others = ranks - 1, part = others / ranks;
  if (scheme == Scheme::ring || schemeKind(scheme) == SchemeKind::sharded)
    return Observation{2 * others, 2 * part * bytes, part * bytes, seconds};
  if (isGathered(scheme))
    return Observation{others, others * bytes, 0, seconds};
  return std::nullopt;
}

namespace {

/// Fits the unknowns in `free`, a set of alphaBit, betaBit and gammaBit, with the others as
/// in `fixed`.
std::optional<LinkConstants> fit(std::span<const Observation> observations, unsigned free,
                                 const LinkConstants &fixed) {
  const Vector known{free & 1 ? 0 : fixed.alpha, free & 2 ? 0 : fixed.beta,
                     free & 4 ? 0 : fixed.gamma};
  std::vector<Vector> rows;
  Vector scale{};
  for (const Observation &o : observations) {
    const double factor = o.weight / o.seconds;
    rows.push_back({o.messages * factor, o.sent * factor, o.reduced * factor});
    for (int i = 0; i < 3; ++i)
      scale[i] += rows.back()[i] * rows.back()[i];
  }
  Matrix normal{};
  Vector right{};
  for (double &s : scale)
    s = s > 0 ? std::sqrt(s) : 1;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const Observation &o = observations[at];
    const double left = o.weight * (1 - constants(known).predict(o) / o.seconds);
    for (int i = 0; i < 3; ++i) {
      right[i] += rows[at][i] / scale[i] * left;
      for (int j = 0; j < 3; ++j)
        normal[i][j] += rows[at][i] / scale[i] * rows[at][j] / scale[j];
    }
  }
  // The best feasible solution among all subsets is the constrained optimum.
  std::optional<LinkConstants> best;
  double least = 0;
  for (unsigned mask = 0; mask < 8; ++mask) {
    std::optional<Vector> x;
    if ((mask & ~free) == 0)
      x = solve(normal, right, mask);
    if (!x || (*x)[0] < 0 || (*x)[1] < 0 || (*x)[2] < 0)
      continue;
    for (int i = 0; i < 3; ++i)
      (*x)[i] = (*x)[i] / scale[i] + known[i];
    const double errors = squaredErrors(constants(*x), observations);
    if (best && errors >= least)
      continue;
    least = errors;
    best = constants(*x);
  }
  return best;
}

LinkFit withResiduals(const LinkConstants &constants, std::span<const Observation> observations) {
  LinkFit result{constants, {}, constants.beta};
  for (const Observation &o : observations)
    result.residuals.push_back(o.seconds / constants.predict(o) - 1);
  return result;
}

constexpr unsigned alphaBit = 1, betaBit = 2, gammaBit = 4;

} // namespace

std::optional<LinkFit> fitLink(std::span<const Observation> observations) {
  if (observations.empty())
    return std::nullopt;
  const auto best = fit(observations, alphaBit | betaBit | gammaBit, {});
  return best ? std::optional(withResiduals(*best, observations)) : std::nullopt;
}

std::vector<bool> longOnes(std::span<const Observation> observations) {
  constexpr double part = 1.0 / 16;
  double longest = 0;
  for (const Observation &o : observations)
    longest = std::max(longest, o.sent);
  std::vector<bool> result;
  for (const Observation &o : observations)
    result.push_back(o.sent >= part * longest);
  return result;
}

std::optional<LinkFit> fitRounds(std::span<const Observation> observations, double minBeta) {
  if (observations.empty())
    return std::nullopt;
  std::vector<Observation> chosen;
  const std::vector<bool> isLong = longOnes(observations);
  for (std::size_t i = 0; i < observations.size(); ++i)
    if (isLong[i])
      chosen.push_back(observations[i]);
  std::optional<LinkConstants> best = fit(chosen, alphaBit | betaBit | gammaBit, {});
  const double freeBeta = best ? best->beta : 0;
  if (freeBeta < minBeta)
    best = fit(chosen, alphaBit | gammaBit, {0, minBeta, 0});
  if (!best)
    return std::nullopt;
  constexpr double maxBytes =
      0.25; // largest share of bytes in the time of a message that determines the latency
  chosen.clear();
  const LinkConstants bytes{0, best->beta, best->gamma};
  for (const Observation &o : observations)
    if (bytes.predict(o) <= maxBytes * o.seconds)
      chosen.push_back(o);
  best = fit(chosen.empty() ? observations : std::span<const Observation>(chosen), alphaBit, bytes);
  if (!best)
    return std::nullopt;
  LinkFit result = withResiduals(*best, observations);
  result.freeBeta = freeBeta;
  return result;
}

} // namespace syncline::calibrate
