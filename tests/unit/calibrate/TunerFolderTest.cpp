// What the folder says, as NCCL's tuner reads it.
#include "runtime/calibrate/TunerFolder.h"
#include "runtime/cuda/tuner/Table.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace syncline::calibrate {
namespace {

using nccl::Algorithm;

TEST(TunerFolder, ChoosesForAllLengths) {
  std::string path;
  {
    auto folder = TunerFolder::create("tree");
    ASSERT_TRUE(folder.isOk()) << folder.status().message();
    path = folder->path();
    const std::string file = path + "/nccl-tuner.csv";
    std::ifstream text(file);
    auto table = nccl::readTable(text, file);
    ASSERT_TRUE(table.isOk()) << table.status().message();
    const auto algorithm = [&](nccl::Collective collective, std::int64_t bytes) {
      const nccl::Row *row = nccl::find(*table, static_cast<int>(collective), bytes, 2, 16);
      return row ? row->algorithm : Algorithm{-1};
    };
    for (std::int64_t bytes : {std::int64_t{4}, std::int64_t{1} << 40})
      EXPECT_EQ(algorithm(nccl::Collective::allReduce, bytes), Algorithm::tree);
    EXPECT_EQ(algorithm(nccl::Collective::reduceScatter, 1024), Algorithm::ring);
    EXPECT_EQ(algorithm(nccl::Collective::allGather, 1024), Algorithm::ring);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TunerFolder, LeavesAllReducesToTheLibrary) {
  auto folder = TunerFolder::create(std::nullopt);
  ASSERT_TRUE(folder.isOk()) << folder.status().message();
  const std::string file = folder->path() + "/nccl-tuner.csv";
  std::ifstream text(file);
  auto table = nccl::readTable(text, file);
  ASSERT_TRUE(table.isOk()) << table.status().message();
  const auto find = [&](nccl::Collective collective) {
    return nccl::find(*table, static_cast<int>(collective), 1024, 2, 16);
  };
  EXPECT_FALSE(find(nccl::Collective::allReduce));
  EXPECT_TRUE(find(nccl::Collective::allGather));
}

} // namespace
} // namespace syncline::calibrate
