// Offers as a table: order, figures, ranges, and what overlaps.
#include "frontend/report/OffersReport.h"
#include "tests/unit/report/Contains.h"

#include <gtest/gtest.h>

using namespace syncline::report;

namespace {

/// 8 ranks of 45 samples in a step of 100 ms: 3600 samples/s, so an hour is 12,960,000 samples.
PlannedOffer offer(const std::string &name, double price, double step = 0.1) {
  return {.name = name,
          .device = "v100",
          .precision = "fp16",
          .price = price,
          .rate = {8, 45, step, 0.08},
          .memory = 3 << 20,
          .size = 4 << 20,
          .ddpStep = 0.125};
}

constexpr std::int64_t samples = 25'920'000; // two hours

} // namespace

TEST(OffersReportTest, Table) {
  PlannedOffer doubted = offer("fast", 30);
  doubted.doubt = StepDoubt{.share = 0.25, .runs = 12};
  PlannedOffer slow = offer("slow", 5, 0.2);
  slow.doubt = StepDoubt{.share = 0.25};
  EXPECT_EQ(
      offersTable({doubted, slow}, {{"small", "needs more"}}, samples),
      "offer  ranks  in      step  samples/s  efficiency      memory of a rank           hours  "
      "        money  DDP's buckets\n"
      "slow       8  fp16  200 ms       1800     40.00 %  3.00 MiB of 4.00 MiB      4 (3 .. 5)  "
      "20 (15 .. 25)       -37.50 %\n"
      "fast       8  fp16  100 ms       3600     80.00 %  3.00 MiB of 4.00 MiB  2 (1.5 .. 2.5)  60 "
      "(45 .. 75)       +25.00 %\n"
      "left out: small: needs more\n"
      "hours, money: of 25920000 samples, by the file's prices; DDP's buckets: how much longer the "
      "step is with 25 MiB, DDP's default\n"
      "samples/s: of all ranks; efficiency: samples/s / (ranks x samples/s of one device alone, "
      "which sends nothing)\n"
      "\n"
      "cheapest: slow\n"
      "fastest: fast\n"
      "ranges:\n"
      "  slow: a step within 25 %, as the file states\n"
      "  fast: a step within 25 %, as nine of ten of 12 published runs on v100 were\n");
}

TEST(OffersReportTest, SaysWhichRangesOverlap) {
  PlannedOffer first = offer("a", 10), second = offer("b", 12), third = offer("c", 18);
  for (PlannedOffer *one : {&first, &second, &third})
    one->doubt = StepDoubt{.share = 0.2};
  const std::string text = offersTable({third, second, first}, {}, samples);
  // The least of b's range, 19.2, is below the most of a's, 24.
  EXPECT_TRUE(contains(text, "cheapest: a; within the doubt it may also be b\n")) << text;
  EXPECT_TRUE(contains(text, "fastest: a; within the doubt it may also be b, c\n")) << text;
}

TEST(OffersReportTest, WhatIsUnknown) {
  PlannedOffer unknown = offer("a", 10);
  unknown.hasActivations = false;
  unknown.size.reset();
  unknown.ddpStep.reset();
  unknown.rate.alone = 0;
  const std::string text = offersTable({unknown}, {}, samples);
  EXPECT_TRUE(contains(text, "3600           -        > 3.00 MiB      2     20              -\n"))
      << text;
  EXPECT_TRUE(contains(text, "DDP's default; -: one rank, or gradients that DDP cannot send\n"))
      << text;
  EXPECT_TRUE(
      contains(text, "  a: no range, since too few published runs judge its times; 'doubt' in the "
                     "file states one\n"))
      << text;
}

// A doubt above 100 % leaves no time that is too short, and equal steps have no sign.
TEST(OffersReportTest, LargeDoubtsAndEqualSteps) {
  PlannedOffer wide = offer("a", 10);
  wide.doubt = StepDoubt{.share = 1.5, .runs = 1};
  wide.ddpStep = 0.1 * (1 - 1e-7);
  const std::string text = offersTable({wide}, {}, samples);
  EXPECT_TRUE(contains(text, "2 (0 .. 5)  20 (0 .. 50)         0.00 %\n")) << text;
  EXPECT_TRUE(contains(text, "of 1 published run on v100")) << text;
}
