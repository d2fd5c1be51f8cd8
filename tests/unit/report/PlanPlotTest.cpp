// A plan's picture: what it shows, what it escapes, and what it refuses.
#include "frontend/report/PlanPlot.h"
#include "tests/unit/report/Contains.h"

#include <gtest/gtest.h>

#include <string>

using namespace syncline;
using namespace syncline::report;
using nlohmann::json;

namespace {

/// Two buckets: the first by factors, reconstructed from 2 to 2.2 ms; the second exposed.
json plottedPlan() {
  return json::parse(R"({
    "name": "small", "planner": "optimal", "ranks": 4,
    "buckets": [
      {"id": 0, "members": ["fc.weight", "fc.bias"], "bytes": 3072, "scheme": "factors",
       "ready": 0.001, "start": 0.001, "end": 0.0015, "reconstructed": 0.0022, "exposed": 0.0},
      {"id": 1, "members": ["conv.weight"], "bytes": 1024, "scheme": "ring",
       "ready": 0.002, "start": 0.002, "end": 0.003, "reconstructed": 0.003, "exposed": 0.0005}],
    "predicted": {"step": 0.0031, "forward_end": 0.0005, "backward_end": 0.002,
                  "exposed": 0.0005, "updates": 0.0004}})");
}

std::string svgOf(const json &plan) {
  Result<std::string> svg = planSvg(plan);
  return svg ? *svg : svg.status().message();
}

std::size_t count(const std::string &text, const std::string &part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
    ++found;
  return found;
}

} // namespace

TEST(PlanPlot, SaysWhatThePlanIs) {
  const std::string svg = svgOf(plottedPlan());
  EXPECT_TRUE(contains(svg, ">plan small, planner optimal: step 3.10 ms in virtual time<")) << svg;
  EXPECT_TRUE(contains(svg, ">4 ranks, 2 messages, 500 us of communication exposed<")) << svg;
}

TEST(PlanPlot, DrawsABarABucketWithWhatItIs) {
  const std::string svg = svgOf(plottedPlan());
  EXPECT_TRUE(contains(svg, "fill=\"#1e8449\"><title>bucket 0: fc.weight .. fc.bias (2), 3072 B, "
                            "factors; ready at 1.00 ms, travels 1.00 ms to 1.50 ms, exposed 0 s<"))
      << svg;
  EXPECT_TRUE(contains(svg, "fill=\"#1f4e9c\"><title>bucket 1: conv.weight, 1024 B, ring;")) << svg;
}

// A message that ends in the next step stands in two parts: at the step's end, and at the
// beginning, where the forward pass waits for that of the step before.
TEST(PlanPlot, DrawsWhatCrossesIntoTheNextStep) {
  json plan = plottedPlan();
  plan["overlap"] = "step";
  plan["predicted"]["step"] = 0.0021;
  plan["predicted"]["forward_end"] = 0.001;
  const std::string svg = svgOf(plan);
  EXPECT_TRUE(contains(svg, "exposed; messages end up to 900 us into the next step<")) << svg;
  EXPECT_EQ(count(svg, "<title>bucket 0: "), 1) << svg;
  EXPECT_EQ(count(svg, "<title>bucket 1: "), 3) << svg; // two parts, and where it is exposed
  EXPECT_EQ(count(svg, "<title>waits for bucket 1: 500 us<"), 1) << svg;
  EXPECT_TRUE(contains(svg, ">step ends: 2.10 ms<")) << svg;
}

// All updates stand at the end of a step that clips gradients.
TEST(PlanPlot, DrawsClippedUpdatesAtTheEnd) {
  json plan = plottedPlan();
  EXPECT_TRUE(contains(svgOf(plan), "updates of bucket 1"));
  plan["clip_norm"] = 1.0;
  plan["predicted"]["step"] = 0.0035;
  const std::string svg = svgOf(plan);
  EXPECT_FALSE(contains(svg, "updates of bucket")) << svg;
  EXPECT_TRUE(contains(svg, "updates: 3.10 ms to 3.50 ms")) << svg;
}

// The picture of a step of several micro-batches is that of the last one, in which all
// messages travel.
TEST(PlanPlot, DrawsTheLastMicroBatch) {
  json plan = plottedPlan();
  plan["accumulate"] = 3;
  plan["predicted"]["micro_batch"] = 0.002;
  plan["predicted"]["step"] = 0.0071;
  const std::string svg = svgOf(plan);
  EXPECT_TRUE(contains(svg, ": last micro-batch of a step 3.10 ms in virtual time<")) << svg;
  EXPECT_TRUE(contains(svg, ">micro-batch ends: 3.10 ms<")) << svg;
}

// The axis has 760 pixels for 3.1 ms, from 110 on.
TEST(PlanPlot, HatchesTheExposedPart) {
  const std::string svg = svgOf(plottedPlan());
  EXPECT_TRUE(contains(svg, "<rect x=\"722.9\" y=\"164.0\" width=\"122.6\" height=\"34.0\" "
                            "fill=\"url(#exposed)\"><title>bucket 1:"))
      << svg;
  EXPECT_TRUE(contains(svg, ">exposed: computation waits<"));
  json hidden = plottedPlan();
  hidden["buckets"][1]["exposed"] = 0.0;
  EXPECT_FALSE(contains(svgOf(hidden), "computation waits"));
}

