// Arithmetic on weights between steps: the same bits on every backend.
#include "tests/conformance/StepCase.h"

#include <cmath>
#include <span>
#include <vector>

namespace syncline::conformance {
namespace {

using Floats = std::vector<float>;

/// Numbers of all sizes; another list for each seed.
Floats numbers(std::size_t n, int seed) {
  Floats all(n);
  for (std::size_t i = 0; i < n; ++i)
    all[i] = std::sin(static_cast<float>(i) * 0.7f + static_cast<float>(seed)) *
             std::pow(10.0f, static_cast<float>(i % 7) - 3);
  return all;
}

/// A prepared step whose parameter is not used, and stretches beside it.
class WeightsTest : public testing::TestWithParam<Backend> {
protected:
  void SetUp() override {
    run.parameter("w", Array({4}, 1.0));
    run.run();
  }

  core::WeightArithmetic &by() { return (*run).weights(); }

  std::span<float> made(const Floats &values) {
    const auto room = by().allocate("a test", values.size());
    EXPECT_TRUE(room.isOk()) << room.status().message();
    EXPECT_TRUE(by().write(*room, std::as_bytes(std::span(values))).isOk());
    return *room;
  }

  Floats read(std::span<const float> from) {
    Floats values(from.size());
    EXPECT_TRUE(by().read(from, std::as_writable_bytes(std::span(values))).isOk());
    return values;
  }

  StepCase run{GetParam()};
  const std::size_t n = 1003;
};

TEST_P(WeightsTest, AddAndScale) {
  const Floats a = numbers(n, 1), b = numbers(n, 2);
  const std::span<float> to = made(a), more = made(b);
  ASSERT_TRUE(by().add(to, more, 1.0f / 3).isOk());
  Floats expected(n);
  for (std::size_t i = 0; i < n; ++i)
    expected[i] = 1.0f / 3 * (a[i] + b[i]);
  EXPECT_EQ(read(to), expected);
  EXPECT_EQ(read(more), b);
}

TEST_P(WeightsTest, BeginWithZeros) {
  const auto room = by().allocate("a test", n);
  ASSERT_TRUE(room.isOk());
  EXPECT_EQ(read(*room), Floats(n));
  const auto none = by().allocate("a test", 0);
  ASSERT_TRUE(none.isOk());
  EXPECT_TRUE(none->empty());
}

// The step's own parameters are weights, too.
TEST_P(WeightsTest, AreThoseOfTheStep) {
  const std::span own(static_cast<float *>((*run).space(Space::parameters).data), 4);
  EXPECT_EQ(read(own), Floats(4, 1.0f));
  ASSERT_TRUE(by().scale(own, 3).isOk());
  EXPECT_EQ(read(own), Floats(4, 3.0f));
}

TEST_P(WeightsTest, AreCopiedAndSubtractedAndScaled) {
  const Floats a = numbers(n, 1), b = numbers(n, 2);
  const std::span<float> to = made(Floats(n)), from = made(a), less = made(b);
  ASSERT_TRUE(by().subtract(to, from, less).isOk());
  Floats expected(n);
  for (std::size_t i = 0; i < n; ++i)
    expected[i] = a[i] - b[i];
  EXPECT_EQ(read(to), expected);
  ASSERT_TRUE(by().scale(to, 0.3f).isOk());
  ASSERT_TRUE(by().copy(less, to).isOk());
  for (float &value : expected)
    value *= 0.3f;
  EXPECT_EQ(read(less), expected);
  EXPECT_EQ(read(from), a);
}

/// DiLoCo's outer step with and without momentum, whose velocity may then be missing, and with and
/// without a part of the rank's own weights.
TEST_P(WeightsTest, TakeTheOuterStep) {
  for (const float momentum : {0.0f, 0.9f})
    for (const float mix : {0.0f, 0.25f, 1.0f}) {
      Floats w = numbers(n, 1), c = numbers(n, 2), v = numbers(n, 3);
      const Floats sum = numbers(n, 4);
      const std::span<float> weights = made(w), common = made(c),
                             velocity = momentum > 0 ? made(v) : std::span<float>(),
                             sent = made(sum);
      const core::OuterStep rule{.scale = 0.25f, .rate = 0.7f, .momentum = momentum, .mix = mix};
      ASSERT_TRUE(by().apply(rule, weights, common, velocity, sent).isOk());
      for (std::size_t i = 0; i < n; ++i) {
        const float mean = sum[i] * 0.25f;
        v[i] = momentum * v[i] + mean;
        c[i] -= 0.7f * (momentum > 0 ? mean + momentum * v[i] : mean);
        w[i] = mix == 0 ? c[i] : (1 - mix) * c[i] + mix * w[i];
      }
      EXPECT_EQ(read(weights), w) << momentum << " " << mix;
      EXPECT_EQ(read(common), c) << momentum << " " << mix;
      if (momentum > 0) {
        EXPECT_EQ(read(velocity), v);
      }
      EXPECT_EQ(read(sent), sum);
    }
}

TEST_P(WeightsTest, AreAttractedByTheCentre) {
  Floats w = numbers(n, 1), c = numbers(n, 2);
  const Floats own = numbers(n, 3), sum = numbers(n, 4);
  const std::span<float> weights = made(w), centre = made(c), before = made(own), all = made(sum);
  ASSERT_TRUE(by().apply(core::ElasticPull{0.03f, 3}, weights, centre, before, all).isOk());
  for (std::size_t i = 0; i < n; ++i) {
    w[i] -= 0.03f * (own[i] - c[i]);
    c[i] += 0.03f * (sum[i] - 3 * c[i]);
  }
  EXPECT_EQ(read(weights), w);
  EXPECT_EQ(read(centre), c);
}

INSTANTIATE_TEST_SUITE_P(AllBackends, WeightsTest, testing::ValuesIn(backends()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace syncline::conformance
