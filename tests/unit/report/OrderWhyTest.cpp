// The explanation of an order as text.
#include "frontend/report/OrderWhy.h"
#include "tests/unit/report/Contains.h"

#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::report;
using namespace syncline::explain;

namespace {

ExplainedMessage message(std::vector<std::size_t> layers, std::int64_t bytes, double ready,
                         double start, double end, double latest) {
  ExplainedMessage entry;
  entry.urgent = layers.front();
  entry.message.layers = std::move(layers);
  entry.message.bytes = bytes;
  entry.message.ready = ready;
  entry.message.start = start;
  entry.message.end = end;
  entry.latest = latest;
  return entry;
}

/// 'fc' travels in buckets 0 and 2; bucket 1 with 'conv2' and 'conv1' overtakes its second part,
/// which arrives 2 ms before it must.
OrderExplanation ofFc() {
  OrderExplanation explanation;
  explanation.layer = 0;
  explanation.bytes = 4096;
  explanation.ready = 0.001;
  explanation.update = 0.0005;
  explanation.tail = 0.002;
  explanation.period = 0.040;
  explanation.messages = {message({0}, 1024, 0.001, 0.001, 0.004, 0.037),
                          message({2, 1}, 8192, 0.005, 0.005, 0.015, 0.020),
                          message({0}, 3072, 0.001, 0.015, 0.0355, 0.0375)};
  explanation.messages[0].message.cutBehind = 3072;
  explanation.messages[2].message.cutBefore = 1024;
  explanation.parts = {{0, 1024, 0.037}, {2, 3072, 0.0375}};
  explanation.overtakers = {{1, true}};
  explanation.raised = {0.050, false};
  explanation.lowered = {0.040, true};
  explanation.proof =
      OrderProof{.bound = 0.039, .compute = 0.020, .ready = 0.001, .tail = 0.002, .isMember = true};
  return explanation;
}

OrderWhyContext context() {
  return {.gradients = {"fc.weight", "conv2.weight", "conv1.weight"},
          .reader = "/fc/Gemm",
          .planner = "optimal"};
}

} // namespace

TEST(OrderWhy, OfAGradientThatIsCut) {
  EXPECT_EQ(
      orderWhy(ofFc(), context()),
      "fc.weight: 4096 B, first read by /fc/Gemm\n"
      "travels in 2 messages; planned by optimal, gap 2.56 %\n"
      "times are the planner's model's, in which messages take nothing from computation, and count "
      "from "
      "the beginning of\nthe backward pass\n"
      "\n"
      "ready at 1.00 ms; once it has arrived, its update takes 500 us, and 2.00 ms of the next "
      "forward pass follow\n"
      "to keep the step at 40.00 ms the part in bucket 2 must arrive by 37.50 ms; it arrives at "
      "35.50 ms, 2.00 ms earlier\n"
      "\n"
      "   bucket  needed first               bytes   of it  scheme     ready     start       end  "
      "latest end\n"
      "*       0  fc.weight, cut            1024 B  1024 B  ring    1.000 ms  1.000 ms  4.000 ms  "
      "  37.00 ms\n"
      "+       1  conv1.weight and 1 other  8192 B          ring    5.000 ms  5.000 ms  15.00 ms  "
      "  20.00 ms\n"
      "*       2  fc.weight, cut            3072 B  3072 B  ring    1.000 ms  15.00 ms  35.50 ms  "
      "  37.50 ms\n"
      "*: brings it; +: overtook it, so left earlier though ready later; of it: the bytes of it in "
      "the message\n"
      "needed first, latest end: the gradient that the next forward pass needs first, and when the "
      "message must end for it\n"
      "\n"
      "1 message overtook it; it must end earlier\n"
      "\n"
      "the same messages in another order:\n"
      "  its messages once they are ready and the channel free: a step of 50.00 ms, 10.0 ms (25.00 "
      "%) longer\n"
      "  its messages last: as planned\n"
      "\n"
      "no order has a step below 39.00 ms: all gradients that are ready at 1.00 ms or later and "
      "have at least 2.00 ms\n"
      "of the next forward pass behind them need the channel for 36.0 ms together; this one is "
      "among them\n");
}

