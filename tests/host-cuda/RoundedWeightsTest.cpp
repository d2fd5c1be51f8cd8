// Copies of weights in bf16: updates write the bits that rounding the updated weights gives, and no
// other way to change weights leaves a copy behind.
#include "runtime/core/HalfFloat.h"
#include "runtime/cuda/CudaExecutable.h"
#include "tests/conformance/StepCase.h"

#include <cuda_runtime_api.h>

namespace syncline::cuda {
namespace {

using namespace conformance;

const conformance::Backend bf16 = backends()[2];
const Window same3{{}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
const Shape image{2, 8, 5, 5}, filter{8, 8, 3, 3}, matrix{5, 5};
constexpr std::int64_t filterBytes = 8 * 8 * 9 * 4, matrixBytes = 5 * 5 * 4;

core::OptimizerOptions optimizerOf(OptimizerKind kind, double momentum = 0) {
  core::OptimizerOptions options;
  options.kind = kind;
  options.rate = 0.05;
  options.momentum = momentum;
  options.weightDecay = 0.01;
  return options;
}

/// A step of two convolutions with a residual sum, and a product. The filters are one bucket and
/// the matrix, whose elements fill no pack, is another.
class Training {
public:
  explicit Training(const core::OptimizerOptions &optimizer, bool isCaptured = false)
      : isCaptured(isCaptured) {
    const Tensor x = run.operand(randomArray(image, 1)), dy = run.operand(randomArray(image, 2));
    const Tensor a = run.operand(randomArray(matrix, 3)), db = run.operand(randomArray(matrix, 4));
    const auto [first, dFirst] = run.parameter("first", randomArray(filter, 5));
    const auto [second, dSecond] = run.parameter("second", randomArray(filter, 6));
    const auto [third, dThird] = run.parameter("third", randomArray(matrix, 7));
    weights = {first, second, third};
    const Tensor between = run.result(image), residual = run.result(image);
    const Tensor sum = run.result(image), sign = run.result(image, ElementType::u8);
    const Tensor product = run.result(matrix), dx = run.result(image);
    results = {between, residual, product, dx};
    StepBuilder &s = run.step();
    s.bucket({0, 0, "ring", 0, 2 * filterBytes});
    s.bucket({1, 0, "ring", 2 * filterBytes, matrixBytes});
    s.conv("first", x, first, none, between, same3);
    s.conv("second", between, second, none, residual, same3);
    bf16.kernels.addRelu.append(s, "sum", std::array{residual, between}, std::array{sum, sign},
                                true);
    s.matmul("third", a, false, third, false, none, product);
    s.convBackwardWeights("second", between, dy, dSecond, none, same3);
    s.convBackwardData("second", dy, second, dx, same3);
    s.convBackwardWeights("first", x, dx, dFirst, none, same3);
    s.matmul("third", a, true, db, false, none, dThird);
    s.update(1);
    s.update(0);
    EXPECT_TRUE((*run).setOptimizer(optimizer).isOk());
    run.begin();
  }

  cuda::CudaExecutable &executable() { return static_cast<cuda::CudaExecutable &>(*run); }

  /// The first step is told, and the second one captured.
  void step() {
    if (!isCaptured || steps == 0)
      tell();
    else
      replay();
    ++steps;
  }

  /// The bits of all weights, and of what the last step computed from them.
  std::vector<std::vector<std::byte>> seen() {
    std::vector<std::vector<std::byte>> all;
    for (const auto &group : {weights, results})
      for (Tensor each : group)
        all.push_back(bytesOf(each));
    return all;
  }

  std::vector<std::byte> bytesOf(Tensor tensor) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(
        core::elementCount(executable().tensors()[static_cast<std::size_t>(tensor.id)].shape) * 4));
    EXPECT_TRUE(executable().read(tensor.id, bytes).isOk());
    return bytes;
  }

  /// Writes the weights that are there.
  void writeBack() {
    for (Tensor weight : weights)
      EXPECT_TRUE(executable().write(weight.id, bytesOf(weight)).isOk());
  }

