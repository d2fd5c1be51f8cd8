// A sweep's table, its flips, CSV and picture.
#include "frontend/report/SweepReport.h"

#include "frontend/report/SweepJson.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

using namespace syncline;
using namespace syncline::report;
using namespace syncline::sweep;

namespace {

/// Three gradients at three bandwidths: the scheme of one changes, then the grouping.
Sweep threePoints() {
  auto point = [](double value, std::vector<Scheme> schemes,
                  std::vector<std::vector<int>> messages) {
    return SweepPoint{.value = value,
                      .step = 10 / value,
                      .exposed = 1 / value,
                      .compute = 2,
                      .ranks = 4,
                      .samples = 8,
                      .alone = 1.25,
                      .schemes = std::move(schemes),
                      .messages = std::move(messages)};
  };
  return {{SweepAxis::Kind::slow, 1, 4},
          true,
          {"a", "b", "c"},
          {point(1, {Scheme::factors, Scheme::ring, Scheme::ring}, {{0}, {1}, {1}}),
           point(2, {Scheme::ring, Scheme::ring, Scheme::ring}, {{0}, {1}, {1}}),
           point(4, {Scheme::ring, Scheme::ring, Scheme::ring}, {{0}, {0}, {1}})}};
}

} // namespace

TEST(SweepReportTest, ListsWhereDecisionsChange) {
  const std::string text = sweepTable(threePoints());
  EXPECT_NE(text.find("ring 2, factors 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("decisions change\n"
                      "  at 2: a by ring instead of factors\n"
                      "  at 4: other groups in 2 messages\n"),
            std::string::npos)
      << text;
}

TEST(SweepReportTest, MessagesNumberedOtherwiseAreNoCrossover) {
  Sweep sweep = threePoints();
  sweep.points.resize(2);
  sweep.points[0].schemes = sweep.points[1].schemes;
  sweep.points[1].messages = {{5}, {3}, {3}};
  EXPECT_NE(sweepTable(sweep).find("the decisions are the same"), std::string::npos);
}

