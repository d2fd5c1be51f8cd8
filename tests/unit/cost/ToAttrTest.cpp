// Cluster files and profiles as attributes.
#include "frontend/ir/ToAttr.h"
#include "ir/cluster/SpecFields.h"
#include "tests/unit/cost/Parsed.h"

#include <gtest/gtest.h>

namespace syncline::files {
namespace {

std::string attrText(std::string_view yaml) {
  Parsed parsed("");
  const Result<ClusterFile> cluster = parseClusterFile(yaml, "c");
  EXPECT_TRUE(cluster) << cluster.status().message();
  std::string text;
  llvm::raw_string_ostream(text) << frontend::toAttr(*cluster, &parsed.context);
  EXPECT_EQ(parsed.attr(text), mlir::Attribute(frontend::toAttr(*cluster, &parsed.context)))
      << text;
  return text;
}

// A file's values arrive, and the attribute's text reads back to the same attribute.
TEST(ToAttr, Cluster) {
  EXPECT_EQ(
      attrText("{name: \"a \\\"b\\\"\", nodes: 2, devices-per-node: 2, device: {compute: 50 "
               "GFLOP/s, launch-overhead: 5us}, network: {bandwidth: 10 Gb/s, latency: "
               "20us}}"),
      "#cluster.spec<name = \"a \\22b\\22\", ranks = 4, devicesPerNode = 2, device = <compute "
      "= 5.0e+10, launchOverhead = 5.0e-06>, link = <alpha = 2.0e-05, beta = 8.0e-10, gamma = "
      "0.0>>");
}

// Links, servers, limits and interference arrive as they are.
TEST(ToAttr, LinksAndServers) {
  EXPECT_EQ(
      attrText("{name: n, nodes: 2, devices-per-node: 2, network: {bandwidth: 8 Mb/s, "
               "latency: 1s, duplex: half}, inside: {bandwidth: 4 MB/s, latency: 2s, "
               "reduce-rate: 1 MB/s}, servers: {count: 3, dedicated: yes, bandwidth: 2 MB/s, "
               "memory: 1GB}, limits: {message: 1MiB}, interference: {computation: 1.35, latency: "
               "1.9, messages: 1.5}}"),
      "#cluster.spec<name = \"n\", ranks = 4, devicesPerNode = 2, device = <launchOverhead = "
      "0.0>, link = <alpha = 1.0, beta = 1.0e-06, gamma = 0.0>, inside = <alpha = 2.0, beta = "
      "2.5e-07, gamma = 1.0e-06>, halfDuplex = true, interference = 1.35, latencyInterference = "
      "1.9, messageInterference = 1.5, servers = <count = 3, "
      "dedicated = true, "
      "link = <alpha = 1.0, beta = 5.0e-07, gamma = 0.0>, memory = 1000000000>, "
      "largestMessage = 1048576>");
}

// Factors by class of operation arrive, those of the cluster and those of a scheme.
TEST(ToAttr, InterferenceByClass) {
  const std::string text =
      attrText("{name: n, ranks: 4, network: {bandwidth: 8 Mb/s, latency: 1s}, interference: "
               "{computation: 1.4, products: 1.2, memory: 1.7}, collectives: {all-gather: {a: 1s, "
               "b: 1s/B, interference: {products: 1.1, memory: 2}}}}");
  EXPECT_NE(text.find("interference = 1.4, productsInterference = 1.2, memoryInterference = 1.7"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("<factors, #cluster.affine<a = 1.0, b = 1.0>, products = 1.1, memory = 2.0>"),
            std::string::npos)
      << text;
}

// Cards, memory and what differs on some nodes arrive; links of overrides are whole.
TEST(ToAttr, Nodes) {
  EXPECT_EQ(
      attrText("{name: n, nodes: 2, devices-per-node: 2, device: {memory-size: 1GB}, network: "
               "{bandwidth: 8 Mb/s, latency: 1s, cards: 3}, overrides: [{nodes: [1], device: "
               "{slowdown: 1.5}}, {nodes: [0], network: {bandwidth: 4 MB/s}}]}"),
      "#cluster.spec<name = \"n\", ranks = 4, devicesPerNode = 2, cardsPerNode = 3, device = "
      "<launchOverhead = 0.0, memorySize = 1000000000>, link = <alpha = 1.0, beta = 1.0e-06, "
      "gamma = 0.0>, overrides = [<nodes = [1], slowdown = 1.5>, <nodes = [0], link = <alpha = "
      "1.0, beta = 2.5e-07, gamma = 0.0>>]>");
}

// A group's devices are those of the spec, and a kind's links have protocols.
TEST(ToAttr, GroupsAndProtocols) {
  const std::string text = attrText("{name: n, nodes: 2, devices-per-node: 8, groups: 4, network: "
                                    "{kind: roce-100g}, inside: {kind: nvlink-h100}}");
  EXPECT_NE(text.find("ranks = 4, devicesPerNode = 2, groups = 4, "), std::string::npos) << text;
  EXPECT_NE(text.find("protocols = <ll = "), std::string::npos) << text;
  EXPECT_NE(text.find("inSwitchShare = "), std::string::npos) << text;
}

/// The number behind `name`, counted from `at`, in text of attributes.
double numberBehind(const std::string &text, const std::string &name, std::size_t at = 0) {
  const std::size_t place = text.find(name + " = ", at);
  return place == std::string::npos ? -1 : std::stod(text.substr(place + name.size() + 3));
}

// NCCL's latencies, those of the switch too, are in proportion to the latency that a link states:
// twice a kind's, none, and the kind's in an override of none.
TEST(ToAttr, StatedLatencyCountsForProtocols) {
  const auto links = [](const std::string &network, const std::string &inside) {
    return attrText("{name: n, nodes: 2, devices-per-node: 8, network: {kind: roce-100g" + network +
                    "}, inside: {kind: nvlink-h100" + inside +
                    "}, overrides: [{nodes: [1], network: {latency: 5us}}]}");
  };
  const std::string kinds = links("", ""), stated = links(", latency: 0s", ", latency: 6us");
  const std::size_t inside = kinds.find("inside = "), ownInside = stated.find("inside = ");
  for (const char *time : {"ll", "ll128", "simple", "inSwitch"})
    EXPECT_DOUBLE_EQ(numberBehind(stated, time, ownInside), 2 * numberBehind(kinds, time, inside))
        << stated;
  const std::size_t change = kinds.find("overrides = "), ownChange = stated.find("overrides = ");
  for (const char *time : {"ll", "ll128", "simple"}) {
    EXPECT_EQ(numberBehind(stated, time), 0) << stated;
    EXPECT_EQ(numberBehind(stated, time, ownChange), numberBehind(kinds, time, change));
    EXPECT_GT(numberBehind(kinds, time, change), 0);
  }
  for (const char *share : {"simpleShare", "inSwitchShare"})
    EXPECT_EQ(numberBehind(stated, share, ownInside), numberBehind(kinds, share, inside));
}

// A sweep's latency counts for them likewise.
TEST(ToAttr, OtherLatencyCountsForProtocols) {
  Parsed parsed("");
  const auto link = mlir::cast<cluster::LinkAttr>(parsed.attr(
      "#cluster.link<alpha = 2.0, beta = 1.0, gamma = 0.0, protocols = <ll = 1.0, llShare = 0.1, "
      "ll128 = 2.0, ll128Share = 0.5, simple = 4.0, simpleShare = 0.8, inSwitch = 8.0, "
      "inSwitchShare = 0.5>>"));
  const cluster::ProtocolsAttr slower = cluster::withAlpha(link, 6.0).getProtocols();
  EXPECT_EQ(slower.getSimple(), cluster::Real(12));
  EXPECT_EQ(slower.getInSwitch(), cluster::Real(24));
  EXPECT_EQ(slower.getInSwitchShare(), cluster::Real(0.5));
}

// Every scheme whose cost is stated keeps it.
TEST(ToAttr, CostsByScheme) {
  EXPECT_NE(
      attrText("{name: n, ranks: 4, collectives: {all-reduce: {hierarchical: {a: 1s, b: 0 s/B}}, "
               "parameter-server: {a: 2s, b: 0 s/B}, all-gather: {a: 3s, b: 0 s/B}, "
               "reduce-scatter: {formula: reduce-scatter, alpha: 4s, beta: 0 s/B}}}")
          .find(
              "collectives = [<\"reduce-scatter\", #cluster.formula<algorithm = "
              "\"reduce-scatter\", ranks = 4, alpha = 4.0, beta = 0.0, gamma = 0.0>>, "
              "<hierarchical, #cluster.affine<a = 1.0, b = 0.0>>, <\"parameter-server\", "
              "#cluster.affine<a = 2.0, b = 0.0>>, <factors, #cluster.affine<a = 3.0, b = 0.0>>]"),
      std::string::npos);
}

// Every algorithm, a line and a table keep their meaning.
TEST(ToAttr, Collectives) {
  for (std::string_view algorithm : {"ring", "recursive-doubling", "halving-doubling", "tree"}) {
    const std::string text = attrText("{name: n, ranks: 4, collectives: {all-reduce: {formula: " +
                                      std::string(algorithm) + ", alpha: 1s, beta: 1 s/B}}}");
    EXPECT_NE(text.find(algorithm), std::string::npos) << text;
  }
  EXPECT_NE(attrText("{name: n, ranks: 4, collectives: {all-reduce: {a: 9.0809810e-4 s, b: "
                     "7.3956512e-10 s/B}}}")
                .find("#cluster.affine<a = 0.0009080981, b = 7.3956512e-10>"),
            std::string::npos);
  EXPECT_NE(attrText("{name: n, ranks: 4, collectives: {all-reduce: {table: [[1KB, 1ms], [2KB, "
                     "1.5ms]]}}}")
                .find("#cluster.table<[1000, 0.001], [2000, 0.0015]>"),
            std::string::npos);
}

// A profile becomes times by operation; names need not be identifiers.
TEST(ToAttr, Profile) {
  Parsed parsed("");
  const auto profile =
      parseProfile(R"({"schema": 1, "operations": {"/a/Conv": {"forward": "1s", "backward": "2s"},
                       "b": {"forward": "3s"}}})",
                   "p");
  ASSERT_TRUE(profile) << profile.status().message();
  EXPECT_EQ(mlir::Attribute(frontend::toAttr(*profile, &parsed.context)),
            parsed.attr("{\"/a/Conv\" = #cluster.times<forward = 1.0, backward = 2.0>, "
                        "b = #cluster.times<forward = 3.0>}"));
}

} // namespace
} // namespace syncline::files
