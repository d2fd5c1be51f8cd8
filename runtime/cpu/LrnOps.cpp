// Local response normalization across channels: loops over plain tensors, vectorised along the
// spatial dimensions. oneDNN's backward needs a workspace that syncline/Step.h does not have.
#include "runtime/cpu/CpuBuilder.h"
#include "runtime/cpu/Loops.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace syncline::cpu {

namespace {

struct LrnConstants {
  std::int64_t size;
  float scale, beta, bias; ///< scale is alpha / size

  /// The window of channel c is c-before .. c+after, as in ONNX LRN.
  std::int64_t before() const { return (size - 1) / 2; }
  std::int64_t after() const { return size - 1 - before(); }
};

/// sums[i] = bias + scale · Σ over the window around channel c of x².
void windowSums(const float *sample, const core::AxisView &view, std::int64_t c,
                const LrnConstants &k, float *sums) {
  std::fill(sums, sums + view.inner, 0.0f);
  const std::int64_t last = std::min(c + k.after(), view.extent - 1);
  for (std::int64_t j = std::max<std::int64_t>(c - k.before(), 0); j <= last; ++j) {
    const float *x = sample + j * view.inner;
    for (std::int64_t i = 0; i < view.inner; ++i)
      sums[i] += x[i] * x[i];
  }
  for (std::int64_t i = 0; i < view.inner; ++i)
    sums[i] = k.bias + k.scale * sums[i];
}

void lrnSample(const float *x, float *y, const core::AxisView &view, const LrnConstants &k,
               std::vector<float> &sums) {
  for (std::int64_t c = 0; c < view.extent; ++c) {
    windowSums(x, view, c, k, sums.data());
    for (std::int64_t i = 0; i < view.inner; ++i)
      y[c * view.inner + i] = x[c * view.inner + i] * std::pow(sums[i], -k.beta);
  }
}

/// dx_c = dy_c·S_c^-β - 2·scale·β·x_c · Σ dy_j·x_j·S_j^(-β-1) over the channels j whose window
/// holds c.
void lrnBackwardSample(const float *x, const float *dy, float *dx, const core::AxisView &view,
                       const LrnConstants &k, std::vector<float> &sums, std::vector<float> &terms) {
  for (std::int64_t c = 0; c < view.extent; ++c) {
    windowSums(x, view, c, k, sums.data());
    for (std::int64_t i = 0; i < view.inner; ++i) {
      const std::int64_t at = c * view.inner + i;
      const float power = std::pow(sums[i], -k.beta);
      dx[at] = dy[at] * power;
      terms[at] = dy[at] * x[at] * power / sums[i];
    }
  }
  for (std::int64_t c = 0; c < view.extent; ++c) {
    const std::int64_t last = std::min(c + k.before(), view.extent - 1);
    for (std::int64_t j = std::max<std::int64_t>(c - k.after(), 0); j <= last; ++j)
      for (std::int64_t i = 0; i < view.inner; ++i)
        dx[c * view.inner + i] -=
            2 * k.scale * k.beta * x[c * view.inner + i] * terms[j * view.inner + i];
  }
}

LrnConstants constants(std::int64_t size, double alpha, double beta, double bias) {
  return {size, static_cast<float>(alpha / static_cast<double>(size)), static_cast<float>(beta),
          static_cast<float>(bias)};
}

} // namespace

void CpuBuilder::lrn(std::string_view layer, Tensor x, Tensor y, std::int64_t size, double alpha,
                     double beta, double bias) {
  prepare("lrn", layer, [&](Preparation &p) {
    core::checkAlike(p, x, {y});
    p.call("loop", [view = core::aroundAxis(p.shape(x), 1), x = p.plainInput(x),
                    y = p.plainOutput(y), k = constants(size, alpha, beta, bias)] {
      const std::int64_t sample = view.extent * view.inner;
#pragma omp parallel for
      for (std::int64_t n = 0; n < view.outer; ++n) {
        std::vector<float> sums(static_cast<std::size_t>(view.inner));
        lrnSample(pointer<float>(x) + n * sample, pointer<float>(y) + n * sample, view, k, sums);
      }
    });
  });
}

void CpuBuilder::lrnBackward(std::string_view layer, Tensor x, Tensor dy, Tensor dx,
                             std::int64_t size, double alpha, double beta, double bias) {
  prepare("lrnBackward", layer, [&](Preparation &p) {
    core::checkAlike(p, x, {dy, dx});
    p.call("loop",
           [view = core::aroundAxis(p.shape(x), 1), x = p.plainInput(x), dy = p.plainInput(dy),
            dx = p.plainOutput(dx), k = constants(size, alpha, beta, bias)] {
             const std::int64_t sample = view.extent * view.inner;
#pragma omp parallel for
             for (std::int64_t n = 0; n < view.outer; ++n) {
               std::vector<float> sums(static_cast<std::size_t>(view.inner));
               std::vector<float> terms(static_cast<std::size_t>(sample));
               lrnBackwardSample(pointer<float>(x) + n * sample, pointer<float>(dy) + n * sample,
                                 pointer<float>(dx) + n * sample, view, k, sums, terms);
             }
           });
  });
}

} // namespace syncline::cpu
