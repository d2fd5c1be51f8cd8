// Reference losses.
#include "tests/reference/Values.h"

#include <cmath>

using namespace mlir;
using namespace syncline::nn;

namespace syncline::reference {

static void crossEntropy(CrossEntropyOp op, Values &values) {
  const Tensor &logits = values[op.getLogits()], &target = values[op.getTarget()];
  Tensor loss = values.make(op.getLoss()), gradient = values.make(op.getGradient());
  const double ignored = -100;
  const double smoothing = op.getSmoothing().value_or(llvm::APFloat(0.0)).convertToDouble();
  const Tensor *weights = op.getWeights() ? &values[op.getWeights()] : nullptr;
  const auto weightOf = [&](auto k) {
    return weights ? weights->values[static_cast<std::size_t>(k)] : 1.0;
  };
  double samples = 0;
  for (double label : target.values)
    samples += label != ignored ? weightOf(label) : 0;
  Dims second(logits.shape);
  second.erase(second.begin() + 1);
  const std::size_t axis = second == target.shape ? 1 : logits.shape.size() - 1;
  forEachIndex(target.shape, [&](DimsRef sample) {
    if (target.at(sample) == ignored)
      return;
    Dims index(sample);
    index.insert(index.begin() + axis, 0);
    std::int64_t &k = index[axis];
    const auto wanted = [&] {
      return weightOf(k) * ((static_cast<double>(k) == target.at(sample) ? 1 - smoothing : 0) +
                            smoothing / static_cast<double>(logits.shape[axis]));
    };
    double sum = 0, all = 0;
    for (k = 0; k < logits.shape[axis]; ++k) {
      sum += std::exp(logits.at(index));
      all += wanted();
    }
    for (k = 0; k < logits.shape[axis]; ++k) {
      loss.values[0] -= wanted() * (logits.at(index) - std::log(sum)) / samples;
      gradient.at(index) = (all * std::exp(logits.at(index)) / sum - wanted()) / samples;
    }
  });
  values.set(op.getLoss(), std::move(loss));
  values.set(op.getGradient(), std::move(gradient));
}

static void meanSquaredError(MeanSquaredErrorOp op, Values &values) {
  const Tensor &y = values[op.getValue()], &target = values[op.getTarget()];
  Tensor loss = values.make(op.getLoss()), gradient = values.make(op.getGradient());
  auto count = static_cast<double>(y.values.size());
  for (std::size_t i = 0; i < y.values.size(); ++i) {
    double difference = y.values[i] - target.values[i];
    loss.values[0] += difference * difference / count;
    gradient.values[i] = 2 * difference / count;
  }
  values.set(op.getLoss(), std::move(loss));
  values.set(op.getGradient(), std::move(gradient));
}

bool evaluateLoss(Operation *op, Values &values) {
  if (auto known = dyn_cast<CrossEntropyOp>(op))
    crossEntropy(known, values);
  else if (auto known = dyn_cast<MeanSquaredErrorOp>(op))
    meanSquaredError(known, values);
  else
    return false;
  return true;
}

} // namespace syncline::reference
