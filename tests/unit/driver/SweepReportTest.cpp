// A sweep's table, its flips, CSV and picture.
#include "frontend/driver/SweepReport.h"

#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::driver;
using solver::Scheme;

namespace {

/// Three gradients at three bandwidths: the scheme of one changes, then the grouping.
Sweep threePoints() {
  auto point = [](double value, std::vector<Scheme> schemes, std::vector<int> messages) {
    return SweepPoint{.value = value,
                      .step = 10 / value,
                      .exposed = 1 / value,
                      .compute = 2,
                      .schemes = std::move(schemes),
                      .messages = std::move(messages)};
  };
  return {{SweepAxis::Kind::slow, 1, 4},
          true,
          {"a", "b", "c"},
          {point(1, {Scheme::factors, Scheme::ring, Scheme::ring}, {0, 1, 1}),
           point(2, {Scheme::ring, Scheme::ring, Scheme::ring}, {0, 1, 1}),
           point(4, {Scheme::ring, Scheme::ring, Scheme::ring}, {0, 0, 1})}};
}

} // namespace

TEST(SweepReportTest, ListsWhereDecisionsFlip) {
  const std::string text = sweepTable(threePoints());
  EXPECT_NE(text.find("ring 2, factors 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("decisions change\n"
                      "  at 2: a by ring instead of factors\n"
                      "  at 4: other groups in 2 messages\n"),
            std::string::npos)
      << text;
}

TEST(SweepReportTest, MessagesNumberedOtherwiseAreNoFlip) {
  Sweep sweep = threePoints();
  sweep.points.resize(2);
  sweep.points[0].schemes = sweep.points[1].schemes;
  sweep.points[1].messages = {5, 3, 3};
  EXPECT_NE(sweepTable(sweep).find("the decisions are the same"), std::string::npos);
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
  EXPECT_EQ(sweepCsv(threePoints()), "slow,step,compute,exposed,communication_end,messages\n"
                                     "1,10,2,1,0,2\n"
                                     "2,5,2,0.5,0,2\n"
                                     "4,2.5,2,0.25,0,2\n");
}

TEST(SweepReportTest, DrawsEverySeriesAndEscapesTheTitle) {
  Sweep sweep = threePoints();
  sweep.points[2].exposed = 0; // cannot stand on a logarithmic axis
  const std::string svg = sweepSvg(sweep, "a < b & \"c\"");
  EXPECT_NE(svg.find("a &lt; b &amp; &quot;c&quot;"), std::string::npos);
  std::size_t circles = 0;
  for (std::size_t at = 0; (at = svg.find("<circle", at)) != std::string::npos; ++at)
    ++circles;
  EXPECT_EQ(circles, 8u);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}
