// Points go where the curve bends.
#include "runtime/calibrate/Refinement.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <random>

namespace syncline::calibrate {
namespace {

using Truth = std::function<double(double)>;

Curve grid(const Truth &truth) {
  Curve curve;
  for (std::int64_t bytes = 1 << 10; bytes <= 64 << 20; bytes *= 4)
    curve.push_back({bytes, truth(static_cast<double>(bytes))});
  return curve;
}

/// The curve with everything that refining asks for.
Curve refine(const Truth &truth, double uncertainty = 0) {
  Curve curve = grid(truth);
  Refinement search(curve);
  for (int asked = 0; asked < 1000; ++asked) {
    const auto bytes = search.next();
    if (!bytes)
      break;
    EXPECT_EQ(*bytes % 4, 0);
    const double seconds = truth(static_cast<double>(*bytes));
    search.tell(seconds, uncertainty);
    curve.push_back({*bytes, seconds});
  }
  EXPECT_FALSE(search.next());
  std::sort(curve.begin(), curve.end(), [](auto &a, auto &b) { return a.bytes < b.bytes; });
  return curve;
}

TEST(Refinement, ALineTakesOneLookAnInterval) {
  EXPECT_EQ(refine([](double bytes) { return 1e-4 + 1e-9 * bytes; }).size(), 9u + 8u);
}

// Between 64 and 256 KiB the time doubles at once: points gather there and nowhere else.
TEST(Refinement, GathersAtAJump) {
  const Truth truth = [](double bytes) { return (bytes > 100000 ? 2 : 1) * (1e-4 + 1e-9 * bytes); };
  const Curve curve = refine(truth);
  const auto inside = std::count_if(curve.begin(), curve.end(), [](const Point &p) {
    return p.bytes > 64 << 10 && p.bytes < 256 << 10;
  });
  EXPECT_GE(inside, 3);
  EXPECT_EQ(static_cast<int>(curve.size()) - inside, 9 + 7);
  // Away from the jump, lines between the points are right.
  for (double bytes = 2000; bytes < 50e6; bytes *= 1.3)
    if (bytes < 80000 || bytes > 140000) {
      EXPECT_NEAR(interpolate(curve, bytes) / truth(bytes), 1, 0.05) << bytes;
    }
}

TEST(Refinement, BendsAreFollowedToFivePercent) {
  const Truth truth = [](double bytes) { return 1e-5 + 1e-8 * std::pow(bytes, 0.7); };
  const Curve curve = refine(truth);
  for (double bytes = 1024; bytes < 64e6; bytes *= 1.1)
    EXPECT_NEAR(interpolate(curve, bytes) / truth(bytes), 1, 0.06) << bytes;
}

TEST(Refinement, SkippedIntervalsAreDoneWith) {
  Refinement search(grid([](double bytes) { return 1e-4 + 1e-7 * std::sqrt(bytes); }));
  for (int interval = 0; interval < 8; ++interval) {
    ASSERT_TRUE(search.next());
    search.skip();
  }
  EXPECT_FALSE(search.next());
}

// What is known within 30 % only is not followed: one look an interval.
TEST(Refinement, NoiseIsNotFollowed) {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> noise(0.85, 1.15);
  const Truth truth = [&](double bytes) { return (1e-4 + 1e-9 * bytes) * noise(random); };
  EXPECT_EQ(refine(truth, 0.3).size(), 9u + 8u);
}

} // namespace
} // namespace syncline::calibrate
