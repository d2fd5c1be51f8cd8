// Every cluster file and layer trace that is shipped reads without error.
#include "frontend/files/ClusterFile.h"
#include "frontend/files/LayerTrace.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace syncline::files {
namespace {

const std::filesystem::path samples = SYNCLINE_SAMPLES;

/// Reads every file of a folder that has this extension; their number.
template <typename Read> int readAll(const char *folder, const char *extension, const Read &read) {
  int count = 0;
  for (const auto &entry : std::filesystem::directory_iterator(samples / folder)) {
    if (entry.path().extension() != extension)
      continue;
    const auto result = read(entry.path());
    EXPECT_TRUE(result) << result.status().message();
    ++count;
  }
  return count;
}

// All of samples/clusters parses, and there are some.
TEST(Samples, Clusters) { EXPECT_GE(readAll("clusters", ".yaml", readClusterFile), 27); }

// The cluster file that the README shows, with every key, reads as it says.
TEST(Samples, ReadmeCluster) {
  std::ifstream file(samples / "../frontend/files/README.md");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::size_t head = text.find("```yaml\n");
  ASSERT_NE(head, std::string::npos);
  const std::size_t begin = head + 8;
  const Result<ClusterFile> cluster =
      parseClusterFile(text.substr(begin, text.find("```", begin) - begin), "README.md");
  ASSERT_TRUE(cluster) << cluster.status().message();
  EXPECT_EQ(cluster->ranks, 8);
  EXPECT_EQ(cluster->device.memory, 1.2e12);
  EXPECT_EQ(cluster->cardsPerNode, 2);
  EXPECT_EQ(cluster->overrides.size(), 1u);
  EXPECT_EQ(cluster->servers->link.bandwidth, 5e9);
  EXPECT_EQ(cluster->collectives.size(), 3u);
}

// All of samples/traces parses, and there are some.
TEST(Samples, Traces) { EXPECT_GE(readAll("traces", ".csv", readLayerTrace), 1); }

// The fitted lines of the MG-WFBP clusters are the published ones, digit by digit.
TEST(Samples, PublishedLines) {
  struct Fit {
    const char *file;
    std::int64_t ranks;
    double a, b;
  };
  for (const Fit &fit : {Fit{"mg-wfbp-v100-10gbe.yaml", 16, 9.0809810e-4, 7.3956512e-10},
                         Fit{"mg-wfbp-v100-10gbe-8.yaml", 8, 5.2302728e-4, 8.5707470e-10},
                         Fit{"mg-wfbp-v100-56gib.yaml", 16, 2.3583678e-4, 4.0594788e-10},
                         Fit{"mg-wfbp-v100-56gib-8.yaml", 8, 9.7536720e-5, 3.0568231e-10}}) {
    const Result<ClusterFile> cluster = readClusterFile(samples / "clusters" / fit.file);
    ASSERT_TRUE(cluster) << cluster.status().message();
    EXPECT_EQ(cluster->ranks, fit.ranks) << fit.file;
    ASSERT_EQ(cluster->collectives.size(), 1u) << fit.file;
    EXPECT_EQ(cluster->collectives[0].scheme, Scheme::ring) << fit.file;
    const auto *line = std::get_if<AffineCost>(&cluster->collectives[0].time);
    ASSERT_TRUE(line) << fit.file;
    EXPECT_EQ(line->a, fit.a) << fit.file;
    EXPECT_EQ(line->b, fit.b) << fit.file;
  }
}

} // namespace
} // namespace syncline::files
