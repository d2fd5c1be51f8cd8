// The interface around the operations: optimizer, dense access, fingerprints, errors.
#include "tests/conformance/StepCase.h"

#include <array>
#include <cmath>

namespace syncline::conformance {
namespace {

using namespace core;

class ExecutableTest : public testing::TestWithParam<Backend> {};

const Window same3{{}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};

/// PyTorch's formulas, on one element after another.
void referenceSgd(Array &w, const Array &gradient, Array &v, const OptimizerOptions &o,
                  double ranks) {
  for (std::size_t i = 0; i < w.values.size(); ++i) {
    const double g = gradient.values[i] / ranks + o.weightDecay * w.values[i];
    v.values[i] = o.momentum * v.values[i] + g;
    w.values[i] -= o.rate * (o.momentum == 0 ? g
                             : o.nesterov    ? g + o.momentum * v.values[i]
                                             : v.values[i]);
  }
}

TEST_P(ExecutableTest, UpdateFollowsPyTorchOverSeveralSteps) {
  for (const OptimizerOptions &options :
       {OptimizerOptions{.rate = 0.1}, OptimizerOptions{.rate = 0.1, .weightDecay = 0.01},
        OptimizerOptions{.rate = 0.1, .momentum = 0.9, .weightDecay = 0.01},
        OptimizerOptions{.rate = 0.1, .momentum = 0.9, .weightDecay = 0.01, .nesterov = true}}) {
    StepCase run(GetParam(), Form::plain, 4);
    const Array x = randomArray({2, 16, 5, 5}, 1), dy = randomArray({2, 16, 5, 5}, 2);
    Array w = randomArray({16, 16, 3, 3}, 3), v(w.shape);
    const auto [weight, dw] = run.parameter("w", w);
    const Tensor input = run.operand(x), y = run.result(dy.shape);
    run.step().bucket(bucketBy("ring", 16 * 16 * 9 * 4));
    run.step().conv("conv", input, weight, none, y, same3, Activation::none);
    run.step().convBackwardWeights("conv", input, run.operand(dy), dw, none, same3);
    run.step().issue(0);
    run.step().wait(0);
    run.step().update(0);
    ASSERT_TRUE((*run).setOptimizer(options).isOk());
    run.run();
    const Array gradient = run.values(dw);
    referenceSgd(w, gradient, v, options, 4);
    expectNear(run, weight, w, 1e-6);
    for (int i = 0; i < static_cast<int>((*run).operations().size()); ++i)
      ASSERT_TRUE((*run).run(i).isOk());
    referenceSgd(w, gradient, v, options, 4);
    expectNear(run, weight, w, 1e-6);
  }
}

// An element whose update would not be finite keeps its value and velocity; the others are updated
// as ever, and the executable says it once.
TEST_P(ExecutableTest, UpdateKeepsWhatIsFinite) {
  for (const OptimizerOptions &options :
       {OptimizerOptions{.rate = 0.1, .keepsFinite = true},
        OptimizerOptions{.rate = 0.1, .momentum = 0.9, .weightDecay = 0.01, .keepsFinite = true},
        OptimizerOptions{.rate = 0.1,
                         .momentum = 0.9,
                         .weightDecay = 0.01,
                         .nesterov = true,
                         .keepsFinite = true},
        OptimizerOptions{.rate = 0.1}}) {
    StepCase run(GetParam(), Form::plain, 4);
    Array w = randomArray({37}, 3), v(w.shape), gradient = randomArray({37}, 4);
    gradient[{5}] = NAN;
    gradient[{18}] = INFINITY;
    const auto [weight, dw] = run.parameter("w", w);
    run.step().bucket(bucketBy("ring", 37 * 4));
    run.step().reshape("copy", run.operand(gradient), dw);
    run.step().issue(0);
    run.step().wait(0);
    run.step().update(0);
    ASSERT_TRUE((*run).setOptimizer(options).isOk());
    run.run();
    EXPECT_EQ((*run).metNonFinite(), options.keepsFinite);
    EXPECT_FALSE((*run).metNonFinite());
    const Array before = w, updated = run.values(weight);
    referenceSgd(w, gradient, v, options, 4);
    for (std::size_t i = 0; i < w.values.size(); ++i) {
      const bool isBad = i == 5 || i == 18;
      if (!isBad)
        EXPECT_NEAR(updated.values[i], w.values[i], 1e-6);
      else if (options.keepsFinite)
        EXPECT_EQ(updated.values[i], before.values[i]);
      else
        EXPECT_FALSE(std::isfinite(updated.values[i]));
    }
  }
}

TEST_P(ExecutableTest, WhatIsWrittenIsReadBackWhateverTheLayout) {
  StepCase run(GetParam());
  const Array w = randomArray({24, 40, 3, 3}, 1), grouped = randomArray({32, 16, 3, 3}, 2);
  const auto [odd, oddGradient] = run.parameter("odd", w);
  const auto [inGroups, groupsGradient] = run.parameter("groups", grouped);
  const Tensor y = run.result({1, 24, 4, 4}), z = run.result({1, 32, 4, 4});
  run.step().conv("odd", run.operand(randomArray({1, 40, 4, 4}, 3)), odd, none, y, same3,
                  Activation::none);
  Window twoGroups = same3;
  twoGroups.groups = 2;
  run.step().conv("groups", run.operand(randomArray({1, 32, 4, 4}, 4)), inGroups, none, z,
                  twoGroups, Activation::none);
  run.run();
  expectNear(run, odd, w, 0);
  expectNear(run, inGroups, grouped, 0);
}

TEST_P(ExecutableTest, VelocityIsSavedAndRestored) {
  StepCase run(GetParam());
  const Array w = randomArray({16, 16, 3, 3}, 1);
  const auto [weight, dw] = run.parameter("w", w);
  run.step().conv("conv", run.operand(randomArray({1, 16, 4, 4}, 2)), weight, none,
                  run.result({1, 16, 4, 4}), same3, Activation::none);
  ASSERT_TRUE((*run).setOptimizer({.rate = 0.1, .momentum = 0.9}).isOk());
  run.run();
  std::vector<std::byte> saved(w.values.size() * 4), restored(saved.size());
  for (std::size_t i = 0; i < saved.size(); ++i)
    saved[i] = static_cast<std::byte>(i % 63);
  ASSERT_TRUE((*run).writeVelocity(weight.id, saved).isOk());
  ASSERT_TRUE((*run).readVelocity(weight.id, restored).isOk());
  EXPECT_EQ(saved, restored);
  EXPECT_FALSE((*run).readVelocity(dw.id, restored).isOk());
}

TEST_P(ExecutableTest, SeveralThreadsComputeEveryPart) {
  StepCase run(GetParam(), Form::plain, 1, 3);
  const Array x = randomArray({5, 16, 64, 33}, 1);
  const Tensor y = run.result(x.shape);
  GetParam().kernels.twice.append(run.step(), "twice", std::array{run.operand(x)}, std::array{y},
                                  true);
  run.run();
  Array expected = x;
  for (double &value : expected.values)
    value *= 2;
  expectNear(run, y, expected, 0);
}

TEST_P(ExecutableTest, FingerprintTellsLayoutsApart) {
  auto fingerprint = [&](std::int64_t channels) {
    StepCase run(GetParam());
    const auto [weight, dw] = run.parameter("w", Array({channels, 16, 3, 3}));
    run.step().conv("conv", run.operand(Array({1, 16, 4, 4})), weight, none,
                    run.result({1, channels, 4, 4}), same3, Activation::none);
    EXPECT_EQ(run.failure(), "");
    return (*run).layoutFingerprint();
  };
  EXPECT_EQ(fingerprint(16), fingerprint(16));
  EXPECT_NE(fingerprint(16), fingerprint(32));
}

TEST_P(ExecutableTest, FirstErrorNamesLayerAndOperation) {
  StepCase run(GetParam());
  const Tensor x = run.operand(Array({1, 16, 4, 4}));
  run.step().softmax("classifier", run.result({1, 4}), run.result({1, 4}), 1, false);
  run.step().conv("later", x, x, none, run.result({1}), same3, Activation::none);
  const std::string message = run.failure();
  EXPECT_NE(message.find("layer 'classifier': softmax: "), std::string::npos) << message;
  EXPECT_NE(message.find("before it is written"), std::string::npos) << message;
}

TEST_P(ExecutableTest, UnsupportedElementTypeIsNamed) {
  StepCase run(GetParam());
  const Tensor x = run.plainOperand(Array({1, 4}), ElementType::f64);
  run.step().softmax("classifier", x, run.result({1, 4}, ElementType::f64), 1, false);
  const std::string message = run.failure();
  EXPECT_NE(message.find("layer 'classifier': softmax: "), std::string::npos) << message;
  EXPECT_NE(message.find("expected element type f32, got f64"), std::string::npos) << message;
}

TEST_P(ExecutableTest, TensorOutsideItsSpaceIsRefused) {
  StepCase run(GetParam());
  EXPECT_FALSE(run.step().tensor({"big", Space::arena, ElementType::f32, {1 << 30}}).isValid());
  EXPECT_NE(run.failure().find("tensor 'big': ends at byte"), std::string::npos);
}

TEST_P(ExecutableTest, OperationsAreListedInOrderWithTheirPhase) {
  StepCase run(GetParam());
  const Tensor x = run.operand(Array({1, 4}));
  run.step().bucket({.id = 3, .channel = 1, .scheme = "ring", .offset = 0, .extent = 64});
  run.step().reshape("first", x, run.result({4}));
  run.step().phase("backward");
  run.step().issue(3);
  run.step().wait(3);
  EXPECT_EQ(run.failure(), "");
  const auto operations = (*run).operations();
  ASSERT_EQ(operations.size(), 3u);
  EXPECT_EQ(operations[0].layer, "first");
  EXPECT_EQ(operations[0].phase, "forward");
  EXPECT_EQ(operations[1].kind, OperationKind::issue);
  EXPECT_EQ(operations[1].bucket, 3);
  EXPECT_EQ(operations[2].phase, "backward");
  ASSERT_EQ((*run).buckets().size(), 1u);
  EXPECT_EQ((*run).buckets()[0].channel, 1);
}

INSTANTIATE_TEST_SUITE_P(AllBackends, ExecutableTest, testing::ValuesIn(backends()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace syncline::conformance
