// Adam and AdamW, rules for single parameters, and the optimizer's state, against PyTorch's
// formulas in double.
#include "tests/conformance/TwoParameters.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace syncline::conformance {
namespace {

using namespace core;

/// One parameter and its moments.
struct Reference {
  explicit Reference(const Array &start) : w(start), m(start.shape), v(start.shape) {}

  /// The t-th update by Adam or AdamW.
  void update(const Array &gradient, const OptimizerOptions &o, double ranks, std::int64_t t) {
    const double first = 1 - std::pow(o.beta1, t), second = 1 - std::pow(o.beta2, t);
    for (std::size_t i = 0; i < w.values.size(); ++i) {
      double g = gradient.values[i] / ranks;
      if (o.kind == OptimizerKind::adam)
        g += o.weightDecay * w.values[i];
      else
        w.values[i] *= 1 - o.rate * o.weightDecay;
      m.values[i] = o.beta1 * m.values[i] + (1 - o.beta1) * g;
      v.values[i] = o.beta2 * v.values[i] + (1 - o.beta2) * g * g;
      w.values[i] -=
          o.rate * (m.values[i] / first) / (std::sqrt(v.values[i]) / std::sqrt(second) + o.epsilon);
    }
  }

  Array w, m, v;
};

const OptimizerOptions adam{
    .rate = 0.01, .weightDecay = 0.02, .keepsFinite = true, .kind = OptimizerKind::adam};
const OptimizerOptions adamw{.rate = 0.01,
                             .weightDecay = 0.1,
                             .kind = OptimizerKind::adamw,
                             .beta1 = 0.8,
                             .beta2 = 0.95,
                             .epsilon = 1e-6};

class OptimizerTest : public testing::TestWithParam<Backend> {};

// Over steps, with other options for one parameter of the bucket, and another rate on the way.
TEST_P(OptimizerTest, AdamFollowsPyTorch) {
  for (OptimizerOptions options : {adam, adamw}) {
    TwoParameters step(GetParam());
    ASSERT_TRUE((*step.run).setOptimizer(options).isOk());
    ASSERT_TRUE((*step.run).setRules({{step.second.id, {0.5, 0.0}}}).isOk());
    step.run.begin();
    Reference first(randomArray({37}, 1)), second(randomArray({64, 11}, 2));
    for (int t = 1; t <= 12; ++t) {
      if (t == 7) {
        options.rate = 0.003;
        ASSERT_TRUE((*step.run).setOptimizer(options).isOk());
      }
      OptimizerOptions ofSecond = options;
      ofSecond.rate *= 0.5;
      ofSecond.weightDecay = 0;
      const Array a = step.gradient(step.first, 10 + t), b = step.gradient(step.second, 40 + t);
      step.write(step.firstGradient, a);
      step.write(step.secondGradient, b);
      step.update();
      first.update(a, options, 4, t);
      second.update(b, ofSecond, 4, t);
    }
    expectNear(step.run, step.first, first.w, 1e-6);
    expectNear(step.run, step.second, second.w, 1e-6);
  }
}

// SGD's rate and decay differ between the parameters of a bucket too.
TEST_P(OptimizerTest, RulesApplyToSgd) {
  TwoParameters step(GetParam(), 1);
  ASSERT_TRUE((*step.run).setOptimizer({.rate = 0.1, .momentum = 0.9, .weightDecay = 0.5}).isOk());
  ASSERT_TRUE((*step.run).setRules({{step.first.id, {3, 0.0}}}).isOk());
  EXPECT_EQ((*step.run).setRules({{step.firstGradient.id, {}}}).kind(), ErrorKind::internal);
  step.run.begin();
  Array first = randomArray({37}, 1), second = randomArray({64, 11}, 2);
  step.write(step.firstGradient, Array({37}, 1.0));
  step.write(step.secondGradient, Array({64, 11}, 1.0));
  step.update();
  for (double &w : first.values)
    w -= 0.3;
  for (double &w : second.values)
    w -= 0.1 * (1 + 0.5 * w);
  expectNear(step.run, step.first, first, 1e-6);
  expectNear(step.run, step.second, second, 1e-6);
}

// An element whose weight or second moment would not be finite keeps its weight and its state.
TEST_P(OptimizerTest, AdamKeepsWhatIsFinite) {
  TwoParameters step(GetParam(), 1);
  OptimizerOptions options = adamw;
  options.keepsFinite = true;
  ASSERT_TRUE((*step.run).setOptimizer(options).isOk());
  step.run.begin();
  const Array start = randomArray({37}, 1);
  Reference first(start);
  for (int t = 1; t <= 2; ++t) {
    Array gradient({37}, 1.0);
    step.write(step.secondGradient, Array({64, 11}, 0.25));
    first.update(gradient, options, 1, t);
    if (t == 1) {
      gradient.values[3] = std::numeric_limits<double>::quiet_NaN();
      gradient.values[20] = std::numeric_limits<double>::infinity();
      gradient.values[33] = 1e30; // its square overflows
    }
    step.write(step.firstGradient, gradient);
    step.update();
    EXPECT_EQ((*step.run).metNonFinite(), t == 1);
    const Array now = step.run.values(step.first);
    for (const std::size_t i : {3u, 20u, 33u}) {
      if (t == 1)
        EXPECT_EQ(now.values[i], start.values[i]);
      else
        EXPECT_NE(now.values[i], start.values[i]);
      first.w.values[i] = now.values[i];
    }
    expectNear(step.run, step.first, first.w, 1e-6);
  }
}

// A rank updates its part of a bucket, and counts its updates alone.
TEST_P(OptimizerTest, AdamUpdatesItsPartOnly) {
  TwoParameters step(GetParam(), 4, true);
  ASSERT_TRUE((*step.run).setOptimizer(adam).isOk());
  ASSERT_TRUE((*step.run).setRules({{step.second.id, {2, 0.0}}}).isOk());
  step.run.begin();
  // The last 9 elements of the first parameter, the padding, the first 100 of the second one.
  const std::int64_t begin = 28 * 4;
  ASSERT_TRUE((*step.run).takeShard(0, begin, TwoParameters::secondBegin + 400 - begin).isOk());
  Reference first(randomArray({37}, 1)), second(randomArray({64, 11}, 2));
  const Array a = step.gradient(step.first, 5), b = step.gradient(step.second, 6);
  step.write(step.firstGradient, a);
  step.write(step.secondGradient, b);
  OptimizerOptions ofSecond = adam;
  ofSecond.rate *= 2;
  ofSecond.weightDecay = 0;
  for (int t = 1; t <= 3; ++t) {
    ASSERT_TRUE((*step.run).updateShard(0).isOk());
    first.update(a, adam, 4, t);
    second.update(b, ofSecond, 4, t);
  }
  ASSERT_TRUE((*step.run).synchronize().isOk());
  const Array start = randomArray({37}, 1), secondStart = randomArray({64, 11}, 2);
  std::copy_n(start.values.begin(), 28, first.w.values.begin());
  std::copy(secondStart.values.begin() + 100, secondStart.values.end(),
            second.w.values.begin() + 100);
  expectNear(step.run, step.first, first.w, 1e-6);
  expectNear(step.run, step.second, second.w, 1e-6);
}

/// What the optimizer says it holds in [begin, end).
std::vector<StateInterval> heldIn(TwoParameters &step, std::int64_t begin, std::int64_t end) {
  std::vector<StateInterval> all;
  for (const StateInterval &each : (*step.run).stateIntervals())
    if (each.begin < end && each.begin + each.bytes > begin)
      all.push_back(each);
  return all;
}

// State goes where a rank updates; SGD without momentum has none.
TEST_P(OptimizerTest, StateIsHeldForThePartOnly) {
  TwoParameters step(GetParam(), 4, true);
  step.run.begin();
  ASSERT_TRUE((*step.run).takeShard(0, 64, 128).isOk());
  EXPECT_TRUE((*step.run).stateIntervals().empty());
  ASSERT_TRUE((*step.run).setOptimizer({.rate = 0.1, .momentum = 0.9}).isOk());
  EXPECT_EQ(heldIn(step, 0, TwoParameters::bytes), (std::vector<StateInterval>{{0, 64, 128}}));
  ASSERT_TRUE((*step.run).setOptimizer(adam).isOk());
  EXPECT_EQ(heldIn(step, 0, TwoParameters::bytes),
            (std::vector<StateInterval>{{0, 64, 128}, {1, 64, 128}}));
  std::vector<std::byte> raw(128), more(132);
  for (const StateInterval &wrong :
       {StateInterval{0, 0, 128}, {1, 68, 128}, {2, 64, 128}, {-1, 64, 128}, {0, 64, 124}}) {
    EXPECT_EQ((*step.run).readState(wrong, raw).kind(), ErrorKind::badInput);
    EXPECT_EQ((*step.run).writeState(wrong, raw).kind(), ErrorKind::badInput);
  }
  EXPECT_EQ((*step.run).readState({0, 64, 128}, more).message(), "expected 128 bytes, got 132");
}

// What one executable reads makes another one go on, bit by bit, as if it had made the updates.
TEST_P(OptimizerTest, WrittenStateGoesOn) {
  for (const OptimizerOptions &options :
       {adam, OptimizerOptions{.rate = 0.01, .weightDecay = 0.1, .kind = OptimizerKind::lamb},
        OptimizerOptions{.rate = 0.1, .momentum = 0.9, .nesterov = true}}) {
    TwoParameters whole(GetParam()), resumed(GetParam());
    for (TwoParameters *step : {&whole, &resumed}) {
      ASSERT_TRUE((*step->run).setOptimizer(options).isOk());
      step->run.begin();
    }
    const auto update = [](TwoParameters &step, unsigned t) {
      step.write(step.firstGradient, step.gradient(step.first, 10 + t));
      step.write(step.secondGradient, step.gradient(step.second, 40 + t));
      step.update();
    };
    for (unsigned t = 1; t <= 3; ++t)
      update(whole, t);
    const std::vector<StateInterval> held = (*whole.run).stateIntervals();
    ASSERT_EQ(held, (*resumed.run).stateIntervals());
    ASSERT_EQ(static_cast<int>(held.size()), options.slots());
    for (StateInterval each : held) {
      each.bytes = TwoParameters::bytes; // the rest of the space has no parameters
      std::vector<std::byte> raw(TwoParameters::bytes);
      ASSERT_TRUE((*whole.run).readState(each, raw).isOk());
      ASSERT_TRUE((*resumed.run).writeState(each, raw).isOk());
    }
    for (const auto &[from, to] :
         {std::pair(whole.first, resumed.first), {whole.second, resumed.second}}) {
      const Array values = whole.run.values(from);
      resumed.write(to, values);
    }
    ASSERT_TRUE((*resumed.run).setUpdates(3).isOk());
    for (TwoParameters *step : {&whole, &resumed})
      update(*step, 4);
    EXPECT_EQ(whole.run.values(whole.first).values, resumed.run.values(resumed.first).values);
    EXPECT_EQ(whole.run.values(whole.second).values, resumed.run.values(resumed.second).values);
  }
}

// A captured step counts its updates too.
TEST_P(OptimizerTest, ReplaysCountUpdates) {
  TwoParameters step(GetParam(), 1);
  ASSERT_TRUE((*step.run).setOptimizer(adam).isOk());
  step.run.begin();
  if (!(*step.run).canCapture())
    return;
  Reference first(randomArray({37}, 1));
  const Array gradient = step.gradient(step.first, 3);
  step.write(step.firstGradient, gradient);
  step.update();
  ASSERT_TRUE((*step.run).beginCapture().isOk());
  for (int i = 0; i < static_cast<int>((*step.run).operations().size()); ++i)
    ASSERT_TRUE((*step.run).run(i).isOk());
  ASSERT_TRUE((*step.run).endCapture().isOk());
  for (int replay = 0; replay < 3; ++replay) {
    (*step.run).beginStep(replay + 1);
    step.write(step.firstGradient, gradient); // as the step's operations would
    ASSERT_TRUE((*step.run).replay().isOk());
    ASSERT_TRUE((*step.run).synchronize().isOk());
  }
  for (int t = 1; t <= 4; ++t)
    first.update(gradient, adam, 1, t);
  expectNear(step.run, step.first, first.w, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(AllBackends, OptimizerTest, testing::ValuesIn(backends()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace syncline::conformance
