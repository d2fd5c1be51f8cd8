// Gradients that are clipped before the update: by the norm of all, and by value.
#include "tests/conformance/StepCase.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

namespace syncline::conformance {
namespace {

constexpr int ranks = 2;
constexpr float notANumber = std::numeric_limits<float>::quiet_NaN();

/// Two parameters of `floats` ones each, each in a bucket of its own. Every step writes gradients,
/// which are sums over the ranks, adds up their squares if asked, and runs the updates.
struct Clipped {
  Clipped(const Backend &backend, const core::OptimizerOptions &sgd, bool hasNorm = true,
          std::int64_t floats = 64)
      : run(backend, Form::plain, ranks), floats(floats), hasNorm(hasNorm) {
    for (int i = 0; i < 2; ++i) {
      std::tie(w[i], dw[i]) = run.parameter(i == 0 ? "a" : "b", Array({floats}, 1.0));
      BucketInfo bucket = bucketBy("ring", 4 * floats, i);
      bucket.offset = i * 4 * floats;
      run.step().bucket(bucket);
    }
    run.step().phase("update");
    for (int i = 0; i < 2; ++i)
      run.step().update(i);
    EXPECT_TRUE((*run).setOptimizer(sgd).isOk());
    run.begin();
  }

  void begin(const std::vector<float> &a, const std::vector<float> &b) {
    (*run).beginStep(number++);
    EXPECT_TRUE((*run).write(dw[0].id, std::as_bytes(std::span(a))).isOk());
    EXPECT_TRUE((*run).write(dw[1].id, std::as_bytes(std::span(b))).isOk());
  }
  void tell() {
    for (int i = 0; i < 2 && hasNorm; ++i)
      EXPECT_TRUE((*run).addSquares(i).isOk());
    for (std::size_t i = 0; i < (*run).operations().size(); ++i)
      EXPECT_TRUE((*run).run(static_cast<int>(i)).isOk());
  }
  void step(const std::vector<float> &a, const std::vector<float> &b) {
    begin(a, b);
    tell();
    EXPECT_TRUE((*run).synchronize().isOk());
  }
  std::vector<float> all(float value) const {
    return std::vector<float>(static_cast<std::size_t>(floats), value);
  }

