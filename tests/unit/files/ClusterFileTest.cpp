// Cluster files: what they mean, and what each mistake is told, with its line and column.
#include "tests/unit/files/ClusterText.h"

#include <gtest/gtest.h>

namespace syncline::files {
namespace {

constexpr std::string_view good = R"(name: lab
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

// Ranks, device and network are read in base units; nothing else is stated.
TEST(ClusterFile, RanksDeviceNetwork) {
  const Result<ClusterFile> cluster = parseClusterFile(good, "c.yaml");
  ASSERT_TRUE(cluster) << cluster.status().message();
  EXPECT_EQ(cluster->name, "lab");
  EXPECT_EQ(cluster->ranks, 8);
  EXPECT_EQ(cluster->device.compute, 50e9);
  EXPECT_EQ(cluster->device.memory, 10e9);
  EXPECT_EQ(cluster->device.launchOverhead, 5e-6);
  ASSERT_TRUE(cluster->network);
  EXPECT_EQ(cluster->network->bandwidth, 1.25e9);
  EXPECT_EQ(cluster->network->latency, 20e-6);
  EXPECT_EQ(cluster->network->secondsPerReduce, 1.25e-10);
  EXPECT_EQ(cluster->devicesPerNode, 4);
  EXPECT_FALSE(cluster->halfDuplex);
  EXPECT_FALSE(cluster->inside);
  EXPECT_FALSE(cluster->servers);
  EXPECT_FALSE(cluster->largestMessage);
  EXPECT_EQ(cluster->interference, 1);
  EXPECT_TRUE(cluster->collectives.empty());
}

// A bare number is refused with its place and key.
TEST(ClusterFile, BareNumber) {
  EXPECT_EQ(failure("name: lab\nranks: 4\nnetwork:\n  bandwidth: 10\n  latency: 1us\n"),
            "c.yaml:4:14: 'network.bandwidth': expected a data rate with a unit such as '10 Gb/s', "
            "got '10'");
}

// An unknown key is refused with the nearest known one, or with all of them.
TEST(ClusterFile, UnknownKey) {
  EXPECT_EQ(failure("name: lab\nranks: 4\nnetwork:\n  bandwith: 10 Gb/s\n"),
            "c.yaml:4:3: 'network': unknown key 'bandwith', did you mean 'bandwidth'?");
  EXPECT_EQ(failure("name: lab\nrnks: 4\n"),
            "c.yaml:2:1: unknown key 'rnks', did you mean 'ranks'?");
  EXPECT_EQ(failure(withNetwork("device: {zebra: 1}")),
            "c.yaml:4:10: 'device': unknown key 'zebra', expected one of 'kind', 'compute', "
            "'memory', 'memory-size', 'launch-overhead', 'efficiency'");
}

// Kernels reach a share of the rates, of a kind's too; without rates it would say nothing.
TEST(ClusterFile, Efficiency) {
  Result<ClusterFile> lab =
      parseClusterFile(withNetwork("device: {kind: v100, efficiency: 0.7}"), "c.yaml");
  ASSERT_TRUE(lab) << lab.status().message();
  EXPECT_EQ(lab->device.efficiency, 0.7);
  EXPECT_EQ(lab->device.kind, "v100");
  EXPECT_EQ(*lab->device.compute, 15.7e12);
  for (const char *bad : {"0", "1.01", "-0.5", "nan", "70%"})
    EXPECT_NE(failure(withNetwork("device: {kind: v100, efficiency: " + std::string(bad) + "}"))
                  .find("c.yaml:4:34: 'device.efficiency': expected a number above 0 and at most 1 "
                        "such as 0.7, got '" +
                        std::string(bad) + "'"),
              std::string::npos)
        << bad;
  EXPECT_EQ(failure(withNetwork("device: {efficiency: 0.7}")),
            "c.yaml:4:22: 'device.efficiency': expected a 'kind', a 'compute' or a 'memory' rate "
            "beside it, got none");
}

// An unknown unit is refused with those that are accepted.
TEST(ClusterFile, UnknownUnit) {
  EXPECT_EQ(failure("name: lab\nranks: 4\nnetwork: {bandwidth: 1 Gb/s, latency: 5 sec}\n"),
            "c.yaml:3:39: 'network.latency': unknown unit 'sec' in '5 sec', expected a time in one "
            "of ns, us, ms, s, min");
}

// Zero ranks, nodes or devices are refused, and so is what is no whole number.
TEST(ClusterFile, ZeroRanks) {
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
TEST(ClusterFile, RanksOnce) {
  EXPECT_EQ(failure("name: lab\nranks: 4\nnodes: 4\n"),
            "c.yaml:3:8: 'nodes': expected either 'ranks' or 'nodes' with 'devices-per-node', got "
            "both");
  EXPECT_EQ(failure("name: lab\n"), "c.yaml:1:1: expected the key 'ranks' or 'nodes', got none");
  EXPECT_EQ(failure("ranks: 4\n"), "c.yaml:1:1: expected the key 'name', got none");
  EXPECT_EQ(failure("name: ''\nranks: 4\n"), "c.yaml:1:7: 'name': expected a name, got nothing");
}

// Groups divide a node's devices; the cluster is one of them.
TEST(ClusterFile, Groups) {
  const auto cluster = parseClusterFile("name: lab\nnodes: 4\ndevices-per-node: 8\ngroups: 4\n"
                                        "network: {kind: roce-100g}\n",
                                        "c.yaml");
  ASSERT_TRUE(cluster) << cluster.status().message();
  EXPECT_EQ(cluster->groups, 4);
  EXPECT_EQ(cluster->devicesPerNode, 2);
  EXPECT_EQ(cluster->ranks, 8);
  EXPECT_EQ(failure("name: lab\nnodes: 4\ndevices-per-node: 8\ngroups: 3\n"),
            "c.yaml:4:9: 'groups': expected groups that divide the 8 devices of a node, got 3");
  EXPECT_EQ(failure("name: lab\nnodes: 4\ngroups: 1\n"),
            "c.yaml:3:9: 'groups': expected 'devices-per-node' beside it, got none");
  EXPECT_EQ(failure("name: lab\nnodes: 4\ndevices-per-node: 8\ngroups: 0\n"),
            "c.yaml:4:9: 'groups': expected a whole number of groups from 1 to 1048576, got '0'");
}

// A key that stands twice is refused at its second place.
TEST(ClusterFile, DuplicateKey) {
  EXPECT_EQ(failure("name: lab\nranks: 4\nranks: 8\n"), "c.yaml:3:1: key 'ranks' is given twice");
}

// An empty file, one of comments, and text that is no map are told apart from bad values.
TEST(ClusterFile, EmptyOrNoMap) {
  EXPECT_EQ(failure(""), "c.yaml: expected a YAML document, got an empty file");
  EXPECT_EQ(failure("# nothing\n"), "c.yaml: expected a YAML document, got an empty file");
  EXPECT_EQ(failure("- a\n- b\n"),
            "c.yaml:1:1: expected a map with the keys 'name', 'ranks', 'nodes', "
            "'devices-per-node', 'groups', 'device', 'network', 'inside', 'servers', 'limits', "
            "'interference', 'message-scatter', 'collectives', 'overrides', got a list");
  EXPECT_NE(failure("hello").find("got 'hello'"), std::string::npos);
  EXPECT_NE(failure("name: a\n---\nname: b\n")
                .find("c.yaml:2:1: expected the end of the one YAML document, got more"),
            std::string::npos);
}

// A syntax error has its line and column.
TEST(ClusterFile, SyntaxError) {
  EXPECT_EQ(failure("name: lab\nranks: [4\n").rfind("c.yaml:3:1: not valid YAML: ", 0), 0u)
      << failure("name: lab\nranks: [4\n");
  EXPECT_NE(failure("name: lab\nranks: *nobody\n").find("not valid YAML"), std::string::npos);
  EXPECT_NE(failure(std::string("name: a\0b\n", 10)).find("expected UTF-8 text"),
            std::string::npos);
}

// Nesting without end and aliases of aliases end in a message, quickly.
TEST(ClusterFile, HostileYaml) {
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

// Messages take so many times their cost, by numbers that can be.
TEST(ClusterFile, MessageScatter) {
  const auto scatter = [](const std::string &list) {
    return withNetwork("message-scatter: " + list);
  };
  const Result<ClusterFile> lab = parseClusterFile(scatter("[0.98, 1, '1.3']"), "c.yaml");
  ASSERT_TRUE(lab) << lab.status().message();
  EXPECT_EQ(lab->messageScatter, (std::vector<double>{0.98, 1, 1.3}));
  EXPECT_TRUE(parseClusterFile(withNetwork(""), "c.yaml")->messageScatter.empty());
  EXPECT_EQ(failure(scatter("[]")),
            "c.yaml:4:18: 'message-scatter': expected 1 to 1024 numbers, got 0");
  EXPECT_EQ(failure(scatter("1.2")), "c.yaml:4:18: 'message-scatter': expected a list of numbers "
                                     "such as [0.98, 1, 1.3], got '1.2'");
  for (const char *bad : {"0", "-1", "nan", "inf", "1e7", "1.2 ms", ""})
    EXPECT_EQ(failure(scatter("[1, '" + std::string(bad) + "']")),
              "c.yaml:4:22: 'message-scatter[1]': expected a number from 1e-6 to 1e6 such as 1.5, "
              "got " +
                  (*bad ? "'" + std::string(bad) + "'" : "nothing"));
  std::string many = "[1";
  for (int i = 0; i < 1024; ++i)
    many += ", 1";
  EXPECT_EQ(failure(scatter(many + "]")),
            "c.yaml:4:18: 'message-scatter': expected 1 to 1024 numbers, got 1025");
}

// Rates of zero, and rates and times below their range, are refused.
TEST(ClusterFile, ZeroRatesNegativeTimes) {
  EXPECT_EQ(failure("name: lab\nranks: 4\nnetwork: {bandwidth: 0 Gb/s, latency: 1us}\n"),
            "c.yaml:3:22: 'network.bandwidth': expected a data rate above zero, got '0 Gb/s'");
  EXPECT_EQ(failure("name: lab\nranks: 4\nnetwork: {bandwidth: 1e-315 B/s, latency: 1us}\n"),
            "c.yaml:3:22: 'network.bandwidth': expected a data rate from 1 b/s to 1 EB/s, "
            "got '1e-315 B/s'");
  EXPECT_NE(failure("name: lab\nranks: 4\nnetwork: {bandwidth: 1 Gb/s, latency: -1us}\n")
                .find("expected a time of zero or more, got '-1us'"),
            std::string::npos);
  EXPECT_NE(failure("name: lab\nranks: 4\nnetwork: {bandwidth: .nan, latency: 1us}\n")
                .find("expected a data rate"),
            std::string::npos);
}

// A network has a bandwidth and a latency; something gives the time of an all-reduce.
TEST(ClusterFile, MissingKeys) {
  EXPECT_EQ(failure("name: lab\nranks: 4\nnetwork:\n  latency: 1us\n"),
            "c.yaml:4:3: 'network': expected the key 'bandwidth', got none");
  EXPECT_EQ(
      failure("name: lab\nranks: 4\n"),
      "c.yaml:1:1: expected a 'network' or the time of 'collectives.all-reduce', got neither");
  EXPECT_EQ(failure("name: lab\nranks: 4\nnetwork:\n"),
            "c.yaml:3:1: 'network': expected a map with the keys 'kind', 'bandwidth', 'latency', "
            "'cards', 'reduce-rate', 'duplex', got nothing");
}

// Windows line ends and a byte order mark change nothing.
TEST(ClusterFile, WindowsText) {
  EXPECT_TRUE(parseClusterFile(
      "\xEF\xBB\xBFname: lab\r\nranks: 4\r\nnetwork: {bandwidth: 1 Gb/s, latency: 5us}\r\n", "c"));
}

} // namespace
} // namespace syncline::files
