// What a cluster file says of nodes: their network cards, and where one differs from the others.
#include "tests/unit/files/ClusterText.h"

#include <gtest/gtest.h>

namespace syncline::files {
namespace {

// A node has one card unless it is said to have more.
TEST(ClusterCards, Count) {
  auto network = [](std::string_view rest) {
    return "name: n\nranks: 4\nnetwork: {kind: ethernet-1g" + std::string(rest) + "}\n";
  };
  EXPECT_EQ(read(network("")).cardsPerNode, 1);
  EXPECT_EQ(read(network(", cards: 8")).cardsPerNode, 8);
  EXPECT_EQ(failure(network(", cards: 0")),
            "c.yaml:3:37: 'network.cards': expected a whole number of network cards from 1 to "
            "1024, got '0'");
}

// A device's memory has a size, of at least a byte.
TEST(ClusterMemory, Size) {
  EXPECT_EQ(read(lab(4, "device: {memory-size: 16GB}")).device.memorySize, 16'000'000'000);
  EXPECT_FALSE(read(lab(4, "device: {memory: 16GB/s}")).device.memorySize);
  EXPECT_EQ(failure(lab(4, "device: {memory-size: 16 GB/s}")),
            "c.yaml:5:23: 'device.memory-size': unknown unit 'GB/s' in '16 GB/s', expected a size "
            "in one of B, kB, KiB, MB, MiB, GB, GiB, TB, TiB");
  EXPECT_NE(failure(lab(4, "device: {memory-size: 0B}")).find("at least one byte"),
            std::string::npos);
}

// An override names nodes and what differs there; of the link, the rest stays the network's.
TEST(ClusterOverrides, DeviceAndNetwork) {
  const auto overrides =
      read(lab(4, "overrides:\n- {nodes: [3, 0], device: {slowdown: 1.5}}\n"
                  "- {nodes: [2], network: {bandwidth: 100 Mb/s}, device: {slowdown: 0.5}}\n"
                  "- {nodes: [1], network: {kind: ethernet-10g, latency: 1ms}}"))
          .overrides;
  ASSERT_EQ(overrides.size(), 3u);
  EXPECT_EQ(overrides[0].nodes, (std::vector<std::int64_t>{0, 3}));
  EXPECT_EQ(overrides[0].slowdown, 1.5);
  EXPECT_FALSE(overrides[0].network);
  EXPECT_EQ(overrides[1].slowdown, 0.5);
  ASSERT_TRUE(overrides[1].network);
  EXPECT_EQ(overrides[1].network->bandwidth, 1.25e7);
  EXPECT_EQ(overrides[1].network->latency, 50e-6);
  EXPECT_EQ(overrides[1].network->secondsPerReduce, 2.5e-10);
  EXPECT_EQ(overrides[2].slowdown, 1);
  EXPECT_EQ(overrides[2].network->bandwidth, 1.25e9);
  EXPECT_EQ(overrides[2].network->latency, 1e-3);
}

// Nodes are those of the file, each in one override.
TEST(ClusterOverrides, Nodes) {
  auto nodes = [](std::string_view list) {
    return failure(
        lab(4, "overrides: [{nodes: " + std::string(list) + ", device: {slowdown: 2}}]"));
  };
  EXPECT_EQ(nodes("[4]"),
            "c.yaml:5:22: 'overrides[0].nodes[0]': expected a node from 0 to 3, got '4'");
  EXPECT_NE(nodes("[-1]").find("got '-1'"), std::string::npos);
  EXPECT_NE(nodes("[1.5]").find("got '1.5'"), std::string::npos);
  EXPECT_EQ(nodes("[1, 1]"), "c.yaml:5:25: 'overrides[0].nodes[1]': node 1 is given twice, first "
                             "in 'overrides[0]'");
  EXPECT_EQ(nodes("[]"), "c.yaml:5:21: 'overrides[0].nodes': expected at least one node, got an "
                         "empty list");
  EXPECT_EQ(nodes("3"), "c.yaml:5:21: 'overrides[0].nodes': expected a list of nodes such as "
                        "[0, 3], got '3'");
  EXPECT_EQ(failure(lab(4, "overrides:\n- {nodes: [2], device: {slowdown: 2}}\n"
                           "- {nodes: [0, 2], device: {slowdown: 3}}")),
            "c.yaml:7:15: 'overrides[1].nodes[1]': node 2 is given twice, first in 'overrides[0]'");
}

// Something differs, by keys that may, with values that can be.
TEST(ClusterOverrides, Values) {
  auto one = [](std::string_view rest) {
    return failure(lab(4, "overrides: [{nodes: [1]" + std::string(rest) + "}]"));
  };
  EXPECT_EQ(one(""), "c.yaml:5:13: 'overrides[0]': expected 'device' or 'network', got neither");
  EXPECT_EQ(one(", device: {}"),
            "c.yaml:5:34: 'overrides[0].device': expected the key 'slowdown', got none");
  EXPECT_EQ(one(", device: {slowdown: 0}"),
            "c.yaml:5:45: 'overrides[0].device.slowdown': expected a number from 1e-6 to 1e6 "
            "such as 1.5, got '0'");
  for (const char *bad : {"-1", "nan", "inf", "1.5x", "2 s", "1e308", "1e-300"})
    EXPECT_NE(one(", device: {slowdown: " + std::string(bad) + "}").find("a number from 1e-6"),
              std::string::npos)
        << bad;
  EXPECT_EQ(one(", device: {compute: 1 TFLOP/s}"),
            "c.yaml:5:35: 'overrides[0].device': unknown key 'compute', expected one of "
            "'slowdown'");
  EXPECT_EQ(one(", network: {}"),
            "c.yaml:5:35: 'overrides[0].network': expected at least one of 'kind', 'bandwidth', "
            "'latency', 'reduce-rate', got none");
  EXPECT_EQ(one(", network: {duplex: half}"),
            "c.yaml:5:36: 'overrides[0].network': unknown key 'duplex', expected one of 'kind', "
            "'bandwidth', 'latency', 'reduce-rate'");
  EXPECT_NE(one(", inside: {latency: 1us}").find("unknown key 'inside'"), std::string::npos);
  EXPECT_EQ(failure("{name: n, ranks: 2, collectives: {all-reduce: {a: 1s, b: 0 s/B}}, overrides: "
                    "[{nodes: [0], network: {latency: 1us}}]}"),
            "c.yaml:1:101: 'overrides[0].network': expected a 'network' of the cluster to stand in "
            "for, got none");
  EXPECT_NE(failure(lab(4, "overrides: {nodes: [1]}")).find("expected a list of maps"),
            std::string::npos);
}

// Without 'devices-per-node' every rank is a node of its own.
TEST(ClusterOverrides, RanksAreNodes) {
  EXPECT_EQ(read("{name: n, ranks: 4, network: {kind: ethernet-1g}, overrides: [{nodes: [3], "
                 "device: {slowdown: 2}}]}")
                .overrides[0]
                .nodes[0],
            3);
}

} // namespace
} // namespace syncline::files
