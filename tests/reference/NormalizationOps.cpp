// Reference normalisations, softmax and dropout.
#include "tests/reference/Values.h"

#include "llvm/Support/xxhash.h"

#include <cmath>

using namespace mlir;
using namespace syncline::nn;

namespace syncline::reference {

static void moveRunning(Value running, const Tensor &batch, double momentum, double correction,
                        Bindings &states) {
  Tensor &state = states[running.getDefiningOp<StateOp>().getName()];
  for (std::size_t c = 0; c < batch.values.size(); ++c)
    state.values[c] = (1 - momentum) * state.values[c] + momentum * batch.values[c] * correction;
}

static void batchNorm(BatchNormOp op, Values &values, Bindings &states) {
  const Tensor &x = values[op.getX()], &scale = values[op.getScale()],
               &shift = values[op.getShift()];
  Tensor y = values.make(op.getY()), mean = values.make(op.getMean()),
         variance = values.make(op.getVariance());
  double count = double(x.values.size()) / double(mean.values.size());
  forEachIndex(x.shape, [&](DimsRef i) { mean.values[i[1]] += x.at(i) / count; });
  forEachIndex(x.shape, [&](DimsRef i) {
    variance.values[i[1]] += std::pow(x.at(i) - mean.values[i[1]], 2) / count;
  });
  double epsilon = op.getEpsilon().convertToDouble();
  bool relu = op.getActivation() == Activation::relu;
  Tensor mask(x.shape);
  forEachIndex(x.shape, [&](DimsRef i) {
    double normal = (x.at(i) - mean.values[i[1]]) / std::sqrt(variance.values[i[1]] + epsilon);
    double result = scale.values[i[1]] * normal + shift.values[i[1]];
    mask.at(i) = !(result <= 0);
    y.at(i) = relu ? std::max(result, 0.0) : result;
  });
  double momentum = op.getMomentum().convertToDouble();
  moveRunning(op.getRunningMean(), mean, momentum, 1, states);
  moveRunning(op.getRunningVariance(), variance, momentum, count / (count - 1), states);
  values.set(op.getY(), std::move(y));
  values.set(op.getMean(), std::move(mean));
  values.set(op.getVariance(), std::move(variance));
  values.set(op.getWorkspace(), std::move(mask));
}

/// dx = scale/sqrt(v + ε)·(dy - mean(dy) - x̂·mean(dy·x̂)), means over a channel.
static void batchNormBackward(BatchNormBackwardOp op, Values &values) {
  const Tensor &x = values[op.getX()], &scale = values[op.getScale()], &mean = values[op.getMean()],
               &variance = values[op.getVariance()];
  Tensor dy = values[op.getDy()];
  if (op.getWorkspace())
    for (std::size_t i = 0; i < dy.values.size(); ++i)
      dy.values[i] *= values[op.getWorkspace()].values[i];
  double epsilon = op.getEpsilon().convertToDouble();
  double count = double(x.values.size()) / double(mean.values.size());
  auto deviation = [&](std::int64_t c) { return std::sqrt(variance.values[c] + epsilon); };
  auto normal = [&](DimsRef i) { return (x.at(i) - mean.values[i[1]]) / deviation(i[1]); };
  Tensor dx = values.make(op.getDx()), dscale = values.make(op.getDscale()),
         dshift = values.make(op.getDshift());
  forEachIndex(x.shape, [&](DimsRef i) {
    dscale.values[i[1]] += dy.at(i) * normal(i);
    dshift.values[i[1]] += dy.at(i);
  });
  forEachIndex(x.shape, [&](DimsRef i) {
    dx.at(i) = scale.values[i[1]] / deviation(i[1]) *
               (dy.at(i) - (dshift.values[i[1]] + normal(i) * dscale.values[i[1]]) / count);
  });
  values.set(op.getDx(), std::move(dx));
  values.set(op.getDscale(), std::move(dscale));
  values.set(op.getDshift(), std::move(dshift));
}

/// Calls visit(first element, scale's element count) for each row of x's last dimensions.
static void forEachRow(const Tensor &x, const Tensor &scale,
                       const std::function<void(std::size_t, std::size_t)> &visit) {
  const std::size_t n = scale.values.size();
  for (std::size_t at = 0; at < x.values.size(); at += n)
    visit(at, n);
}

/// (x - mean)/sqrt(variance + ε) of a row, and the root.
static std::pair<std::vector<double>, double> normalRow(const Tensor &x, std::size_t at,
                                                        std::size_t n, double epsilon) {
  std::vector<double> row(x.values.begin() + at, x.values.begin() + at + n);
  double mean = 0, variance = 0;
  for (double value : row)
    mean += value / double(n);
  for (double &value : row)
    value -= mean, variance += value * value / double(n);
  const double deviation = std::sqrt(variance + epsilon);
  for (double &value : row)
    value /= deviation;
  return {row, deviation};
}

static void layerNorm(LayerNormOp op, Values &values) {
  const Tensor &x = values[op.getX()], &scale = values[op.getScale()];
  Tensor y = values.make(op.getY());
  forEachRow(x, scale, [&](std::size_t at, std::size_t n) {
    const auto row = normalRow(x, at, n, op.getEpsilon().convertToDouble()).first;
    for (std::size_t i = 0; i < n; ++i)
      y.values[at + i] =
          scale.values[i] * row[i] + (op.getShift() ? values[op.getShift()].values[i] : 0.0);
  });
  values.set(op.getY(), std::move(y));
}

/// dx = (g - mean(g) - x̂·mean(g·x̂))/σ, where g = dy·scale and means are over a row.
static void layerNormBackward(LayerNormBackwardOp op, Values &values) {
  const Tensor &x = values[op.getX()], &scale = values[op.getScale()], &dy = values[op.getDy()];
  Tensor dx = values.make(op.getDx()), dscale = values.make(op.getDscale()),
         dshift = values.make(op.getDshift());
  forEachRow(x, scale, [&](std::size_t at, std::size_t n) {
    const auto [row, deviation] = normalRow(x, at, n, op.getEpsilon().convertToDouble());
    double first = 0, second = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double gradient = dy.values[at + i];
      dscale.values[i] += gradient * row[i];
      dshift.values[i] += gradient;
      first += gradient * scale.values[i] / double(n);
      second += gradient * scale.values[i] * row[i] / double(n);
    }
    for (std::size_t i = 0; i < n; ++i)
      dx.values[at + i] =
          (dy.values[at + i] * scale.values[i] - first - row[i] * second) / deviation;
  });
  values.set(op.getDx(), std::move(dx));
  values.set(op.getDscale(), std::move(dscale));
  values.set(op.getDshift(), std::move(dshift));
}

