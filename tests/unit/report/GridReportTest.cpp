// A sweep over two axes: tables, CSV and picture; and where efficiency passes a threshold.
#include "frontend/report/SweepReport.h"

#include "frontend/report/SweepJson.h"
#include "tests/unit/report/Contains.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

using namespace syncline;
using namespace syncline::report;
using namespace syncline::sweep;

namespace {

Sweep column(double step, BreakEven breakEven) {
  auto point = [&](double value) {
    return SweepPoint{.value = value,
                      .step = step / value,
                      .ranks = 4,
                      .samples = 8,
                      .alone = 1,
                      .schemes = {Scheme::ring},
                      .messages = {{0}}};
  };
  Sweep sweep{{SweepAxis::Kind::slow, 1, 4}, true, {"a"}, {point(1), point(2)}};
  sweep.breakEven = breakEven;
  return sweep;
}

/// Two values of 'slow' by two planners; the second one's has no plan at 2.
SweepGrid grid() {
  SweepGrid grid{{SweepAxis::Kind::slow, 1, 2},
                 {SweepAxis::Kind::planner, 0, 1, {0, 1}, {"optimal", "ddp:1MiB"}},
                 {0, 1},
                 {column(2, {BreakEven::Kind::from, 0.9, 1.5}),
                  column(4, {BreakEven::Kind::never, 0.9, 0, 0.25, 1})}};
  grid.columns[1].points.pop_back();
  grid.columns[1].skipped = {{2, "has \"none\""}};
  return grid;
}

} // namespace

TEST(GridReportTest, Tables) {
  EXPECT_EQ(gridTable(grid()),
            "step by slow  planner optimal  planner ddp:1MiB\n"
            "           1          2.000 s           4.000 s\n"
            "           2          1.000 s                 -\n"
            "\n"
            "efficiency by slow  planner optimal  planner ddp:1MiB\n"
            "                 1          50.00 %           25.00 %\n"
            "                 2         100.00 %                 -\n"
            "\n"
            "left out: slow 2, at planner ddp:1MiB: has \"none\"\n"
            "samples/s: of all ranks; efficiency: samples/s / (ranks x samples/s of one device "
            "alone, which sends nothing)\n"
            "most samples/s: 32.00 at slow 2, planner optimal\n"
            "at planner optimal: from slow 1.5 on efficiency is above 90 %\n"
            "at planner ddp:1MiB: efficiency is nowhere above 90 %; the most is 25.00 %, at slow "
            "1; unknown where values are left out\n"
            "planned anew at every point\n");
}

// Steps that differ by rounding are equal: the first has the most.
TEST(GridReportTest, NamesTheFirstOfEqualRates) {
  SweepGrid equal = grid();
  equal.columns[1] = column(2 * (1 - 1e-13), {});
  EXPECT_TRUE(contains(gridTable(equal), "most samples/s: 32.00 at slow 2, planner optimal\n"));
  Sweep sweep = column(2, {});
  sweep.points[0].step = sweep.points[1].step * (1 + 1e-13);
  EXPECT_TRUE(contains(sweepTable(sweep), "most samples/s: 32.00 at slow 1\n"))
      << sweepTable(sweep);
}

TEST(GridReportTest, SaysWhatIsUnknownOrTooLong) {
  SweepGrid unknown = grid();
  for (Sweep &column : unknown.columns) {
    column.breakEven.reset();
    column.replanned = false;
    for (SweepPoint &point : column.points) {
      point.alone = point.samples = 0;
      point.hasWhole = true;
    }
  }
  const std::string text = gridTable(unknown);
  EXPECT_FALSE(contains(text, "efficiency by"));
  EXPECT_FALSE(contains(text, "most samples/s"));
  EXPECT_TRUE(contains(text, "1.000 s*")) << text;
  EXPECT_TRUE(contains(text, "* too long to simulate")) << text;
  EXPECT_TRUE(text.ends_with("decisions are the plan's at every point\n")) << text;
  EXPECT_TRUE(contains(gridSvg(unknown, "t"), ">step; across"));
}

TEST(GridReportTest, Csv) {
  EXPECT_EQ(gridCsv(grid()),
            "slow_factor,planner,step_s,compute_s,exposed_s,communication_end_s,messages,"
            "samples_per_s,efficiency,planned_overlap,gap,left_out\n"
            "1,optimal,2,0,0,0,1,16,0.5,backward,,\n"
            "2,optimal,1,0,0,0,1,32,1,backward,,\n"
            "1,ddp:1MiB,4,0,0,0,1,8,0.25,backward,,\n"
            "2,ddp:1MiB,,,,,,,,,,\"has \"\"none\"\"\"\n");
}

TEST(GridReportTest, Picture) {
  SweepGrid many = grid();
  const std::string svg = gridSvg(many, "a < b");
  EXPECT_TRUE(contains(svg, "a &lt; b"));
  EXPECT_TRUE(contains(svg, "scaling efficiency"));
  EXPECT_TRUE(contains(svg, ">planner ddp:1MiB</text>"));
  many.columns[1].points.clear();
  EXPECT_TRUE(contains(gridSvg(many, ""), ">planner ddp:1MiB: none</text>"));
  EXPECT_FALSE(contains(svg, "nan"));
  EXPECT_EQ(std::ranges::count(svg, '\n'), std::ranges::count(gridSvg(grid(), "a < b"), '\n'));
}

TEST(GridReportTest, BreakEven) {
  auto text = [](BreakEven found) {
    Sweep sweep = column(2, found);
    return breakEvenText(sweep);
  };
  using Kind = BreakEven::Kind;
  EXPECT_EQ(text({Kind::from, 0.9, 1.5}), "from slow 1.5 on efficiency is above 90 %\n");
  EXPECT_EQ(text({Kind::upTo, 0.875, 1.5}), "up to slow 1.5 efficiency is above 87.5 %\n");
  EXPECT_EQ(text({Kind::everywhere, 0.5, 0, 0.625, 2}),
            "efficiency is above 50 % everywhere; the least is 62.50 %, at slow 2\n");
  EXPECT_EQ(text({Kind::notMonotone, 0.75}),
            "efficiency passes 75 % more than once; it is above at slow 2\n");
  Sweep sweep = column(2, {Kind::from, 0.9, 1.5});
  EXPECT_TRUE(
      contains(sweepTable(sweep), "at slow 2\nfrom slow 1.5 on efficiency is above 90 %\n\n"))
      << sweepTable(sweep);
  sweep.skipped.push_back({3, "too large"});
  EXPECT_EQ(breakEvenText(sweep), "from slow 1.5 on efficiency is above 90 %; unknown where values "
                                  "are left out\n");
  sweep.breakEven.reset();
  EXPECT_EQ(breakEvenText(sweep), "");
}

// Both axes' values stand in each line, names as names.
TEST(GridReportTest, JsonHasBothAxes) {
  const std::string text = gridJsonLines(grid(), nlohmann::json::object());
  const nlohmann::json first = nlohmann::json::parse(text.substr(0, text.find('\n')));
  EXPECT_EQ(first.at("at"), nlohmann::json({{"planner", "optimal"}, {"slow_factor", 1.0}}));
  EXPECT_EQ(std::ranges::count(text, '\n'), 4);
  EXPECT_TRUE(contains(text, "\"planner\":\"ddp:1MiB\"")) << text;
}
