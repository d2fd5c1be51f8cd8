// How message times scatter, judged by a slow reckoning in which each size stands with as many
// ratios as any other.
#include "Invented.h"

#include "runtime/calibrate/Analysis.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

namespace syncline::calibrate {
namespace {

SizeFinding sized(std::int64_t bytes, std::vector<double> samples) {
  return {bytes, summarize(samples), std::move(samples)};
}

/// One scheme a list, and in it one size a list of samples.
std::vector<SchemeFinding> findings(const std::vector<std::vector<std::vector<double>>> &samples) {
  std::vector<SchemeFinding> schemes;
  for (const auto &sizes : samples) {
    SchemeFinding &scheme = schemes.emplace_back();
    for (const std::vector<double> &own : sizes)
      scheme.sizes.push_back(sized(std::int64_t{1} << scheme.sizes.size(), own));
  }
  return schemes;
}

/// Every size has as many ratios, since each of its samples stands there so often.
std::vector<double> reference(const std::vector<SchemeFinding> &schemes) {
  std::size_t each = 1;
  for (const SchemeFinding &scheme : schemes)
    for (const SizeFinding &size : scheme.sizes)
      if (size.single.size() >= 6)
        each = std::lcm(each, size.single.size());
  std::vector<double> ratios;
  for (const SchemeFinding &scheme : schemes)
    for (const SizeFinding &size : scheme.sizes)
      if (size.single.size() >= 6)
        for (const double seconds : size.single)
          ratios.insert(ratios.end(), each / size.single.size(), seconds / size.seconds.median);
  std::ranges::sort(ratios);
  std::vector<double> quantiles;
  for (int k = 1; k <= 32; ++k) {
    const double part = (k - 0.5) / 32 * static_cast<double>(ratios.size());
    quantiles.push_back(ratios[static_cast<std::size_t>(std::ceil(part - 1e-6)) - 1]);
  }
  return quantiles;
}

TEST(MessageScatter, IsThatOfTheSlowReckoning) {
  std::mt19937 random(3);
  std::lognormal_distribution<double> scatter(0, 0.3);
  std::uniform_int_distribution<int> count(3, 12), sizes(1, 4);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<std::vector<std::vector<double>>> samples(2);
    for (auto &scheme : samples)
      for (int size = sizes(random); size > 0; --size) {
        std::vector<double> &own = scheme.emplace_back(count(random));
        for (double &seconds : own)
          seconds = std::ldexp(scatter(random), -size);
      }
    samples[0].push_back({1, 1, 1, 1, 1, 2});
    const std::vector<SchemeFinding> schemes = findings(samples);
    EXPECT_EQ(messageScatter(schemes).factors, reference(schemes)) << trial;
  }
}

// A size that was sampled ten times as often counts no more: half of the quantiles are the other's.
TEST(MessageScatter, SizesCountAlike) {
  const std::vector<double> few{1, 1, 1, 1, 1, 1};
  std::vector<double> many;
  for (int i = 0; i < 60; ++i)
    many.push_back(i % 2 ? 3 : 1); // the median is 2
  const MessageScatter scatter = messageScatter(findings({{few, many}}));
  EXPECT_EQ(std::ranges::count(scatter.factors, 1.0), MessageScatter::quantiles / 2);
  EXPECT_EQ(std::ranges::count(scatter.factors, 0.5), MessageScatter::quantiles / 4);
  EXPECT_EQ(scatter.samples, 66);
  EXPECT_EQ(scatter.sizes, 2);
}

// One message of many that takes a hundred times as long is the last quantile at most.
TEST(MessageScatter, AnOutlierIsTheLast) {
  std::vector<double> samples(20, 1.0);
  samples[7] = 100;
  const std::vector<double> factors = messageScatter(findings({{samples}})).factors;
  EXPECT_EQ(std::ranges::count(factors, 100.0), 2); // 1/20 of 32
  samples.resize(100, 1.0);
  EXPECT_EQ(messageScatter(findings({{samples}})).factors.back(), 1);
}

// A drift between sizes and schemes, or another scheme's speed, is no scatter.
TEST(MessageScatter, IsByTheOwnMedian) {
  const std::vector<double> factors =
      messageScatter(findings({{std::vector<double>(6, 0.1), std::vector<double>(6, 0.3)},
                               {std::vector<double>(6, 7.0)}}))
          .factors;
  EXPECT_EQ(factors, std::vector<double>(MessageScatter::quantiles, 1.0));
}

// Few samples, and sizes whose samples are means of several messages, do not count.
TEST(MessageScatter, NothingToCount) {
  std::vector<SchemeFinding> schemes = findings({{{1, 2, 3, 4, 5}}});
  schemes[0].sizes.push_back({1 << 20, testing::steady(1)});
  const MessageScatter scatter = messageScatter(schemes);
  EXPECT_TRUE(scatter.factors.empty());
  EXPECT_EQ(scatter.samples, 0);
  EXPECT_TRUE(messageScatter({}).factors.empty());
}

TEST(MessageScatter, IsPartOfTheAnalysis) {
  Findings found = testing::invent(4, {50e-6, 8e-9, 1e-10});
  EXPECT_TRUE(analyse(found).scatter.factors.empty());
  found.schemes[0].sizes[0] = sized(1024, {1, 1, 1, 1, 2, 2});
  EXPECT_EQ(analyse(found).scatter.factors, messageScatter(found.schemes).factors);
  EXPECT_EQ(analyse(found).scatter.factors.size(), 32u);
}

} // namespace
} // namespace syncline::calibrate
