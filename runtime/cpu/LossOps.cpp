// Softmax and the losses: loops over plain tensors with sums in double.
#include "runtime/core/Labels.h"
#include "runtime/core/Strides.h"
#include "runtime/cpu/CpuBuilder.h"
#include "runtime/cpu/Softmax.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

namespace syncline::cpu {

namespace {

/// The row at `start`, copied into `room` where its elements do not lie side by side.
const float *gathered(const float *start, const core::AxisView &view, std::vector<float> &room) {
  if (view.inner == 1)
    return start;
  for (std::int64_t k = 0; k < view.extent; ++k)
    room[static_cast<std::size_t>(k)] = start[k * view.inner];
  return room.data();
}

/// Calls body(start) for the first element of each row along the axis.
template <typename Body> void eachRow(const core::AxisView &view, const Body &body) {
  for (std::int64_t o = 0; view.extent > 0 && o < view.outer; ++o)
    for (std::int64_t i = 0; i < view.inner; ++i)
      body(o * view.extent * view.inner + i);
}

void softmaxAlong(const float *x, float *y, const core::AxisView &view, bool logarithm) {
  std::vector<float> in(static_cast<std::size_t>(view.extent)), out(in.size());
  eachRow(view, [&](std::int64_t start) {
    const float *row = gathered(x + start, view, in);
    float *result = view.inner == 1 ? y + start : out.data();
    if (logarithm) {
      const double total = logSumExp(row, view.extent);
      for (std::int64_t k = 0; k < view.extent; ++k)
        result[k] = static_cast<float>(row[k] - total);
    } else {
      softmaxRow(row, result, view.extent);
    }
    for (std::int64_t k = 0; view.inner != 1 && k < view.extent; ++k)
      y[start + k * view.inner] = result[k];
  });
}

/// For softmax dx = y·(dy - Σ y·dy); for its logarithm dx = dy - exp(y)·Σ dy.
void softmaxBackwardAlong(const float *y, const float *dy, float *dx, const core::AxisView &view,
                          bool logarithm) {
  std::vector<float> values(static_cast<std::size_t>(view.extent)), gradients(values.size());
  eachRow(view, [&](std::int64_t start) {
    const float *row = gathered(y + start, view, values);
    const float *gradient = gathered(dy + start, view, gradients);
    const double sum = logarithm ? std::accumulate(gradient, gradient + view.extent, 0.0)
                                 : dotProduct(row, gradient, view.extent);
    for (std::int64_t k = 0; k < view.extent; ++k)
      dx[start + k * view.inner] =
          static_cast<float>(logarithm ? gradient[k] - std::exp(static_cast<double>(row[k])) * sum
                                       : row[k] * (gradient[k] - sum));
  });
}

/// What classes have of a position's loss.
struct ClassParts {
  double ofLabel = 1, ofEach = 0; ///< for weights of 1
  const float *weights = nullptr; ///< of the classes; null where all are 1

