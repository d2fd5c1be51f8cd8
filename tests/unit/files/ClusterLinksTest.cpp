// What a cluster file says of servers, of the links inside nodes, of duplex and of limits.
#include "tests/unit/files/ClusterText.h"

#include <gtest/gtest.h>

namespace syncline::files {
namespace {

// Dedicated servers have what is said of them and the network's values for the rest.
TEST(ClusterServers, Dedicated) {
  const auto servers =
      read(lab(2, "servers: {count: 5, dedicated: yes, bandwidth: 10 Gb/s, memory: 16 GiB}"))
          .servers;
  ASSERT_TRUE(servers);
  EXPECT_EQ(servers->count, 5);
  EXPECT_TRUE(servers->dedicated);
  EXPECT_EQ(servers->link.bandwidth, 1.25e9);
  EXPECT_EQ(servers->link.latency, 50e-6);
  EXPECT_EQ(servers->link.secondsPerReduce, 2.5e-10);
  EXPECT_EQ(servers->memory, std::int64_t{16} << 30);

  const auto own =
      read(lab(2, "servers: {count: 1, dedicated: true, latency: 7us, reduce-rate: 8 GB/s}"))
          .servers;
  ASSERT_TRUE(own);
  EXPECT_EQ(own->link.bandwidth, 1.25e8);
  EXPECT_EQ(own->link.latency, 7e-6);
  EXPECT_EQ(own->link.secondsPerReduce, 1.25e-10);
  EXPECT_FALSE(own->memory);
}

// Servers beside the ranks have the network's link; there may be as many as ranks.
TEST(ClusterServers, Colocated) {
  const auto servers = read(lab(2, "servers: {count: 4, dedicated: no, memory: 1MB}")).servers;
  ASSERT_TRUE(servers);
  EXPECT_FALSE(servers->dedicated);
  EXPECT_EQ(servers->link.bandwidth, 1.25e8);
  EXPECT_EQ(servers->link.secondsPerReduce, 2.5e-10);
  EXPECT_EQ(servers->memory, 1000000);
  EXPECT_FALSE(read(lab(2, "servers: {count: 1, dedicated: false}")).servers->dedicated);
}

// Dedicated servers may state their link where there is no network.
TEST(ClusterServers, WithoutNetwork) {
  const std::string head = "name: n\nranks: 4\ncollectives: {all-reduce: {a: 1s, b: 0 s/B}}\n";
  const auto servers =
      read(head + "servers: {count: 1, dedicated: yes, bandwidth: 8 b/s, latency: 1s}").servers;
  ASSERT_TRUE(servers);
  EXPECT_EQ(servers->link.bandwidth, 1);
  EXPECT_EQ(servers->link.latency, 1);
  EXPECT_EQ(failure(head + "servers: {count: 1, dedicated: yes, bandwidth: 8 b/s}"),
            "c.yaml:4:10: 'servers': expected a 'network', or 'bandwidth' and 'latency' here, got "
            "neither");
  EXPECT_EQ(failure(head + "servers: {count: 1, dedicated: no}"),
            "c.yaml:4:10: 'servers': expected a 'network', which servers that are not dedicated "
            "share, got none");
}

// How many servers and where must be said, in whole servers and in yes or no.
TEST(ClusterServers, CountAndPlace) {
  EXPECT_EQ(failure(lab(2, "servers: {dedicated: yes}")),
            "c.yaml:5:10: 'servers': expected the key 'count', got none");
  EXPECT_EQ(failure(lab(2, "servers: {count: 2}")),
            "c.yaml:5:10: 'servers': expected the key 'dedicated', got none");
  EXPECT_EQ(failure(lab(2, "servers: {count: 0, dedicated: yes}")),
            "c.yaml:5:18: 'servers.count': expected a whole number of servers from 1 to 1048576, "
            "got '0'");
  EXPECT_EQ(failure(lab(2, "servers: {count: 2, dedicated: maybe}")),
            "c.yaml:5:32: 'servers.dedicated': expected 'yes' or 'no', got 'maybe'");
  EXPECT_NE(failure(lab(2, "servers: {count: 2, dedicated: [yes]}")).find("got a list"),
            std::string::npos);
}

// Servers beside the ranks are at most as many, and have no link of their own.
TEST(ClusterServers, Contradictions) {
  EXPECT_EQ(failure(lab(2, "servers: {count: 5, dedicated: no}")),
            "c.yaml:5:18: 'servers.count': expected at most one server a rank, for they are not "
            "dedicated, got 5 servers for 4 ranks");
  for (std::string_view key : {"bandwidth: 1 Gb/s", "latency: 1us", "reduce-rate: 1 GB/s"})
    EXPECT_NE(failure(lab(2, "servers: {count: 2, dedicated: no, " + std::string(key) + "}"))
                  .find("expected none, for servers that are not dedicated share their ranks' "
                        "'network'"),
              std::string::npos)
        << key;
}

// A server's rates and memory have units and are above zero.
TEST(ClusterServers, BadValues) {
  EXPECT_EQ(failure(lab(2, "servers: {count: 2, dedicated: yes, bandwidth: 0 Gb/s}")),
            "c.yaml:5:48: 'servers.bandwidth': expected a data rate above zero, got '0 Gb/s'");
  EXPECT_NE(failure(lab(2, "servers: {count: 2, dedicated: yes, reduce-rate: 5}"))
                .find("expected a data rate with a unit"),
            std::string::npos);
  EXPECT_NE(failure(lab(2, "servers: {count: 2, dedicated: yes, latency: 5}"))
                .find("expected a time with a unit"),
            std::string::npos);
  EXPECT_NE(failure(lab(2, "servers: {count: 2, dedicated: yes, memory: 1024}"))
                .find("expected a size with a unit"),
            std::string::npos);
  EXPECT_EQ(failure(lab(2, "servers: {count: 2, dedicated: yes, memory: 0 GB}")),
            "c.yaml:5:45: 'servers.memory': expected a size of at least one byte, got '0B'");
  EXPECT_EQ(failure(lab(2, "servers: {counts: 2}")),
            "c.yaml:5:11: 'servers': unknown key 'counts', did you mean 'count'?");
}

// Devices of a node are joined by a link of their own.
TEST(ClusterInside, Link) {
  const auto inside =
      read(lab(2, "inside: {bandwidth: 8 GB/s, latency: 5us, reduce-rate: 10 GB/s}")).inside;
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->bandwidth, 8e9);
  EXPECT_EQ(inside->latency, 5e-6);
  EXPECT_EQ(inside->secondsPerReduce, 1e-10);
  EXPECT_EQ(read(lab(2, "inside: {bandwidth: 8 GB/s, latency: 5us}")).inside->secondsPerReduce, 0);
}

// It needs both values, several devices and a network between the nodes.
TEST(ClusterInside, Errors) {
  EXPECT_EQ(failure(lab(2, "inside: {bandwidth: 8 GB/s}")),
            "c.yaml:5:9: 'inside': expected the key 'latency', got none");
  EXPECT_EQ(failure(lab(2, "inside: {latency: 1us}")),
            "c.yaml:5:9: 'inside': expected the key 'bandwidth', got none");
  EXPECT_EQ(failure(lab(2, "inside: {bandwidth: 0 B/s, latency: 1us}")),
            "c.yaml:5:21: 'inside.bandwidth': expected a data rate above zero, got '0 B/s'");
  EXPECT_EQ(failure(lab(2, "inside: {bandwidth: 8 GB/s, latency: 1us, duplex: half}")),
            "c.yaml:5:43: 'inside': unknown key 'duplex', expected one of 'kind', 'bandwidth', "
            "'latency', 'reduce-rate'");
  EXPECT_EQ(failure("name: n\nranks: 4\nnetwork: {bandwidth: 1 Gb/s, latency: 1us}\ninside: "
                    "{bandwidth: 8 GB/s, latency: 1us}\n"),
            "c.yaml:4:9: 'inside': expected 'devices-per-node' beside it, got none");
  EXPECT_EQ(failure("name: n\nnodes: 4\ndevices-per-node: 2\ncollectives: {all-reduce: {a: 1s, b: "
                    "0 s/B}}\ninside: {bandwidth: 8 GB/s, latency: 1us}\n"),
            "c.yaml:5:9: 'inside': expected a 'network' between the nodes beside it, got none");
}

// A link carries both directions at once unless it is said not to.
TEST(ClusterDuplex, FullOrHalf) {
  auto network = [](std::string_view duplex) {
    return "name: n\nranks: 4\nnetwork: {bandwidth: 1 Gb/s, latency: 1us, duplex: " +
           std::string(duplex) + "}\n";
  };
  EXPECT_TRUE(read(network("half")).halfDuplex);
  EXPECT_FALSE(read(network("full")).halfDuplex);
  EXPECT_EQ(failure(network("halt")),
            "c.yaml:3:52: 'network.duplex': unknown duplex 'halt', did you mean 'half'?");
  EXPECT_NE(failure(network("")).find("expected one of 'full', 'half', got nothing"),
            std::string::npos);
}

// A message may have a largest size, of at least a byte.
TEST(ClusterLimits, Message) {
  EXPECT_EQ(read(lab(2, "limits: {message: 64MiB}")).largestMessage, 64 << 20);
  EXPECT_FALSE(read(lab(2, "limits: {}")).largestMessage);
  EXPECT_EQ(failure(lab(2, "limits: {message: 64}")),
            "c.yaml:5:19: 'limits.message': expected a size with a unit such as '25MiB', got '64'");
  EXPECT_EQ(failure(lab(2, "limits: {message: 0B}")),
            "c.yaml:5:19: 'limits.message': expected a size of at least one byte, got '0B'");
  EXPECT_EQ(failure(lab(2, "limits: {mesage: 1MB}")),
            "c.yaml:5:10: 'limits': unknown key 'mesage', did you mean 'message'?");
}

// Messages make computation slower, never faster.
TEST(ClusterInterference, Computation) {
  EXPECT_EQ(read(lab(2, "interference: {computation: 1.35}")).interference, 1.35);
  EXPECT_EQ(read(lab(2, "interference: {computation: 1000}")).interference, 1000);
  EXPECT_EQ(read(lab(2, "interference: {}")).interference, 1);
  for (const char *bad : {"0.99", "1000.5", "-2", "nan", "inf", "1.35x", "35 %"})
    EXPECT_EQ(failure(lab(2, "interference: {computation: " + std::string(bad) + "}")),
              "c.yaml:5:29: 'interference.computation': expected a number from 1 to 1000 such as "
              "1.5, got '" +
                  std::string(bad) + "'");
  EXPECT_EQ(failure(lab(2, "interference: 1.35")),
            "c.yaml:5:15: 'interference': expected a map with "
            "the keys 'computation', 'products', 'memory', 'latency', 'messages', got "
            "'1.35'");
  EXPECT_NE(failure(lab(2, "interference: {communication: 2}")).find("unknown key 'communication'"),
            std::string::npos);
}

// Classes of operations may lose unequally; unless said, each loses as all operations do.
TEST(ClusterInterference, Classes) {
  const ClusterFile cluster =
      read(lab(2, "interference: {computation: 1.4, products: 1.2, memory: 1.7}"));
  EXPECT_EQ(cluster.interference, 1.4);
  EXPECT_EQ(cluster.interferenceBy.products, 1.2);
  EXPECT_EQ(cluster.interferenceBy.memory, 1.7);
  EXPECT_FALSE(read(lab(2, "interference: {computation: 1.4}")).interferenceBy.products);
  EXPECT_FALSE(read(lab(2, "interference: {products: 1.4}")).interferenceBy.memory);
  EXPECT_EQ(failure(lab(2, "interference: {memory: 0.5}")),
            "c.yaml:5:24: 'interference.memory': expected a number from 1 to 1000 such as 1.5, got "
            "'0.5'");
}

// A message's latency may slow computation more or less than its bytes; unless said, as much.
TEST(ClusterInterference, Latency) {
  EXPECT_EQ(read(lab(2, "interference: {computation: 4, latency: 1.9}")).latencyInterference, 1.9);
  EXPECT_EQ(read(lab(2, "interference: {latency: 1.9}")).interference, 1);
  EXPECT_FALSE(read(lab(2, "interference: {computation: 4}")).latencyInterference);
  EXPECT_EQ(
      failure(lab(2, "interference: {latency: 0.5}")),
      "c.yaml:5:25: 'interference.latency': expected a number from 1 to 1000 such as 1.5, got "
      "'0.5'");
}

// Two messages at once slow each other; a file need not say how much.
TEST(ClusterInterference, Messages) {
  EXPECT_EQ(read(lab(2, "interference: {messages: 1.5}")).messageInterference, 1.5);
  EXPECT_FALSE(read(lab(2, "interference: {latency: 1.5}")).messageInterference);
  EXPECT_EQ(
      failure(lab(2, "interference: {messages: 0.5}")),
      "c.yaml:5:26: 'interference.messages': expected a number from 1 to 1000 such as 1.5, got "
      "'0.5'");
}

// Several devices a node need no link of their own.
TEST(ClusterInside, Optional) { EXPECT_EQ(read(lab(2, "")).devicesPerNode, 2); }

} // namespace
} // namespace syncline::files
