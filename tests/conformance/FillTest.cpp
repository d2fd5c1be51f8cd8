// SYNCLINE_FILL_NAN: memory that a step must write before it reads holds NaN when a step begins;
// everything else is kept.
#include "tests/conformance/StepCase.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace syncline::conformance {
namespace {

class FillTest : public testing::TestWithParam<Backend> {
protected:
  FillTest() {
    if (const char *given = std::getenv(variable))
      before = given;
    setenv(variable, "1", 1);
  }
  ~FillTest() override {
    before.empty() ? unsetenv(variable) : setenv(variable, before.c_str(), 1);
  }

  static constexpr const char *variable = "SYNCLINE_FILL_NAN";
  std::string before;
};

/// A loop that forgets its results.
void writeNothing(void *const *, const void *const *, std::int64_t, void *) {}

bool isAllNan(const Array &array) {
  return std::ranges::all_of(array.values, [](double value) { return std::isnan(value); });
}

TEST_P(FillTest, ShowsAResultThatIsNotWritten) {
  StepCase run(GetParam());
  const Array x = randomArray({2, 16, 5, 5}, 1);
  const Tensor in = run.operand(x), out = run.result(x.shape), after = run.result(x.shape);
  run.step().pointwise("forgets", writeNothing, std::array{in}, std::array{out}, {true});
  GetParam().kernels.addOne.append(run.step(), "later", std::array{out}, std::array{after}, false);
  run.run();
  EXPECT_TRUE(isAllNan(run.values(after)));
}

TEST_P(FillTest, KeepsWeightsStateAndSamples) {
  StepCase run(GetParam());
  const Array x = randomArray({4, 16}, 1), w = randomArray({16, 16}, 2), s = randomArray({7}, 3);
  const auto [weight, dw] = run.parameter("w", w);
  const Tensor in = run.operand(x), y = run.result(x.shape), state = run.state("s", s);
  run.step().reshape("copy", in, y);
  run.run();
  for (const auto &[tensor, expected] : {std::pair(in, x), {weight, w}, {state, s}, {y, x}})
    EXPECT_EQ(run.values(tensor).values, expected.values);
  EXPECT_TRUE(isAllNan(run.values(dw)));
}

// The message of the step before is still under way when a step begins.
TEST_P(FillTest, KeepsGradientsThatOutliveTheirStep) {
  StepCase run(GetParam(), Form::plain, 2);
  const Array g = randomArray({16}, 1);
  const Tensor carried = run.parameter("w", g).second, own = run.parameter("v", g).second;
  run.step().bucket(bucketBy("ring", 64));
  run.step().wait(0);
  run.step().update(0);
  run.step().reshape("copy", run.operand(g), carried);
  run.step().reshape("copy", run.operand(g), own);
  run.step().issue(0);
  run.run();
  (*run).beginStep(1);
  EXPECT_EQ(run.values(carried).values, g.values);
  EXPECT_TRUE(isAllNan(run.values(own)));
}

INSTANTIATE_TEST_SUITE_P(AllBackends, FillTest, testing::ValuesIn(backends()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace syncline::conformance
