// A step with one bucket of two parameters, for tests of optimizers.
#pragma once

#include "tests/conformance/StepCase.h"

#include <cmath>
#include <span>
#include <vector>

namespace syncline::conformance {

/// One bucket with two parameters, updated by an operation of the step, or by its channel where the
/// bucket travels by "reduce-scatter".
struct TwoParameters {
  explicit TwoParameters(const Backend &backend, int ranks = 4, bool isSharded = false)
      : run(backend, Form::plain, ranks, 1, ranks - 1) {
    std::tie(first, firstGradient) = run.parameter("first", randomArray({37}, 1));
    std::tie(second, secondGradient) = run.parameter("second", randomArray({64, 11}, 2));
    run.step().bucket(bucketBy(isSharded ? "reduce-scatter" : "ring", bytes));
    run.step().issue(0);
    run.step().wait(0);
    if (!isSharded)
      run.step().update(0);
  }

  /// Gradients of very different sizes.
  Array gradient(const Tensor &tensor, unsigned seed) {
    Array values = randomArray((*run).tensors()[tensor.id].shape, seed);
    for (std::size_t i = 0; i < values.values.size(); ++i)
      values.values[i] *= std::pow(10.0, static_cast<double>(i % 9) - 6);
    return values;
  }
  void write(const Tensor &gradient, const Array &values) {
    const std::vector<float> narrow(values.values.begin(), values.values.end());
    ASSERT_TRUE((*run).write(gradient.id, std::as_bytes(std::span(narrow))).isOk());
  }
  void update() { run.runOperations(0, static_cast<int>((*run).operations().size())); }

  static constexpr std::int64_t secondBegin = 192, bytes = secondBegin + 64 * 11 * 4;
  StepCase run;
  Tensor first, firstGradient, second, secondGradient;
};

} // namespace syncline::conformance
