// LAMB against its formula in double: whole parameters, parts of them on several ranks, values that
// are not finite.
#include "tests/conformance/TwoParameters.h"

#include <cmath>
#include <limits>

namespace syncline::conformance {
namespace {

using namespace core;

const OptimizerOptions lamb{.rate = 0.02,
                            .weightDecay = 0.1,
                            .keepsFinite = true,
                            .kind = OptimizerKind::lamb,
                            .beta1 = 0.8,
                            .beta2 = 0.95,
                            .epsilon = 1e-6};

double squaresOf(const Array &array, std::size_t begin, std::size_t end) {
  double sum = 0;
  for (std::size_t i = begin; i < end; ++i)
    sum += array.values[i] * array.values[i];
  return sum;
}

/// One parameter and its moments.
struct Reference {
  explicit Reference(const Array &start) : w(start), m(start.shape), v(start.shape), r(w) {}

  /// The t-th update.
  void update(const Array &gradient, const OptimizerOptions &o, double ranks, std::int64_t t) {
    for (std::size_t i = 0; i < w.values.size(); ++i) {
      const double g = gradient.values[i] / ranks;
      m.values[i] = o.beta1 * m.values[i] + (1 - o.beta1) * g;
      v.values[i] = o.beta2 * v.values[i] + (1 - o.beta2) * g * g;
      const double first = m.values[i] / (1 - std::pow(o.beta1, t));
      const double second = v.values[i] / (1 - std::pow(o.beta2, t));
      r.values[i] = first / (std::sqrt(second) + o.epsilon) + o.weightDecay * w.values[i];
    }
    const double weights = std::sqrt(squaresOf(w, 0, w.values.size()));
    const double directions = std::sqrt(squaresOf(r, 0, r.values.size()));
    const double ratio = weights > 0 && directions > 0 ? weights / directions : 1;
    before = w;
    for (std::size_t i = 0; i < w.values.size(); ++i)
      w.values[i] -= o.rate * ratio * r.values[i];
  }