// Channels divide the height of their row, so that messages at the same time are all seen.
TEST(PlanPlot, DrawsChannelsOverEachOther) {
  json plan = plottedPlan();
  plan["buckets"][1]["channel"] = 1;
  const std::string svg = svgOf(plan);
  EXPECT_TRUE(contains(svg, "y=\"164.0\" width=\"122.6\" height=\"17.0\" fill=\"#1e8449\"")) << svg;
  EXPECT_TRUE(contains(svg, "y=\"181.0\" width=\"122.6\" height=\"17.0\" "
                            "fill=\"url(#exposed)\""))
      << svg;
}

// Behind the backward pass a rank reconstructs, updates, and waits for the next message. The first
// bucket has three quarters of the bytes, and so of the 0.4 ms of updates.
TEST(PlanPlot, DrawsComputation) {
  const std::string svg = svgOf(plottedPlan());
  EXPECT_TRUE(contains(svg, "<title>forward: 0 s to 500 us<")) << svg;
  EXPECT_TRUE(contains(svg, "<title>backward: 500 us to 2.00 ms<")) << svg;
  EXPECT_TRUE(contains(svg, "<title>reconstruction of bucket 0: 2.00 ms to 2.20 ms<")) << svg;
  EXPECT_TRUE(contains(svg, "<title>updates of bucket 0: 2.20 ms to 2.50 ms<")) << svg;
  EXPECT_TRUE(contains(svg, "<title>updates of bucket 1: 3.00 ms to 3.10 ms<")) << svg;
}

TEST(PlanPlot, AReduceScatterUpdatesItself) {
  json plan = plottedPlan();
  plan["buckets"][1]["scheme"] = "reduce-scatter";
  EXPECT_FALSE(contains(svgOf(plan), "updates of bucket 1"));
}

TEST(PlanPlot, NamesTheAxisUnit) {
  const std::string svg = svgOf(plottedPlan());
  EXPECT_TRUE(contains(svg, ">virtual time in ms<"));
  EXPECT_TRUE(contains(svg, ">0.5<"));
  EXPECT_TRUE(contains(svg, ">3<"));
}

TEST(PlanPlot, EscapesNames) {
  json plan = plottedPlan();
  plan["name"] = "a<b>&\"c\"\x1b[31m";
  plan["planner"] = "\xef\xbf\xbe";
  plan["buckets"][0]["members"] = {"</title><script>", "\n\x7f"};
  plan["buckets"][1]["scheme"] = "<ring>";
  const std::string svg = svgOf(plan);
  EXPECT_TRUE(contains(svg, "plan a&lt;b&gt;&amp;&quot;c&quot;?[31m, planner ?: step")) << svg;
  EXPECT_TRUE(contains(svg, "bucket 0: &lt;/title&gt;&lt;script&gt; .. ?? (2), ")) << svg;
  EXPECT_TRUE(contains(svg, ">&lt;ring&gt;</text>")) << svg;
  EXPECT_FALSE(contains(svg, "<script"));
}

TEST(PlanPlot, DrawsAnEmptyPlan) {
  json plan = plottedPlan();
  plan["buckets"] = json::array();
  for (json &time : plan["predicted"])
    time = 0.0;
  const std::string svg = svgOf(plan);
  EXPECT_TRUE(svg.ends_with("</svg>\n")) << svg;
  EXPECT_FALSE(contains(svg, "nan"));
}

// Whatever a plan states, coordinates are finite.
TEST(PlanPlot, DrawsExtremeTimes) {
  json plan = plottedPlan();
  plan["predicted"]["updates"] = 1e308;
  plan["buckets"][0]["bytes"] = 9e18;
  plan["buckets"][1]["start"] = 1e308;
  const std::string svg = svgOf(plan);
  EXPECT_TRUE(svg.ends_with("</svg>\n")) << svg;
  for (const char *wrong : {"=\"nan", "=\"-nan", "=\"inf", "=\"-inf"})
    EXPECT_FALSE(contains(svg, wrong)) << svg;
}

TEST(PlanPlot, RefusesWhatIsNoPlan) {
  EXPECT_EQ(svgOf(json::object()),
            "the plan does not follow its schema: key 'predicted' not found");
  json plan = plottedPlan();
  plan["buckets"][0]["ready"] = -1.0;
  EXPECT_EQ(svgOf(plan), "the plan does not follow its schema: expected 'ready' of 0 s or more, "
                         "got -1.00 s");
  plan = plottedPlan();
  plan["buckets"][0]["bytes"] = -1;
  EXPECT_EQ(svgOf(plan),
            "the plan does not follow its schema: expected 'bytes' of 0 or more, got -1");
}
