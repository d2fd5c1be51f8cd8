// The loss's scale, step by step as PyTorch's GradScaler.
#include "runtime/run/LossScale.h"

#include <gtest/gtest.h>

namespace syncline::run {
namespace {

/// torch.amp.GradScaler.update() with its default factors and interval, transcribed.
struct GradScaler {
  double scale = 65536;
  int growthTracker = 0;
  void update(bool foundInf) {
    if (foundInf) {
      scale *= 0.5;
      growthTracker = 0;
    } else if (++growthTracker == 2000) {
      scale *= 2;
      growthTracker = 0;
    }
  }
};

// Overflows at irregular distances, longer and shorter than the interval.
TEST(LossScale, GrowsAndShrinksAsGradScaler) {
  LossScale scale = LossScale::dynamic();
  GradScaler expected;
  std::int64_t skipped = 0;
  for (int step = 0; step < 20000; ++step) {
    const bool overflows = step == 3 || step == 4 || step == 2003 || step == 2005 || step == 9999;
    scale.count(overflows);
    expected.update(overflows);
    skipped += overflows;
    ASSERT_EQ(scale.value(), expected.scale) << step;
  }
  EXPECT_EQ(scale.now().skipped, skipped);
}

// At 1 a dynamic scale is none, so nothing is skipped.
TEST(LossScale, EndsAtOne) {
  LossScale scale = LossScale::dynamic();
  for (int halvings = 0; halvings < 16; ++halvings) {
    EXPECT_TRUE(scale.skips());
    scale.count(true);
  }
  EXPECT_EQ(scale.value(), 1);
  EXPECT_FALSE(scale.skips());
}

// A fixed scale stays, also where a run goes on from one with another scale.
TEST(LossScale, Fixed) {
  LossScale scale = *LossScale::parse("1024");
  scale.count(true);
  for (int step = 0; step < 5000; ++step)
    scale.count(false);
  EXPECT_EQ(scale.value(), 1024);
  EXPECT_TRUE(scale.skips());
  EXPECT_EQ(scale.text(), "1024");
  scale.resume({.value = 8, .good = 3, .skipped = 7});
  EXPECT_EQ(scale.value(), 1024);
  EXPECT_EQ(scale.now().skipped, 7);
}

// A run that goes on counts on from where it stood.
TEST(LossScale, Resumes) {
  LossScale whole = LossScale::dynamic(), later = LossScale::dynamic();
  whole.count(true);
  for (int step = 0; step < 1500; ++step)
    whole.count(false);
  later.resume(whole.now());
  for (int step = 0; step < 600; ++step) {
    whole.count(false);
    later.count(false);
    ASSERT_EQ(later.value(), whole.value());
  }
  EXPECT_EQ(later.value(), 65536);
}

TEST(LossScale, Refuses) {
  for (const char *text : {"", "0", "0.5", "-2", "nan", "inf", "1e31", "12x", "Dynamic"})
    EXPECT_FALSE(LossScale::parse(text)) << text;
  EXPECT_EQ(LossScale::parse("dynamic")->value(), 65536);
}

} // namespace
} // namespace syncline::run
