// A link's constants found again in what they predict.
#include "runtime/calibrate/LinkFit.h"

#include <gtest/gtest.h>
#include <random>

namespace syncline::calibrate {
namespace {

/// Messages of 1 KiB to 64 MiB by the ring and by an all-gather, as a link with these constants
/// takes them, times `noise`.
template <typename Noise>
std::vector<Observation> observe(const LinkConstants &truth, int ranks, Noise &&noise) {
  std::vector<Observation> all;
  for (Scheme scheme : {Scheme::ring, Scheme::factors})
    for (double bytes = 1 << 10; bytes <= 64 << 20; bytes *= 4) {
      Observation o = *ringRounds(scheme, ranks, bytes);
      o.seconds = truth.predict(o) * noise();
      all.push_back(o);
    }
  return all;
}

void expectConstants(const LinkConstants &found, const LinkConstants &truth) {
  EXPECT_NEAR(found.alpha / truth.alpha, 1, 1e-6);
  EXPECT_NEAR(found.beta / truth.beta, 1, 1e-6);
  EXPECT_NEAR(found.gamma / truth.gamma, 1, 1e-6);
}

TEST(LinkFit, CountsTheRingsRounds) {
  const Observation ring = *ringRounds(Scheme::ring, 4, 1000);
  EXPECT_DOUBLE_EQ(ring.messages, 6);
  EXPECT_DOUBLE_EQ(ring.sent, 1500);
  EXPECT_DOUBLE_EQ(ring.reduced, 750);
  const Observation gathered = *ringRounds(Scheme::factors, 4, 1000);
  EXPECT_DOUBLE_EQ(gathered.messages, 3);
  EXPECT_DOUBLE_EQ(gathered.sent, 3000);
  EXPECT_DOUBLE_EQ(gathered.reduced, 0);
  EXPECT_FALSE(ringRounds(Scheme::tree, 4, 1000));
}

TEST(LinkFit, FindsTheConstantsExactly) {
  const LinkConstants truth{.alpha = 50e-6, .beta = 8e-9, .gamma = 1e-10};
  const auto fit = fitLink(observe(truth, 4, [] { return 1.0; }));
  ASSERT_TRUE(fit);
  expectConstants(fit->constants, truth);
  for (double residual : fit->residuals)
    EXPECT_NEAR(residual, 0, 1e-6);
}

// With 5 % of noise both latency and bandwidth are within 5 %: neither short nor long messages
// decide alone.
TEST(LinkFit, FindsTheConstantsInNoise) {
  std::mt19937 random(3);
  std::normal_distribution<double> noise(1, 0.05);
  const LinkConstants truth{.alpha = 20e-6, .beta = 1e-9, .gamma = 0};
  const auto fit = fitLink(observe(truth, 8, [&] { return noise(random); }));
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->constants.alpha / truth.alpha, 1, 0.05);
  EXPECT_NEAR(fit->constants.beta / truth.beta, 1, 0.05);
}

TEST(LinkFit, RoundsGiveTheConstantsExactly) {
  const LinkConstants truth{.alpha = 50e-6, .beta = 8e-9, .gamma = 1e-10};
  const auto fit = fitRounds(observe(truth, 4, [] { return 1.0; }));
  ASSERT_TRUE(fit);
  expectConstants(fit->constants, truth);
}

// A lower limit of β holds, and latency and reducing are fitted beside it.
TEST(LinkFit, RoundsKeepTheLimit) {
  const auto all = observe({.alpha = 50e-6, .beta = 8e-9, .gamma = 1e-9}, 4, [] { return 1.0; });
  const auto fit = fitRounds(all, 8.2e-9);
  ASSERT_TRUE(fit);
  EXPECT_DOUBLE_EQ(fit->constants.beta, 8.2e-9);
  EXPECT_NEAR(fit->freeBeta, 8e-9, 1e-14);
  EXPECT_GT(fit->constants.gamma, 0);
  EXPECT_LT(fit->constants.gamma, 1e-9);
  EXPECT_NEAR(fit->constants.alpha / 50e-6, 1, 0.05);
  EXPECT_EQ(fitRounds(all, 7e-9)->constants.beta, fitRounds(all)->constants.beta);
  EXPECT_FALSE(fitRounds({}));
}

TEST(LinkFit, NoConstantIsNegative) {
  // Time that falls with the size wants a negative bandwidth.
  std::vector<Observation> all;
  for (double bytes = 1000; bytes < 1e6; bytes *= 10)
    all.push_back({1, bytes, 0, 1 / bytes});
  const auto fit = fitLink(all);
  ASSERT_TRUE(fit);
  EXPECT_GE(fit->constants.alpha, 0);
  EXPECT_GE(fit->constants.beta, 0);
  EXPECT_EQ(fit->constants.gamma, 0);
}

TEST(LinkFit, OnePointIsExplained) {
  const Observation one = {2, 1000, 500, 1e-3};
  const auto fit = fitLink(std::span(&one, 1));
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->constants.predict(one), 1e-3, 1e-9);
  EXPECT_FALSE(fitLink({}));
}

} // namespace
} // namespace syncline::calibrate
