// Forward passes over a test set.
#include "runtime/run/Evaluation.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace syncline {
namespace {

/// Logits of one prediction lie `stride` apart.
Score scoreClasses(const Array &logits, std::int64_t first, std::int64_t stride,
                   std::int64_t classes, std::int64_t label) {
  double largest = -INFINITY, sum = 0;
  std::int64_t best = 0;
  for (std::int64_t c = 0; c < classes; ++c)
    if (double v = logits.at(first + c * stride); v > largest) {
      largest = v;
      best = c;
    }
  for (std::int64_t c = 0; c < classes; ++c)
    sum += std::exp(logits.at(first + c * stride) - largest);
  double loss = std::log(sum) + largest - logits.at(first + label * stride);
  return {loss, 1, best == label ? 1 : 0, 1};
}

Array view(const std::vector<std::byte> &bytes, ElementType type, Shape shape) {
  Array a;
  a.type = type;
  a.shape = std::move(shape);
  a.data = bytes.data();
  return a;
}

std::int64_t bytesOf(const StepTensor &t) { return elementCount(t.shape) * elementBytes(t.type); }

} // namespace

void Score::add(const Score &other) {
  lossSum += other.lossSum;
  losses += other.losses;
  correct += other.correct;
  predictions += other.predictions;
}

Score scoreBatch(const SampleFormat &format, const Shape &outputShape, const Array &output,
                 const Array &target, std::int64_t samples) {
  Score score;
  std::int64_t perSample = elementCount(outputShape) / outputShape[0];
  if (!format.classes) {
    for (std::int64_t i = 0; i < samples * perSample; ++i)
      score.lossSum += std::pow(output.at(i) - target.at(i), 2);
    score.losses = samples * perSample;
    return score;
  }
  std::int64_t classes = outputShape[1], inner = perSample / classes;
  for (std::int64_t s = 0; s < samples; ++s)
    for (std::int64_t i = 0; i < inner; ++i)
      score.add(scoreClasses(output, s * perSample + i, inner, classes,
                             static_cast<std::int64_t>(target.at(s * inner + i))));
  return score;
}

Result<Score> evaluate(const Plan &plan, Executable &executable, Trainer &trainer,
                       const Dataset &data, int rank) {
  if (!plan.output)
    return Status::badInput("'" + plan.folder + "/plan.json' names no output: cannot evaluate");
  const int input = executable.find(Space::input, plan.input.name);
  const int output = executable.find(Space::arena, plan.output->name);
  const SampleFormat format = plan.sampleFormat();
  Interval state = executable.space(Space::state);
  std::vector<std::byte> saved(state.bytes);
  if (state.bytes > 0)
    std::memcpy(saved.data(), state.data, saved.size());
  std::vector<std::byte> x(bytesOf(executable.tensors()[input])),
      y(elementCount(plan.target.shape) * elementBytes(plan.target.type)),
      logits(bytesOf(executable.tensors()[output]));

  Score score;
  Status s;
  for (std::int64_t first = rank * plan.batch; first < data.size() && s;
       first += plan.ranks * plan.batch) {
    std::vector<std::int64_t> indices(plan.batch);
    for (std::int64_t i = 0; i < plan.batch; ++i)
      indices[i] = std::min(first + i, data.size() - 1);
    data.read(indices, x.data(), y.data());
    s = executable.write(input, x);
    if (s)
      s = trainer.forward(0);
    if (s)
      s = executable.read(output, logits);
    if (s)
      score.add(scoreBatch(
          format, plan.output->shape, view(logits, plan.output->type, plan.output->shape),
          view(y, plan.target.type, plan.target.shape), std::min(plan.batch, data.size() - first)));
  }
  if (state.bytes > 0)
    std::memcpy(state.data, saved.data(), saved.size());
  if (!s)
    return s;
  return score;
}

} // namespace syncline
