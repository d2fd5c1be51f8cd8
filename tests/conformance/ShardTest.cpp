// The optimizer spread over ranks: what a rank updates, and what it holds for that.
#include "tests/conformance/StepCase.h"

#include <array>
#include <cstring>
#include <numeric>
#include <span>

namespace syncline::conformance {
namespace {

constexpr int bucketFloats = 64;

/// One bucket of 64 weights, rank 1 of 4, with 1 as every weight and its number as every gradient.
struct Sharded {
  explicit Sharded(const Backend &backend, int ranks = 4,
                   std::string_view scheme = "reduce-scatter")
      : run(backend, Form::plain, ranks, 1, ranks == 1 ? 0 : 1) {
    std::tie(w, dw) = run.parameter("w", Array({bucketFloats}, 1.0));
    run.step().bucket(bucketBy(scheme, bucketFloats * 4, 2));
  }

  void begin(const core::OptimizerOptions &options) {
    ASSERT_TRUE((*run).setOptimizer(options).isOk());
    run.step().issue(2);
    run.step().wait(2);
    run.begin();
    std::array<float, bucketFloats> gradients;
    std::iota(gradients.begin(), gradients.end(), 0.0f);
    ASSERT_TRUE((*run).write(dw.id, std::as_bytes(std::span(gradients))).isOk());
  }

  StepCase run;
  Tensor w, dw;
};

class ShardTest : public testing::TestWithParam<Backend> {};

/// Two steps with momentum and weight decay change floats [first, last) by the optimizer's formula,
/// and no others.
void updatesOnly(const Backend &backend, std::size_t first, std::size_t last, bool nesterov) {
  Sharded step(backend);
  const core::OptimizerOptions sgd{
      .rate = 0.1, .momentum = 0.9, .weightDecay = 0.01, .nesterov = nesterov};
  step.begin(sgd);
  const auto bytes = [](std::size_t floats) { return static_cast<std::int64_t>(4 * floats); };
  ASSERT_TRUE((*step.run).takeShard(2, bytes(first), bytes(last - first)).isOk());
  Array expected({bucketFloats}, 1.0), v({bucketFloats});
  for (int repeat = 0; repeat < 2; ++repeat) {
    ASSERT_TRUE((*step.run).updateShard(2).isOk());
    for (std::size_t i = first; i < last; ++i) {
      const double g = static_cast<double>(i) / 4 + sgd.weightDecay * expected.values[i];
      v.values[i] = sgd.momentum * v.values[i] + g;
      expected.values[i] -= sgd.rate * (nesterov ? g + sgd.momentum * v.values[i] : v.values[i]);
    }
    expectNear(step.run, step.w, expected, 1e-6);
  }
}

TEST_P(ShardTest, UpdatesItsPartOnly) { updatesOnly(GetParam(), 16, 32, false); }

// Parts may begin and end inside a vector.
TEST_P(ShardTest, UpdatesOddPartsOnly) {
  updatesOnly(GetParam(), 1, 23, false);
  updatesOnly(GetParam(), 16, 31, true);
}

// Velocity is held for the part that this rank updates, and for parameters of other buckets.
TEST_P(ShardTest, HoldsVelocityForItsPartOnly) {
  auto held = [&](std::string_view scheme, std::int64_t bytes) {
    Sharded step(GetParam(), 4, scheme);
    step.begin({.rate = 0.1});
    const std::int64_t without = (*step.run).extraBytes();
    EXPECT_TRUE((*step.run).setOptimizer({.rate = 0.1, .momentum = 0.9}).isOk());
    if (scheme == "reduce-scatter") {
      EXPECT_TRUE((*step.run).takeShard(2, 0, bytes).isOk());
    }
    return (*step.run).extraBytes() - without;
  };
  const std::int64_t whole = held("ring", 0);
  EXPECT_EQ(whole - held("reduce-scatter", 64), bucketFloats * 4 - 64);
  EXPECT_EQ(whole - held("reduce-scatter", 0), bucketFloats * 4);
}

// On several ranks nobody has such a parameter's velocity; on one rank it is there as ever.
TEST_P(ShardTest, VelocityIsSpreadOverTheRanks) {
  std::vector<std::byte> bytes(bucketFloats * 4), back(bytes.size());
  Sharded spread(GetParam());
  spread.begin({.rate = 0.1, .momentum = 0.9});
  ASSERT_TRUE((*spread.run).takeShard(2, 0, 64).isOk());
  for (const Status &s : {(*spread.run).readVelocity(spread.w.id, back),
                          (*spread.run).writeVelocity(spread.w.id, bytes)}) {
    EXPECT_EQ(s.kind(), ErrorKind::badInput);
    EXPECT_EQ(s.message(), "parameter 'w': its state is spread over the ranks, for bucket 2 "
                           "travels by 'reduce-scatter'");
  }
  Sharded alone(GetParam(), 1);
  alone.begin({.rate = 0.1, .momentum = 0.9});
  ASSERT_TRUE((*alone.run).takeShard(2, 0, bucketFloats * 4).isOk());
  std::memset(bytes.data(), 63, bytes.size());
  ASSERT_TRUE((*alone.run).writeVelocity(alone.w.id, bytes).isOk());
  ASSERT_TRUE((*alone.run).readVelocity(alone.w.id, back).isOk());
  EXPECT_EQ(bytes, back);
}

// A part outside the bucket, half an element, another scheme or no part is an internal error.
TEST_P(ShardTest, RefusesWhatIsNoPart) {
  Sharded step(GetParam());
  step.begin({.rate = 0.1});
  EXPECT_EQ((*step.run).updateShard(2).kind(), ErrorKind::internal);
  for (auto [begin, bytes] : {std::pair(0, 260), {-4, 8}, {2, 8}, {0, 6}, {256, 4}})
    EXPECT_EQ((*step.run).takeShard(2, begin, bytes).kind(), ErrorKind::internal);
  EXPECT_EQ((*step.run).takeShard(1, 0, 4).kind(), ErrorKind::internal);
  Sharded ring(GetParam(), 4, "ring");
  ring.begin({.rate = 0.1});
  EXPECT_EQ((*ring.run).takeShard(2, 0, 4).kind(), ErrorKind::internal);
}

// A bucket by trees has no second half, and what was not issued has none yet.
TEST_P(ShardTest, RefusesOtherSecondHalves) {
  Sharded tree(GetParam(), 4, "tree");
  tree.run.step().issue(2);
  tree.run.step().allGather(2);
  EXPECT_EQ(tree.run.failure(), "'allGather' names bucket 2, which travels by 'tree'");
  Sharded ring(GetParam(), 4, "ring");
  ring.run.step().allGather(2);
  EXPECT_EQ(ring.run.failure(), "'allGather' names bucket 2 before it is issued");
}

// The channel updates such a bucket; the step does not do so again, and its weights are f32.
TEST_P(ShardTest, RefusesAnotherUpdateAndOtherTypes) {
  Sharded step(GetParam());
  step.run.step().update(2);
  EXPECT_EQ(step.run.failure(), "'update' names bucket 2, which travels by 'reduce-scatter'");
  StepCase half(GetParam());
  half.step().tensor({"h", Space::parameters, ElementType::f16, {4}});
  half.step().bucket(bucketBy("reduce-scatter", 64));
  half.step().issue(0);
  EXPECT_EQ(half.failure(), "update: parameter 'h': expected element type f32, got f16");
}

INSTANTIATE_TEST_SUITE_P(AllBackends, ShardTest, testing::ValuesIn(backends()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace syncline::conformance
