// Cluster files: what they mean, and what each mistake is told, with its line and column.
#include "frontend/files/ClusterFile.h"

#include <gtest/gtest.h>

namespace syncline::files {
namespace {

std::string failure(std::string_view text) {
  const Result<ClusterFile> cluster = parseClusterFile(text, "c.yaml");
  return cluster ? "no error" : cluster.status().message();
}

constexpr std::string_view kGood = R"(name: lab
nodes: 2
devices-per-node: 4
device:
  compute: 50 GFLOP/s
  memory: 10 GB/s
  launch-overhead: 5us
network:
  bandwidth: 10 Gb/s
  latency: 20us
  reduce-rate: 8 GB/s
)";

/// A head that is right, to put mistakes after: four lines.
std::string withNetwork(std::string_view rest) {
  return "name: lab\nranks: 4\nnetwork: {bandwidth: 1 Gb/s, latency: 50us}\n" + std::string(rest);
}

// Every key is read in base units; all-reduce defaults to the ring over the network.
TEST(ClusterFile, readsEveryKey) {
  const Result<ClusterFile> cluster = parseClusterFile(kGood, "c.yaml");
  ASSERT_TRUE(cluster) << cluster.status().message();
  EXPECT_EQ(cluster->name, "lab");
  EXPECT_EQ(cluster->ranks, 8);
  EXPECT_EQ(cluster->device.compute, 50e9);
  EXPECT_EQ(cluster->device.memory, 10e9);
  EXPECT_EQ(cluster->device.launchOverhead, 5e-6);
  ASSERT_TRUE(cluster->network);
  EXPECT_EQ(cluster->network->bandwidth, 1.25e9);
  const auto *ring = std::get_if<FormulaCost>(&cluster->allReduce);
  ASSERT_TRUE(ring);
  EXPECT_EQ(ring->algorithm, AllReduceAlgorithm::ring);
  EXPECT_EQ(ring->alpha, 20e-6);
  EXPECT_EQ(ring->beta, 8e-10);
  EXPECT_EQ(ring->gamma, 1.25e-10);
}

// A device is optional; a fitted line needs no network.
TEST(ClusterFile, fittedLine) {
  const auto cluster = parseClusterFile(
      "{name: v100, ranks: 16, collectives: {all-reduce: {a: 9.08e-4 s, b: 7.4e-10 s/B}}}", "c");
  ASSERT_TRUE(cluster) << cluster.status().message();
  EXPECT_FALSE(cluster->network);
  EXPECT_FALSE(cluster->device.compute);
  const auto *line = std::get_if<AffineCost>(&cluster->allReduce);
  ASSERT_TRUE(line);
  EXPECT_EQ(line->a, 9.08e-4);
  EXPECT_EQ(line->b, 7.4e-10);
}

// A measured table keeps its points.
TEST(ClusterFile, measuredTable) {
  const auto cluster = parseClusterFile(
      "name: t\nranks: 4\ncollectives:\n  all-reduce:\n    table:\n      - [4KiB, 0.1ms]\n"
      "      - [1MiB, 2ms]\n",
      "c");
  ASSERT_TRUE(cluster) << cluster.status().message();
  const auto *table = std::get_if<TableCost>(&cluster->allReduce);
  ASSERT_TRUE(table);
  ASSERT_EQ(table->points.size(), 2u);
  EXPECT_EQ(table->points[1].bytes, 1 << 20);
  EXPECT_EQ(table->points[1].seconds, 0.002);
}

// A formula takes constants from the network unless it has its own.
TEST(ClusterFile, formulaConstants) {
  const auto cluster = parseClusterFile(
      withNetwork("collectives: {all-reduce: {formula: halving-doubling, alpha: 1ms}}"), "c");
  ASSERT_TRUE(cluster) << cluster.status().message();
  const auto *formula = std::get_if<FormulaCost>(&cluster->allReduce);
  ASSERT_TRUE(formula);
  EXPECT_EQ(formula->algorithm, AllReduceAlgorithm::halvingDoubling);
  EXPECT_EQ(name(formula->algorithm), "halving-doubling");
  EXPECT_EQ(formula->alpha, 1e-3);
  EXPECT_EQ(formula->beta, 8e-9);
}

// A bare number is refused with its place and key.
TEST(ClusterFile, bareNumber) {
  EXPECT_EQ(failure("name: lab\nranks: 4\nnetwork:\n  bandwidth: 10\n  latency: 1us\n"),
            "c.yaml:4:14: 'network.bandwidth': expected a data rate with a unit such as '10 Gb/s', "
            "got '10'");
}

// An unknown key is refused with the nearest known one, or with all of them.
TEST(ClusterFile, unknownKey) {
  EXPECT_EQ(failure("name: lab\nranks: 4\nnetwork:\n  bandwith: 10 Gb/s\n"),
            "c.yaml:4:3: 'network': unknown key 'bandwith', did you mean 'bandwidth'?");
  EXPECT_EQ(failure("name: lab\nrnks: 4\n"),
            "c.yaml:2:1: unknown key 'rnks', did you mean 'ranks'?");
  EXPECT_EQ(failure(withNetwork("device: {zebra: 1}")),
            "c.yaml:4:10: 'device': unknown key 'zebra', expected one of 'compute', 'memory', "
            "'launch-overhead'");
}

// An unknown unit is refused with those that are accepted.
TEST(ClusterFile, unknownUnit) {
  EXPECT_EQ(failure("name: lab\nranks: 4\nnetwork: {bandwidth: 1 Gb/s, latency: 5 sec}\n"),
            "c.yaml:3:39: 'network.latency': unknown unit 'sec' in '5 sec', expected a time in one "
            "of ns, us, ms, s, min");
}

// Zero ranks, nodes or devices are refused, and so is what is no whole number.
TEST(ClusterFile, zeroRanks) {
  EXPECT_EQ(failure("name: lab\nranks: 0\n"),
            "c.yaml:2:8: 'ranks': expected a whole number of ranks from 1 to 1048576, got '0'");
  EXPECT_NE(failure("name: lab\nnodes: 0\n").find("'nodes': expected a whole number of nodes"),
            std::string::npos);
  EXPECT_NE(failure("name: lab\nnodes: 2\ndevices-per-node: 0\n").find("whole number of devices"),
            std::string::npos);
  EXPECT_NE(failure("name: lab\nranks: -4\n").find("got '-4'"), std::string::npos);
  EXPECT_NE(failure("name: lab\nranks: 4.5\n").find("got '4.5'"), std::string::npos);
  EXPECT_NE(failure("name: lab\nranks: [4]\n").find("got a list"), std::string::npos);
  EXPECT_NE(failure("name: lab\nnodes: 1048576\ndevices-per-node: 2\n").find("in all, got 2097152"),
            std::string::npos);
}

// Ranks are said one way, and said.
TEST(ClusterFile, ranksOnce) {
  EXPECT_EQ(failure("name: lab\nranks: 4\nnodes: 4\n"),
            "c.yaml:3:8: 'nodes': expected either 'ranks' or 'nodes' with 'devices-per-node', got "
            "both");
  EXPECT_EQ(failure("name: lab\n"), "c.yaml:1:1: expected the key 'ranks' or 'nodes', got none");
  EXPECT_EQ(failure("ranks: 4\n"), "c.yaml:1:1: expected the key 'name', got none");
}

// The same key twice is refused where the second stands.
TEST(ClusterFile, duplicateKey) {
  EXPECT_EQ(failure("name: lab\nranks: 4\nranks: 8\n"), "c.yaml:3:1: key 'ranks' is given twice");
}

// An empty file, one of comments, and text that is no map are told apart from bad values.
TEST(ClusterFile, emptyOrNoMap) {
  EXPECT_EQ(failure(""), "c.yaml: expected a YAML document, got an empty file");
  EXPECT_EQ(failure("# nothing\n"), "c.yaml: expected a YAML document, got an empty file");
  EXPECT_EQ(failure("- a\n- b\n"),
            "c.yaml:1:1: expected a map with the keys 'name', 'ranks', 'nodes', "
            "'devices-per-node', 'device', 'network', 'collectives', got a list");
  EXPECT_NE(failure("hello").find("got 'hello'"), std::string::npos);
  EXPECT_NE(failure("name: a\n---\nname: b\n")
                .find("c.yaml:2:1: expected the end of the one YAML document, got more"),
            std::string::npos);
}

// A syntax error has its line and column.
TEST(ClusterFile, syntaxError) {
  EXPECT_EQ(failure("name: lab\nranks: [4\n").rfind("c.yaml:3:1: not valid YAML: ", 0), 0u)
      << failure("name: lab\nranks: [4\n");
  EXPECT_NE(failure("name: lab\nranks: *nobody\n").find("not valid YAML"), std::string::npos);
  EXPECT_NE(failure(std::string("name: a\0b\n", 10)).find("expected UTF-8 text"),
            std::string::npos);
}

// Nesting without end and aliases of aliases end in a message, quickly.
TEST(ClusterFile, hostileYaml) {
  EXPECT_NE(failure(std::string(200000, '[')), "no error");
  EXPECT_NE(failure(std::string(200000, '{')), "no error");
  std::string bomb = "name: &a0 [x]\n";
  for (int i = 1; i < 60; ++i)
    bomb += "k" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) +
            ", *a" + std::to_string(i - 1) + "]\n";
  EXPECT_NE(failure(bomb).find("unknown key 'k1'"), std::string::npos);
  EXPECT_EQ(failure(",{name: a}"),
            "c.yaml:1:1: expected the end of the one YAML document, got more");
  std::string table = "name: t\nranks: 4\ncollectives: {all-reduce: {table: &t [*t, *t]}}\n";
  EXPECT_NE(failure(table), "no error");
}

