// Forward passes over a test set.
#include "runtime/run/Evaluation.h"

#include "runtime/core/Formatted.h"
#include "runtime/core/Labels.h"
#include "runtime/core/Strides.h"
#include "runtime/run/Batch.h"
#include "runtime/run/StopSignal.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace syncline::run {

using data::Array;

namespace {

/// The logits of one prediction, which lie `stride` elements apart.
struct Prediction {
  const Array &logits;
  std::int64_t first, stride, classes;

  double at(std::int64_t c) const { return logits.at(first + c * stride); }

  /// The class with the largest logit; a NaN counts as largest, as in PyTorch's argmax.
  std::int64_t best() const {
    double largest = -INFINITY;
    std::int64_t best = 0;
    for (std::int64_t c = 0; c < classes; ++c)
      if (double v = at(c); v > largest || (std::isnan(v) && !std::isnan(largest))) {
        largest = v;
        best = c;
      }
    return best;
  }
  /// log(Σ exp(logit)), without overflow where `largest` is the largest logit.
  double logOfSum(double largest) const {
    double sum = 0;
    for (std::int64_t c = 0; c < classes; ++c)
      sum += std::exp(at(c) - largest);
    return std::log(sum) + largest;
  }
};

Score scoreClass(const Prediction &prediction, std::int64_t label, const TrainedLoss &trained) {
  const std::int64_t best = prediction.best();
  const double logOfSum = prediction.logOfSum(prediction.at(best));
  const double weight = trained.weightOf(label);
  double loss = (1 - trained.smoothing) * weight * (logOfSum - prediction.at(label));
  const double ofEach = trained.smoothing / static_cast<double>(prediction.classes);
  for (std::int64_t c = 0; ofEach != 0 && c < prediction.classes; ++c)
    loss += ofEach * trained.weightOf(c) * (logOfSum - prediction.at(c));
  return {loss, weight, best == label ? 1 : 0, 1};
}

/// `target` holds the probabilities of the classes where `prediction` has their logits.
Score scoreProbabilities(const Prediction &prediction, const Array &target,
                         const TrainedLoss &trained) {
  const double logOfSum = prediction.logOfSum(prediction.at(prediction.best()));
  const double ofEach = trained.smoothing / static_cast<double>(prediction.classes);
  double loss = 0;
  for (std::int64_t c = 0; c < prediction.classes; ++c) {
    const double given = target.at(prediction.first + c * prediction.stride);
    loss += trained.weightOf(c) * (given * (1 - trained.smoothing) + ofEach) *
            (logOfSum - prediction.at(c));
  }
  return {loss, 1, 0, 0};
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

/// Dense values of all tensors of a space, one behind the other.
class StoredTensors {
public:
  StoredTensors(core::TensorStore &store, Space space) : store(store) {
    for (int i = 0; i < static_cast<int>(store.tensors().size()); ++i)
      if (store.tensors()[i].space == space) {
        tensors.push_back(i);
        bytes.resize(bytes.size() + static_cast<std::size_t>(bytesOf(store.tensors()[i])));
      }
  }

  Status read() {
    return each([this](int i, std::span<std::byte> dense) { return store.read(i, dense); });
  }
  Status write() {
    return each([this](int i, std::span<std::byte> dense) { return store.write(i, dense); });
  }
  std::span<char> text() { return {reinterpret_cast<char *>(bytes.data()), bytes.size()}; }

private:
  template <typename F> Status each(const F &copy) {
    std::size_t at = 0;
    for (int i : tensors) {
      const auto size = static_cast<std::size_t>(bytesOf(store.tensors()[i]));
      SYNCLINE_TRY(copy(i, std::span(bytes).subspan(at, size)));
      at += size;
    }
    return Status::ok();
  }

  core::TensorStore &store;
  std::vector<int> tensors;
  std::vector<std::byte> bytes;
};

} // namespace

void Score::add(const Score &other) {
  lossSum += other.lossSum;
  losses += other.losses;
  correct += other.correct;
  predictions += other.predictions;
}

Score scoreBatch(const Plan &plan, const Array &output, const Array &target, std::int64_t samples) {
  Score score;
  const Shape &outputShape = plan.output->shape;
  std::int64_t perSample = core::elementCount(outputShape) / outputShape[0];
  if (plan.loss.kind != LossKind::crossEntropy) {
    for (std::int64_t i = 0; i < samples * perSample; ++i)
      score.lossSum += plan.loss.ofElement(output.at(i), target.at(i));
    score.losses = static_cast<double>(samples * perSample);
    return score;
  }
  const bool hasLabels = plan.loss.hasClassTargets();
  const core::AxisView around = core::aroundAxis(
      outputShape, hasLabels ? core::classAxis(outputShape, plan.target->shape) : 1);
  for (std::int64_t i = 0; i < samples * perSample / around.extent; ++i) {
    const std::int64_t first = i / around.inner * around.extent * around.inner + i % around.inner;
    const Prediction prediction{output, first, around.inner, around.extent};
    if (!hasLabels) {
      score.add(scoreProbabilities(prediction, target, plan.loss));
      continue;
    }
    const auto label = static_cast<std::int64_t>(target.at(i));
    if (label != core::ignoredLabel)
      score.add(scoreClass(prediction, label, plan.loss));
  }
  return score;
}

std::int64_t Evaluation::sizeOf(const Plan &plan, const data::Dataset &data) {
  return plan.target ? data.size() : data.size() / plan.batch * plan.batch;
}

/// Gives rank 0's states to all workers. The store holds the last evaluation's only.
Status Evaluation::shareStates() {
  constexpr std::size_t piece = 4u << 20; // a message to the store has at most 16 MiB
  StoredTensors states(executable, Space::state);
  SYNCLINE_TRY(states.read());
  const std::span<char> text = states.text();
  for (std::size_t at = 0; at < text.size(); at += piece) {
    const std::span<char> part = text.subspan(at, std::min(piece, text.size() - at));
    const std::string key = "states/" + std::to_string(at);
    if (group->rank() == 0)
      SYNCLINE_TRY(group->tell(key, std::string(part.begin(), part.end()), seconds));
    SYNCLINE_TRY_GET(told, group->gather("told/" + std::to_string(number) + "/" + key, "", seconds,
                                         transport::Participants::workers));
    SYNCLINE_TRY_GET(value, group->ask(key, seconds));
    if (!*value || (*value)->size() != part.size())
      return Status::error(ErrorKind::internal, "rank 0's states have another size");
    std::ranges::copy(**value, part.begin());
  }
  return states.write();
}

/// The score of one batch whose samples and forward pass are in place. `count` are its samples that
/// are no repetitions.
Result<Score> Evaluation::scoreOf(const data::HostBatch &batch, std::int64_t count) {
  if (!plan.target)
    return Score{executable.loss() * static_cast<double>(count), static_cast<double>(count), 0, 0};
  const int output = executable.find(Space::arena, plan.output->name);
  logits.resize(static_cast<std::size_t>(bytesOf(executable.tensors()[output])));
  SYNCLINE_TRY(executable.read(output, logits));
  return scoreBatch(plan, view(logits, plan.output->type, plan.output->shape),
                    view(batch.targets, plan.target->type, plan.target->shape), count);
}

/// The score of this worker, so far where a signal ends it early.
Result<Score> Evaluation::ownScore(Trainer &trainer) {
  const std::vector<int> inputs = inputsOf(plan, executable);
  const data::SampleFormat format = plan.sampleFormat();
  const std::int64_t size = sizeOf(plan, data);
  const int rank = group ? group->rank() : 0;
  data::HostBatch batch;
  Score score;
  for (std::int64_t first = rank * plan.batch; first < size && StopSignal::received() == 0;
       first += plan.ranks * plan.batch) {
    data::Samples samples;
    samples.length = data.longest();
    for (std::int64_t i = 0; i < plan.batch; ++i)
      samples.indices.push_back(std::min(first + i, size - 1));
    SYNCLINE_TRY(data.read(samples, batch));
    for (std::size_t i = 0; i < inputs.size(); ++i)
      SYNCLINE_TRY(executable.write(inputs[i], batch.input(format, i)));
    SYNCLINE_TRY(trainer.forward(0));
    SYNCLINE_TRY_GET(own, scoreOf(batch, std::min(plan.batch, size - first)));
    score.add(*own);
  }
  return score;
}

/// The sum over all workers' scores. Nothing where a worker was interrupted (`isCut`).
Result<std::optional<Score>> Evaluation::sum(const Score &own, bool isCut) {
  const std::string text = core::formatted("%.17g %.17g %lld %lld %d", own.lossSum, own.losses,
                                           static_cast<long long>(own.correct),
                                           static_cast<long long>(own.predictions), isCut ? 1 : 0);
  SYNCLINE_TRY_GET(all, group->gather("score/" + std::to_string(number), text, seconds,
                                      transport::Participants::workers));
  Score sum;
  for (const std::string &line : *all) {
    long long correct = 0, predictions = 0;
    int wasCut = 0;
    Score s;
    std::sscanf(line.c_str(), "%lf %lf %lld %lld %d", &s.lossSum, &s.losses, &correct, &predictions,
                &wasCut);
    if (wasCut)
      return std::optional<Score>();
    s.correct = correct;
    s.predictions = predictions;
    sum.add(s);
  }
  return std::optional<Score>(sum);
}

Result<std::optional<Score>> Evaluation::score(Trainer &trainer) {
  if (!plan.output && plan.target)
    return Status::badInput("'" + plan.folder + "/plan.json' names no output: cannot evaluate");
  ++number;
  StoredTensors samples(executable, Space::input), own(executable, Space::state);
  SYNCLINE_TRY(samples.read());
  SYNCLINE_TRY(own.read());
  if (group) {
    group->enter("during evaluation");
    SYNCLINE_TRY(shareStates());
  }
  executable.setEvaluation(true);
  const Result<Score> scored = ownScore(trainer);
  executable.setEvaluation(false);
  if (!scored)
    return scored.status();
  SYNCLINE_TRY(own.write());
  SYNCLINE_TRY(samples.write());
  const bool isCut = StopSignal::received() != 0;
  if (group)
    return sum(*scored, isCut);
  return isCut ? std::optional<Score>() : std::optional<Score>(*scored);
}

} // namespace syncline::run
