// Folders that take each other's places, where the file system can exchange names and where not.
#include "codegen/folder/PartialFolder.h"
#include "tests/unit/codegen/PlanModule.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace syncline;
using namespace syncline::codegen;
using namespace syncline::test;
namespace fs = std::filesystem;

namespace {

class PartialFolderTest : public testing::TestWithParam<Swap> {
protected:
  std::string folder(const std::string &name, const std::string &content) {
    fs::create_directory(path(name));
    std::ofstream(path(name) + "/content") << content;
    return path(name);
  }
  std::string path(const std::string &name) const { return scratch.path + "/" + name; }
  std::string content(const std::string &name) const {
    std::string text;
    std::getline(std::ifstream(path(name) + "/content"), text);
    return text;
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(scratch.path), fs::directory_iterator()));
  }

  TemporaryFolder scratch;
};

TEST_P(PartialFolderTest, TakesAFreePlace) {
  EXPECT_EQ(replaceFolder(folder("new", "new"), path("place"), GetParam()), 0);
  EXPECT_EQ(content("place"), "new");
  EXPECT_EQ(entries(), 1u);
}

TEST_P(PartialFolderTest, TakesAnothersPlace) {
  folder("place", "old");
  EXPECT_EQ(replaceFolder(folder("new", "new"), path("place"), GetParam()), 0);
  EXPECT_EQ(content("place"), "new");
  EXPECT_EQ(entries(), 1u);
}

TEST_P(PartialFolderTest, LeavesBothWhereItCannot) {
  folder("new", "new");
  EXPECT_EQ(replaceFolder(path("new"), path("absent/place"), GetParam()), ENOENT);
  EXPECT_EQ(content("new"), "new");
  EXPECT_EQ(entries(), 1u);
}

// Several processes at once: each succeeds, one of theirs is there, nothing else stays.
TEST_P(PartialFolderTest, TakesTurns) {
  constexpr int processes = 8, rounds = 50;
  for (int process = 0; process < processes; ++process) {
    if (fork() != 0)
      continue;
    int failures = 0;
    for (int round = 0; round < rounds; ++round) {
      const std::string name = std::to_string(process) + "." + std::to_string(round);
      failures += replaceFolder(folder(name, "new"), path("place"), GetParam()) != 0;
    }
    _exit(failures);
  }
  for (int process = 0; process < processes; ++process) {
    int state = 0;
    wait(&state);
    EXPECT_EQ(state, 0);
  }
  EXPECT_EQ(content("place"), "new");
  EXPECT_EQ(entries(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Swaps, PartialFolderTest, testing::Values(Swap::exchange, Swap::aside),
                         [](const auto &info) {
                           return info.param == Swap::exchange ? "exchange" : "aside";
                         });

} // namespace