// Rates and times below their range are refused.
TEST(ClusterFile, negativeTimes) {
  EXPECT_NE(failure("name: lab\nranks: 4\nnetwork: {bandwidth: 1 Gb/s, latency: -1us}\n")
                .find("expected a time of zero or more, got '-1us'"),
            std::string::npos);
  EXPECT_NE(failure("name: lab\nranks: 4\nnetwork: {bandwidth: .nan, latency: 1us}\n")
                .find("expected a data rate"),
            std::string::npos);
}

// A network has a bandwidth and a latency; something gives the time of an all-reduce.
TEST(ClusterFile, missingKeys) {
  EXPECT_EQ(failure("name: lab\nranks: 4\nnetwork:\n  latency: 1us\n"),
            "c.yaml:4:3: 'network': expected the key 'bandwidth', got none");
  EXPECT_EQ(
      failure("name: lab\nranks: 4\n"),
      "c.yaml:1:1: expected a 'network' or the time of 'collectives.all-reduce', got neither");
  EXPECT_EQ(failure("name: lab\nranks: 4\nnetwork:\n"),
            "c.yaml:3:1: 'network': expected a map with the keys 'bandwidth', 'latency', "
            "'reduce-rate', got nothing");
}

// A collective's time has one form, complete.
TEST(ClusterFile, collectiveForms) {
  auto collective = [](const std::string &text) {
    return failure("name: lab\nranks: 4\ncollectives: {all-reduce: " + text + "}\n");
  };
  EXPECT_NE(collective("{}").find("expected exactly one of"), std::string::npos);
  EXPECT_NE(collective("{a: 1ms, b: 1 ns/B, formula: ring}").find("expected exactly one of"),
            std::string::npos);
  EXPECT_NE(collective("{a: 1ms}").find("expected the key 'b', got none"), std::string::npos);
  EXPECT_NE(collective("{a: 1ms, b: 1 ns/B, alpha: 1ms}").find("only beside 'formula'"),
            std::string::npos);
  EXPECT_NE(collective("{formula: ring}").find("expected a 'network', or 'alpha' and 'beta' here"),
            std::string::npos);
  EXPECT_NE(collective("{formula: rong, alpha: 1ms, beta: 1 ns/B}").find("did you mean 'ring'?"),
            std::string::npos);
  EXPECT_NE(collective("{table: []}").find("at least one point"), std::string::npos);
  EXPECT_NE(collective("{table: [[1KB]]}").find("expected a size and a time, got 1 values"),
            std::string::npos);
  EXPECT_NE(collective("{table: [[2KB, 1ms], [1KB, 2ms]]}")
                .find("'collectives.all-reduce.table[1][0]': expected sizes in ascending order, "
                      "got 1000 B after 2000 B"),
            std::string::npos);
  EXPECT_NE(collective("{table: [[1024, 1ms]]}").find("with a unit such as"), std::string::npos);
}

// Windows line ends and a byte order mark change nothing.
TEST(ClusterFile, windowsText) {
  EXPECT_TRUE(parseClusterFile(
      "\xEF\xBB\xBFname: lab\r\nranks: 4\r\nnetwork: {bandwidth: 1 Gb/s, latency: 5us}\r\n", "c"));
}

} // namespace
} // namespace syncline::files