// A gradient that is cut has several messages, and the same messages may change places.
TEST(SweepReportTest, TellsOrdersApart) {
  Sweep sweep = threePoints();
  sweep.points[0].schemes = sweep.points[1].schemes;
  for (SweepPoint &point : sweep.points)
    point.overlap = Overlap::step;
  sweep.points[0].messages = {{2}, {0, 1}, {1}};
  sweep.points[1].messages = {{0}, {1, 2}, {2}};
  sweep.points[2].messages = {{0}, {1}, {1, 2}};
  sweep.points[2].gap = 0.125;
  const std::string text = sweepTable(sweep);
  EXPECT_NE(text.find("  at 2: the same messages in another order\n"
                      "  at 4: other groups in 3 messages\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("3  step     12.50 %  ring 3\n"), std::string::npos) << text;
  sweep.points[0].overlap = Overlap::backward;
  sweep.points[0].messages = {{0}, {0}, {0}};
  EXPECT_NE(sweepTable(sweep).find("at 2: 3 messages instead of 1"), std::string::npos);
}

TEST(SweepReportTest, SaysWhatWasKeptAndWhatWasTooLong) {
  Sweep sweep = threePoints();
  sweep.replanned = false;
  sweep.points[1].hasWhole = true;
  const std::string text = sweepTable(sweep);
  EXPECT_NE(text.find("decisions are the plan's at every point"), std::string::npos);
  EXPECT_NE(text.find("2*"), std::string::npos);
  EXPECT_NE(text.find("* too long to simulate"), std::string::npos);
  EXPECT_EQ(text.find("instead of"), std::string::npos);
}

TEST(SweepReportTest, WritesARowAPoint) {
  Sweep sweep = threePoints();
  sweep.points[0].gap = 0.5;
  EXPECT_EQ(sweepCsv(sweep),
            "slow_factor,step_s,compute_s,exposed_s,communication_end_s,messages,samples_per_s,"
            "efficiency,planned_overlap,gap,left_out\n"
            "1,10,2,1,0,2,3.2,0.125,backward,0.5,\n"
            "2,5,2,0.5,0,2,6.4,0.25,backward,,\n"
            "4,2.5,2,0.25,0,2,12.8,0.5,backward,,\n");
}

// What is no point is named with its reason, and never the best.
TEST(SweepReportTest, NamesWhatIsLeftOut) {
  Sweep sweep = threePoints();
  sweep.skipped = {{3, "needs \"much\", more"}, {8, "needs more still"}, {16, "needs more still"}};
  const std::string table = sweepTable(sweep);
  EXPECT_NE(table.find("left out: slow 3: needs \"much\", more\n"
                       "left out: slow 8, 16: needs more still\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("most samples/s: 12.80 at slow 4\n"), std::string::npos) << table;
  const std::string csv = sweepCsv(sweep);
  EXPECT_NE(csv.find("0.25,backward,,\n3,,,,,,,,,,\"needs \"\"much\"\", more\"\n4,"),
            std::string::npos)
      << csv;
  EXPECT_TRUE(csv.ends_with("\n8,,,,,,,,,,\"needs more still\"\n"
                            "16,,,,,,,,,,\"needs more still\"\n"))
      << csv;
  const std::string svg = sweepSvg(sweep, "title");
  EXPECT_NE(svg.find("8: needs more still</text>"), std::string::npos);
}

// Without a trace's samples there is no rate, but still a share of perfect scaling.
TEST(SweepReportTest, RateAndEfficiency) {
  Sweep sweep = threePoints();
  EXPECT_NE(sweepTable(sweep).find("12.80     50.00 %"), std::string::npos) << sweepTable(sweep);
  for (SweepPoint &point : sweep.points)
    point.samples = 0;
  const std::string text = sweepTable(sweep);
  EXPECT_NE(text.find("-     50.00 %"), std::string::npos) << text;
  EXPECT_EQ(text.find("most samples/s"), std::string::npos);
}

TEST(SweepReportTest, DrawsEverySeriesAndEscapesTheTitle) {
  Sweep sweep = threePoints();
  sweep.points[2].exposed = 0; // cannot stand on a logarithmic axis
  const std::string svg = sweepSvg(sweep, "a < b & \"c\"");
  EXPECT_NE(svg.find("a &lt; b &amp; &quot;c&quot;"), std::string::npos);
  std::size_t circles = 0;
  for (std::size_t at = 0; (at = svg.find("<circle", at)) != std::string::npos; ++at)
    ++circles;
  EXPECT_EQ(circles, 8u + 3u); // and the efficiency's
  EXPECT_NE(svg.find("both axes are logarithmic"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

// Each value is a line of its own, at its place among those that were left out.
TEST(SweepJsonTest, HasALineForEachValue) {
  Sweep sweep = threePoints();
  sweep.points[0].gap = 0.5;
  sweep.skipped = {{3, "needs \"memory\""}};
  std::vector<nlohmann::json> lines;
  std::istringstream read(sweepJsonLines(sweep, {{"plan", "f00"}, {"cluster", "lab"}}));
  for (std::string line; std::getline(read, line);)
    lines.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(lines.size(), 4u);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].at("schema"), "syncline-sweep");
    EXPECT_EQ(lines[i].at("plan"), "f00");
    EXPECT_EQ(lines[i].at("cluster"), "lab");
    EXPECT_EQ(lines[i].at("at").at("slow_factor"), std::vector<double>({1, 2, 3, 4})[i]);
  }
  std::vector<std::string> keys; // those that the header lists, and the common ones
  for (const auto &[key, value] : lines[0].items())
    keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{
                      "at", "by_cost", "cluster", "communication_end", "compute", "efficiency",
                      "exposed", "gap", "left_out", "messages", "overlap", "plan", "ranks",
                      "samples_per_second", "schema", "schemes", "step", "version"}));
  EXPECT_EQ(lines[0].at("step"), 10);
  EXPECT_EQ(lines[0].at("efficiency"), 0.125);
  EXPECT_EQ(lines[0].at("samples_per_second"), 3.2);
  EXPECT_EQ(lines[0].at("schemes"), nlohmann::json({{"ring", 2}, {"factors", 1}}));
  EXPECT_EQ(lines[0].at("messages"), 2);
  EXPECT_EQ(lines[0].at("gap"), 0.5);
  EXPECT_TRUE(lines[1].at("gap").is_null());
  EXPECT_TRUE(lines[1].at("left_out").is_null());
  EXPECT_EQ(lines[2].at("left_out"), "needs \"memory\"");
  EXPECT_FALSE(lines[2].contains("step"));
}
