// Measuring one rank alone: when it is enough, and what is written.
#include "Processes.h"
#include "TinyPlan.h"

#include "runtime/run/trace/OperationTimes.h"

#include <gtest/gtest.h>

#include <regex>
#include <sstream>

namespace syncline {
namespace {

using namespace run;
using namespace syncline::testing;
using nlohmann::json;

// Equal steps are steady after the warm-up and ten more; the warm-up's times do not matter.
TEST(Steadiness, EqualSteps) {
  Steadiness steadiness;
  for (std::size_t i = 0; i < Steadiness::warmUp; ++i)
    steadiness.add(5);
  for (std::size_t i = 0; i < Steadiness::minSteps; ++i) {
    EXPECT_FALSE(steadiness.isDone());
    steadiness.add(0.06);
  }
  EXPECT_TRUE(steadiness.isSteady());
}

// Quick steps are measured for two seconds all the same: what else a machine does comes and goes.
TEST(Steadiness, QuickSteps) {
  Steadiness steadiness;
  for (int i = 0; i < 1900; ++i) {
    EXPECT_FALSE(steadiness.isDone());
    steadiness.add(0.001);
  }
  EXPECT_TRUE(steadiness.isSteady());
  for (int i = 0; i < 101; ++i)
    steadiness.add(0.001);
  EXPECT_TRUE(steadiness.isDone());
}

// A minimum that is set holds for steady steps too. It also allows more steps than are measured
// without it.
TEST(Steadiness, Minimum) {
  Steadiness steadiness(3);
  for (double total = 0.0002; total < 3; total += 0.0002) {
    EXPECT_FALSE(steadiness.isDone());
    steadiness.add(0.0002);
  }
  steadiness.add(0.0004);
  EXPECT_TRUE(steadiness.isDone());
}

// Steps that become slower are not steady; measuring ends after a minute all the same.
TEST(Steadiness, Drift) {
  Steadiness steadiness;
  double step = 1, total = 0;
  for (; total <= Steadiness::longest; step *= 1.05) {
    EXPECT_FALSE(steadiness.isDone());
    steadiness.add(step);
    total += step;
  }
  EXPECT_FALSE(steadiness.isSteady());
  EXPECT_TRUE(steadiness.isDone());
}

// A plan of four ranks runs alone, by every scheme; each bucket has one update, with its bytes, and
// operations add up to the step.
TEST(OpTimes, MeasuresOneRankAlone) {
  for (const std::string scheme : {"ring", "reduce-scatter", "factors"}) {
    TinyPlan plan(4, 8, "", scheme);
    Outcome run =
        runToEnd({plan.folder(), "--alone", "--op-times", plan.file("o.json"), "--steps", "30"},
                 {{"RANK", "1"}, {"WORLD_SIZE", "4"}});
    ASSERT_EQ(run.code, 0) << run.output;
    const json times = json::parse(readFile(plan.file("o.json")));
    EXPECT_EQ(times["plan"], plan.json["hashes"]["plan"]);
    EXPECT_EQ(times["ranks"], 4);
    const std::size_t steps = times["steps"].size();
    EXPECT_GE(steps, Steadiness::minSteps);
    std::int64_t updated = 0;
    double sum = 0;
    for (const json &op : times["operations"]) {
      EXPECT_EQ(op["seconds"].size(), steps);
      updated += op["kind"] == "update" ? op["bytes"].get<std::int64_t>() : 0;
      sum += op["seconds"][0].get<double>();
    }
    EXPECT_EQ(updated, plan.json["memory"]["parameters"].get<std::int64_t>()) << scheme;
    EXPECT_GT(sum, 0);
    EXPECT_LE(sum, times["steps"][0].get<double>());
    ASSERT_EQ(times["whole"].size(), steps);
    for (std::size_t i = 0; i < steps; ++i)
      EXPECT_GT(times["whole"][i].get<double>(), times["steps"][i].get<double>());
  }
}

// Steps that only warm up leave nothing to write; the help counts them.
TEST(OpTimes, MoreStepsThanWarmUp) {
  TinyPlan plan(2);
  Outcome run =
      runToEnd({plan.folder(), "--alone", "--op-times", plan.file("o.json"), "--steps", "3"});
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.output.find("--op-times: expected more than the 3 steps that warm up, got 3"),
            std::string::npos)
      << run.output;
  EXPECT_FALSE(std::filesystem::exists(plan.file("o.json")));
  EXPECT_EQ(
      runToEnd({plan.folder(), "--alone", "--op-times", plan.file("o.json"), "--steps", "4"}).code,
      0);
  EXPECT_EQ(json::parse(readFile(plan.file("o.json")))["steps"].size(), 1u);
  EXPECT_EQ(runToEnd({"--help"}).output.find("--alone"), std::string::npos);
}

// Alone, one rank is reported, whatever the plan has.
TEST(Alone, ReportsOneRank) {
  TinyPlan plan(4, 8, "", "parameter-server", 1);
  Outcome run = runToEnd({plan.folder(), "--alone", "--steps", "2", "--log", "json"});
  ASSERT_EQ(run.code, 0) << run.output;
  const json summary = json::parse(run.output.substr(run.output.find("{\"summary\"")));
  EXPECT_EQ(summary["ranks"], 1);
  EXPECT_EQ(summary["servers"], 0);
  EXPECT_NEAR(summary["samples_per_second"].get<double>() *
                  summary["median_step_seconds"].get<double>(),
              8, 1e-6);
}

// Where the plan predicts the mean of scattered steps, their mean stands beside the median.
TEST(Alone, ReportsTheMeanThatThePlanPredicts) {
  TinyPlan plan(2);
  const auto summaryOf = [&] {
    const Outcome run = runToEnd({plan.folder(), "--alone", "--steps", "5", "--log", "json"});
    double sum = 0;
    json line;
    std::istringstream lines(run.output);
    for (std::string text; std::getline(lines, text);)
      if (text.starts_with("{")) {
        line = json::parse(text);
        if (line.value("step", 0) > 0) // the first one warms up
          sum += line.at("seconds").get<double>();
      }
    return std::pair(line, sum / 4);
  };
  EXPECT_FALSE(summaryOf().first.contains("mean_step_seconds"));
  plan.json["predicted"]["scatters"] = true;
  plan.seal();
  const auto [summary, mean] = summaryOf();
  ASSERT_TRUE(summary.contains("mean_step_seconds")) << summary;
  EXPECT_NEAR(summary["mean_step_seconds"].get<double>(), mean, 1e-9);
  const Outcome text = runToEnd({plan.folder(), "--alone", "--steps", "5"});
  EXPECT_TRUE(std::regex_search(
      text.output, std::regex("median step [0-9.]+ ms \\(mean [0-9.]+ ms, predicted mean 0.10 ms")))
      << text.output;
}

// What makes no sense alone is refused.
TEST(OpTimes, Usage) {
  TinyPlan plan(2);
  for (const char *option : {"--op-times", "--op-times-for"}) {
    Outcome run = runToEnd({plan.folder(), option, "1"});
    EXPECT_EQ(run.code, 2);
    EXPECT_NE(run.output.find(std::string(option) + " needs --"), std::string::npos) << run.output;
  }
  for (const char *flag : {"-n", "--rank", "--ranks", "--ranks-per-node"}) {
    Outcome run = runToEnd({plan.folder(), "--alone", flag, "2"});
    EXPECT_EQ(run.code, 2) << flag << run.output;
    EXPECT_NE(run.output.find("excludes --alone"), std::string::npos) << run.output;
  }
  EXPECT_EQ(runToEnd({plan.folder(), "--alone", "--trace", plan.file("t")}).code, 2);
}

} // namespace
} // namespace syncline
