// Forward passes over a test set.
#include "runtime/run/Evaluation.h"

#include "runtime/run/StopSignal.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>

namespace syncline::run {

using data::Array;

namespace {

/// Scores class predictions. The logits of one prediction lie `stride` elements apart.
Score scoreClasses(const Array &logits, std::int64_t first, std::int64_t stride,
                   std::int64_t classes, std::int64_t label) {
  double largest = -INFINITY, sum = 0;
  std::int64_t best = 0;
  for (std::int64_t c = 0; c < classes; ++c)
    if (double v = logits.at(first + c * stride);
        v > largest || (std::isnan(v) && !std::isnan(largest))) { // as PyTorch's argmax
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

std::int64_t bytesOf(const core::StepTensor &t) {
  return core::elementCount(t.shape) * core::elementBytes(t.type);
}

/// Dense values of all states, by the tensor's index.
using States = std::map<int, std::vector<std::byte>>;

Result<States> readStates(core::TensorStore &store) {
  States states;
  for (int i = 0; i < static_cast<int>(store.tensors().size()); ++i) {
    const core::StepTensor &tensor = store.tensors()[i];
    if (tensor.space != Space::state)
      continue;
    states[i].resize(bytesOf(tensor));
    if (Status s = store.read(i, states[i]); !s)
      return s;
  }
  return states;
}

} // namespace

void Score::add(const Score &other) {
  lossSum += other.lossSum;
  losses += other.losses;
  correct += other.correct;
  predictions += other.predictions;
}

Score scoreBatch(const data::SampleFormat &format, const Shape &outputShape, const Array &output,
                 const Array &target, std::int64_t samples) {
  Score score;
  std::int64_t perSample = core::elementCount(outputShape) / outputShape[0];
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

/// The score of worker `rank`, so far where a signal ends it early.
static Result<Score> evaluate(const Plan &plan, core::Executable &executable, Trainer &trainer,
                              const data::Dataset &data, int rank) {
  if (!plan.output)
    return Status::badInput("'" + plan.folder + "/plan.json' names no output: cannot evaluate");
  const int input = executable.find(Space::input, plan.input.name);
  const int output = executable.find(Space::arena, plan.output->name);
  const data::SampleFormat format = plan.sampleFormat();
  Result<States> before = readStates(executable);
  if (!before)
    return before.status();
  std::vector<std::byte> logits(bytesOf(executable.tensors()[output]));

  data::HostBatch batch;
  Score score;
  Status s;
  executable.skipDropout(true);
  for (std::int64_t first = rank * plan.batch;
       first < data.size() && s && StopSignal::received() == 0; first += plan.ranks * plan.batch) {
    data::Samples samples;
    for (std::int64_t i = 0; i < plan.batch; ++i)
      samples.indices.push_back(std::min(first + i, data.size() - 1));
    s = data.read(samples, batch);
    if (s)
      s = executable.write(input, batch.inputs);
    if (s)
      s = trainer.forward(0);
    if (s)
      s = executable.read(output, logits);
    if (s)
      score.add(scoreBatch(format, plan.output->shape,
                           view(logits, plan.output->type, plan.output->shape),
                           view(batch.targets, plan.target.type, plan.target.shape),
                           std::min(plan.batch, data.size() - first)));
  }
  executable.skipDropout(false);
  for (const auto &[tensor, values] : *before)
    if (s)
      s = executable.write(tensor, values);
  if (!s)
    return s;
  return score;
}

/// The sum over all workers' scores. Nothing where a worker was interrupted (`isCut`).
static Result<std::optional<Score>> sumScores(transport::Group &group, const Score &own, bool isCut,
                                              double seconds) {
  group.enter("during evaluation");
  char text[128];
  std::snprintf(text, sizeof text, "%.17g %lld %lld %lld %d", own.lossSum,
                static_cast<long long>(own.losses), static_cast<long long>(own.correct),
                static_cast<long long>(own.predictions), isCut ? 1 : 0);
  auto all = group.gather("score", text, seconds, transport::Participants::workers);
  if (!all)
    return all.status();
  Score sum;
  for (const std::string &line : *all) {
    long long losses = 0, correct = 0, predictions = 0;
    int wasCut = 0;
    Score s;
    std::sscanf(line.c_str(), "%lf %lld %lld %lld %d", &s.lossSum, &losses, &correct, &predictions,
                &wasCut);
    if (wasCut)
      return std::optional<Score>();
    s.losses = losses;
    s.correct = correct;
    s.predictions = predictions;
    sum.add(s);
  }
  return std::optional<Score>(sum);
}

Result<std::optional<Score>> evaluateTogether(const Plan &plan, core::Executable &executable,
                                              Trainer &trainer, const data::Dataset &data,
                                              transport::Group *group, double seconds) {
  Result<Score> own = evaluate(plan, executable, trainer, data, group ? group->rank() : 0);
  if (!own)
    return own.status();
  const bool isCut = StopSignal::received() != 0;
  if (group)
    return sumScores(*group, *own, isCut, seconds);
  return isCut ? std::optional<Score>() : std::optional<Score>(*own);
}

std::string trainingMode(const core::StepRunner &runner) {
  const bool isThere = std::ranges::any_of(
      runner.operations(), [](const core::OperationInfo &op) { return op.name == "batchNorm"; });
  return isThere ? "with the batch's statistics" : "";
}

} // namespace syncline::run
