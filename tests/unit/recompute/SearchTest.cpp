// The search for the cheapest recomputation, judged by trying everything.
#include "passes/recompute/Search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <tuple>

using namespace syncline::recompute;

namespace {

/// Builds steps whose backward pass mirrors the forward pass.
class Builder {
public:
  int value(std::int64_t bytes) {
    problem.bytes.push_back(bytes);
    return static_cast<int>(problem.bytes.size()) - 1;
  }

  /// An operation of the forward pass; the backward pass reads its operands if it is heavy, else
  /// its result.
  int forward(std::vector<int> operands, std::int64_t bytes, double seconds, bool isHeavy) {
    const int result = value(bytes);
    problem.ops.push_back({operands, {result}, seconds, false, isHeavy});
    return result;
  }

  void cut() { problem.cuts.push_back(static_cast<int>(problem.ops.size())); }

  Problem finish() {
    problem.ops.back().isKept = true; // the loss
    const std::vector<StepOp> before = problem.ops;
    int gradient = value(1);
    problem.ops.push_back({{before.back().results[0]}, {gradient}, 1, true});
    for (auto op = before.rbegin(); op != before.rend(); ++op) {
      std::vector<int> operands = op->isHeavy ? op->operands : op->results;
      operands.push_back(gradient);
      const std::int64_t bytes = problem.bytes[op->operands[0]];
      gradient = value(bytes);
      problem.ops.push_back({operands, {gradient}, 2 * op->seconds, true});
    }
    return std::move(problem);
  }

private:
  Problem problem;
};

/// Residual blocks of random sizes: three operations and a sum each.
Problem randomProblem(std::mt19937 &random, int segments) {
  const auto draw = [&](int most) { return std::uniform_int_distribution<int>(1, most)(random); };
  Builder build;
  int x = build.value(0);
  for (int segment = 0; segment < segments; ++segment) {
    if (segment > 0)
      build.cut();
    int y = x;
    for (int k = 0; k < 3; ++k)
      y = build.forward({y}, draw(20), k == 1 ? 5 + draw(20) : draw(4), k == 1);
    x = build.forward({x, y}, draw(10), draw(3), false);
  }
  return build.finish();
}

} // namespace

/// What is alive is what the backward pass still reads; recomputed, the results in between go.
TEST(RecomputeOutcome, CountsLivingBytesAndSeconds) {
  Builder build;
  const int x = build.value(0);
  const int a = build.forward({x}, 100, 3, false), b = build.forward({a}, 100, 7, true);
  build.forward({b}, 10, 1, false);
  build.cut();
  const int c = build.forward({b}, 100, 1, false);
  build.forward({c}, 1, 1, false);
  const Problem problem = build.finish();
  const Outcome kept = outcomeOf(problem, {Choice::keep, Choice::keep});
  EXPECT_EQ(kept.seconds, 0);
  const Outcome full = outcomeOf(problem, {Choice::full, Choice::keep});
  EXPECT_EQ(full.seconds, 4); // 'b' is read by the other segment, so it is kept
  const Outcome light = outcomeOf(problem, {Choice::light, Choice::keep});
  EXPECT_EQ(light.seconds, 4);
  EXPECT_LT(full.bytes, kept.bytes);
  EXPECT_EQ(outcomeOf(problem, {Choice::full, Choice::joined}).seconds, 12);
  EXPECT_EQ(outcomeOf(problem, {Choice::light, Choice::joined}).seconds,
            outcomeOf(problem, {Choice::light, Choice::full}).seconds);
}

TEST(RecomputeSearch, RecomputesNothingThatFits) {
  std::mt19937 random(1);
  const Problem problem = randomProblem(random, 5);
  const Outcome kept = outcomeOf(problem, Choices(5, Choice::keep));
  const Found found = cheapest(problem, kept.bytes);
  EXPECT_EQ(found.choices, Choices(5, Choice::keep));
  EXPECT_EQ(found.outcome.seconds, 0);
}

TEST(RecomputeSearch, ReturnsTheFewestBytesWhereNothingFits) {
  std::mt19937 random(2);
  const Problem problem = randomProblem(random, 4);
  const Found found = cheapest(problem, 1);
  EXPECT_GT(found.outcome.bytes, 1);
  EXPECT_LT(found.outcome.bytes, outcomeOf(problem, Choices(4, Choice::keep)).bytes);
}

/// The optimum by trying everything, 4^segments outcomes: the least seconds that fit, or else the
/// fewest bytes.
Found cheapestOfAll(const Problem &problem, std::int64_t limit) {
  const auto rank = [&](const Outcome &outcome) {
    const auto bytes = static_cast<double>(outcome.bytes);
    return outcome.bytes <= limit ? std::tuple(0, outcome.seconds, bytes)
                                  : std::tuple(1, bytes, outcome.seconds);
  };
  Choices choices(problem.segments(), Choice::keep);
  Found best{choices, outcomeOf(problem, choices)};
  for (;;) {
    std::size_t k = 0;
    for (; k < choices.size() && choices[k] == Choice::joined; ++k)
      choices[k] = Choice::keep;
    if (k == choices.size())
      return best;
    choices[k] = static_cast<Choice>(static_cast<int>(choices[k]) + 1);
    const Outcome outcome = outcomeOf(problem, choices);
    if (rank(outcome) < rank(best.outcome))
      best = {choices, outcome};
  }
}

/// The search misses no answer where there is one, and is near the optimum in the mean.
TEST(RecomputeSearch, IsNearTheOptimum) {
  std::mt19937 random(3);
  double total = 0, worst = 1;
  int judged = 0, missed = 0;
  for (int round = 0; round < 40; ++round) {
    const Problem problem = randomProblem(random, 5);
    const std::int64_t most = outcomeOf(problem, Choices(5, Choice::keep)).bytes,
                       least = cheapestOfAll(problem, 0).outcome.bytes;
    for (const double share : {0.2, 0.5, 0.8}) {
      const auto limit =
          least + static_cast<std::int64_t>(share * static_cast<double>(most - least));
      const Found best = cheapestOfAll(problem, limit), found = cheapest(problem, limit);
      ASSERT_LE(best.outcome.bytes, limit);
      if (found.outcome.bytes > limit) {
        ++missed;
        continue;
      }
      if (best.outcome.seconds == 0)
        continue;
      const double ratio = found.outcome.seconds / best.outcome.seconds;
      ASSERT_GE(ratio, 1 - 1e-9);
      total += ratio;
      worst = std::max(worst, ratio);
      ++judged;
    }
  }
  std::printf("%d problems, missed %d; seconds over the optimum: mean %.4f, worst %.4f\n", judged,
              missed, total / judged, worst);
  EXPECT_EQ(missed, 0);
  EXPECT_GT(judged, 80);
  EXPECT_LT(total / judged, 1.03);
  EXPECT_LT(worst, 1.5);
}