/// Channels that normalise channel c, as ONNX: floor((size-1)/2) before, ceil((size-1)/2) after.
static std::pair<std::int64_t, std::int64_t> neighbours(std::int64_t c, std::int64_t size,
                                                        std::int64_t channels) {
  return {std::max<std::int64_t>(0, c - (size - 1) / 2),
          std::min<std::int64_t>(channels - 1, c + size / 2)};
}

template <typename Op> static double lrnDivisor(Op op, const Tensor &x, DimsRef index) {
  auto size = static_cast<std::int64_t>(op.getSize());
  auto [first, last] = neighbours(index[1], size, x.shape[1]);
  double sum = 0;
  Dims other(index);
  for (other[1] = first; other[1] <= last; ++other[1])
    sum += x.at(other) * x.at(other);
  return op.getBias().convertToDouble() +
         op.getAlpha().convertToDouble() / static_cast<double>(size) * sum;
}

static void lrn(LrnOp op, Values &values) {
  const Tensor &x = values[op.getX()];
  Tensor y = values.make(op.getY());
  forEachIndex(x.shape, [&](DimsRef i) {
    y.at(i) = x.at(i) / std::pow(lrnDivisor(op, x, i), op.getBeta().convertToDouble());
  });
  values.set(op.getY(), std::move(y));
}

static void lrnBackward(LrnBackwardOp op, Values &values) {
  const Tensor &x = values[op.getX()], &dy = values[op.getDy()];
  Tensor dx = values.make(op.getDx());
  auto size = static_cast<std::int64_t>(op.getSize());
  double alpha = op.getAlpha().convertToDouble(), beta = op.getBeta().convertToDouble();
  forEachIndex(x.shape, [&](DimsRef i) {
    double divisor = lrnDivisor(op, x, i);
    dx.at(i) += dy.at(i) * std::pow(divisor, -beta);
    auto [first, last] = neighbours(i[1], size, x.shape[1]);
    Dims other(i);
    for (other[1] = first; other[1] <= last; ++other[1])
      dx.at(other) -= dy.at(i) * x.at(i) * beta * std::pow(divisor, -beta - 1) * alpha /
                      static_cast<double>(size) * 2 * x.at(other);
  });
  values.set(op.getDx(), std::move(dx));
}

/// Calls `visit` with the places of each line along `axis`.
static void forEachLine(const Tensor &t, std::int64_t axis,
                        const std::function<void(const std::vector<std::int64_t> &)> &visit) {
  Dims lines(t.shape);
  lines[axis] = 1;
  forEachIndex(lines, [&](DimsRef start) {
    std::vector<std::int64_t> places;
    Dims index(start);
    for (index[axis] = 0; index[axis] < t.shape[axis]; ++index[axis])
      places.push_back(t.offset(index));
    visit(places);
  });
}

