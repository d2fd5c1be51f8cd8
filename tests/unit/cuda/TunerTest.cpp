// NCCL's tuner: what it reads, and what it tells NCCL.
#include "runtime/cuda/tuner/Interface.h"
#include "runtime/cuda/tuner/Table.h"

#include <gtest/gtest.h>

#include <cstdarg>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace syncline::nccl {
namespace {

constexpr const char *header =
    "# comment\ncollective,min_bytes,max_bytes,algorithm,protocol,channels,nodes,ranks\n";

Result<Table> tableOf(const std::string &rows) {
  std::istringstream in(header + rows);
  return readTable(in, "t.csv");
}

std::string errorOf(const std::string &rows) {
  const Result<Table> table = tableOf(rows);
  return table ? "none" : table.status().message();
}

TEST(TunerTableTest, ReadsRowsInOrder) {
  const Result<Table> table = tableOf("allreduce,100,100,tree,,-1,-1,4\n"
                                      "allreduce,0,-1,ring,ll128,8,2,-1\n"
                                      "reducescatter,0,-1,ring,simple,-1,-1,4\n");
  ASSERT_TRUE(table.isOk()) << table.status().message();
  ASSERT_EQ(table->rows.size(), 3u);
  const auto at = [&](Collective collective, std::int64_t bytes, int nodes, int ranks) {
    const Row *row = find(*table, static_cast<int>(collective), bytes, nodes, ranks);
    return row ? static_cast<int>(row - table->rows.data()) : -1;
  };
  EXPECT_EQ(at(Collective::allReduce, 100, 2, 4), 0);
  EXPECT_EQ(at(Collective::allReduce, 100, 2, 8), 1);
  EXPECT_EQ(at(Collective::allReduce, 101, 2, 4), 1);
  EXPECT_EQ(at(Collective::allReduce, 101, 1, 4), -1);
  EXPECT_EQ(at(Collective::reduceScatter, std::int64_t{1} << 40, 1, 4), 2);
  EXPECT_EQ(at(Collective::allGather, 100, 2, 4), -1);
  EXPECT_EQ(table->rows[1].protocol, Protocol::ll128);
  EXPECT_EQ(table->rows[1].channels, 8);
  EXPECT_EQ(table->rows[0].protocol, std::nullopt);
  EXPECT_EQ(table->rows[0].channels, std::nullopt);
}

TEST(TunerTableTest, NamesWhatItDoesNotKnow) {
  EXPECT_EQ(errorOf("alltoall,0,-1,ring,,-1,-1,4\n"),
            "t.csv:3: collective: expected one of allgather, allreduce, reducescatter, got "
            "'alltoall'");
  EXPECT_EQ(errorOf("allreduce,0,-1,ring,,-1,-1,4\nallreduce,x,-1,ring,,-1,-1,4\n"),
            "t.csv:4: min_bytes: expected a whole number from 0, got 'x'");
  EXPECT_EQ(errorOf("allreduce,0,-2,ring,,-1,-1,4\n"),
            "t.csv:3: max_bytes: expected a whole number from -1, got '-2'");
  EXPECT_EQ(errorOf("allreduce,0,-1,star,,-1,-1,4\n"),
            "t.csv:3: algorithm: expected one of ring, tree, got 'star'");
  EXPECT_EQ(errorOf("allreduce,0,-1,ring,fast,-1,-1,4\n"),
            "t.csv:3: protocol: expected one of nothing, ll, ll128, simple, got 'fast'");
  EXPECT_EQ(errorOf("allreduce,0,-1,ring\n"), "t.csv:3: expected 8 columns, got 4");
  std::istringstream other("a,b\n"), empty("# nothing\n");
  EXPECT_EQ(readTable(other, "o.csv").status().message(),
            "o.csv:1: expected columns 'collective,min_bytes,max_bytes,algorithm,protocol,channels,"
            "nodes,ranks', got 'a,b'");
  EXPECT_EQ(readTable(empty, "e.csv").status().message(), "e.csv: no columns are named");
}

std::string logged;

void log(int level, unsigned long, const char *, int, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  logged = std::to_string(level) + " " + text;
}

/// A communicator's tuner over a table in a file, by both of NCCL's interfaces.
class TunerPluginTest : public testing::TestWithParam<int> {
protected:
  static constexpr int algorithms = 7, protocols = 3;

  void SetUp() override {
    path = testing::TempDir() + "nccl-tuner-" + std::to_string(GetParam()) + ".csv";
    logged.clear();
    unsetenv("SYNCLINE_NCCL_ELEMENT_BYTES");
    setenv("SYNCLINE_NCCL_TABLE", path.c_str(), 1);
  }
  void TearDown() override {
    if (context) {
      EXPECT_EQ(GetParam() == 4 ? ncclTunerPlugin_v4.destroy(context)
                                : ncclTunerPlugin_v5.finalize(context),
                synclineNcclSuccess);
    }
    unsetenv("SYNCLINE_NCCL_TABLE");
    unsetenv("SYNCLINE_NCCL_ELEMENT_BYTES");
    std::remove(path.c_str());
  }

