// The file that a calibration writes, line by line where it matters.
#include "Invented.h"

#include "runtime/calibrate/ClusterText.h"

#include <gtest/gtest.h>

namespace syncline::calibrate {
namespace {

using namespace testing;
const LinkConstants truth{50e-6, 8e-9, 1e-10};

std::string textOf(const Findings &f) {
  return clusterText(f, analyse(f), {"lab's", "Syncline 1"});
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(ClusterText, SaysWhatWasMeasured) {
  const std::string text = textOf(invent(4, truth));
  for (const char *part :
       {"# Written by 'syncline calibrate' (Syncline 1).\n"
        "# 4 ranks: 4 on alpha; compute threads a rank: 2; measured for 12 s.\n",
        "messages' while no rank computes", "\nname: 'lab''s'\nranks: 4\n",
        "\n  compute: 40 GFLOP/s\n", "\n  memory: 10 GB/s\n", "\n  launch-overhead: 1us\n",
        "\nnetwork:\n", "\n  bandwidth: 125 MB/s\n  latency: 50us\n", "\ncollectives:\n",
        "\n  all-reduce:\n    ring:\n", "\n    tree:\n", "\n  all-gather:\n",
        "  # Two messages at once on two channels: each takes 1.9 times as long",
        "\n  messages: 1.9\n"})
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
}

// No message is faster beside another, though times vary. What was not measured is left out.
TEST(ClusterText, TwoMessagesAtOnce) {
  Findings f = invent(4, truth);
  f.interference.messages = steady(0.97);
  EXPECT_TRUE(contains(textOf(f), "\n  messages: 1\n")) << textOf(f);
  f.interference.computation = {};
  EXPECT_TRUE(contains(textOf(f), "\ninterference:\n  # Two messages")) << textOf(f);
  f.interference.messages = {};
  EXPECT_FALSE(contains(textOf(f), "interference:"));
}

TEST(ClusterText, TablesHoldTheChosenTimes) {
  const Findings f = invent(4, truth);
  const SizeFinding &size = f.schemes[0].sizes[2];
  EXPECT_TRUE(contains(textOf(f), "      - [16KiB, " + timeText(size.seconds.median) + "] #"));
}

// What channels of all ranks do not say is told, and nothing stands for it.
TEST(ClusterText, NoPairs) {
  Findings f = invent(4, truth);
  f.pairs.clear();
  f.conditions = "--precision tf32";
  const std::string text = textOf(f);
  EXPECT_TRUE(contains(text, "4 on alpha; --precision tf32; measured")) << text;
  EXPECT_TRUE(contains(text, "# No pair of ranks was measured alone"));
  EXPECT_TRUE(contains(text, "\nnetwork:\n"));
  EXPECT_FALSE(contains(text, "Ranks 0 and"));
  std::erase_if(f.schemes, [](const SchemeFinding &s) { return s.scheme != Scheme::tree; });
  EXPECT_FALSE(contains(textOf(f), "\nnetwork:\n"));
  EXPECT_TRUE(contains(textOf(f), "# Nothing is known of the network"));
}

// The factor that planning needs, with how sure it is; it is never below 1.
TEST(ClusterText, Interference) {
  Findings f = invent(4, truth);
  for (const char *part : {"\ninterference:\n  # All of the device's operations, 110ms alone",
                           "\n  computation: 1.667\n",
                           "while messages of 16MiB by ring follow each other: 1.25 times as long",
                           "beside computation: 2 times as long"})
    EXPECT_TRUE(contains(textOf(f), part)) << part << "\n" << textOf(f);
  EXPECT_FALSE(contains(textOf(f), "that operations lose to it"));
  f.interference.latency = steady(0.5);
  EXPECT_TRUE(contains(textOf(f), "time of a message of 1KiB that operations lose to it: 0.5, "));
  EXPECT_TRUE(contains(textOf(f), "\n  latency: 2\n"));
  f.interference.computation = steady(0.98);
  f.interference.beside = {};
  EXPECT_TRUE(contains(textOf(f), "\n  computation: 1\n"));
  EXPECT_FALSE(contains(textOf(f), "These messages beside computation"));
}

// A scheme whose messages take more or less from computation than the ring's says so.
TEST(ClusterText, InterferenceByScheme) {
  Findings f = invent(4, truth);
  f.schemes[1].besides = {
      .computation = steady(1.26), .beside = {}, .bytes = 1 << 20, .messages = {}};
  EXPECT_FALSE(contains(textOf(f), "      interference:"));
  f.schemes[1].besides.computation = steady(1.6);
  const std::string text = textOf(f);
  EXPECT_TRUE(contains(text, "\n      # Operations beside its messages of 1MiB: 1.6 times as long"))
      << text;
  EXPECT_TRUE(contains(text, "\n      interference: 1.6\n      table:\n")) << text;
}

// Classes of operations have factors of their own where they surely lose unequally.
TEST(ClusterText, InterferenceByClass) {
  Findings f = invent(4, truth);
  f.interference.products = steady(1.25);
  f.interference.memory = steady(1.26);
  const char *equal = "\n  # These may be equal, so one factor stands for both.\n";
  EXPECT_TRUE(contains(textOf(f), equal)) << textOf(f);
  EXPECT_FALSE(contains(textOf(f), "\n  products:"));
  f.interference.memory = steady(1.3);
  f.schemes[1].besides = {.computation = steady(1.6), .beside = {}, .bytes = 1 << 20};
  f.schemes[1].besides.products = steady(1.5);
  f.schemes[1].besides.memory = steady(2);
  const std::string text = textOf(f);
  EXPECT_FALSE(contains(text, equal));
  EXPECT_TRUE(contains(text, "\n  products: 1.667\n  memory: 1.857\n")) << text;
  EXPECT_TRUE(contains(text, "\n      interference:\n        computation: 1.6\n")) << text;
  EXPECT_TRUE(contains(text, "\n        products: 1.5\n        memory: 2\n      table:\n")) << text;
}

// How messages scatter stands in the file where that is known.
TEST(ClusterText, MessageScatter) {
  Findings f = invent(4, truth);
  EXPECT_TRUE(contains(textOf(f), "\n# How messages scatter is not known: none took long enough to "
                                  "be timed alone 6 times.\n"))
      << textOf(f);
  EXPECT_FALSE(contains(textOf(f), "message-scatter:"));
  f.schemes[1].sizes[2].seconds = steady(1);
  f.schemes[1].sizes[2].single = std::vector<double>(16, 1);
  f.schemes[1].sizes[2].single.front() = 0.96875;
  f.schemes[1].sizes[2].single.back() = 1.5;
  const std::string text = textOf(f);
  EXPECT_TRUE(contains(text, "quantiles of 16 messages, and each of their 1 sizes counts alike.\n"
                             "message-scatter: [0.9688, 0.9688, 1, 1, 1, 1, 1, 1,\n"
                             "  1, 1, 1, 1, 1, 1, 1, 1,\n"
                             "  1, 1, 1, 1, 1, 1, 1, 1,\n"
                             "  1, 1, 1, 1, 1, 1, 1.5, 1.5]\n"))
      << text;
}

// A scheme without sizes is told of, and no key is left without a value.
TEST(ClusterText, NothingIsLeftEmpty) {
  Findings f = invent(4, truth);
  f.schemes[2].sizes.clear();
  EXPECT_TRUE(contains(textOf(f), "# factors was not measured"));
  EXPECT_FALSE(contains(textOf(f), "all-gather:"));
  for (SchemeFinding &scheme : f.schemes)
    scheme.sizes.clear();
  EXPECT_FALSE(contains(textOf(f), "collectives:"));
}

TEST(ClusterText, SaysWhereTheBandwidthIsThePairs) {
  EXPECT_TRUE(contains(textOf(invent(4, {50e-6, 1e-9, 0})), "slowest pair has: it is that"));
  EXPECT_FALSE(contains(textOf(invent(4, truth)), "slowest pair has"));
}

TEST(ClusterText, SaysWhatWasSmoothed) {
  Findings f = invent(4, truth);
  SizeFinding &size = f.schemes[1].sizes[3];
  size.seconds = steady(f.schemes[1].sizes[5].seconds.median);
  EXPECT_TRUE(contains(textOf(f), "measured " + timeText(size.seconds.median) + ", smoothed"));
  EXPECT_TRUE(contains(textOf(f), "# It does not fit from 16KiB to 64KiB"));
}

TEST(ClusterText, SaysWhatIsNotCertain) {
  Findings f = invent(4, truth);
  f.unmeasured = {64 << 20};
  for (SchemeFinding &scheme : f.schemes)
    for (SizeFinding &size : scheme.sizes)
      size.seconds = wild(size.seconds.median);
  const std::string text = textOf(f);
  EXPECT_TRUE(contains(text, "# There was no time to measure messages of 64MiB.\n"));
  EXPECT_TRUE(contains(text, "# Messages' times are hardly reproducible"));
}

TEST(ClusterText, SaysWhatTimeOtherSchemesNeed) {
  Findings f = invent(4, truth);
  EXPECT_FALSE(contains(textOf(f), "--time"));
  f.besideOthers = 59.2;
  EXPECT_TRUE(contains(textOf(f),
                       "# Note: there was no time to measure computation beside messages of "
                       "schemes other than the ring, whose factor stands for theirs: "
                       "'--time 60s' has it.\n"));
}

TEST(ClusterText, NodesOfSeveralRanks) {
  Findings f = invent(4, truth);
  f.ranksPerNode = 2;
  f.hosts = {"a", "a", "b", "b"};
  f.inside = invent(2, {1e-6, 1e-10, 0}).schemes[0];
  f.pairs[0].stream = steady(Pairs::streamBytes * 1e-10); // ranks 0 and 1, which share a node
  const std::string text = textOf(f);
  for (const char *part : {"2 on a, 2 on b", "\nnodes: 2\ndevices-per-node: 2\n", "\ninside:\n",
                           "\n  bandwidth: 10000 MB/s\n  latency: 1us\n"})
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
}

TEST(ClusterText, TimesHaveUnits) {
  EXPECT_EQ(timeText(44.1e-6), "44.1us");
  EXPECT_EQ(timeText(0.0123456789), "12.3457ms");
  EXPECT_EQ(timeText(2), "2s");
}

} // namespace
} // namespace syncline::calibrate
