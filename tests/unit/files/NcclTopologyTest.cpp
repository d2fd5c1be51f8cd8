// What is read from NCCL's topologies: those of a run, those of a kind of machine, and wrong ones.
#include "frontend/files/NcclTopology.h"
#include "tests/support/Results.h"

#include <gtest/gtest.h>

namespace syncline::files {
namespace {

std::string system(std::string_view inside) {
  return "<system version=\"1\">\n<cpu numaid=\"0\" arch=\"x86_64\">\n" + std::string(inside) +
         "</cpu>\n</system>\n";
}

/// One GPU on PCIe 4.0 x16, as a run has it.
std::string gpu(std::string_view inside, std::string_view sm = "80",
                std::string_view speed = "16.0 GT/s PCIe", std::string_view bus = "10") {
  return "<pci busid=\"0000:" + std::string(bus) + ":00.0\" class=\"0x030200\" link_speed=\"" +
         std::string(speed) + "\" link_width=\"16\"><gpu dev=\"0\" sm=\"" + std::string(sm) +
         "\" rank=\"0\">" + std::string(inside) + "</gpu></pci>\n";
}

std::string net(std::string_view speed) {
  return "<nic><net name=\"mlx5_0\" speed=\"" + std::string(speed) + "\" port=\"1\"/></nic>\n";
}

NcclTopology readTopology(const std::string &text) {
  return test::valueOf(parseNcclTopology(text, "t.xml"));
}

std::string topologyFailure(const std::string &text) {
  return test::messageOf(parseNcclTopology(text, "t.xml"));
}

// NVLinks of a device add up; interfaces of the highest speed are the cards.
TEST(NcclTopology, Run) {
  const NcclTopology t = readTopology(
      system(gpu("<nvlink target=\"a\" count=\"4\"/><nvlink target=\"b\" count=\"8\"/>") +
             gpu("<nvlink target=\"a\" count=\"12\"/>", "80", "", "20") + net("200000") +
             net("10000") + net("200000")));
  EXPECT_EQ(t.devices, 2);
  EXPECT_EQ(t.cards, 2);
  EXPECT_EQ(t.cardBandwidth, 25e9);
  EXPECT_TRUE(t.inside.isNvlink);
  EXPECT_EQ(t.inside.bandwidth, 300e9);
}

// Without NVLink devices talk over PCIe, after its encoding; where that is not said, all is open.
TEST(NcclTopology, Pcie) {
  const NcclTopology t = readTopology(system(gpu("") + gpu("", "80", "8 GT/s", "20")));
  EXPECT_FALSE(t.inside.isNvlink);
  EXPECT_DOUBLE_EQ(*t.inside.bandwidth, 8e9 * 16 / 8 * 128 / 130);
  EXPECT_DOUBLE_EQ(*readTopology(system(gpu("", "80", "5 GT/s"))).inside.bandwidth,
                   5e9 * 16 / 8 * 0.8);
  EXPECT_FALSE(readTopology(system(gpu("", "80", ""))).inside.bandwidth);
  EXPECT_FALSE(readTopology(system(gpu("", "80", "Unknown"))).inside.bandwidth);
  EXPECT_FALSE(readTopology(system(gpu("<xgmi target=\"a\" count=\"1\"/>"))).inside.bandwidth);
  EXPECT_EQ(t.cards, 0);
}

std::string bridge(std::string_view inside, std::string_view speed, std::string_view width) {
  return "<pci class=\"0x060400\" link_speed=\"" + std::string(speed) + "\" link_width=\"" +
         std::string(width) + "\">" + std::string(inside) + "</pci>\n";
}

// The slowest of a GPU's lanes and of those of all bridges above it counts; a bridge that states
// none, or faster ones, changes nothing.
TEST(NcclTopology, SlowBridges) {
  const double lane = 8e9 / 8 * 128 / 130; // PCIe 3.0
  const auto rate = [](const std::string &inside) {
    return readTopology(system(inside)).inside.bandwidth.value_or(0);
  };
  EXPECT_DOUBLE_EQ(rate(bridge(gpu(""), "8.0 GT/s PCIe", "8")), 8 * lane);
  EXPECT_DOUBLE_EQ(rate(bridge(bridge(gpu(""), "16.0 GT/s PCIe", "16"), "8.0 GT/s PCIe", "16")),
                   16 * lane);
  EXPECT_DOUBLE_EQ(rate(gpu("") + bridge(gpu("", "80", "16 GT/s", "20"), "8 GT/s", "4")), 4 * lane);
  EXPECT_DOUBLE_EQ(rate(bridge(gpu(""), "32.0 GT/s PCIe", "16")), 32 * lane);
  EXPECT_DOUBLE_EQ(rate(bridge(gpu(""), "", "0")), 32 * lane);
  EXPECT_DOUBLE_EQ(rate(bridge(gpu("", "80", ""), "8.0 GT/s PCIe", "16")), 0);
}

// A node has at most as many GPUs as a launcher starts ranks, and each has a bus number of its own.
TEST(NcclTopology, TooManyGpus) {
  const auto classes = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i)
      text += "<pci class=\"0x030200\"/>";
    return system(text);
  };
  const auto gpus = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i)
      text += gpu("", "80", "", std::to_string(i));
    return system(text);
  };
  const std::string refusal =
      "t.xml:1: 'system': expected the topology of one host, with at most 256 GPUs, got ";
  EXPECT_EQ(readTopology(classes(256)).devices, 256);
  EXPECT_EQ(readTopology(gpus(256)).devices, 256);
  EXPECT_EQ(topologyFailure(classes(257)), refusal + "257");
  EXPECT_EQ(topologyFailure(gpus(257)), refusal + "257");
  EXPECT_EQ(
      topologyFailure(system(gpu("") + gpu(""))),
      "t.xml:4: 'pci': expected one GPU with 'busid' '0000:10:00.0' on one host, got another");
}