/// The gradient's only message, with two others, ends when it must.
TEST(OrderWhy, OfAGradientOnTheCriticalPath) {
  OrderExplanation explanation = ofFc();
  explanation.layer = 2;
  explanation.messages[1].latest = 0.015;
  explanation.parts = {{1, 4096, 0.015}};
  explanation.overtakers.clear();
  explanation.overtaken = {{0, false}, {2, true}};
  explanation.raised = {0.040, true};
  explanation.lowered = {0.040, false};
  const std::string text = orderWhy(explanation, context());
  EXPECT_TRUE(contains(text, "travels in one message; planned by optimal, gap")) << text;
  EXPECT_TRUE(contains(text, "it must arrive by 15.00 ms, and arrives just then: it is on the "
                             "critical path\n\n"))
      << text;
  EXPECT_TRUE(contains(text, "\n-       0  fc.weight, cut ")) << text;
  EXPECT_TRUE(contains(text, "it overtook 2 messages; 1 of them must end later\n")) << text;
  EXPECT_TRUE(contains(text, "  its message once it is ready and the channel free: as planned\n"
                             "  its message last: a step as long as planned\n"))
      << text;
  EXPECT_FALSE(contains(text, "of it: ")) << text;
  explanation.overtaken.clear();
  explanation.lowered = {0.039, false};
  const std::string other = orderWhy(explanation, context());
  EXPECT_TRUE(contains(other, "\nit overtook no message, and none overtook it\n")) << other;
  EXPECT_TRUE(contains(other, "last: a step of 39.00 ms, 1.00 ms (2.50 %) shorter\n")) << other;
}

/// What messages take from computation is part of the proof.
TEST(OrderWhy, OfMessagesThatSlowComputation) {
  OrderExplanation explanation = ofFc();
  explanation.proof = OrderProof{.bound = 0.036,
                                 .compute = 0.020,
                                 .leastLost = 0.004,
                                 .channelWeight = 0.5,
                                 .ready = 0.001,
                                 .tail = 0.002,
                                 .lostBeside = 0.001,
                                 .isMember = true};
  // 36 ms = (1 ms + 47 ms + 2 ms) / 2 + 1 ms + 20 ms / 2
  OrderWhyContext slowed = context();
  slowed.lost = 0.005;
  const std::string text = orderWhy(explanation, slowed);
  EXPECT_TRUE(
      contains(text, "in which messages take up to 5.00 ms from computation, and count from"))
      << text; // also without times in virtual time
  EXPECT_TRUE(contains(text, "need the channel for 47.0 ms together,\na second of reconstruction "
                             "from factors, or that messages take from computation, counted as "
                             "1.00 s (the bound weighs all this with 50.00 % and computation with "
                             "50.00 %), and messages of others take 1.00 ms from computation; this "
                             "one is among them\n"))
      << text;
  explanation.proof->bound = 0.024;
  const std::string hidden = orderWhy(explanation, context());
  EXPECT_TRUE(contains(hidden, "which computation alone takes, with the 4.00 ms that messages take "
                               "from it at least\n"))
      << hidden;
}

/// In halves, a message may overtake by its all-gather alone.
TEST(OrderWhy, OfHalves) {
  OrderExplanation explanation = ofFc();
  explanation.messages[1].message.gather = {2, 0.0155, 0.0200};
  explanation.overtaken = {{2, true}};
  const std::string text = orderWhy(explanation, context());
  EXPECT_TRUE(contains(text, "; +: overtook it, so left or arrived earlier though ready later; -: "
                             "was overtaken by it, so left or arrived later though ready earlier"))
      << text;
  EXPECT_TRUE(contains(text, " ring, halves  ")) << text;
  EXPECT_TRUE(contains(text, "\nhalves: the bucket travels twice, first as a reduce-scatter, whose "
                             "start is given, then as an all-gather,\nwhose end is given; other "
                             "buckets may travel in between\n"))
      << text;
}

