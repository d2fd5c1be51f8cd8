// Reference resizing: every weight of every element, from the definition.
#include "tests/reference/Values.h"

#include "syncline/ResampleFilter.h"

#include <cmath>

using namespace mlir;
using namespace syncline;
using namespace syncline::nn;

namespace syncline::reference {

using Filter = ResampleFilter;

/// The filter at a distance from its centre.
static double filterAt(Filter filter, double distance, double a) {
  const double d = std::abs(distance);
  if (filter == Filter::linear)
    return std::max(1 - d, 0.0);
  if (d <= 1)
    return (a + 2) * d * d * d - (a + 3) * d * d + 1;
  return d < 2 ? a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a : 0;
}

static double roundedBy(Filter filter, double position) {
  switch (filter) {
  case Filter::nearestPreferFloor:
    return std::ceil(position - 0.5);
  case Filter::nearestPreferCeil:
    return std::floor(position + 0.5);
  case Filter::nearestCeil:
    return std::ceil(position);
  case Filter::nearestFloor:
  case Filter::linear:
  case Filter::cubic:
    return std::floor(position);
  }
  return position;
}

/// The weights of the operand's elements along an axis in element i of the result.
template <typename Op>
static std::vector<double> weightsOf(Op op, std::size_t axis, std::int64_t size, std::int64_t i) {
  const auto filter = static_cast<Filter>(op.getFilter());
  const DimsRef abc = op.getCoordinates().slice(3 * axis, 3);
  const double position = double(abc[0] * i + abc[1]) / double(abc[2]);
  const double step = double(abc[0]) / double(abc[2]);
  const double stretch = op.getAntialias() && step > 1 ? step : 1;
  std::vector<double> weights(size);
  const auto last = double(size - 1);
  if (filter < Filter::linear) {
    weights[std::size_t(std::clamp(roundedBy(filter, position), 0.0, last))] = 1;
    return weights;
  }
  double sum = 0;
  const double reach = std::ceil(2 * stretch) + 1;
  for (double j = std::floor(position) - reach; j <= std::floor(position) + reach; ++j) {
    const double weight =
        filterAt(filter, (j - position) / stretch, op.getCubicCoefficient().convertToDouble());
    if (op.getExcludeOutside() && (j < 0 || j > last))
      continue;
    weights[std::size_t(std::clamp(j, 0.0, last))] += weight;
    sum += weight;
  }
  if (op.getExcludeOutside() || stretch != 1)
    for (double &weight : weights)
      weight /= sum;
  return weights;
}

/// The tensor, resized along one axis or, with `isBackward`, a gradient on its way back.
template <typename Op>
static Tensor along(Op op, std::size_t number, const Tensor &from, std::int64_t size,
                    bool isBackward) {
  const std::int64_t axis = op.getAxes()[number];
  Dims shape(from.shape);
  shape[axis] = size;
  Tensor to(shape);
  const Tensor &y = isBackward ? from : to, &x = isBackward ? to : from;
  for (std::int64_t i = 0; i < y.shape[axis]; ++i) {
    const std::vector<double> weights = weightsOf(op, number, x.shape[axis], i);
    Dims line(from.shape);
    line[axis] = 1;
    forEachIndex(line, [&](DimsRef index) {
      Dims atX(index), atY(index);
      atY[axis] = i;
      for (atX[axis] = 0; atX[axis] < x.shape[axis]; ++atX[axis])
        to.at(isBackward ? atX : atY) += weights[atX[axis]] * from.at(isBackward ? atY : atX);
    });
  }
  return to;
}

template <typename Op> static void resize(Op op, Values &values, bool isBackward) {
  Tensor tensor = values[op->getOperand(0)];
  const Dims target(values.make(op->getResult(0)).shape);
  for (std::size_t i = 0; i < op.getAxes().size(); ++i)
    tensor = along(op, i, tensor, target[op.getAxes()[i]], isBackward);
  values.set(op->getResult(0), std::move(tensor));
}

bool evaluateResample(Operation *op, Values &values) {
  if (auto forward = dyn_cast<ResampleOp>(op))
    resize(forward, values, /*isBackward=*/false);
  else if (auto backward = dyn_cast<ResampleBackwardOp>(op))
    resize(backward, values, /*isBackward=*/true);
  else
    return false;
  return true;
}

} // namespace syncline::reference