// GPUs are named by their 'dev'; what they state is kept, and what they leave out is unknown.
TEST(NcclTopology, Gpus) {
  const NcclTopology t =
      readTopology(system(gpu("<nvlink target=\"b\" count=\"4\"/>", "90") +
                          "<pci busid=\"b\" class=\"0x030200\"><gpu rank=\"1\"/></pci>"));
  ASSERT_EQ(t.gpus.size(), 2u);
  EXPECT_EQ(t.gpus[0].name, "GPU 0");
  EXPECT_EQ(t.gpus[0].busId, "0000:10:00.0");
  EXPECT_EQ(t.gpus[0].capability, 90);
  EXPECT_EQ(t.gpus[0].nvlinks, 4);
  EXPECT_EQ(t.gpus[0].targets, std::vector<std::string>{"b"});
  EXPECT_TRUE(t.gpus[0].lanes);
  EXPECT_EQ(t.gpus[1].name, "GPU 1");
  EXPECT_EQ(t.gpus[1].capability, std::nullopt);
  EXPECT_FALSE(t.gpus[1].lanes);
  EXPECT_FALSE(t.inside.bandwidth);
}

// Bus numbers without classes do not say which devices are GPUs: their number is open.
TEST(NcclTopology, BusNumbers) {
  const NcclTopology t =
      readTopology(system("<pci busid=\"0000:10:00.0\"/><pci busid=\"0000:20:00.0\"/>"));
  EXPECT_EQ(t.devices, 0);
  EXPECT_TRUE(t.gpus.empty());
  EXPECT_EQ(readTopology(system("<pci class=\"0x030200\"/><pci busid=\"0000:20:00.0\"/>")).devices,
            0);
}

