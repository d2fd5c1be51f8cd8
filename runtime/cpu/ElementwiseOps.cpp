// Reductions, dropout and noise.
#include "runtime/core/Combine.h"
#include "runtime/core/Noise.h"
#include "runtime/core/Strides.h"
#include "runtime/cpu/CpuBuilder.h"

#include <algorithm>

namespace syncline::cpu {

namespace {

/// Combines x over the dimensions whose stride in `results` is 0. The shape and the strides are in
/// the order of x's dimensions.
template <typename Combination>
void accumulate(const float *&x, double *results, const Shape &shape, const Shape &strides,
                std::size_t depth) {
  if (depth == shape.size()) {
    *results = Combination::combine(*results, *x++);
    return;
  }
  if (depth + 1 < shape.size()) {
    for (std::int64_t i = 0; i < shape[depth]; ++i)
      accumulate<Combination>(x, results + i * strides[depth], shape, strides, depth + 1);
    return;
  }
  const std::int64_t n = shape[depth];
  if (strides[depth] == 0) {
    double own = Combination::start;
    for (std::int64_t i = 0; i < n; ++i)
      own = Combination::combine(own, x[i]);
    *results = Combination::combine(*results, own);
  } else {
    for (std::int64_t i = 0; i < n; ++i) {
      double &result = results[i * strides[depth]];
      result = Combination::combine(result, x[i]);
    }
  }
  x += n;
}

void drawMask(const core::DropoutStream &stream, std::int64_t step, std::uint8_t *mask,
              std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += 4) {
    const std::uint64_t block = static_cast<std::uint64_t>(i) / 4;
    const auto words = core::dropoutWords(stream, step, block);
    for (std::int64_t k = 0; k < std::min<std::int64_t>(4, n - i); ++k)
      mask[i + k] = words[static_cast<std::size_t>(k)] >= stream.threshold;
  }
}

/// Multiplies by the mask, so that a dropped NaN stays NaN as in PyTorch.
void applyMask(const float *x, const std::uint8_t *mask, float *y, std::int64_t n, float scale) {
  for (std::int64_t i = 0; i < n; ++i)
    y[i] = x[i] * (mask[i] ? scale : 0.0f);
}

} // namespace

void CpuBuilder::reduce(std::string_view layer, Reduction reduction, Tensor x, Tensor y,
                        const Shape &axes) {
  prepare("reduce", layer, [&](Preparation &p) {
    core::checkReduce(p, x, y, axes);
    const Shape strides = core::reducedStrides(p.shape(x), axes);
    const std::int64_t n = core::elementCount(p.shape(y));
    const double divisor = core::divisorOf(reduction, core::elementCount(p.shape(x)) / n);
    core::withCombination(reduction, [&]<typename Combination> {
      p.call("loop", [=, shape = p.shape(x), source = p.plainInput(x), result = p.plainOutput(y)] {
        std::vector<double> results(static_cast<std::size_t>(n), Combination::start);
        const float *from = pointer<float>(source);
        accumulate<Combination>(from, results.data(), shape, strides, 0);
        std::transform(results.begin(), results.end(), pointer<float>(result),
                       [=](double value) { return static_cast<float>(value / divisor); });
      });
    });
  });
}

void CpuBuilder::dropout(std::string_view layer, Tensor x, Tensor y, Tensor mask, double ratio) {
  prepare("dropout", layer, [&](Preparation &p) {
    core::checkDropout(p, x, y, mask);
    // The layout is plain, so that the choice of kept elements does not depend on it.
    p.call("loop", [=, &program = program, x = p.plainInput(x), y = p.plainOutput(y),
                    mask = p.plainOutput(mask), n = core::elementCount(p.shape(x)),
                    stream = core::dropoutStream(program.options, layer, ratio)] {
      if (program.isEvaluation) {
        std::copy_n(pointer<float>(x), n, pointer<float>(y));
        return;
      }
      drawMask(stream, program.step, pointer<std::uint8_t>(mask), n);
      applyMask(pointer<float>(x), pointer<std::uint8_t>(mask), pointer<float>(y), n,
                core::keptScale(ratio));
    });
  });
}

void CpuBuilder::dropoutBackward(std::string_view layer, Tensor dy, Tensor mask, Tensor dx,
                                 double ratio) {
  prepare("dropoutBackward", layer, [&](Preparation &p) {
    core::checkDropout(p, dy, dx, mask);
    p.call("loop", [=, dy = p.plainInput(dy), mask = p.plainInput(mask), dx = p.plainOutput(dx),
                    n = core::elementCount(p.shape(dy))] {
      applyMask(pointer<float>(dy), pointer<std::uint8_t>(mask), pointer<float>(dx), n,
                core::keptScale(ratio));
    });
  });
}

void CpuBuilder::noise(std::string_view layer, Tensor y, std::int64_t distribution, double first,
                       double second, double evaluated) {
  prepare("noise", layer, [&](Preparation &p) {
    core::checkNoise(p, y, distribution);
    p.call("loop", [&program = program, y = p.plainOutput(y), n = core::elementCount(p.shape(y)),
                    drawn = core::noiseStream(program.options, layer, distribution, first, second),
                    evaluated] {
      const auto stream = program.isEvaluation ? core::constantNoise(drawn, evaluated) : drawn;
      for (std::int64_t i = 0; i < n; i += 4) {
        const auto numbers =
            core::noiseBlock(stream, program.step, static_cast<std::uint64_t>(i) / 4);
        std::copy_n(numbers.begin(), std::min<std::int64_t>(4, n - i), pointer<float>(y) + i);
      }
    });
  });
}

} // namespace syncline::cpu