  void write(const std::string &rows) const { std::ofstream(path) << header << rows; }
  int init() {
    return GetParam() == 4 ? ncclTunerPlugin_v4.init(4, 1, log, &context)
                           : ncclTunerPlugin_v5.init(&context, 7, 4, 1, log, nullptr, nullptr);
  }
  /// "ring/simple": what NCCL takes of costs that prefer tree by LL; its channels behind it.
  std::string chosen(std::size_t bytes, Collective collective = Collective::allReduce,
                     float ringSimple = 3) {
    float costs[algorithms][protocols];
    for (auto &row : costs)
      for (float &cost : row)
        cost = -1;
    costs[0][0] = 1; // tree: LL, LL128, Simple
    costs[0][1] = 1.5;
    costs[0][2] = 2;
    costs[1][0] = 5; // ring
    costs[1][1] = 4;
    costs[1][2] = ringSimple;
    int channels = 0;
    const auto choose = GetParam() == 4 ? ncclTunerPlugin_v4.choose : ncclTunerPlugin_v5.choose;
    EXPECT_EQ(choose(context, static_cast<int>(collective), bytes, 1,
                     reinterpret_cast<float **>(costs), algorithms, protocols, 0, &channels),
              synclineNcclSuccess);
    int algorithm = -1, protocol = -1;
    float least = 1e9;
    for (int a = 0; a < algorithms; ++a)
      for (int p = 0; p < protocols; ++p)
        if (costs[a][p] >= 0 && costs[a][p] < least)
          least = costs[algorithm = a][protocol = p];
    const char *const names[] = {"tree", "ring"}, *const ways[] = {"ll", "ll128", "simple"};
    return std::string(names[algorithm]) + "/" + ways[protocol] + " " + std::to_string(channels);
  }

  std::string path;
  void *context = nullptr;
};

TEST_P(TunerPluginTest, LeavesWhatThePlanChose) {
  write("allreduce,1000,1000,ring,,-1,-1,4\nallreduce,2000,2000,ring,ll,16,-1,4\n"
        "allreduce,3000,3000,ring,,-1,-1,8\n");
  ASSERT_EQ(init(), synclineNcclSuccess) << logged;
  EXPECT_EQ(chosen(1000), "ring/simple 0"); // NCCL's protocol for the algorithm
  EXPECT_EQ(chosen(2000), "ring/ll 16");
  EXPECT_EQ(chosen(3000), "tree/ll 0"); // for other ranks
  EXPECT_EQ(chosen(8), "tree/ll 0");
  EXPECT_EQ(chosen(1000, Collective::allGather), "tree/ll 0");
}

// A protocol that NCCL cannot use here is NCCL's to replace.
TEST_P(TunerPluginTest, LeavesToNcclWhatCannotBe) {
  write("allreduce,1000,1000,ring,simple,16,-1,4\n");
  ASSERT_EQ(init(), synclineNcclSuccess) << logged;
  EXPECT_EQ(chosen(1000, Collective::allReduce, -1), "tree/ll 0");
}

TEST_P(TunerPluginTest, CountsElementsOfTwoBytes) {
  write("allreduce,1000,1000,ring,,-1,-1,4\n");
  setenv("SYNCLINE_NCCL_ELEMENT_BYTES", "2", 1);
  ASSERT_EQ(init(), synclineNcclSuccess) << logged;
  EXPECT_EQ(chosen(500), "ring/simple 0");
  EXPECT_EQ(chosen(1000), "tree/ll 0");
}

TEST_P(TunerPluginTest, SaysWhatIsWrong) {
  EXPECT_EQ(init(), synclineNcclInvalidUsage);
  EXPECT_EQ(logged, "2 cannot read '" + path + "'");
  write("allreduce,0,-1,star,,-1,-1,4\n");
  EXPECT_EQ(init(), synclineNcclInvalidUsage);
  EXPECT_EQ(logged, "2 " + path + ":3: algorithm: expected one of ring, tree, got 'star'");
  setenv("SYNCLINE_NCCL_ELEMENT_BYTES", "3", 1);
  EXPECT_EQ(init(), synclineNcclInvalidUsage);
  EXPECT_EQ(logged, "2 SYNCLINE_NCCL_ELEMENT_BYTES: expected 2 or 4, got '3'");
  unsetenv("SYNCLINE_NCCL_TABLE");
  EXPECT_EQ(init(), synclineNcclInvalidUsage);
  EXPECT_EQ(logged,
            "2 SYNCLINE_NCCL_TABLE is not set: expected the path of a plan's nccl-tuner.csv");
}

INSTANTIATE_TEST_SUITE_P(Interfaces, TunerPluginTest, testing::Values(4, 5));

} // namespace
} // namespace syncline::nccl
