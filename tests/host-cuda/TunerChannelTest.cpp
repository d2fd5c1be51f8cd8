// The plan's tuner, loaded and asked by NCCL, and what a run says where NCCL does not follow it.
#include "tests/host-cuda/NcclCommunicator.h"
#include "tests/host-cuda/TestRanks.h"

#include "runtime/cuda/nccl/NcclEnvironment.h"

#include <filesystem>
#include <fstream>

namespace syncline::hostcuda {
namespace {

using cuda::TunerUse;

class TunerChannelTest : public testing::Test {
protected:
  TunerChannelTest() : table(testing::TempDir() + "tuner-channel.csv") {
    std::ofstream(table)
        << "collective,min_bytes,max_bytes,algorithm,protocol,channels,nodes,ranks\n"
           "allreduce,0,-1,tree,,-1,-1,2\n";
  }
  ~TunerChannelTest() override { std::filesystem::remove(table); }

  /// What is known of the tuner at `path` after a sum by tree, less what it was asked before.
  TunerUse useOf(const std::string &path) const {
    const Variable plugin("NCCL_TUNER_PLUGIN", path), rows("SYNCLINE_NCCL_TABLE", table);
    TunerUse use;
    TestMeeting meeting(2);
    runRanks(meeting, [&](int rank) {
      TestRank own(meeting, rank, {{Scheme::tree, 103, 0}});
      const TunerUse before = cuda::tunerUse(path);
      own.compute(0, [](std::size_t) { return 1.0F; });
      EXPECT_TRUE(own.issue(0).isOk());
      EXPECT_TRUE(own.wait(0).isOk());
      EXPECT_TRUE(own->synchronize().isOk());
      if (rank != 0)
        return;
      use = cuda::tunerUse(path);
      use.asked -= before.asked;
      use.unable -= before.unable;
    });
    return use;
  }

  const std::string table;
};

TEST_F(TunerChannelTest, IsAskedByNccl) {
  const TunerUse use = useOf(SYNCLINE_NCCL_TUNER);
  EXPECT_TRUE(use.isLoaded);
  EXPECT_GT(use.asked, 0);
  EXPECT_EQ(use.unable, 0);
  EXPECT_EQ(cuda::tunerWarning(use), "");
}

// Messages whose size has no row in the table travel by the algorithm that NCCL takes itself.
TEST_F(TunerChannelTest, LeavesTheChoiceToNccl) {
  const Variable plugin("NCCL_TUNER_PLUGIN", SYNCLINE_NCCL_TUNER),
      rows("SYNCLINE_NCCL_TABLE", table), nvls("SYNCLINE_HOST_NCCL_NVLS", "1");
  std::ofstream(table) << "collective,min_bytes,max_bytes,algorithm,protocol,channels,nodes,ranks\n"
                          "allreduce,412,412,tree,,-1,-1,2\n";
  const std::int64_t byNvls = sumCounts.byNvls, byOthers = sumCounts.byOthers;
  TestMeeting meeting(2);
  runRanks(meeting, [&](int rank) {
    TestRank own(meeting, rank,
                 {{Scheme::tree, 103, 0}, {Scheme::library, 55, 0}, {Scheme::library, 7, 0}});
    for (int bucket : {0, 1, 2}) {
      own.compute(bucket, [&](std::size_t) { return static_cast<float>(rank + 1); });
      EXPECT_TRUE(own.issue(bucket).isOk());
      EXPECT_TRUE(own.wait(bucket).isOk());
    }
    EXPECT_TRUE(own->synchronize().isOk());
  });
  EXPECT_EQ(sumCounts.byNvls - byNvls, 2 * 2);
  EXPECT_EQ(sumCounts.byOthers - byOthers, 2);
}

TEST_F(TunerChannelTest, TellsOfAlgorithmsThatNcclDoesNotHave) {
  const Variable noTree("SYNCLINE_HOST_NCCL_TREE", "0");
  const TunerUse use = useOf(SYNCLINE_NCCL_TUNER);
  EXPECT_GT(use.unable, 0);
  EXPECT_EQ(use.unable, use.asked);
  EXPECT_TRUE(cuda::tunerWarning(use).starts_with("warning: NCCL could not use the plan's "))
      << cuda::tunerWarning(use);
}

TEST_F(TunerChannelTest, TellsOfPathsThatNcclCuts) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / std::string(250, 'x');
  fs::create_directories(folder);
  const std::string path = folder / "libnccl-tuner-syncline.so";
  fs::copy_file(SYNCLINE_NCCL_TUNER, path, fs::copy_options::overwrite_existing);
  const TunerUse use = useOf(path);
  EXPECT_FALSE(use.isLoaded);
  const std::string warning = cuda::tunerWarning(use);
  EXPECT_NE(warning.find("has not loaded the plan's tuner"), std::string::npos) << warning;
  EXPECT_NE(warning.find("at most 254 characters, this one has " + std::to_string(path.size())),
            std::string::npos)
      << warning;
  fs::remove_all(folder);
}

} // namespace
} // namespace syncline::hostcuda