static void softmax(SoftmaxOp op, Values &values) {
  const Tensor &x = values[op.getX()];
  Tensor y = values.make(op.getY());
  forEachLine(x, op.getAxis(), [&](const auto &line) {
    double sum = 0;
    for (std::int64_t i : line)
      sum += std::exp(x.values[i]);
    for (std::int64_t i : line)
      y.values[i] = op.getLogarithm() ? x.values[i] - std::log(sum) : std::exp(x.values[i]) / sum;
  });
  values.set(op.getY(), std::move(y));
}

static void softmaxBackward(SoftmaxBackwardOp op, Values &values) {
  const Tensor &y = values[op.getY()], &dy = values[op.getDy()];
  Tensor dx = values.make(op.getDx());
  forEachLine(y, op.getAxis(), [&](const auto &line) {
    double sum = 0;
    for (std::int64_t i : line)
      sum += op.getLogarithm() ? dy.values[i] : dy.values[i] * y.values[i];
    for (std::int64_t i : line)
      dx.values[i] = op.getLogarithm() ? dy.values[i] - std::exp(y.values[i]) * sum
                                       : y.values[i] * (dy.values[i] - sum);
  });
  values.set(op.getDx(), std::move(dx));
}

/// A number from [0, 1).
static double randomNumber(llvm::StringRef layer, std::int64_t element) {
  std::uint64_t z = llvm::xxh3_64bits(layer) + 0x9e3779b97f4a7c15u * (element + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return double((z ^ (z >> 31)) >> 11) / double(1ull << 53);
}

bool keepsElement(llvm::StringRef layer, std::int64_t element, double ratio) {
  return randomNumber(layer, element) >= ratio;
}

static void dropout(DropoutOp op, Values &values) {
  const Tensor &x = values[op.getX()];
  Tensor y = values.make(op.getY()), mask = values.make(op.getMask());
  double ratio = op.getRatio().convertToDouble();
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    mask.values[i] = keepsElement(layerOf(op), i, ratio);
    y.values[i] = mask.values[i] * x.values[i] / (1 - ratio);
  }
  values.set(op.getY(), std::move(y));
  values.set(op.getMask(), std::move(mask));
}

static void dropoutBackward(DropoutBackwardOp op, Values &values) {
  Tensor dx = values[op.getDy()];
  for (std::size_t i = 0; i < dx.values.size(); ++i)
    dx.values[i] *= values[op.getMask()].values[i] / (1 - op.getRatio().convertToDouble());
  values.set(op.getDx(), std::move(dx));
}

double drawnNumber(NoiseOp op, std::int64_t element) {
  const double first = op.getFirst().convertToDouble(), second = op.getSecond().convertToDouble();
  const auto draw = [&](llvm::StringRef salt) {
    return randomNumber((layerOf(op) + salt).str(), element);
  };
  if (op.getDistribution() == 0)
    return first + (second - first) * draw("");
  if (op.getDistribution() == 1)
    return first + second * std::sqrt(-2 * std::log(1 - draw("radius"))) *
                       std::cos(2 * M_PI * draw("angle"));
  return draw("") < first;
}

static void noise(NoiseOp op, Values &values) {
  Tensor y = values.make(op.getY());
  for (std::size_t i = 0; i < y.values.size(); ++i)
    y.values[i] = drawnNumber(op, i);
  values.set(op.getY(), std::move(y));
}

bool evaluateNormalization(Operation *op, Values &values, Bindings &states) {
  if (auto known = dyn_cast<BatchNormOp>(op))
    batchNorm(known, values, states);
  else if (auto known = dyn_cast<BatchNormBackwardOp>(op))
    batchNormBackward(known, values);
  else if (auto known = dyn_cast<LayerNormOp>(op))
    layerNorm(known, values);
  else if (auto known = dyn_cast<LayerNormBackwardOp>(op))
    layerNormBackward(known, values);
  else if (auto known = dyn_cast<LrnOp>(op))
    lrn(known, values);
  else if (auto known = dyn_cast<LrnBackwardOp>(op))
    lrnBackward(known, values);
  else if (auto known = dyn_cast<SoftmaxOp>(op))
    softmax(known, values);
  else if (auto known = dyn_cast<SoftmaxBackwardOp>(op))
    softmaxBackward(known, values);
  else if (auto known = dyn_cast<DropoutOp>(op))
    dropout(known, values);
  else if (auto known = dyn_cast<DropoutBackwardOp>(op))
    dropoutBackward(known, values);
  else if (auto known = dyn_cast<NoiseOp>(op))
    noise(known, values);
  else
    return false;
  return true;
}

} // namespace syncline::reference
