// What consistencies trade: table, CSV, JSON and picture.
#include "frontend/report/ConsistencyReport.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace syncline;
using namespace syncline::report;
using namespace syncline::sweep;

namespace {

ConsistencySweep twoForms() {
  ConsistencyPoint bsp{.form = "bsp", .ranks = 2, .samples = 8, .step = 0.02, .traffic = 1024};
  ConsistencyPoint ssp{.form = "ssp:3",
                       .ranks = 2,
                       .samples = 8,
                       .step = 0.01,
                       .waiting = 0.25,
                       .traffic = 2048,
                       .hasServers = true,
                       .staleness = {.mean = 1.5, .most95 = 2, .largest = 3},
                       .largestLead = 3,
                       .serverLoad = 0.5,
                       .lockLoad = 0.125,
                       .rates = {100, 50},
                       .waits = {0, 0.5}};
  return {{bsp, ssp}, {{"dssp:1,2", "it has \"no\" room"}}};
}

} // namespace

TEST(ConsistencyReportTest, SaysWhatTheFastestTrades) {
  const std::string text = consistencyTable(twoForms());
  EXPECT_NE(text.find("ssp:3 is the fastest: a step takes 10.00 ms, 2.00 times as fast as bsp; its "
                      "steps compute with weights that lag 1.50 steps in place of 0.00\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("left out: dssp:1,2: it has \"no\" room\n"), std::string::npos);
  EXPECT_NE(text.find("nothing here predicts it"), std::string::npos);
}

TEST(ConsistencyReportTest, AFastestThatIsFreshTradesNothing) {
  ConsistencySweep sweep = twoForms();
  sweep.points.front().step = 0.005;
  EXPECT_NE(consistencyTable(sweep).find("bsp is the fastest, and nothing is less stale\n"),
            std::string::npos);
}

TEST(ConsistencyReportTest, ListsRanks) {
  const ConsistencySweep sweep = twoForms();
  const std::string text = consistencyReport({{sweep.points.back()}});
  EXPECT_NE(text.find("rank  steps/s    waits\n   0    100.0   0.00 %\n   1    50.00  50.00 %\n"),
            std::string::npos)
      << text;
}

TEST(ConsistencyReportTest, WritesCsv) {
  EXPECT_EQ(consistencyCsv(twoForms()),
            "consistency,step_s,samples_per_s,waiting_share,staleness_mean_steps,"
            "staleness_95_steps,staleness_most_steps,lead_most_steps,traffic_bytes,server_load,"
            "lock_load,left_out\n"
            "\"bsp\",0.02,800,0,0,0,0,0,1024,,,\n"
            "\"ssp:3\",0.01,1600,0.25,1.5,2,3,3,2048,0.5,0.125,\n"
            "\"dssp:1,2\",,,,,,,,,,,\"it has \"\"no\"\" room\"\n");
}

TEST(ConsistencyReportTest, WritesJson) {
  const nlohmann::json json = consistencyJson(twoForms().points.back());
  EXPECT_EQ(json.at("staleness").at("percentile_95"), 2);
  EXPECT_EQ(json.at("servers").at("load"), 0.5);
  EXPECT_FALSE(consistencyJson(twoForms().points.front()).contains("servers"));
}

TEST(ConsistencyReportTest, DrawsADotAForm) {
  const std::string picture = consistencySvg(twoForms(), "a & b");
  EXPECT_NE(picture.find("a &amp; b"), std::string::npos);
  EXPECT_NE(picture.find(">ssp:3<"), std::string::npos);
  std::size_t dots = 0;
  for (std::size_t at = picture.find("<circle"); at != std::string::npos;
       at = picture.find("<circle", at + 1))
    ++dots;
  EXPECT_EQ(dots, 2u);
}
