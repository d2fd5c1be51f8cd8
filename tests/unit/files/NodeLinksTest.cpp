// What joins the GPUs of a node: rates of NVLinks, PCIe lanes, and links that are in doubt.
#include "frontend/files/NodeLinks.h"

#include <gtest/gtest.h>

namespace syncline::files {
namespace {

NcclGpu gpu(int number, std::int64_t sm, std::int64_t nvlinks,
            std::vector<std::string> targets = {"a switch"}) {
  return {.name = "GPU " + std::to_string(number),
          .busId = std::to_string(number),
          .capability = sm,
          .nvlinks = nvlinks,
          .targets = std::move(targets),
          .hasOtherLinks = false,
          .lanes = {}};
}

// A link's rate follows from the compute capability.
TEST(NodeLinks, Rates) {
  auto rate = [](std::int64_t sm) { return nodeLink({gpu(0, sm, 1)}).bandwidth; };
  EXPECT_EQ(rate(60), 20e9);
  EXPECT_EQ(rate(70), 25e9);
  EXPECT_EQ(rate(75), 25e9);
  EXPECT_EQ(rate(80), 25e9);
  EXPECT_EQ(rate(86), 14.0625e9);
  EXPECT_EQ(rate(90), 25e9);
  EXPECT_EQ(rate(100), 50e9);
  EXPECT_EQ(rate(130), std::nullopt);
}

// GPUs whose NVLinks differ in number or rate have no common rate; both are named.
TEST(NodeLinks, Unequal) {
  NodeLink link = nodeLink({gpu(0, 90, 18), gpu(1, 90, 18), gpu(7, 90, 1)});
  EXPECT_TRUE(link.isNvlink);
  EXPECT_FALSE(link.bandwidth);
  EXPECT_EQ(link.doubt, "GPU 7 has 1 NVLink, GPU 0 has 18");
  EXPECT_EQ(nodeLink({gpu(0, 80, 12), gpu(1, 80, 0, {})}).doubt,
            "GPU 1 has no NVLinks, GPU 0 has 12");
  EXPECT_EQ(nodeLink({gpu(0, 80, 12), gpu(1, 90, 12)}).doubt, "GPU 1 and GPU 0 differ in 'sm'");
}

// NVLinks that join pairs only leave the others to PCIe.
TEST(NodeLinks, Pairs) {
  const NodeLink pairs = nodeLink(
      {gpu(0, 86, 4, {"1"}), gpu(1, 86, 4, {"0"}), gpu(2, 86, 4, {"3"}), gpu(3, 86, 4, {"2"})});
  EXPECT_FALSE(pairs.bandwidth);
  EXPECT_EQ(pairs.doubt, "no NVLinks lead from GPU 0 to GPU 2");
  EXPECT_EQ(
      nodeLink({gpu(0, 70, 6, {"1", "2"}), gpu(1, 70, 6, {"0"}), gpu(2, 70, 6, {"0"})}).bandwidth,
      150e9);
}

// Without NVLinks the slowest lanes count; one that is not stated leaves all open.
TEST(NodeLinks, Lanes) {
  NcclGpu wide = gpu(0, 80, 0, {}), narrow = wide, open = wide;
  wide.lanes = 32e9;
  narrow.lanes = 16e9;
  EXPECT_EQ(nodeLink({wide, narrow}).bandwidth, 16e9);
  EXPECT_FALSE(nodeLink({wide, open}).bandwidth);
  wide.hasOtherLinks = true;
  EXPECT_FALSE(nodeLink({wide, narrow}).bandwidth);
}

} // namespace
} // namespace syncline::files
