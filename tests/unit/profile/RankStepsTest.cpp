// Logs of ranks side by side: their steps, and which were under way at the same time.
#include "frontend/profile/RankSteps.h"

#include "tests/support/Results.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::profile;

namespace {

/// A file in a temporary folder that goes with it.
class Log {
public:
  explicit Log(const std::string &text) {
    std::string pattern = (std::filesystem::temp_directory_path() / "steps-XXXXXX").string();
    folder = mkdtemp(pattern.data());
    std::ofstream(path()) << text;
  }
  ~Log() { std::filesystem::remove_all(folder); }
  std::string path() const { return folder + "/log"; }

private:
  std::string folder;
};

} // namespace

// Only lines of steps count; the last line is not complete yet.
TEST(RankSteps, AreReadFromALog) {
  const Log log("{\"plan\": \"p\"}\n{\"step\": 0, \"seconds\": 0.5}\nnoise\n"
                "{\"step\": 1, \"loss\": 2, \"seconds\": 0.25}\n{\"step\": 2, \"sec");
  const Result<RankSteps> steps = readSteps(log.path());
  ASSERT_TRUE(steps) << steps.status().message();
  EXPECT_EQ(steps->seconds, (std::vector<double>{0.5, 0.25}));
  EXPECT_EQ(steps->end, *lastWritten(log.path()));
}

TEST(RankSteps, RefusesALogWithoutSteps) {
  const Log log("{\"plan\": \"p\"}\n");
  EXPECT_NE(test::messageOf(readSteps(log.path())).find("expected a log of steps, got none"),
            std::string::npos);
  EXPECT_NE(test::messageOf(readSteps("/nowhere/log")).find("/nowhere/log"), std::string::npos);
}

// A rank's steps from 10 s to 16 s, the other's from 8 s to 14 s: a step counts where it was under
// way at the middle, and the last one beyond its end.
TEST(RankSteps, AreMatchedByTheirMiddles) {
  const RankSteps rank{.seconds = {2, 1, 1, 2}, .end = 16};
  const RankSteps other{.seconds = {1, 2, 1.25, 1.75}, .end = 14};
  // Middles at 11, 12.5, 13.5 and 15 s; the other's steps end at 9, 11, 12.25 and 14 s.
  EXPECT_EQ(stepsBeside(rank, other), (std::vector<double>{2, 1.75, 1.75, 1.75}));
  // Steps before the other rank's first one.
  EXPECT_EQ(stepsBeside({.seconds = {1, 1}, .end = 3}, {.seconds = {3, 4}, .end = 20}),
            (std::vector<double>{3, 3}));
}
