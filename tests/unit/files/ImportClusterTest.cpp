// Cluster files from topologies and host files: what they say, what is missing, what contradicts.
#include "frontend/files/ImportCluster.h"

#include "frontend/files/ClusterFile.h"
#include "tests/support/Results.h"

#include <gtest/gtest.h>

namespace syncline::files {
namespace {

/// Eight devices in NVLink with four cards of 100 Gb/s.
NcclTopology node() {
  NcclTopology topology{
      .devices = 8, .cards = 4, .cardBandwidth = 12.5e9, .gpus = {}, .inside = {}};
  for (int i = 0; i < 8; ++i)
    topology.gpus.push_back({.name = "GPU " + std::to_string(i),
                             .busId = "",
                             .capability = 70,
                             .nvlinks = 6,
                             .targets = {"a switch"},
                             .hasOtherLinks = false,
                             .lanes = {}});
  topology.inside = nodeLink(topology.gpus);
  return topology;
}

/// A node as a file of a virtual machine has it: GPUs of `sm` on PCIe 5.0.
NcclTopology withoutLinks(std::int64_t sm) {
  NcclTopology topology = node();
  for (NcclGpu &gpu : topology.gpus) {
    gpu.capability = sm;
    gpu.nvlinks = 0;
    gpu.targets.clear();
    gpu.lanes = 63e9;
  }
  topology.inside = nodeLink(topology.gpus);
  return topology;
}

ClusterSources ofNodes(std::int64_t nodes) {
  ClusterSources sources;
  sources.topology = node();
  sources.topologyName = "t.xml";
  sources.nodes = nodes;
  sources.device = "v100";
  sources.network = "infiniband-edr";
  return sources;
}

ClusterFile written(const ClusterSources &sources) {
  const std::string text = test::valueOf(importedCluster(sources)).text;
  const Result<ClusterFile> cluster = parseClusterFile(text, "written");
  EXPECT_TRUE(cluster) << cluster.status().message() << "\n" << text;
  return cluster ? *cluster : ClusterFile();
}

std::string importFailure(const ClusterSources &sources) {
  return test::messageOf(importedCluster(sources));
}

// A topology gives a node; the reader finds in the file what the topology said.
TEST(ImportCluster, Topology) {
  const ClusterFile cluster = written(ofNodes(3));
  EXPECT_EQ(cluster.name, "t.xml");
  EXPECT_EQ(cluster.ranks, 24);
  EXPECT_EQ(cluster.devicesPerNode, 8);
  EXPECT_EQ(cluster.cardsPerNode, 4);
  EXPECT_EQ(cluster.device.compute, 15.7e12);
  EXPECT_EQ(cluster.network->bandwidth, 12.5e9);
  EXPECT_EQ(cluster.network->latency, 5e-6);
  EXPECT_EQ(cluster.inside->bandwidth, 150e9);
  EXPECT_EQ(cluster.inside->latency, 3e-6);
}

// Options may say all; what the cluster is made of is its name.
TEST(ImportCluster, OptionsAlone) {
  ClusterSources sources;
  sources.nodes = 8;
  sources.devicesPerNode = 4;
  sources.device = "v100";
  sources.network = "ethernet-10g";
  EXPECT_EQ(test::valueOf(importedCluster(sources)).text,
            "# Written by 'syncline cluster' from its options.\n"
            "# Nothing here was measured: rates are nominal, latencies typical.\n"
            "name: \"8 x 4 v100, ethernet-10g\"\n"
            "nodes: 8\n"
            "devices-per-node: 4\n"
            "device: {kind: v100}\n"
            "network:\n"
            "  kind: ethernet-10g\n");
  sources.inside = "nvlink-v100";
  EXPECT_EQ(written(sources).inside->bandwidth, 150e9);
  sources.nodes = 1;
  sources.network.reset();
  EXPECT_EQ(written(sources).name, "1 x 4 v100, nvlink-v100");
  sources = {};
  EXPECT_EQ(importFailure(sources),
            "nothing says how many nodes there are (--nodes or --from-hostfile), what a rank "
            "computes with (--device; 'cpu', or 'none' where a profile will say), how fast the "
            "network is "
            "(--network or --bandwidth) and how long a message takes at least (--network or "
            "--latency)");
}

// The text is for people, too: kinds where they say it all, and no rate twice.
TEST(ImportCluster, Text) {
  EXPECT_EQ(test::valueOf(importedCluster(ofNodes(3))).text,
            "# Written by 'syncline cluster' from t.xml.\n"
            "# Nothing here was measured: rates are nominal, latencies typical.\n"
            "name: \"t.xml\"\nnodes: 3\ndevices-per-node: 8\ndevice: {kind: v100}\nnetwork:\n"
            "  kind: infiniband-edr\n  cards: 4\ninside:\n"
            "  bandwidth: 150 GB/s # all NVLinks of a device\n  latency: 3us # typical\n");
}

// The topology's rate counts more than a kind's, a user's more than both.
TEST(ImportCluster, Precedence) {
  ClusterSources sources = ofNodes(2);
  sources.network = "infiniband-hdr";
  EXPECT_EQ(written(sources).network->bandwidth, 12.5e9);
  sources.bandwidth = 1.1e9 / 3;
  sources.latency = 1e-5 / 3;
  sources.inside = "pcie-4";
  sources.topologyName = "the \"lab\"\\\n";
  const ClusterFile cluster = written(sources);
  EXPECT_DOUBLE_EQ(cluster.network->bandwidth, 1.1e9 / 3);
  EXPECT_DOUBLE_EQ(cluster.network->latency, 1e-5 / 3);
  EXPECT_EQ(cluster.inside->bandwidth, 31.508e9);
  EXPECT_EQ(cluster.name, "the \"lab\"\\ ");
}

// What is not to be said is left out.
TEST(ImportCluster, None) {
  ClusterSources sources = ofNodes(2);
  sources.device = "none";
  sources.inside = "none";
  EXPECT_FALSE(written(sources).device.compute);
  EXPECT_FALSE(written(sources).inside);
}

// Devices of one node alone are joined by what is inside; no network is requested.
TEST(ImportCluster, OneNode) {
  ClusterSources sources = ofNodes(1);
  sources.network.reset();
  const ClusterFile cluster = written(sources);
  EXPECT_EQ(cluster.ranks, 8);
  EXPECT_EQ(cluster.devicesPerNode, 1);
  EXPECT_EQ(cluster.network->bandwidth, 150e9);
  EXPECT_EQ(cluster.cardsPerNode, 1);
  sources.inside = "pcie-3";
  EXPECT_EQ(written(sources).network->bandwidth, 15.754e9);
}

// An option that nothing would come of is refused, not dropped.
TEST(ImportCluster, WithoutEffect) {
  const std::string oneNode =
      ": would have no effect, as there is one node, whose devices are joined by what is inside";
  EXPECT_EQ(importFailure(ofNodes(1)), "--network" + oneNode);
  EXPECT_EQ(importedCluster(ofNodes(1)).status().kind(), ErrorKind::badUsage);
  ClusterSources sources = ofNodes(1);
  sources.network.reset();
  sources.bandwidth = 1e9;
  EXPECT_EQ(importFailure(sources), "--bandwidth" + oneNode);
  sources.bandwidth.reset();
  sources.latency = 1e-6;
  EXPECT_EQ(importFailure(sources), "--latency" + oneNode);
  sources.inside = "none"; // nothing inside: the devices share the network
  sources.bandwidth = 1e9;
  EXPECT_EQ(importFailure(sources), "no error");
  sources = ofNodes(3);
  sources.topology->devices = 1;
  sources.inside = "pcie-4";
  EXPECT_EQ(importFailure(sources), "--inside: would have no effect, as a node has one device");
  EXPECT_EQ(importedCluster(sources).status().kind(), ErrorKind::badUsage);
}

// A host file gives nodes and, by its slots, their devices.
TEST(ImportCluster, Hosts) {
  ClusterSources sources;
  sources.hosts = {{"a", 2, 1}, {"b", 2, 2}, {"c", 2, 3}};
  sources.hostfileName = "hosts";
  sources.device = "none";
  sources.network = "ethernet-25g";
  const ClusterFile cluster = written(sources);
  EXPECT_EQ(cluster.ranks, 6);
  EXPECT_EQ(cluster.devicesPerNode, 2);
  EXPECT_EQ(cluster.network->bandwidth, 3.125e9);
  EXPECT_FALSE(cluster.inside);
  sources.hosts = {{"a", {}, 1}, {"b", {}, 2}};
  EXPECT_EQ(written(sources).ranks, 2);
}

// Both together: the topology is every host's; hosts that say no slots have its devices.
TEST(ImportCluster, Both) {
  ClusterSources sources = ofNodes(1);
  sources.nodes.reset();
  sources.hostfileName = "hosts";
  sources.hosts = {{"a", {}, 1}, {"b", 8, 2}};
  EXPECT_EQ(written(sources).ranks, 16);
  EXPECT_EQ(written(sources).name, "t.xml and hosts");
  sources.hosts[1].slots = 4;
  EXPECT_EQ(importFailure(sources),
            "hosts:2: expected 8 slots, one for each GPU of 't.xml', got 4 on 'b'");
}

// Hosts that differ in their slots fit no cluster file.
TEST(ImportCluster, UnequalHosts) {
  ClusterSources sources;
  sources.hosts = {{"a", 2, 1}, {"b", 3, 4}};
  sources.hostfileName = "hosts";
  EXPECT_EQ(importFailure(sources),
            "hosts:4: expected as many slots on every host, got 3 on 'b' and 2 on 'a'");
}

// Everything that is missing is named at once, with the options that say it.
TEST(ImportCluster, Missing) {
  ClusterSources sources;
  sources.topology = {.devices = 8, .cardBandwidth = {}, .gpus = {}, .inside = {}};
  sources.topologyName = "t.xml";
  EXPECT_EQ(
      importFailure(sources),
      "the files do not say how many nodes there are (--nodes or --from-hostfile), what a "
      "rank computes with (--device; 'cpu', or 'none' where a profile will say), what joins the "
      "devices of a node (--inside), how fast the network is (--network or --bandwidth) and "
      "how long a message takes at least (--network or --latency)");
  EXPECT_EQ(importedCluster(sources).status().kind(), ErrorKind::badUsage);
  sources = ofNodes(2);
  sources.network.reset();
  EXPECT_EQ(importFailure(sources),
            "the files do not say how long a message takes at least (--network or --latency)");
  sources.latency = 0;
  EXPECT_EQ(importFailure(sources), "no error");
}

std::vector<std::string> notes(const ClusterSources &sources) {
  return test::valueOf(importedCluster(sources)).notes;
}

// Files of virtual machines list no NVLinks. A kind of device that has them for sure has them
// there, too, which a note says; where boards without are called the same, the link is requested.
TEST(ImportCluster, NoNvlinkListed) {
  ClusterSources sources = ofNodes(2);
  sources.topology = withoutLinks(90);
  sources.device = "h100";
  EXPECT_EQ(written(sources).inside->bandwidth, 450e9);
  EXPECT_EQ(notes(sources), std::vector<std::string>{
                                "'t.xml' lists no NVLinks: the devices of a node are joined by "
                                "those of h100 (nvlink-h100); --inside names another link"});
  sources.device = "h100-pcie";
  EXPECT_EQ(written(sources).inside->bandwidth, 63e9);
  EXPECT_TRUE(notes(sources).empty());
  sources.device = "h200";
  EXPECT_EQ(importFailure(sources),
            "the files do not say what joins the devices of a node (--inside; "
            "'t.xml' lists no NVLinks, h200 may have nvlink-h100)");
  sources.device = "none";
  EXPECT_EQ(importFailure(sources),
            "the files do not say what joins the devices of a node (--inside; "
            "'t.xml' lists no NVLinks)");
  sources.inside = "nvlink-h100";
  EXPECT_EQ(written(sources).inside->bandwidth, 450e9);
  sources.inside.reset();
  sources.topology = withoutLinks(75);
  EXPECT_EQ(written(sources).inside->bandwidth, 63e9);
  sources.device = "t4";
  EXPECT_EQ(written(sources).inside->bandwidth, 63e9);
}

// A file for a kind of machine never lists NVLinks: they are the device kind's.
TEST(ImportCluster, KindOfMachine) {
  ClusterSources sources = ofNodes(2);
  sources.topology = {.devices = 8, .cardBandwidth = {}, .gpus = {}, .inside = {}};
  sources.device = "a100";
  EXPECT_EQ(written(sources).inside->bandwidth, 300e9);
  EXPECT_EQ(notes(sources).size(), 2u); // the link, and the card
  sources.device = "t4";
  EXPECT_EQ(importFailure(sources),
            "the files do not say what joins the devices of a node (--inside)");
}

// A topology may list no network card. A node has one all the same, which a note says where a
// network is described.
TEST(ImportCluster, NoCardListed) {
  ClusterSources sources = ofNodes(2);
  sources.topology->cards = 0;
  sources.topology->cardBandwidth.reset();
  EXPECT_EQ(written(sources).cardsPerNode, 1);
  EXPECT_EQ(notes(sources),
            std::vector<std::string>{"'t.xml' lists no network cards: a node is taken to have one; "
                                     "'cards' of 'network' in the cluster file says how many it "
                                     "has"});
  sources.nodes = 1;
  sources.network.reset();
  EXPECT_TRUE(notes(sources).empty());
}

// NVLinks that differ between GPUs are no rate: the one that has fewest is named. NVLinks that are
// not the kind's usual ones are taken, and said.
TEST(ImportCluster, DoubtfulNvlinks) {
  ClusterSources sources = ofNodes(2);
  sources.topology->gpus[7].nvlinks = 1;
  sources.topology->inside = nodeLink(sources.topology->gpus);
  EXPECT_EQ(importFailure(sources),
            "the files do not say what joins the devices of a node (--inside; "
            "GPU 7 has 1 NVLink, GPU 0 has 6)");
  EXPECT_EQ(importedCluster(sources).status().kind(), ErrorKind::badUsage);
  sources.inside = "nvlink-v100";
  EXPECT_EQ(written(sources).inside->bandwidth, 150e9);
  sources.inside.reset();
  for (NcclGpu &gpu : sources.topology->gpus)
    gpu.nvlinks = 4;
  sources.topology->inside = nodeLink(sources.topology->gpus);
  EXPECT_EQ(written(sources).inside->bandwidth, 100e9);
  EXPECT_EQ(notes(sources),
            std::vector<std::string>{"'t.xml' lists NVLinks of 100 GB/s a device, v100 usually has "
                                     "150 GB/s; --inside names another link"});
}

// The device kind's compute capability is that of the topology's GPUs.
TEST(ImportCluster, WrongDevice) {
  ClusterSources sources = ofNodes(2);
  sources.device = "k80";
  EXPECT_EQ(importFailure(sources),
            "t.xml: expected GPUs with sm 37, which k80 has (--device), got sm 70 of GPU 0");
  EXPECT_EQ(importedCluster(sources).status().kind(), ErrorKind::badInput);
  for (const char *kind : {"v100", "v100-32g", "v100-pcie", "none"}) {
    sources.device = kind;
    EXPECT_EQ(importFailure(sources), "no error") << kind;
  }
}

// Bus numbers alone state no number of devices: it is requested, and then taken from the option.
TEST(ImportCluster, UncountedDevices) {
  ClusterSources sources = ofNodes(2);
  sources.topology = {.devices = 0, .cardBandwidth = {}, .gpus = {}, .inside = {}};
  const std::string open = "the files do not say how many devices a node has (--devices-per-node)";
  EXPECT_EQ(importFailure(sources), open);
  sources.inside = "nvlink-v100";
  EXPECT_EQ(importFailure(sources), open);
  sources.nodes = 1;
  sources.network.reset();
  EXPECT_EQ(importFailure(sources), open);
  sources = ofNodes(2);
  sources.devicesPerNode = 8;
  EXPECT_EQ(importFailure(sources),
            "--devices-per-node: the file says how many devices a node has");
  sources.topology = {.devices = 0, .cardBandwidth = {}, .gpus = {}, .inside = {}};
  EXPECT_EQ(written(sources).devicesPerNode, 8);
  EXPECT_EQ(written(sources).inside->bandwidth, 150e9);
  sources.devicesPerNode.reset();
  sources.nodes.reset();
  sources.hosts = {{"a", 4, 1}, {"b", 4, 2}};
  sources.hostfileName = "hosts";
  EXPECT_EQ(written(sources).ranks, 8);
  sources.hosts = {{"a", {}, 1}, {"b", {}, 2}};
  EXPECT_EQ(importFailure(sources), open);
}

// More ranks than a cluster file may have are refused at once.
TEST(ImportCluster, TooMany) {
  EXPECT_NE(importFailure(ofNodes(1 << 20)).find("expected at most 1048576 ranks in all"),
            std::string::npos);
}

} // namespace
} // namespace syncline::files
