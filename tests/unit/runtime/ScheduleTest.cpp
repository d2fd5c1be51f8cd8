// Schedules: their formulas at chosen steps, files, and what is refused. tests/numerics compares
// every step's rate with PyTorch's.
#include "runtime/run/Schedule.h"

#include "tests/support/TemporaryFolder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

namespace syncline::run {
namespace {

Schedule parsed(const std::string &text, std::int64_t warmUp = 0) {
  Result<Schedule> made = Schedule::parse(text);
  EXPECT_TRUE(made.isOk()) << made.status().message();
  EXPECT_TRUE(made->warmUp(warmUp).isOk());
  return *made;
}

// Each formula at its start, its turning points and its end.
TEST(Schedule, HasTheRatesOfItsFormula) {
  EXPECT_EQ(parsed("constant").rateAt(99, 100, 0.3), 0.3);
  const Schedule step = parsed("step:10,0.5");
  EXPECT_EQ(step.rateAt(9, 100, 0.8), 0.8);
  EXPECT_EQ(step.rateAt(10, 100, 0.8), 0.4);
  EXPECT_EQ(step.rateAt(39, 100, 0.8), 0.1);
  const Schedule cosine = parsed("cosine:0.1");
  EXPECT_EQ(cosine.rateAt(0, 10, 0.5), 0.5);
  EXPECT_NEAR(cosine.rateAt(5, 10, 0.5), 0.3, 1e-15);
  EXPECT_NEAR(cosine.rateAt(9, 10, 0.5), 0.1 + 0.2 * (1 + std::cos(0.9 * M_PI)), 1e-15);
  EXPECT_EQ(parsed("linear").rateAt(3, 4, 1), 0.25);
  const Schedule cycle = parsed("one-cycle:0.5,10,100");
  EXPECT_DOUBLE_EQ(cycle.rateAt(0, 20, 1), 0.1);
  EXPECT_DOUBLE_EQ(cycle.rateAt(9, 20, 1), 1);
  EXPECT_DOUBLE_EQ(cycle.rateAt(19, 20, 1), 1e-3);
}

// W steps rise to the rate; the schedule counts its own steps from there on.
TEST(Schedule, BeginsWithTheWarmUp) {
  const Schedule warm = parsed("step:2,0.5", 4);
  const std::vector<double> wanted{0.25, 0.5, 0.75, 1, 1, 1, 0.5, 0.5, 0.25};
  for (std::size_t t = 0; t < wanted.size(); ++t)
    EXPECT_EQ(warm.rateAt(static_cast<std::int64_t>(t), 9, 1), wanted[t]) << t;
  EXPECT_TRUE(parsed("constant", 4).isGiven());
  EXPECT_FALSE(parsed("constant").isGiven());
  EXPECT_TRUE(warm.check(4).isOk());
  EXPECT_EQ(warm.check(3).message(), "--warmup 4: the run has 3 steps");
}

// Every run is short enough for one step, whose rate is a number.
TEST(Schedule, IsFiniteInTheShortestRuns) {
  for (const char *text : {"cosine", "linear", "one-cycle", "one-cycle:0", "one-cycle:1"})
    for (std::int64_t steps = 1; steps < 5; ++steps)
      for (std::int64_t step = 0; step < steps; ++step)
        EXPECT_TRUE(std::isfinite(parsed(text).rateAt(step, steps, 1))) << text << ' ' << steps;
}

class ScheduleFile : public ::testing::Test {
protected:
  Result<Schedule> loaded(const std::string &content, const std::string &name = "rates.csv") {
    const std::string path = folder.file(name);
    std::ofstream(path) << content;
    Result<Schedule> made = Schedule::parse(path);
    const Status read = made->load();
    return read ? made : read;
  }
  std::string refused(const std::string &content) {
    const Result<Schedule> made = loaded(content);
    return made ? "" : made.status().message();
  }