  double weightOf(std::int64_t k) const { return weights ? weights[k] : 1; }
  /// Σ weight·row, without a row of the weights.
  double sum(const float *row, std::int64_t classes) const {
    double sum = 0;
    for (std::int64_t k = 0; k < classes; ++k)
      sum += weightOf(k) * (row ? row[k] : 1);
    return sum;
  }
};

/// The weights of the labels that count. Ones out of range give no number as loss anyway.
double weightOfLabels(const std::int64_t *target, std::int64_t positions, const ClassParts &parts,
                      std::int64_t classes) {
  double weight = 0;
  for (std::int64_t i = 0; i < positions; ++i)
    if (target[i] != core::ignoredLabel)
      weight += target[i] >= 0 && target[i] < classes ? parts.weightOf(target[i]) : 1;
  return weight;
}

/// The gradient is multiplied by `scale`, and by `weight` where there is one. Targets out of range
/// give NaN as loss and gradient; the training loop reports it with the step's number. So does a
/// batch of labels that weigh nothing, unless `weight` says what its sum weighs.
double crossEntropyOver(const float *logits, const std::int64_t *target, float *dlogits,
                        const core::AxisView &view, double scale, std::optional<double> weight,
                        const ClassParts &parts) {
  const std::int64_t classes = view.extent;
  double counted = weightOfLabels(target, view.outer * view.inner, parts, classes);
  if (counted == 0 && weight)
    counted = 1;
  scale *= weight.value_or(1);
  const double ofAll = parts.ofEach != 0 ? parts.ofEach * parts.sum(nullptr, classes) : 0;
  double loss = 0;
  std::vector<float> in(static_cast<std::size_t>(classes)), out(in.size());
  for (std::int64_t o = 0; o < view.outer; ++o)
    for (std::int64_t i = 0; i < view.inner; ++i) {
      const std::int64_t start = o * classes * view.inner + i;
      const std::int64_t label = target[o * view.inner + i];
      if (label == core::ignoredLabel) {
        for (std::int64_t k = 0; dlogits && k < classes; ++k)
          dlogits[start + k * view.inner] = 0;
        continue;
      }
      const bool isClass = label >= 0 && label < classes;
      const float *row = gathered(logits + start, view, in);
      const double total = isClass ? logSumExp(row, classes) : std::nan("");
      const double ofLabel = isClass ? parts.ofLabel * parts.weightOf(label) : parts.ofLabel;
      loss += isClass ? (ofLabel + ofAll) * total - ofLabel * row[label] : total;
      if (parts.ofEach != 0)
        loss -= parts.ofEach * parts.sum(row, classes);
      if (!dlogits)
        continue;
      exponentials(row, total, (ofLabel + ofAll) * scale / counted, out.data(), classes);
      for (std::int64_t k = 0; parts.ofEach != 0 && k < classes; ++k)
        out[static_cast<std::size_t>(k)] = static_cast<float>(
            out[static_cast<std::size_t>(k)] - parts.ofEach * parts.weightOf(k) / counted * scale);
      if (isClass)
        out[static_cast<std::size_t>(label)] =
            static_cast<float>(((ofLabel + ofAll) * std::exp(row[label] - total) -
                                (ofLabel + parts.ofEach * parts.weightOf(label))) /
                               counted * scale);
      for (std::int64_t k = 0; k < classes; ++k)
        dlogits[start + k * view.inner] = out[static_cast<std::size_t>(k)];
    }
  return loss / counted;
}

} // namespace

void CpuBuilder::softmax(std::string_view layer, Tensor x, Tensor y, std::int64_t axis,
                         bool logarithm) {
  prepare("softmax", layer, [&](Preparation &p) {
    core::checkAlike(p, x, {y});
    p.expectAxis(x, axis);
    p.call("loop", [=, view = core::aroundAxis(p.shape(x), axis), x = p.plainInput(x),
                    y = p.plainOutput(y)] {
      softmaxAlong(pointer<float>(x), pointer<float>(y), view, logarithm);
    });
  });
}

void CpuBuilder::softmaxBackward(std::string_view layer, Tensor y, Tensor dy, Tensor dx,
                                 std::int64_t axis, bool logarithm) {
  prepare("softmaxBackward", layer, [&](Preparation &p) {
    core::checkAlike(p, y, {dy, dx});
    p.expectAxis(y, axis);
    p.call("loop", [=, view = core::aroundAxis(p.shape(y), axis), y = p.plainInput(y),
                    dy = p.plainInput(dy), dx = p.plainOutput(dx)] {
      softmaxBackwardAlong(pointer<float>(y), pointer<float>(dy), pointer<float>(dx), view,
                           logarithm);
    });
  });
}

void CpuBuilder::crossEntropy(std::string_view layer, Tensor logits, Tensor target, Tensor weights,
                              Tensor loss, Tensor dlogits, double smoothing) {
  prepare("crossEntropy", layer, [&](Preparation &p) {
    core::checkCrossEntropy(p, logits, target, weights, loss, dlogits);
    const bool backward = dlogits.isValid();
    dnnl::memory gradient = backward ? p.plainOutput(dlogits) : dnnl::memory();
    dnnl::memory ofClasses = weights.isValid() ? p.plainInput(weights) : dnnl::memory();
    const std::int64_t axis = core::classAxis(p.shape(logits), p.shape(target));
    p.call("loop", [=, view = core::aroundAxis(p.shape(logits), axis), x = p.plainInput(logits),
                    labels = p.plainInput(target), result = p.plainOutput(loss),
                    &program = p.program] {
      const ClassParts parts{1 - smoothing, smoothing / static_cast<double>(view.extent),
                             ofClasses ? pointer<float>(ofClasses) : nullptr};
      *pointer<float>(result) =
          static_cast<float>(crossEntropyOver(pointer<float>(x), pointer<std::int64_t>(labels),
                                              backward ? pointer<float>(gradient) : nullptr, view,
                                              program.lossScale, program.lossWeight, parts));
    });
  });
}

void CpuBuilder::meanSquaredError(std::string_view layer, Tensor y, Tensor target, Tensor loss,
                                  Tensor dy) {
  prepare("meanSquaredError", layer, [&](Preparation &p) {
    core::checkMeanSquaredError(p, y, target, loss, dy);
    const bool backward = dy.isValid();
    const std::int64_t n = core::elementCount(p.shape(y));
    dnnl::memory gradient = backward ? p.plainOutput(dy) : dnnl::memory();
    p.call("loop", [=, y = p.plainInput(y), target = p.plainInput(target),
                    result = p.plainOutput(loss), scale = &p.program.lossScale] {
      double sum = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        const double difference =
            static_cast<double>(pointer<float>(y)[i]) - pointer<float>(target)[i];
        sum += difference * difference;
        if (backward)
          pointer<float>(gradient)[i] =
              static_cast<float>(2 * difference / static_cast<double>(n) * *scale);
      }
      *pointer<float>(result) = static_cast<float>(sum / static_cast<double>(n));
    });
  });
}

} // namespace syncline::cpu