/// Another gradient of the message is needed earlier.
TEST(OrderWhy, NamesTheMateThatIsNeededFirst) {
  OrderExplanation explanation = ofFc();
  explanation.layer = 1;
  explanation.parts = {{1, 4096, 0.030}};
  EXPECT_TRUE(contains(orderWhy(explanation, context()),
                       "\nbucket 1 must end by 20.00 ms, since it also brings conv1.weight\n"));
}

TEST(OrderWhy, OfFactors) {
  OrderExplanation explanation = ofFc();
  explanation.reconstruct = 0.001;
  EXPECT_TRUE(contains(orderWhy(explanation, context()),
                       "once it has arrived, computing it from factors takes 1.00 ms, its update "
                       "takes 500 us, and 2.00 ms"));
  explanation.carrier = 2;
  EXPECT_TRUE(contains(orderWhy(explanation, context()),
                       "travels with conv1.weight, whose factors it is computed from; planned by"));
}

/// The table shows the first two and the last two of many messages.
TEST(OrderWhy, ShowsFourOfManyMessages) {
  OrderExplanation explanation = ofFc();
  explanation.overtakers.clear();
  explanation.messages.resize(1);
  for (std::size_t m = 1; m <= 9; ++m) {
    explanation.messages.push_back(message({1}, 64, 0.002, 0.005, 0.006, 0.007));
    explanation.overtakers.push_back({m, false});
  }
  explanation.parts = {{0, 4096, 0.037}};
  const std::string text = orderWhy(explanation, context());
  EXPECT_TRUE(contains(text, "9 messages overtook it; none of them must end earlier (the table "
                             "shows 4 of them)\n"))
      << text;
  for (std::size_t m = 1; m <= 9; ++m)
    EXPECT_EQ(contains(text, "\n+       " + std::to_string(m) + "  "), m <= 2 || m >= 8) << m;
}

/// What the program's prediction says, on its own clock.
TEST(OrderWhy, InVirtualTime) {
  OrderWhyContext why = context();
  why.simulated = VirtualTimes{.start = 0.035, .end = 0.0555, .step = 0.042, .plannersStep = 0.040};
  EXPECT_TRUE(contains(orderWhy(ofFc(), why),
                       "its last message is on the channel\nfrom 35.0 ms to 55.5 ms, and the step "
                       "takes 42.00 ms, here 40.00 ms\n\n"));
}

TEST(OrderWhy, OfTheBound) {
  OrderExplanation explanation = ofFc();
  explanation.proof->isMember = false;
  explanation.ready = 0.0005;
  EXPECT_TRUE(orderWhy(explanation, context()).ends_with("; this one is ready earlier\n"));
  explanation.ready = 0.001;
  EXPECT_TRUE(orderWhy(explanation, context()).ends_with("; this one is needed later\n"));
  explanation.proof->mayPiggyback = true;
  EXPECT_TRUE(orderWhy(explanation, context())
                  .ends_with("not counted, as it may travel with another one's factors\n"));
  explanation.proof->bound = 0.020;
  EXPECT_TRUE(
      orderWhy(explanation, context())
          .ends_with("no order has a step below 20.00 ms, which computation alone takes\n"));
  explanation.proof->bound = 0.040;
  OrderWhyContext requested = context();
  requested.isRequested = true;
  const std::string text = orderWhy(explanation, requested);
  EXPECT_TRUE(contains(text, "by optimal, proved optimal for the schemes requested\n")) << text;
  EXPECT_TRUE(contains(text, "no order with the schemes requested has a step")) << text;
  explanation.proof.reset();
  EXPECT_FALSE(contains(orderWhy(explanation, context()), "no order has"));
}

TEST(OrderWhy, OfAGradientWithoutBytes) {
  OrderExplanation explanation = ofFc();
  explanation.parts.clear();
  EXPECT_EQ(orderWhy(explanation, context()),
            "fc.weight: has no bytes, so nothing travels and nothing waits for it\n");
}