// RCCL's files are of version 2; its links between devices have rates that nothing here knows.
TEST(NcclTopology, Rccl) {
  const NcclTopology t = readTopology("<system version=\"2\"><cpu numaid=\"0\">" +
                                      gpu("<xgmi target=\"a\" count=\"1\"/>", "910") +
                                      net("200000") + "</cpu></system>");
  EXPECT_EQ(t.devices, 1);
  EXPECT_EQ(t.cardBandwidth, 25e9);
  EXPECT_FALSE(t.inside.bandwidth);
}

// A file for a kind of machine has PCI classes only: counts, no rates.
TEST(NcclTopology, Classes) {
  const NcclTopology t = readTopology(
      "<!-- a machine -->\n" + system("<pci class=\"0x060400\" link_speed=\"16 GT/s\" "
                                      "link_width=\"16\">\n<pci class=\"0x030200\"/><pci "
                                      "class=\"0x030000\"/><pci class=\"0x020700\"/></pci>\n"));
  EXPECT_EQ(t.devices, 2);
  EXPECT_EQ(t.cards, 1);
  EXPECT_FALSE(t.cardBandwidth);
  EXPECT_FALSE(t.inside.bandwidth);
}

// What is no XML is refused with the line where it breaks off.
TEST(NcclTopology, NotXml) {
  EXPECT_EQ(topologyFailure("<system version=\"1\">\n<cpu>\n</system>\n"),
            "t.xml:2: not valid XML: mismatched element");
  EXPECT_EQ(topologyFailure(""), "t.xml:1: not valid XML: empty document");
  EXPECT_EQ(topologyFailure("name: lab\n").rfind("t.xml:1: not valid XML", 0), 0u)
      << topologyFailure("name: lab\n");
  std::string deep;
  for (int i = 0; i < 100000; ++i)
    deep += "<pci>";
  EXPECT_EQ(topologyFailure(deep).rfind("t.xml:1: not valid XML", 0), 0u);
}

// XML that is no topology of one node with GPUs is told what is missing.
TEST(NcclTopology, NotATopology) {
  EXPECT_EQ(topologyFailure("\n<graphs version=\"1\"/>"),
            "t.xml:2: 'graphs': expected the element 'system' of an NCCL topology");
  EXPECT_EQ(topologyFailure("<system/>"),
            "t.xml:1: 'system': expected version 1 (NCCL) or 2 (RCCL), got none");
  EXPECT_EQ(topologyFailure("<system version=\"3\"/>"),
            "t.xml:1: 'system': expected version 1 (NCCL) or 2 (RCCL), got '3'");
  EXPECT_EQ(topologyFailure(system(net("1000"))),
            "t.xml:1: 'system': expected at least one GPU, as 'gpu' or by its PCI class, "
            "got none");
  EXPECT_EQ(topologyFailure("<system version=\"1\"><cpu host_hash=\"0x1\">" + gpu("") +
                            "</cpu><cpu host_hash=\"0x2\"/></system>"),
            "t.xml:1: 'system': expected the topology of one host, got those of 2 ('host_hash')");
}

// Numbers are whole and in their range, with the line of their element.
TEST(NcclTopology, Numbers) {
  EXPECT_EQ(topologyFailure(system(gpu("") + "<nic><net name=\"a\"/></nic>")),
            "t.xml:4: 'net': expected 'speed' from 1 to 100000000, got none");
  EXPECT_EQ(topologyFailure(system(net("fast"))),
            "t.xml:3: 'net': expected 'speed' from 1 to 100000000, got 'fast'");
  EXPECT_EQ(topologyFailure(system(net("-1"))),
            "t.xml:3: 'net': expected 'speed' from 1 to 100000000, got '-1'");
  EXPECT_EQ(topologyFailure(system(gpu("<nvlink target=\"a\" count=\"0\"/>"))),
            "t.xml:3: 'nvlink': expected 'count' from 1 to 1024, got '0'");
  EXPECT_EQ(topologyFailure(system(gpu("<nvlink target=\"a\" count=\"1\"/>", "8x"))),
            "t.xml:3: 'gpu': expected 'sm' from 10 to 1000, got '8x'");
}

} // namespace
} // namespace syncline::files