  StepCase run;
  std::int64_t floats, number = 0;
  bool hasNorm;
  Tensor w[2], dw[2];
};

class ClipTest : public testing::TestWithParam<Backend> {};
class ClipNormTest : public ClipTest {};

// The norm is that of both buckets' means over the ranks; both are scaled by one factor.
TEST_P(ClipNormTest, ScalesAllByTheNormOfAll) {
  Clipped clipped(GetParam(), {.rate = 1, .clipNorm = 5});
  clipped.step(clipped.all(6), clipped.all(8)); // means 3 and 4
  const double norm = 8 * 5;                    // √(64·9 + 64·16)
  EXPECT_NEAR((*clipped.run).gradientNorm(), norm, 1e-12 * norm);
  const double factor = 5 / (norm + 1e-6);
  expectNear(clipped.run, clipped.w[0], Array({64}, 1 - 3 * factor), 1e-6);
  expectNear(clipped.run, clipped.w[1], Array({64}, 1 - 4 * factor), 1e-6);
}

// A norm below the limit changes nothing, and each step has its own norm.
TEST_P(ClipNormTest, LeavesSmallGradientsAlone) {
  Clipped clipped(GetParam(), {.rate = 1, .clipNorm = 54}), plain(GetParam(), {.rate = 1}, false);
  for (const float value : {6.0f, 0.25f}) {
    clipped.step(clipped.all(value), clipped.all(2 * value));
    plain.step(plain.all(value), plain.all(2 * value));
    const double norm = std::sqrt(64 * 5.0) * value / 2;
    EXPECT_NEAR((*clipped.run).gradientNorm(), norm, 1e-12 * norm);
  }
  EXPECT_TRUE(std::isnan((*plain.run).gradientNorm()));
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(clipped.run.values(clipped.w[i]).values, plain.run.values(plain.w[i]).values);
}

// Small squares beside a large one are not lost: sums are in double. In float they would be.
TEST_P(ClipNormTest, AddsUpSquaresInDouble) {
  constexpr std::int64_t many = 1 << 18;
  Clipped clipped(GetParam(), {.rate = 0, .clipNorm = 1}, true, many);
  std::vector<float> a = clipped.all(0.002f);
  a[0] = 20000;
  clipped.step(a, clipped.all(0));
  const double small = 0.002f, squares = 4e8 + (many - 1) * small * small;
  EXPECT_NEAR((*clipped.run).gradientNorm(), std::sqrt(squares) / ranks, 1e-12 * 2e4);
}

// Each element by itself, after the mean; momentum adds up what was clipped.
TEST_P(ClipTest, BringsElementsIntoTheirBounds) {
  Clipped clipped(GetParam(), {.rate = 1, .momentum = 0.5, .clipValue = 0.5}, false);
  clipped.step(clipped.all(10), clipped.all(-0.5));
  clipped.step(clipped.all(10), clipped.all(-0.5));
  expectNear(clipped.run, clipped.w[0], Array({64}, 1 - 0.5 - 0.75), 1e-6);
  expectNear(clipped.run, clipped.w[1], Array({64}, 1 + 0.25 + 0.375), 1e-6);
}

// Every optimizer computes with the clipped gradient alone.
TEST_P(ClipTest, EveryOptimizerSeesTheClippedValue) {
  for (const OptimizerKind kind : allOptimizers) {
    core::OptimizerOptions options{.rate = 0.1, .momentum = 0.9, .weightDecay = 0.01, .kind = kind};
    Clipped plain(GetParam(), options, false);
    options.clipValue = 0.5;
    Clipped clipped(GetParam(), options, false);
    for (int step = 0; step < 2; ++step) {
      plain.step(plain.all(1), plain.all(-0.25f));
      clipped.step(clipped.all(10), clipped.all(-0.25f));
    }
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(clipped.run.values(clipped.w[i]).values, plain.run.values(plain.w[i]).values);
  }
}

// The norm first, then the value.
TEST_P(ClipNormTest, ClipsByNormBeforeValue) {
  Clipped clipped(GetParam(), {.rate = 1, .clipNorm = 5, .clipValue = 0.4});
  clipped.step(clipped.all(6), clipped.all(8));
  expectNear(clipped.run, clipped.w[0], Array({64}, 1 - 3 * 5 / (40 + 1e-6)), 1e-6);
  expectNear(clipped.run, clipped.w[1], Array({64}, 1 - 0.4), 1e-6);
}

// Every optimizer computes with gradients of the clipped norm.
TEST_P(ClipNormTest, EveryOptimizerSeesTheClippedNorm) {
  for (const OptimizerKind kind : {OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::adamw}) {
    core::OptimizerOptions options{.rate = 0.1, .momentum = 0.9, .weightDecay = 0.01, .kind = kind};
    Clipped plain(GetParam(), options, false);
    options.clipNorm = 20;
    Clipped clipped(GetParam(), options);
    for (int step = 0; step < 2; ++step) {
      plain.step(plain.all(3), plain.all(-4));
      clipped.step(clipped.all(6), clipped.all(-8)); // norm 40
    }
    for (int i = 0; i < 2; ++i)
      expectNear(clipped.run, clipped.w[i], plain.run.values(plain.w[i]), 1e-6);
  }
}

// What multiplied the gradients is divided out before the norm and the updates. Another scale
// counts from the next step on.
TEST_P(ClipNormTest, DividesByTheLossScale) {
  Clipped clipped(GetParam(), {.rate = 1, .clipNorm = 5, .clipValue = 0.45});
  Array a({64}, 1.0), b({64}, 1.0);
  for (const float scale : {1024.0f, 4.0f}) {
    ASSERT_TRUE((*clipped.run).setLossScale(scale).isOk());
    clipped.step(clipped.all(6 * scale), clipped.all(8 * scale));
    EXPECT_NEAR((*clipped.run).gradientNorm(), 40, 1e-12 * 40);
    for (std::size_t i = 0; i < 64; ++i) {
      a.values[i] -= 3 * 5 / (40 + 1e-6);
      b.values[i] -= 0.45;
    }
    expectNear(clipped.run, clipped.w[0], a, 1e-6);
    expectNear(clipped.run, clipped.w[1], b, 1e-6);
  }
}

// A captured step adds up the squares of its own gradients in each replay.
TEST_P(ClipNormTest, EveryReplayHasItsOwnNorm) {
  const core::OptimizerOptions sgd{.rate = 0.1, .momentum = 0.9, .clipNorm = 30};
  Clipped eager(GetParam(), sgd), captured(GetParam(), sgd);
  if (!(*captured.run).canCapture())
    GTEST_SKIP() << "this backend captures no steps";
  captured.step(captured.all(1), captured.all(2));
  eager.step(eager.all(1), eager.all(2));
  ASSERT_TRUE((*captured.run).beginCapture().isOk());
  captured.tell();
  const Status ended = (*captured.run).endCapture();
  ASSERT_TRUE(ended.isOk()) << ended.message();
  for (const float value : {6.0f, 0.5f, 9.0f}) {
    eager.step(eager.all(value), eager.all(2 * value));
    captured.begin(captured.all(value), captured.all(2 * value));
    ASSERT_TRUE((*captured.run).replay().isOk());
    ASSERT_TRUE((*captured.run).synchronize().isOk());
    EXPECT_EQ((*captured.run).gradientNorm(), (*eager.run).gradientNorm());
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(captured.run.values(captured.w[i]).values, eager.run.values(eager.w[i]).values);
  }
}

// A rank has the squares of its own part of a bucket by "reduce-scatter". The sum over the ranks
// takes their place, and all updates are clipped by the norm of all gradients.
TEST_P(ClipNormTest, TakesThePartsOfOtherRanks) {
  constexpr std::int64_t bytes = 256;
  StepCase run(GetParam(), Form::plain, ranks, 1, /*rank=*/1);
  const auto [a, da] = run.parameter("a", Array({64}, 1.0));
  const auto [b, db] = run.parameter("b", Array({64}, 1.0));
  const Tensor kept = run.state("kept", Array({2}));
  BucketInfo shared = bucketBy("reduce-scatter", bytes, 1);
  shared.offset = bytes;
  run.step().bucket(bucketBy("ring", bytes, 0));
  run.step().bucket(shared);
  run.step().issue(1);
  run.step().wait(1);
  run.step().update(0);
  ASSERT_TRUE((*run).setOptimizer({.rate = 1, .clipNorm = 5}).isOk());
  run.begin();
  ASSERT_TRUE((*run).takeShard(1, bytes / 2, bytes / 2).isOk());
  const std::vector<float> sixes(64, 6), eights(64, 8);
  ASSERT_TRUE((*run).write(da.id, std::as_bytes(std::span(sixes))).isOk());
  ASSERT_TRUE((*run).write(db.id, std::as_bytes(std::span(eights))).isOk());
  for (int bucket : {0, 1})
    ASSERT_TRUE((*run).addSquares(bucket).isOk());
  const Result<double *> own = (*run).shardSquares();
  ASSERT_TRUE(own.isOk()) << own.status().message();
  ASSERT_TRUE((*run).synchronize().isOk());
  auto *const place = static_cast<std::byte *>((*run).space(Space::state).data) +
                      (*run).tensors()[static_cast<std::size_t>(kept.id)].offset;
  double sum = 0;
  const auto raw = std::as_writable_bytes(std::span(&sum, 1));
  GetParam().copy(place, *own, sizeof sum);
  ASSERT_TRUE((*run).read(kept.id, raw).isOk());
  EXPECT_EQ(sum, 32 * 64);
  sum *= 2; // the other rank's part has the same
  ASSERT_TRUE((*run).write(kept.id, raw).isOk());
  GetParam().copy(*own, place, sizeof sum);
  ASSERT_TRUE((*run).updateShard(1).isOk());
  ASSERT_TRUE((*run).run(2).isOk());
  ASSERT_TRUE((*run).synchronize().isOk());
  EXPECT_NEAR((*run).gradientNorm(), 40, 1e-12 * 40);
  const double factor = 5 / (40 + 1e-6);
  Array half({64}, 1.0);
  std::fill(half.values.begin() + 32, half.values.end(), 1 - 4 * factor);
  expectNear(run, a, Array({64}, 1 - 3 * factor), 1e-6);
  expectNear(run, b, half, 1e-6);
}

/// Not a number in one gradient of two buckets; whether updates met it. The other bucket's weights
/// become `other`.
void meetsNotANumber(const Backend &backend, bool hasNorm, double other) {
  Clipped clipped(backend, {.rate = 1, .keepsFinite = true, .clipNorm = 5, .clipValue = 0.5},
                  hasNorm);
  std::vector<float> a = clipped.all(1);
  a[7] = notANumber;
  clipped.step(a, clipped.all(1));
  EXPECT_TRUE((*clipped.run).metNonFinite());
  EXPECT_EQ(clipped.run.values(clipped.w[0]).values[7], 1);
  EXPECT_EQ(clipped.run.values(clipped.w[1]).values[0], other);
}

// Not a number passes through both kinds of clipping, so that the optimizer meets it.
TEST_P(ClipTest, HidesNoNotANumber) { meetsNotANumber(GetParam(), false, 0.5); }
TEST_P(ClipNormTest, HidesNoNotANumber) { meetsNotANumber(GetParam(), true, 1); }

// An infinite element makes the norm infinite and itself not a number, as in PyTorch.
TEST_P(ClipNormTest, MeetsInfiniteGradients) {
  Clipped clipped(GetParam(), {.rate = 1, .keepsFinite = true, .clipNorm = 5});
  std::vector<float> a = clipped.all(1);
  a[7] = std::numeric_limits<float>::infinity();
  clipped.step(a, clipped.all(1));
  EXPECT_TRUE((*clipped.run).metNonFinite());
}

// Another limit counts from the next step on.
TEST_P(ClipNormTest, LimitMayChangeBetweenSteps) {
  Clipped clipped(GetParam(), {.rate = 1, .clipNorm = 5});
  clipped.step(clipped.all(6), clipped.all(8));
  ASSERT_TRUE((*clipped.run).setOptimizer({.rate = 1, .clipNorm = 10}).isOk());
  clipped.step(clipped.all(6), clipped.all(8));
  expectNear(clipped.run, clipped.w[0], Array({64}, 1 - 3 * 15 / (40 + 1e-6)), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(AllBackends, ClipNormTest, testing::ValuesIn(backends()),
                         [](const auto &info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(AllBackends, ClipTest, testing::ValuesIn(backends()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace syncline::conformance
