// Non-negative least squares in three unknowns: each subset of them in turn.
#include "runtime/calibrate/LinkFit.h"

#include <array>
#include <cmath>
#include <utility>

namespace syncline::calibrate {
namespace {

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

/// Solves a symmetric system restricted to the unknowns of `mask`, others 0, by elimination with
/// pivots; nothing where it is singular.
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
    // Columns are scaled to length 1 before.
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

std::optional<Observation> ringRounds(std::string_view scheme, int ranks, double bytes,
                                      double seconds) {
  const double others = ranks - 1, part = others / ranks;
  if (scheme == "ring" || scheme == "reduce-scatter")
    return Observation{2 * others, 2 * part * bytes, part * bytes, seconds};
  if (scheme == "factors")
    return Observation{others, others * bytes, 0, seconds};
  return std::nullopt;
}

std::optional<LinkFit> fitLink(std::span<const Observation> observations) {
  if (observations.empty())
    return std::nullopt;
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
  for (std::size_t at = 0; at < rows.size(); ++at)
    for (int i = 0; i < 3; ++i) {
      right[i] += rows[at][i] / scale[i] * observations[at].weight;
      for (int j = 0; j < 3; ++j)
        normal[i][j] += rows[at][i] / scale[i] * rows[at][j] / scale[j];
    }
  // The best of the subsets whose solution is feasible is the constrained optimum.
  std::optional<LinkFit> best;
  double least = 0;
  for (unsigned mask = 1; mask < 8; ++mask) {
    std::optional<Vector> x = solve(normal, right, mask);
    if (!x || (*x)[0] < 0 || (*x)[1] < 0 || (*x)[2] < 0)
      continue;
    for (int i = 0; i < 3; ++i)
      (*x)[i] /= scale[i];
    const double errors = squaredErrors(constants(*x), observations);
    if (best && errors >= least)
      continue;
    least = errors;
    best = LinkFit{constants(*x), {}};
  }
  if (best)
    for (const Observation &o : observations)
      best->residuals.push_back(o.seconds / best->constants.predict(o) - 1);
  return best;
}

} // namespace syncline::calibrate