  Array w, m, v, r, before = w; ///< before: w without the last update
};

class LambTest : public testing::TestWithParam<Backend> {};

// Over steps each parameter of a bucket has its own ratio, rate and decay, and the rate changes on
// the way.
TEST_P(LambTest, FollowsItsFormula) {
  TwoParameters step(GetParam());
  OptimizerOptions options = lamb;
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
  EXPECT_FALSE((*step.run).metNonFinite());
  expectNear(step.run, step.first, first.w, 1e-6);
  expectNear(step.run, step.second, second.w, 1e-6);
}

// Parameters with equal rules have ratios of their own, and the ratio is 1 where a norm is 0.
TEST_P(LambTest, RatioIsOneWhereANormIsZero) {
  TwoParameters step(GetParam(), 1);
  OptimizerOptions options = lamb;
  options.weightDecay = 0;
  ASSERT_TRUE((*step.run).setOptimizer(options).isOk());
  step.run.begin();
  step.write(step.first, Array({37}));
  const Array a = step.gradient(step.first, 3), start = randomArray({64, 11}, 2);
  step.write(step.firstGradient, a);
  step.write(step.secondGradient, Array({64, 11}));
  step.update();
  Reference first{Array({37})};
  first.update(a, options, 1, 1);
  EXPECT_FALSE((*step.run).metNonFinite());
  expectNear(step.run, step.first, first.w, 1e-6);
  expectNear(step.run, step.second, start, 0);
}

// A rank adds the squares of its part to those of other ranks, for all parameters of the bucket in
// their order, and updates its part by the whole norms.
TEST_P(LambTest, UpdatesItsPartByTheNormsOfAll) {
  TwoParameters step(GetParam(), 4, true);
  ASSERT_TRUE((*step.run).setOptimizer(lamb).isOk());
  ASSERT_TRUE((*step.run).setRules({{step.second.id, {2, 0.0}}}).isOk());
  step.run.begin();
  // The last 9 elements of the first parameter, the padding, the first 100 of the second one.
  constexpr std::int64_t begin = 28 * 4;
  ASSERT_TRUE((*step.run).takeShard(0, begin, TwoParameters::secondBegin + 400 - begin).isOk());
  EXPECT_EQ((*step.run).updateShard(0).kind(), ErrorKind::internal);
  Reference first(randomArray({37}, 1)), second(randomArray({64, 11}, 2));
  const Array a = step.gradient(step.first, 5), b = step.gradient(step.second, 6);
  step.write(step.firstGradient, a);
  step.write(step.secondGradient, b);
  OptimizerOptions ofSecond = lamb;
  ofSecond.rate *= 2;
  ofSecond.weightDecay = 0;
  for (int t = 1; t <= 3; ++t) {
    first.update(a, lamb, 4, t);
    second.update(b, ofSecond, 4, t);
    const auto addOthers = [&](std::span<double> numbers) {
      std::vector<double> squares(numbers.size());
      GetParam().copy(squares.data(), numbers.data(), numbers.size_bytes());
      const double own[] = {squaresOf(first.before, 28, 37), squaresOf(first.r, 28, 37),
                            squaresOf(second.before, 0, 100), squaresOf(second.r, 0, 100)};
      const double all[] = {squaresOf(first.before, 0, 37), squaresOf(first.r, 0, 37),
                            squaresOf(second.before, 0, 704), squaresOf(second.r, 0, 704)};
      EXPECT_EQ(squares.size(), 4u);
      for (std::size_t i = 0; i < squares.size(); ++i) {
        EXPECT_NEAR(squares[i], own[i], 2e-6 * own[i]);
        squares[i] += all[i] - own[i];
      }
      GetParam().copy(numbers.data(), squares.data(), numbers.size_bytes());
      return Status::ok();
    };
    ASSERT_TRUE((*step.run).updateShard(0, addOthers).isOk());
  }
  ASSERT_TRUE((*step.run).synchronize().isOk());
  const Array start = randomArray({37}, 1), secondStart = randomArray({64, 11}, 2);
  std::copy_n(start.values.begin(), 28, first.w.values.begin());
  std::copy(secondStart.values.begin() + 100, secondStart.values.end(),
            second.w.values.begin() + 100);
  expectNear(step.run, step.first, first.w, 1e-6);
  expectNear(step.run, step.second, second.w, 1e-6);
}

// A rank whose part holds nothing of a bucket takes part in the sum.
TEST_P(LambTest, AnEmptyPartSumsToo) {
  TwoParameters step(GetParam(), 4, true);
  ASSERT_TRUE((*step.run).setOptimizer(lamb).isOk());
  step.run.begin();
  ASSERT_TRUE((*step.run).takeShard(0, 64, 0).isOk());
  int calls = 0;
  const auto sum = [&](std::span<double> squares) {
    ++calls;
    std::vector<double> found(squares.size());
    GetParam().copy(found.data(), squares.data(), squares.size_bytes());
    EXPECT_EQ(found, std::vector<double>(4));
    return Status::ok();
  };
  ASSERT_TRUE((*step.run).updateShard(0, sum).isOk());
  EXPECT_EQ(calls, 1);
  const auto lost = [](std::span<double>) { return Status::error(ErrorKind::peerLost, "lost"); };
  EXPECT_EQ((*step.run).updateShard(0, lost).kind(), ErrorKind::peerLost);
}

// A parameter with one element that would not be finite keeps all its weights; others go on, and so
// does this one with the next gradient.
TEST_P(LambTest, KeepsParametersFinite) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), 1e30}) { // 1e60 overflows
    TwoParameters step(GetParam(), 1);
    ASSERT_TRUE((*step.run).setOptimizer(lamb).isOk());
    step.run.begin();
    const Array start = randomArray({37}, 1);
    Reference second(randomArray({64, 11}, 2));
    for (int t = 1; t <= 2; ++t) {
      Array gradient({37}, 1.0);
      if (t == 1)
        gradient.values[3] = bad;
      step.write(step.firstGradient, gradient);
      step.write(step.secondGradient, Array({64, 11}, 0.25));
      step.update();
      second.update(Array({64, 11}, 0.25), lamb, 1, t);
      EXPECT_EQ((*step.run).metNonFinite(), t == 1);
      const Array now = step.run.values(step.first);
      if (t == 1)
        EXPECT_EQ(now.values, start.values);
      else
        for (std::size_t i = 0; i < now.values.size(); ++i)
          EXPECT_NE(now.values[i], start.values[i]);
    }
    expectNear(step.run, step.second, second.w, 1e-6);
  }
}

