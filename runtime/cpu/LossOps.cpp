// Softmax and the losses: loops over plain tensors with sums in double. They take little of a
// step's time.
#include "runtime/core/Labels.h"
#include "runtime/cpu/CpuBuilder.h"

#include <algorithm>
#include <cmath>

namespace syncline::cpu {

namespace {

/// log Σ exp(x[k·stride]) over `extent` values, without overflow.
double logSumExp(const float *x, std::int64_t extent, std::int64_t stride) {
  float largest = x[0];
  for (std::int64_t k = 1; k < extent; ++k)
    largest = std::max(largest, x[k * stride]);
  double sum = 0;
  for (std::int64_t k = 0; k < extent; ++k)
    sum += std::exp(static_cast<double>(x[k * stride]) - largest);
  return largest + std::log(sum);
}

void softmaxAlong(const float *x, float *y, const core::AxisView &view, bool logarithm) {
  for (std::int64_t o = 0; o < view.outer; ++o)
    for (std::int64_t i = 0; i < view.inner; ++i) {
      const std::int64_t start = o * view.extent * view.inner + i;
      const double total = logSumExp(x + start, view.extent, view.inner);
      for (std::int64_t k = 0; k < view.extent; ++k) {
        const double value = x[start + k * view.inner] - total;
        y[start + k * view.inner] = static_cast<float>(logarithm ? value : std::exp(value));
      }
    }
}

/// For softmax dx = y·(dy - Σ y·dy); for its logarithm dx = dy - exp(y)·Σ dy.
void softmaxBackwardAlong(const float *y, const float *dy, float *dx, const core::AxisView &view,
                          bool logarithm) {
  for (std::int64_t o = 0; o < view.outer; ++o)
    for (std::int64_t i = 0; i < view.inner; ++i) {
      const std::int64_t start = o * view.extent * view.inner + i;
      double sum = 0;
      for (std::int64_t k = 0; k < view.extent; ++k) {
        const std::int64_t at = start + k * view.inner;
        sum += logarithm ? dy[at] : static_cast<double>(y[at]) * dy[at];
      }
      for (std::int64_t k = 0; k < view.extent; ++k) {
        const std::int64_t at = start + k * view.inner;
        dx[at] = static_cast<float>(logarithm ? dy[at] - std::exp(static_cast<double>(y[at])) * sum
                                              : y[at] * (dy[at] - sum));
      }
    }
}

/// The gradient is multiplied by `scale`. Targets out of range give NaN as loss and gradient; the
/// training loop reports it with the step's number. So does a batch of ignored ones alone.
double crossEntropyOver(const float *logits, const std::int64_t *target, float *dlogits,
                        const core::AxisView &view, double scale) {
  const std::int64_t positions = view.outer * view.inner;
  const auto counted =
      static_cast<double>(positions - std::count(target, target + positions, core::ignoredLabel));
  double loss = 0;
  for (std::int64_t o = 0; o < view.outer; ++o)
    for (std::int64_t i = 0; i < view.inner; ++i) {
      const std::int64_t start = o * view.extent * view.inner + i;
      const std::int64_t label = target[o * view.inner + i];
      if (label == core::ignoredLabel) {
        for (std::int64_t k = 0; dlogits && k < view.extent; ++k)
          dlogits[start + k * view.inner] = 0;
        continue;
      }
      const double total = label >= 0 && label < view.extent
                               ? logSumExp(logits + start, view.extent, view.inner)
                               : std::nan("");
      loss += std::isnan(total) ? total : total - logits[start + label * view.inner];
      for (std::int64_t k = 0; dlogits && k < view.extent; ++k) {
        const std::int64_t at = start + k * view.inner;
        dlogits[at] = static_cast<float>((std::exp(logits[at] - total) - (k == label ? 1 : 0)) /
                                         counted * scale);
      }
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
                              Tensor dlogits) {
  prepare("crossEntropy", layer, [&](Preparation &p) {
    core::checkCrossEntropy(p, logits, target, loss, dlogits);
    const bool backward = dlogits.isValid();
    dnnl::memory gradient = backward ? p.plainOutput(dlogits) : dnnl::memory();
    const std::int64_t axis = core::classAxis(p.shape(logits), p.shape(target));
    p.call("loop",
           [=, view = core::aroundAxis(p.shape(logits), axis), x = p.plainInput(logits),
            labels = p.plainInput(target), result = p.plainOutput(loss), &program = p.program] {
             const double mean = crossEntropyOver(pointer<float>(x), pointer<std::int64_t>(labels),
                                                  backward ? pointer<float>(gradient) : nullptr,
                                                  view, program.lossScale * program.lossWeight);
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
