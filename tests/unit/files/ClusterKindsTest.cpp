// Kinds of devices and links: their values, what overrides these, and what an unknown kind causes.
#include "frontend/files/ClusterKinds.h"
#include "tests/unit/files/ClusterText.h"

#include <gtest/gtest.h>

#include <set>

namespace syncline::files {
namespace {

/// A file of two nodes with two devices; `rest` follows its third line.
std::string withKinds(std::string_view rest) {
  return "name: lab\nnodes: 2\ndevices-per-node: 2\n" + std::string(rest) + "\n";
}

// A device's kind stands for its data sheet.
TEST(ClusterKinds, Device) {
  const DeviceRates device =
      read(withKinds("device: {kind: v100}\nnetwork: {kind: ethernet-10g}")).device;
  EXPECT_EQ(device.compute, 15.7e12);
  EXPECT_EQ(device.memory, 900e9);
  EXPECT_EQ(device.memorySize, 16'000'000'000);
  EXPECT_EQ(device.launchOverhead, 5e-6);
}

// Keys beside a kind replace its values one by one, wherever they stand.
TEST(ClusterKinds, OwnKeys) {
  const ClusterFile own =
      read(withKinds("device: {compute: 9 TFLOP/s, kind: a100, memory-size: 10GiB}\n"
                     "network: {latency: 7us, kind: infiniband-hdr}\n"
                     "inside: {kind: nvlink-a100, bandwidth: 1 GB/s}"));
  EXPECT_EQ(own.device.compute, 9e12);
  EXPECT_EQ(own.device.memory, 1555e9);
  EXPECT_EQ(own.device.memorySize, std::int64_t{10} << 30);
  EXPECT_EQ(own.network->bandwidth, 25e9);
  EXPECT_EQ(own.network->latency, 7e-6);
  EXPECT_EQ(own.inside->bandwidth, 1e9);
  EXPECT_EQ(own.inside->latency, 3e-6);
}

// What a kind does not say is as where it is absent.
TEST(ClusterKinds, NotSaid) {
  const ClusterFile cluster = read(withKinds("network: {kind: ethernet-1g}"));
  EXPECT_EQ(cluster.network->secondsPerReduce, 0);
  EXPECT_FALSE(cluster.device.memorySize);
}

// An unknown kind is refused with all there are; a link's where it belongs.
TEST(ClusterKinds, Unknown) {
  const std::string device =
      failure(withKinds("device: {kind: gaudi-2}\nnetwork: {kind: ethernet-1g}"));
  EXPECT_EQ(
      device.rfind("c.yaml:4:16: 'device.kind': unknown kind of device 'gaudi-2', expected one "
                   "of 'k80', 'titan-x', ",
                   0),
      0u)
      << device;
  for (std::string_view kind : deviceKinds())
    EXPECT_NE(device.find("'" + std::string(kind) + "'"), std::string::npos) << kind;
  EXPECT_EQ(failure(withKinds("device: {kind: a1000}\nnetwork: {kind: ethernet-1g}")),
            "c.yaml:4:16: 'device.kind': unknown kind of device 'a1000', did you mean 'a100'?");
  EXPECT_EQ(failure(withKinds("network: {kind: ethernet-1g}\ninside: {kind: ethernet-10g}")),
            "c.yaml:5:16: 'inside.kind': unknown kind of link 'ethernet-10g', expected one of "
            "'nvlink-p100', 'nvlink-v100', 'nvlink-a100', 'nvlink-h100', 'nvlink-b200', "
            "'pcie-3', 'pcie-4', 'pcie-5'");
  EXPECT_NE(failure(withKinds("network: {kind: pcie-3}")).find("'ethernet-1g', 'ethernet-10g'"),
            std::string::npos);
  EXPECT_NE(failure(withKinds("network: {kind: [a]}")).find("expected a kind of link, got a list"),
            std::string::npos);
}

// Every name in the lists has values, all of them positive, and stands once.
TEST(ClusterKinds, Tables) {
  std::set<std::string_view> names;
  for (std::string_view kind : deviceKinds()) {
    const auto device = deviceKind(kind);
    ASSERT_TRUE(device) << kind;
    const bool isGpu = !kind.starts_with("cpu");
    EXPECT_EQ(deviceCapability(kind) > 0, isGpu && !kind.starts_with("mi")) << kind; // NVIDIA's
    EXPECT_GT(*device->compute, isGpu ? 1e12 : 1e10) << kind;
    EXPECT_GT(*device->memory, isGpu ? 1e11 : 1e9) << kind;
    EXPECT_GE(device->memorySize.value_or(0), isGpu ? 8'000'000'000 : 0) << kind;
    EXPECT_TRUE(names.insert(kind).second) << kind;
  }
  for (LinkPlace place : {LinkPlace::betweenNodes, LinkPlace::insideNode})
    for (std::string_view kind : linkKinds(place)) {
      const auto link = linkKind(kind, place);
      ASSERT_TRUE(link) << kind;
      EXPECT_GE(link->bandwidth, 1.25e8) << kind;
      EXPECT_GT(link->latency, 0) << kind;
      ASSERT_TRUE(link->protocols) << kind;
      EXPECT_LT(link->protocols->ll, link->protocols->simple) << kind;
      EXPECT_LT(link->protocols->llShare, link->protocols->simpleShare) << kind;
      EXPECT_LE(link->protocols->simpleShare, 0.97) << kind;
      EXPECT_TRUE(names.insert(kind).second) << kind;
    }
  EXPECT_FALSE(deviceKind("A100"));
  EXPECT_FALSE(linkKind("pcie-3", LinkPlace::betweenNodes));
}

// NCCL's protocols stay those of the kind, with its latency, beside one that a file states.
TEST(ClusterKinds, StatedLatency) {
  const Link kind = *linkKind("infiniband-hdr", LinkPlace::betweenNodes);
  const ClusterFile cluster = read(withKinds("network: {kind: infiniband-hdr, latency: 10us}"));
  ASSERT_TRUE(cluster.network->protocols);
  EXPECT_EQ(cluster.network->latency, 10e-6);
  EXPECT_EQ(cluster.network->protocols->latency, kind.latency);
  EXPECT_EQ(cluster.network->protocols->simple, kind.protocols->simple);
  EXPECT_EQ(cluster.network->protocols->simpleShare, kind.protocols->simpleShare);
  EXPECT_FALSE(read(withKinds("network: {bandwidth: 1 GB/s, latency: 10us}")).network->protocols);
}

// A kind that is all cards of a node contradicts a number of cards, on one node as on all.
TEST(ClusterKinds, WholeNode) {
  EXPECT_EQ(read(withKinds("network: {kind: efa-3200g}")).network->bandwidth, 400e9);
  EXPECT_EQ(failure(withKinds("network: {kind: efa-3200g, cards: 32}")),
            "c.yaml:4:17: 'network.kind': expected the kind of one card beside 32 'cards', got "
            "'efa-3200g', which is all cards of a node");
  EXPECT_NE(failure(withKinds("network: {kind: efa-100g, cards: 4}\noverrides:\n  - nodes: [0]\n"
                              "    network: {kind: efa-400g}"))
                .find("expected the kind of one card beside 4 'cards'"),
            std::string::npos);
}

// A latency of zero is none, and an override beside it has the kind's protocols again.
TEST(ClusterKinds, LatencyOfZero) {
  const Link kind = *linkKind("roce-100g", LinkPlace::betweenNodes);
  const ClusterFile cluster = read(withKinds("network: {kind: roce-100g, latency: 0s}\noverrides:\n"
                                             "  - nodes: [0]\n    network: {latency: 5us}"));
  EXPECT_EQ(cluster.network->latency, 0);
  EXPECT_EQ(cluster.overrides[0].network->latency, 5e-6);
  EXPECT_EQ(cluster.overrides[0].network->protocols->ll, kind.protocols->ll);
}

// Nominal rates: Gb/s of Ethernet, of data on InfiniBand.
TEST(ClusterKinds, Rates) {
  EXPECT_EQ(linkKind("ethernet-25g", LinkPlace::betweenNodes)->bandwidth, 3.125e9);
  EXPECT_NEAR(linkKind("infiniband-fdr", LinkPlace::betweenNodes)->bandwidth, 56.25e9 * 64 / 66 / 8,
              1e7);
  EXPECT_EQ(linkKind("infiniband-ndr", LinkPlace::betweenNodes)->bandwidth, 50e9);
  EXPECT_EQ(linkKind("nvlink-h100", LinkPlace::insideNode)->bandwidth, 18 * 25e9);
  EXPECT_NEAR(linkKind("pcie-4", LinkPlace::insideNode)->bandwidth, 16e9 * 16 * 128 / 130 / 8, 1e6);
}

} // namespace
} // namespace syncline::files
