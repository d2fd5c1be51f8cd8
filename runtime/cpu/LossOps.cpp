// Softmax and the losses: loops over plain tensors with sums in double.
#include "runtime/core/Labels.h"
#include "runtime/cpu/CpuBuilder.h"
#include "runtime/cpu/Softmax.h"

#include <algorithm>
#include <cmath>
#include <numeric>
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

/// Subtracts `number` from each of them.
void subtract(std::vector<float> &from, double number) {
  for (float &value : from)
    value = static_cast<float>(value - number);
}

/// The gradient is multiplied by `scale`. Targets out of range give NaN as loss and gradient; the
/// training loop reports it with the step's number. So does a batch of ignored ones alone.
double crossEntropyOver(const float *logits, const std::int64_t *target, float *dlogits,
                        const core::AxisView &view, double scale, double smoothing) {
  const double ofEach = smoothing / static_cast<double>(view.extent), ofLabel = 1 - smoothing;
  const std::int64_t positions = view.outer * view.inner;
  const auto counted =
      static_cast<double>(positions - std::count(target, target + positions, core::ignoredLabel));
  double loss = 0;
  std::vector<float> in(static_cast<std::size_t>(view.extent)), out(in.size());
  for (std::int64_t o = 0; o < view.outer; ++o)
    for (std::int64_t i = 0; i < view.inner; ++i) {
      const std::int64_t start = o * view.extent * view.inner + i;
      const std::int64_t label = target[o * view.inner + i];
      if (label == core::ignoredLabel) {
        for (std::int64_t k = 0; dlogits && k < view.extent; ++k)
          dlogits[start + k * view.inner] = 0;
        continue;
      }
      const bool isClass = label >= 0 && label < view.extent;
      const float *row = gathered(logits + start, view, in);
      const double total = isClass ? logSumExp(row, view.extent) : std::nan("");
      loss += isClass ? total - ofLabel * row[label] : total;
      if (smoothing != 0)
        loss -= ofEach * std::accumulate(row, row + view.extent, 0.0);
      if (!dlogits)
        continue;
      exponentials(row, total, scale / counted, out.data(), view.extent);
      if (smoothing != 0)
        subtract(out, ofEach / counted * scale);
      if (isClass)
        out[static_cast<std::size_t>(label)] = static_cast<float>(
            (std::exp(row[label] - total) - (ofLabel + ofEach)) / counted * scale);
      for (std::int64_t k = 0; k < view.extent; ++k)
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

void CpuBuilder::crossEntropy(std::string_view layer, Tensor logits, Tensor target, Tensor loss,
                              Tensor dlogits, double smoothing) {
  prepare("crossEntropy", layer, [&](Preparation &p) {
    core::checkCrossEntropy(p, logits, target, loss, dlogits);
    const bool backward = dlogits.isValid();
    dnnl::memory gradient = backward ? p.plainOutput(dlogits) : dnnl::memory();
    const std::int64_t axis = core::classAxis(p.shape(logits), p.shape(target));
    p.call("loop", [=, view = core::aroundAxis(p.shape(logits), axis), x = p.plainInput(logits),
                    labels = p.plainInput(target), result = p.plainOutput(loss),
                    &program = p.program] {
      const double mean = crossEntropyOver(pointer<float>(x), pointer<std::int64_t>(labels),
                                           backward ? pointer<float>(gradient) : nullptr, view,
                                           program.lossScale * program.lossWeight, smoothing);
      *pointer<float>(result) = program.lossWeight == 0 ? 0 : static_cast<float>(mean);
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
