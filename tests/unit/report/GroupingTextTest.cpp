// What other members of a bucket would cost, as text.
#include "frontend/report/GroupingText.h"
#include "tests/unit/report/Contains.h"

#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::report;
using namespace syncline::explain;

namespace {

const std::vector<std::string> names{"fc", "conv2", "conv1", "stem"};

/// 'conv2' and 'conv1' of a step of 40 ms.
Grouping grouping(std::vector<Regrouping> changes) {
  return {.message = 1,
          .members = {1, 2},
          .bytes = 8192,
          .largestMessage = 20000,
          .finish = 0.040,
          .exposed = 0.010,
          .splits = 1,
          .changes = std::move(changes)};
}

/// One bucket with 'fc', for which 'conv2' and 'conv1' cannot leave earlier.
Regrouping merged() {
  return {.move = Move::mergeBefore,
          .layer = 0,
          .waiting = 0,
          .awaited = 2,
          .waitingReady = 0.003,
          .awaitedReady = 0.005,
          .bytes = 12288,
          .plan = problem::Solution{},
          .finish = 0.042,
          .exposed = 0.012,
          .busy = -0.001,
          .idle = 0.003,
          .added = -1,
          .latency = 0.001};
}

std::string textOf(Grouping grouping, bool optimal = false) {
  return groupingText(grouping, {.gradients = names, .planner = "ddp:1MiB", .optimal = optimal});
}

} // namespace

TEST(GroupingText, TableAndReason) {
  EXPECT_EQ(
      textOf(grouping({merged()})),
      "\nits bucket, number 1: 2 gradients of 8192 B: conv2 .. conv1 (2); the step takes 40.00 ms, "
      "of which "
      "10.0 ms are exposed\n\n"
      "grouped otherwise                largest  messages    busier     idler  exposed      step   "
      " "
      "longer\n"
      "one bucket with the one before  12.0 KiB        -1  -1.00 ms  +3.00 ms  12.0 ms  42.00 ms  "
      "+2.00 ms\n"
      "busier, idler: how much longer messages take the channel, and how much longer it waits "
      "before "
      "the last one;\nexposed: by how much the step exceeds its computation, reconstruction "
      "included\n\n"
      "why the cut before it: one bucket with the one before, the step is 2.00 ms (5.00 %) "
      "longer:\n"
      "  the channel is busy 1.00 ms less, as 1 latency of 1.00 ms is saved, and it is idle 3.00 "
      "ms "
      "longer, as fc, ready at 3.00 ms, waits for conv1, ready at 5.00 ms\n");
}

// Updates are part of the step, as elsewhere.
TEST(GroupingText, CountsUpdates) {
  const std::string text =
      groupingText(grouping({merged()}), {.gradients = names, .planner = "wfbp", .updates = 0.040});
  EXPECT_TRUE(contains(text, "takes 80.00 ms")) << text;
  EXPECT_TRUE(contains(text, "12.0 ms  82.00 ms  +2.00 ms\n")) << text;
  EXPECT_TRUE(contains(text, "2.00 ms (2.50 %) longer")) << text;
}

TEST(GroupingText, SaysWhatHides) {
  Regrouping change = merged();
  change.finish = 0.040;
  EXPECT_TRUE(contains(textOf(grouping({change})),
                       ", the step is as long:\n  the difference hides behind computation\n"));
  change.idle = 0.001;
  EXPECT_TRUE(contains(textOf(grouping({change})),
                       ":\n  the channel is busy 1.00 ms less, and idle as much longer\n"));
  std::swap(change.busy, change.idle);
  EXPECT_TRUE(contains(textOf(grouping({change})),
                       ":\n  the channel is busy 1.00 ms longer, and idle as much less\n"));
  change.busy = change.idle = 0;
  EXPECT_TRUE(contains(textOf(grouping({change})),
                       ":\n  the channel is busy as long and starts as early\n"));
  change.finish = 0.041;
  EXPECT_TRUE(contains(textOf(grouping({change})), ":\n  what is needed first arrives later\n"));
  change.idle = 0.005;
  EXPECT_TRUE(contains(textOf(grouping({change})),
                       "ready at 5.00 ms; the rest hides behind computation\n"));
}

TEST(GroupingText, SaysWhatIsTooLarge) {
  Regrouping change{.move = Move::mergeBehind, .layer = 3, .bytes = 30000};
  const std::string text = textOf(grouping({change}));
  EXPECT_TRUE(contains(text, "29.3 KiB         -       -      -        -     -       -\n")) << text;
  EXPECT_TRUE(contains(text, "why the cut behind it: without it the message would have 29.3 KiB, "
                             "and the largest that its scheme may carry has 19.5 KiB\n"))
      << text;
}

// The best way to divide the bucket says why its members travel together.
TEST(GroupingText, SaysWhyTogether) {
  Regrouping split{.move = Move::split,
                   .layer = 2,
                   .waiting = 1,
                   .awaited = 2,
                   .waitingReady = 0.004,
                   .awaitedReady = 0.005,
                   .bytes = 4096,
                   .plan = problem::Solution{},
                   .finish = 0.041,
                   .exposed = 0.011,
                   .busy = 0.002,
                   .idle = -0.001,
                   .added = 2,
                   .latency = 0.001};
  Regrouping alone = split;
  alone.move = Move::allAlone;
  alone.finish = 0.050;
  const std::string text = textOf(grouping({alone, split}));
  EXPECT_TRUE(contains(text, "why together: split before conv1, the step is 1.00 ms (2.50 %) "
                             "longer:\n  the channel is busy 2.00 ms longer, as 2 latencies of "
                             "1.00 ms are added, and it is idle 1.00 ms less, as conv2, ready at "
                             "4.00 ms, need not wait for conv1, ready at 5.00 ms\n"))
      << text;
}

TEST(GroupingText, SaysWhatCutsCost) {
  Grouping cuts = grouping({merged()});
  cuts.bestCuts = 0.036;
  EXPECT_TRUE(
      textOf(cuts).ends_with("with the best cuts for these schemes the step takes 36.00 ms: "
                             "the cuts of planner ddp:1MiB cost 4.00 ms (10.00 %)\n"));
  EXPECT_FALSE(contains(textOf(cuts, true), "best cuts"));
  cuts.bestCuts = 0.040;
  EXPECT_TRUE(
      textOf(cuts).ends_with("no other cuts of these schemes were found with a shorter step\n"));
}

TEST(GroupingText, OfALoneGradient) {
  EXPECT_TRUE(
      textOf(grouping({}))
          .ends_with(
              "\nit is the only bucket and has one member, so nothing can be grouped otherwise\n"));
}