  StepCase run{bf16};
  std::vector<Tensor> weights, results;
  bool isCaptured;
  int steps = 0;

private:
  void tell() {
    executable().beginStep(steps);
    run.runOperations(0, static_cast<int>(executable().operations().size()));
  }

  void replay() {
    executable().beginStep(steps);
    if (steps == 1) {
      ASSERT_TRUE(executable().beginCapture().isOk());
      for (int i = 0; i < static_cast<int>(executable().operations().size()); ++i)
        ASSERT_TRUE(executable().run(i).isOk());
      const Status captured = executable().endCapture();
      ASSERT_TRUE(captured.isOk()) << captured.message();
    }
    ASSERT_TRUE(executable().replay().isOk());
    ASSERT_TRUE(executable().synchronize().isOk());
  }
};

/// An optimizer, SGD's momentum, and whether steps are captured.
class UpdatedCopiesTest : public testing::TestWithParam<std::tuple<OptimizerKind, double, bool>> {};

// Writing weights has the copies rounded by a launch of their own.
TEST_P(UpdatedCopiesTest, UpdatesWriteWhatRoundingTheWeightsGives) {
  const auto &[kind, momentum, isCaptured] = GetParam();
  const core::OptimizerOptions optimizer = optimizerOf(kind, momentum);
  Training updated(optimizer, isCaptured), rounded(optimizer, isCaptured);
  std::vector<std::vector<std::byte>> last;
  for (int step = 0; step < 4; ++step) {
    updated.step();
    rounded.writeBack();
    rounded.step();
    EXPECT_EQ(updated.seen(), rounded.seen()) << step;
    EXPECT_NE(updated.seen(), last);
    last = updated.seen();
  }
  EXPECT_EQ(updated.run.reorders("conv") + updated.run.reorders("matmul"), 3); // samples
}

INSTANTIATE_TEST_SUITE_P(Optimizers, UpdatedCopiesTest,
                         testing::Combine(testing::Values(OptimizerKind::sgd, OptimizerKind::adam,
                                                          OptimizerKind::adamw,
                                                          OptimizerKind::lamb),
                                          testing::Values(0, 0.9), testing::Bool()));

// Elements that an update keeps have the copies that they had.
TEST(RoundedWeightsTest, CopiesOfKeptElementsStay) {
  for (OptimizerKind kind : {OptimizerKind::sgd, OptimizerKind::lamb}) {
    core::OptimizerOptions optimizer = optimizerOf(kind);
    optimizer.keepsFinite = true;
    optimizer.rate = 1e38;
    Training updated(optimizer), rounded(optimizer);
    for (int step = 0; step < 2; ++step) {
      updated.step();
      rounded.writeBack();
      rounded.step();
      EXPECT_EQ(updated.seen(), rounded.seen());
    }
    EXPECT_TRUE(updated.executable().metNonFinite());
  }
}

class WrittenWeightsTest : public testing::TestWithParam<bool> {};

/// Takes two steps, lets `change` change the weights, and expects the next step to be that of a
/// training that begins with the changed weights.
template <typename F> void expectFollowed(bool isCaptured, const F &change) {
  const core::OptimizerOptions optimizer = optimizerOf(OptimizerKind::sgd);
  Training changed(optimizer, isCaptured);
  for (int step = 0; step < 2; ++step)
    changed.step();
  const auto before = changed.bytesOf(changed.weights[0]);
  change(changed);
  ASSERT_TRUE(changed.executable().synchronize().isOk());
  EXPECT_NE(changed.bytesOf(changed.weights[0]), before);
  Training anew(optimizer);
  for (std::size_t i = 0; i < anew.weights.size(); ++i)
    EXPECT_TRUE(
        anew.executable().write(anew.weights[i].id, changed.bytesOf(changed.weights[i])).isOk());
  changed.step();
  anew.step();
  EXPECT_EQ(changed.seen(), anew.seen());
}

TEST_P(WrittenWeightsTest, FollowsTensorsThatAreWritten) {
  expectFollowed(GetParam(), [](Training &training) {
    std::vector<float> values(8 * 8 * 9, 0.3f);
    EXPECT_TRUE(
        training.executable().write(training.weights[0].id, std::as_bytes(std::span(values))));
  });
}

TEST_P(WrittenWeightsTest, FollowsWeightsThatTravel) {
  expectFollowed(GetParam(), [](Training &training) {
    const core::Interval all = training.executable().space(Space::parameters);
    EXPECT_TRUE(
        training.executable().weights().scale({static_cast<float *>(all.data), 1000}, 0.5f));
  });
}

INSTANTIATE_TEST_SUITE_P(Captures, WrittenWeightsTest, testing::Bool());

// Timing writes plain values into all that convolutions read.
TEST(RoundedWeightsTest, TimingOfEnginesLeavesCopiesAsTheyWere) {
  Training timed(optimizerOf(OptimizerKind::sgd)), other(optimizerOf(OptimizerKind::sgd));
  for (Training *each : {&timed, &other})
    each->step();
  const auto choice = timed.executable().chooseEngines("", /*times=*/true);
  ASSERT_TRUE(choice) << choice.status().message();
  EXPECT_GT(choice->timed, 0);
  ASSERT_TRUE(other.executable().chooseEngines(choice->table, /*times=*/false));
  for (Training *each : {&timed, &other})
    each->step();
  EXPECT_EQ(timed.seen(), other.seen());
}

// A forward pass of weights that were written needs no step before it.
TEST(RoundedWeightsTest, EvaluationReadsWhatWasWrittenLast) {
  Training training(optimizerOf(OptimizerKind::sgd)), anew(optimizerOf(OptimizerKind::sgd));
  training.step();
  std::vector<float> values(8 * 8 * 9, 0.3f);
  for (Training *each : {&training, &anew})
    for (Tensor weight : {training.weights[0], training.weights[1]})
      EXPECT_TRUE(each->executable().write(weight.id, std::as_bytes(std::span(values))));
  for (Training *each : {&training, &anew}) {
    each->executable().setEvaluation(true);
    each->run.runOperations(0, 2);
  }
  EXPECT_EQ(training.run.values(training.results[1]).values,
            anew.run.values(anew.results[1]).values);
}

// Other ranks update parts of these weights: the step rounds those of its beginning by one launch,
// and by another one those that a message has changed.
TEST(RoundedWeightsTest, PartsOfOtherRanksAreRoundedTogetherInTheStep) {
  StepCase run(bf16, Form::plain, /*ranks=*/2);
  const Tensor x = run.operand(randomArray(image, 1));
  std::vector<Tensor> filters, results;
  for (const char *name : {"first", "second", "third"}) {
    filters.push_back(run.parameter(name, randomArray(filter, 5)).first);
    results.push_back(run.result(image));
  }
  run.step().bucket({0, 0, "reduce-scatter", 0, filterBytes});
  run.step().bucket({1, 0, "reduce-scatter", filterBytes, 2 * filterBytes});
  run.step().conv("first", x, filters[0], none, results[0], same3);
  run.step().issue(1);
  run.step().wait(1);
  run.step().conv("second", x, filters[1], none, results[1], same3);
  run.step().conv("third", x, filters[2], none, results[2], same3);
  run.begin();
  run.runOperations(0, 1);
  const core::Interval all = (*run).space(Space::parameters);
  std::vector<float> arrived(3 * 8 * 8 * 9, 0.3f); // in place, as messages do
  ASSERT_EQ(cudaMemcpyAsync(all.data, arrived.data(), arrived.size() * 4, cudaMemcpyHostToDevice,
                            static_cast<CudaExecutable &>(*run).device().compute),
            cudaSuccess);
  run.runOperations(1, 5);
  EXPECT_EQ(run.reorders("conv"), 3); // samples, the first filter, the others
  EXPECT_NE(run.values(results[0]).values, run.values(results[1]).values);
  EXPECT_EQ(run.values(results[2]).values, run.values(results[1]).values);
  run.runOperations(0, 1);
  EXPECT_EQ(run.values(results[0]).values, run.values(results[1]).values);
}

} // namespace
} // namespace syncline::cuda