  test::TemporaryFolder folder;
};

// A rate holds until the next line's step, and behind the last line.
TEST_F(ScheduleFile, HoldsItsRates) {
  const Result<Schedule> made = loaded("0,0.1\n3,0.2\n\n5,0\n");
  ASSERT_TRUE(made.isOk()) << made.status().message();
  const std::vector<double> wanted{0.1, 0.1, 0.1, 0.2, 0.2, 0, 0};
  for (std::size_t t = 0; t < wanted.size(); ++t)
    EXPECT_EQ(made->rateAt(static_cast<std::int64_t>(t), 7, 9), wanted[t]) << t;
}

// Ranks compare this text: equal rates in files of other names are equal, other rates are not.
TEST_F(ScheduleFile, HasATextOfItsRates) {
  const std::string one = loaded("0,0.1\n3,0.2\n")->text();
  EXPECT_EQ(loaded("0,0.10\n\n3,0.2\n", "other.csv")->text(), one);
  EXPECT_NE(loaded("0,0.1\n3,0.3\n")->text(), one);
  EXPECT_NE(loaded("0,0.1\n4,0.2\n")->text(), one);
}

TEST_F(ScheduleFile, RefusesWhatIsNoSchedule) {
  const std::string file = "'" + folder.file("rates.csv") + "'";
  EXPECT_EQ(refused("1,0.1\n"), file + ": row 1: expected the rate of step 0 first, got step 1");
  EXPECT_EQ(refused("0,0.1\n4,0.1\n4,0.2\n"), file + ": row 3: expected a step above 4, got 4");
  EXPECT_EQ(refused("0,-0.1\n"), file + ": row 1: expected a rate from 0 to 1e30");
  EXPECT_EQ(refused("0.5,1\n"), file + ": row 1: expected the number of a step, counted from 0");
  EXPECT_EQ(refused("0,1,2\n"), file + ": row 1: expected a step and a rate, got 3 columns");
  EXPECT_EQ(refused("step,rate\n"), file + " line 1: column 1: expected a number, got 'step'");
  Result<Schedule> missing = Schedule::parse(folder.file("none.csv"));
  EXPECT_NE(missing->load().message().find("none.csv': cannot open: No such file"),
            std::string::npos);
}

// One message for each mistake on the command line, which ends with what was given.
TEST(Schedule, RefusesWhatItDoesNotKnow) {
  const auto refused = [](const std::string &text) {
    const Result<Schedule> made = Schedule::parse(text);
    EXPECT_FALSE(made.isOk()) << text;
    EXPECT_EQ(made.status().kind(), ErrorKind::badUsage);
    return made.status().message();
  };
  for (const char *text :
       {"", "cosin", "step", "step:3", "step:3,0.5,1", "constant:1", "linear:1,2"})
    EXPECT_NE(refused(text).find("expected constant, step:EVERY,FACTOR, cosine[:MIN]"),
              std::string::npos);
  for (const char *text : {"cosine:", "cosine:x", "linear:-1", "one-cycle:0.3,", "cosine:nan"})
    EXPECT_EQ(refused(text),
              std::string("--schedule: expected numbers from 0 to 1e30, got '") + text + "'");
  EXPECT_NE(refused("step:0,0.5").find("at least 1 for EVERY"), std::string::npos);
  EXPECT_NE(refused("step:1.5,0.5").find("at least 1 for EVERY"), std::string::npos);
  EXPECT_NE(refused("one-cycle:1.5").find("expected UP from 0 to 1"), std::string::npos);
  EXPECT_NE(refused("one-cycle:0.3,0").find("expected DIV and FINAL above 0"), std::string::npos);
  for (const char *text : {"one-cycle", "rates.csv"}) {
    Result<Schedule> made = Schedule::parse(text);
    const Status s = made->warmUp(3);
    EXPECT_EQ(s.message(), "--warmup: '--schedule " + std::string(text) +
                               "' states its first rates itself, expected no warm-up");
  }
}

} // namespace
} // namespace syncline::run