// Without the check NaN reaches every element of its parameter, as the formula has it.
TEST_P(LambTest, SpreadsNotANumberOverTheParameter) {
  TwoParameters step(GetParam(), 1);
  OptimizerOptions options = lamb;
  options.keepsFinite = false;
  ASSERT_TRUE((*step.run).setOptimizer(options).isOk());
  step.run.begin();
  Array gradient({37}, 1.0);
  gradient.values[3] = std::numeric_limits<double>::quiet_NaN();
  step.write(step.firstGradient, gradient);
  step.write(step.secondGradient, Array({64, 11}, 0.25));
  step.update();
  for (const double value : step.run.values(step.first).values)
    EXPECT_TRUE(std::isnan(value));
  for (const double value : step.run.values(step.second).values)
    EXPECT_TRUE(std::isfinite(value));
}

// Equal runs have equal bits for any number of threads, over more than one block.
TEST_P(LambTest, ThreadsChangeNoBit) {
  std::vector<double> found;
  for (const int threads : {1, 3}) {
    StepCase run(GetParam(), Form::plain, 1, threads);
    const auto [w, dw] = run.parameter("w", randomArray({100'003}, 1));
    run.step().bucket(bucketBy("ring", 4 * 100'003));
    run.step().update(0);
    ASSERT_TRUE((*run).setOptimizer(lamb).isOk());
    run.begin();
    const Array gradient = randomArray({100'003}, 2);
    const std::vector<float> narrow(gradient.values.begin(), gradient.values.end());
    ASSERT_TRUE((*run).write(dw.id, std::as_bytes(std::span(narrow))).isOk());
    run.runOperations(0, 1);
    Reference expected(randomArray({100'003}, 1));
    expected.update(gradient, lamb, 1, 1);
    expectNear(run, w, expected.w, 1e-6);
    const Array now = run.values(w);
    EXPECT_EQ(found.empty() ? now.values : found, now.values);
    found = now.values;
  }
}

// A captured step updates as one that is told operation by operation.
TEST_P(LambTest, ReplaysUpdateAlike) {
  TwoParameters told(GetParam(), 1), replayed(GetParam(), 1);
  const auto compute = [](TwoParameters &step) { // as the step's operations would
    step.write(step.firstGradient, step.gradient(step.first, 3));
    step.write(step.secondGradient, step.gradient(step.second, 4));
  };
  for (TwoParameters *step : {&told, &replayed}) {
    ASSERT_TRUE((*step->run).setOptimizer(lamb).isOk());
    step->run.begin();
    compute(*step);
    step->update();
  }
  if (!(*replayed.run).canCapture())
    return;
  ASSERT_TRUE((*replayed.run).beginCapture().isOk());
  for (int i = 0; i < static_cast<int>((*replayed.run).operations().size()); ++i)
    ASSERT_TRUE((*replayed.run).run(i).isOk());
  ASSERT_TRUE((*replayed.run).endCapture().isOk());
  for (int replay = 0; replay < 3; ++replay) {
    told.update();
    (*replayed.run).beginStep(replay + 1);
    compute(replayed);
    ASSERT_TRUE((*replayed.run).replay().isOk());
    ASSERT_TRUE((*replayed.run).synchronize().isOk());
  }
  EXPECT_EQ(told.run.values(told.first).values, replayed.run.values(replayed.first).values);
  EXPECT_EQ(told.run.values(told.second).values, replayed.run.values(replayed.second).values);
}

// A bucket with a part of a parameter has no norm of it.
TEST_P(LambTest, RefusesPartsInBuckets) {
  StepCase run(GetParam());
  run.parameter("w", Array({64}, 1.0));
  BucketInfo second = bucketBy("ring", 128, 1);
  second.offset = 128;
  run.step().bucket(bucketBy("ring", 128));
  run.step().bucket(second);
  for (const int bucket : {0, 1})
    run.step().update(bucket);
  run.begin();
  const Status refused = (*run).setOptimizer(lamb);
  EXPECT_EQ(refused.kind(), ErrorKind::badInput);
  EXPECT_EQ(refused.message(),
            "bucket 0 carries a part of the gradient of 'w', but 'lamb' needs norms of whole "
            "parameters; expected a plan of 'compile --optimizer lamb', which cuts no gradient");
}

INSTANTIATE_TEST_SUITE_P(AllBackends, LambTest, testing::ValuesIn(backends()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace syncline::conformance
