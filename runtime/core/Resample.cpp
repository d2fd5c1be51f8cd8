// Filters, as matrices.
#include "runtime/core/Resample.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>

namespace syncline::core {

namespace {

/// A coordinate: the element at it or below, and how far above that it lies, in [0, 1).
struct Coordinate {
  std::int64_t floor, remainder, divisor;

  double ratio() const { return static_cast<double>(remainder) / static_cast<double>(divisor); }
};

Coordinate coordinate(const Shape &abc, std::size_t axis, std::int64_t i) {
  const std::int64_t number = abc[3 * axis] * i + abc[3 * axis + 1], divisor = abc[3 * axis + 2];
  std::int64_t floor = number / divisor;
  floor -= floor * divisor > number;
  return {floor, number - floor * divisor, divisor};
}

bool isNearest(ResampleFilter filter) { return filter < ResampleFilter::linear; }

std::int64_t nearest(ResampleFilter filter, const Coordinate &at) {
  switch (filter) {
  case ResampleFilter::nearestPreferFloor:
    return at.floor + (at.remainder > at.divisor - at.remainder);
  case ResampleFilter::nearestPreferCeil:
    return at.floor + (at.remainder >= at.divisor - at.remainder);
  case ResampleFilter::nearestCeil:
    return at.floor + (at.remainder > 0);
  case ResampleFilter::nearestFloor:
  case ResampleFilter::linear:
  case ResampleFilter::cubic:
    return at.floor;
  }
  return at.floor;
}

/// f at a distance that lies within the filter's support, 1 or 2.
double weight(const Resampling &r, double distance) {
  const double d = std::abs(distance), a = r.cubicCoefficient;
  if (r.filter != ResampleFilter::cubic)
    return 1 - d;
  return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}

/// The entries of one row, before they are rounded.
class Row {
public:
  Row(const Resampling &r, std::int64_t columns) : r(r), columns(columns) {}

  void fill(const Coordinate &at, double stretch) {
    weights.clear();
    if (isNearest(r.filter))
      return add(nearest(r.filter, at), 1);
    const double support = (r.filter == ResampleFilter::cubic ? 2 : 1) * stretch;
    const double ratio = at.ratio();
    for (auto k = static_cast<std::int64_t>(std::floor(ratio - support)); k < ratio + support; ++k)
      if (const double distance = static_cast<double>(k) - ratio; std::abs(distance) < support)
        add(at.floor + k, weight(r, distance / stretch));
    if (weights.empty()) // all is outside
      return add(std::clamp<std::int64_t>(at.floor, 0, columns - 1), 1);
    if (stretch != 1 || r.excludesOutside)
      normalize();
  }

  std::int64_t first = 0;
  std::vector<double> weights;

private:
  void add(std::int64_t column, double weight) {
    const std::int64_t inside = std::clamp<std::int64_t>(column, 0, columns - 1);
    if (column != inside && r.excludesOutside && !isNearest(r.filter))
      return;
    if (weights.empty())
      first = inside;
    if (inside >= first + static_cast<std::int64_t>(weights.size()))
      weights.push_back(0);
    weights.back() += weight;
  }

  void normalize() {
    double sum = 0;
    for (double each : weights)
      sum += each;
    for (double &each : weights)
      each /= sum != 0 ? sum : 1;
  }

  const Resampling &r;
  const std::int64_t columns;
};

} // namespace

Bands bandsOf(const Resampling &r, std::size_t axis, std::int64_t columns, std::int64_t rows) {
  const double step = static_cast<double>(r.coordinates[3 * axis]) /
                      static_cast<double>(r.coordinates[3 * axis + 2]);
  Bands bands;
  bands.columns = columns;
  Row row(r, columns);
  for (std::int64_t i = 0; i < rows; ++i) {
    row.fill(coordinate(r.coordinates, axis, i), r.antialias ? std::max(step, 1.0) : 1);
    bands.firsts.push_back(static_cast<std::int32_t>(row.first));
    for (double each : row.weights)
      bands.weights.push_back(static_cast<float>(each));
    bands.begins.push_back(static_cast<std::int64_t>(bands.weights.size()));
  }
  return bands;
}

Bands transposed(const Bands &bands) {
  Bands result;
  result.columns = bands.rows();
  std::int64_t begin = 0; // the first row whose last column is not before the column
  for (std::int64_t column = 0; column < bands.columns; ++column) {
    const auto first = [&](std::int64_t row) {
      return std::int64_t{bands.firsts[static_cast<std::size_t>(row)]};
    };
    while (begin < bands.rows() && first(begin) + bands.count(begin) <= column)
      ++begin;
    result.firsts.push_back(static_cast<std::int32_t>(std::min(begin, bands.rows() - 1)));
    for (std::int64_t row = begin; row < bands.rows() && first(row) <= column; ++row)
      result.weights.push_back(bands.of(row)[column - first(row)]);
    result.begins.push_back(static_cast<std::int64_t>(result.weights.size()));
  }
  return result;
}

void checkResample(const Operands &o, Tensor x, Tensor y, const Resampling &r) {
  o.expectType(x, {ElementType::f32});
  o.expectType(y, {ElementType::f32});
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  Shape wanted = o.shape(x);
  if (o.rank(y) != o.rank(x) || r.axes.empty() || r.axes.size() > 3 ||
      r.coordinates.size() != 3 * r.axes.size() ||
      std::ranges::adjacent_find(r.axes, std::greater_equal<>()) != r.axes.end())
    o.fail("expected 1 to 3 ascending axes with three coordinates each");
  for (std::size_t i = 0; i < r.axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(o.expectAxis(x, r.axes[i]));
    const std::int64_t from = o.shape(x)[axis], to = o.shape(y)[axis];
    const std::int64_t *abc = r.coordinates.data() + 3 * i;
    if (from < 1 || to < 1 || from > most || to > most || abc[0] < 0 || abc[0] > most + 1 ||
        std::abs(abc[1]) > most * most || abc[2] < 1 || abc[2] > most + 1)
      o.fail("axis " + std::to_string(axis) + ": its size or its coordinates are beyond the range");
    wanted[axis] = to;
  }
  o.expectShape(y, wanted);
  if (r.filter < ResampleFilter::nearestPreferFloor || r.filter > ResampleFilter::cubic)
    o.fail("expected a known filter");
}

} // namespace syncline::core
