// What nodes with several devices and cards, and nodes that are slower, make of a cluster's costs.
#include "passes/cost/SchemeCatalog.h"
#include "syncline/PlanConstants.h"
#include "tests/unit/cost/Parsed.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace syncline::cost {
namespace {

using cluster::Scheme;

/// The offer of 8 ranks, 4 a node, over links of alpha 0 and beta 1 s/B; `rest` is added to the
/// spec. The text starts with a comma.
struct Lab {
  explicit Lab(std::string_view rest, std::string_view link = "beta = 1.0",
               WirePrecision wire = WirePrecision::fp32)
      : parsed(""), catalog(Status::badInput("no spec")) {
    auto spec = mlir::dyn_cast_or_null<cluster::SpecAttr>(parsed.attr(
        "#cluster.spec<name = \"lab\", ranks = 8, devicesPerNode = 4, device = <launchOverhead = "
        "0.0>, link = <alpha = 0.0, " +
        std::string(link) + ", gamma = 0.0>" + std::string(rest) + ">"));
    EXPECT_TRUE(spec) << parsed.error;
    if (spec)
      catalog = catalogOf(spec, wire);
    EXPECT_TRUE(catalog) << catalog.status().message();
  }

  double seconds(Scheme scheme, std::int64_t bytes = 1 << 20) {
    return catalog->option(scheme)->cost->seconds(bytes);
  }
  double gather(Scheme scheme = Scheme::factors, std::int64_t bytes = 1 << 20) {
    return gatherSeconds(*catalog, scheme, bytes);
  }

  Parsed parsed;
  Result<SchemeCatalog> catalog;
};

/// Operations beside messages by the ring and by gathers are slower by other factors than beside
/// those by servers. One of the two factors of a scheme, that of its latency, is the cluster's.
TEST(SchemeCatalog, InterferenceByScheme) {
  Lab lab(", interference = 2.0, latencyInterference = 1.25, collectives = [<ring, "
          "#cluster.affine<a = 1.0, b = 1.0>, interference = 4.0>, <factors, #cluster.affine<a = "
          "1.0, b = 1.0>, interference = 1.0>]");
  EXPECT_DOUBLE_EQ(lab.catalog->option(Scheme::ring)->lostSeconds(100), 0.2 + 75);
  for (Scheme scheme : {Scheme::factors, Scheme::sparse}) {
    problem::FactorOption option{scheme, gatherSeconds(*lab.catalog, scheme, 100)};
    setGatherLost(*lab.catalog, option);
    EXPECT_DOUBLE_EQ(option.lost, 0.2);
  }
  const problem::SchemeOption &servers = *lab.catalog->option(Scheme::parameterServer);
  EXPECT_DOUBLE_EQ(servers.lostSeconds(1 << 20), lab.seconds(Scheme::parameterServer) / 2);
}

/// A scheme's own numbers come before the cluster's, and that of a class before that of all.
TEST(SchemeCatalog, InterferenceByClass) {
  Lab lab(", interference = 2.0, productsInterference = 1.25, memoryInterference = 4.0, "
          "latencyInterference = 1.0, collectives = [<ring, #cluster.affine<a = 0.0, b = 1.0>>, "
          "<tree, #cluster.affine<a = 0.0, b = 1.0>, interference = 5.0>, <\"halving-doubling\", "
          "#cluster.affine<a = 0.0, b = 1.0>, interference = 5.0, memory = 10.0>]");
  ASSERT_TRUE(lab.catalog->tellsClasses());
  const auto expect = [&](Scheme scheme, double all, double products, double memory) {
    const problem::SchemeOption &option = *lab.catalog->option(scheme);
    EXPECT_DOUBLE_EQ(option.lostSeconds(100), all);
    EXPECT_DOUBLE_EQ(option.lostBy[problem::WorkClass::products]->seconds(100), products);
    EXPECT_DOUBLE_EQ(option.lostBy[problem::WorkClass::memory]->seconds(100), memory);
  };
  expect(Scheme::ring, 50, 20, 75);
  expect(Scheme::tree, 80, 80, 80);
  expect(Scheme::halvingDoubling, 80, 80, 90);
}

/// Where classes lose alike, whatever the file says of all, nothing tells them apart.
TEST(SchemeCatalog, EqualClassesAreOneNumber) {
  Lab one(", interference = 4.0"), equal(", interference = 1.5, productsInterference = 4.0, "
                                         "memoryInterference = 4.0");
  EXPECT_FALSE(equal.catalog->tellsClasses());
  for (Scheme scheme : {Scheme::ring, Scheme::parameterServer}) {
    const problem::SchemeOption &option = *equal.catalog->option(scheme);
    EXPECT_EQ(option.lostSeconds(1 << 20), one.catalog->option(scheme)->lostSeconds(1 << 20));
    EXPECT_EQ(option.lostBy, decltype(option.lostBy)());
  }
}

constexpr double n = 1 << 20;
/// The tree's time for 8 ranks. Each of two trees has 4 segments. While the first is on its way, 10
/// segments pass a link; for each further one 4 do.
constexpr double tree = n / 8 * (3 * 4 + 10);
const std::string insideLink = ", inside = <alpha = 0.0, beta = 0.125, gamma = 0.0>";

// Around a ring one message at a time leaves a node; the doubling schemes' four devices share its
// card, and so do workers. Trees have three edges' halves between two nodes of four.
TEST(SchemeCatalog, DevicesShareACard) {
  Lab lab("");
  EXPECT_DOUBLE_EQ(lab.seconds(Scheme::ring), 2 * n * 7 / 8);
  EXPECT_DOUBLE_EQ(lab.seconds(Scheme::reduceScatter), 2 * n * 7 / 8);
  EXPECT_DOUBLE_EQ(lab.seconds(Scheme::tree), 1.5 * tree);
  EXPECT_DOUBLE_EQ(lab.gather(), 7 * n);
  EXPECT_DOUBLE_EQ(lab.seconds(Scheme::halvingDoubling), 4 * 2 * n * 7 / 8);
  EXPECT_DOUBLE_EQ(lab.seconds(Scheme::recursiveDoubling), 4 * 3 * n);
  EXPECT_DOUBLE_EQ(lab.seconds(Scheme::parameterServer), 4 * 2 * n * 7 / 8);
}

// Cards of a node carry its messages together.
TEST(SchemeCatalog, Cards) {
  Lab lab(", cardsPerNode = 4");
  EXPECT_DOUBLE_EQ(lab.seconds(Scheme::ring), 2 * n * 7 / 8 / 4);
  EXPECT_DOUBLE_EQ(lab.seconds(Scheme::tree), 1.5 * tree / 4);
  EXPECT_DOUBLE_EQ(lab.gather(), 7 * n / 4);
  EXPECT_DOUBLE_EQ(lab.seconds(Scheme::halvingDoubling), 2 * n * 7 / 8);
  EXPECT_DOUBLE_EQ(lab.seconds(Scheme::parameterServer), 2 * n * 7 / 8);
}

// Dedicated servers begin to reply after one piece as the runtime cuts it; from there on both
// directions are busy. Two servers take 8 / 2 messages of 1 s a byte, workers send as slowly.
TEST(SchemeCatalog, DedicatedServersOverlapTheRuntimesPieces) {
  Lab lab(", servers = <count = 2, dedicated = true, link = <alpha = 0.0, beta = 1.0, gamma = "
          "0.0>>");
  constexpr double piece = 2.0 * serverPieceBytes;
  EXPECT_DOUBLE_EQ(lab.seconds(Scheme::parameterServer, piece), 2 * 4 * piece);
  EXPECT_DOUBLE_EQ(lab.seconds(Scheme::parameterServer), 4 * piece + 4 * n);
}

// Hierarchical all-reduces divide what goes between the nodes among the cards.
TEST(SchemeCatalog, CardsHierarchical) {
  const double inside = 2 * 0.75 * 0.125 * n;
  EXPECT_DOUBLE_EQ(Lab(insideLink).seconds(Scheme::hierarchical), inside + n);
  EXPECT_DOUBLE_EQ(Lab(insideLink + ", cardsPerNode = 4").seconds(Scheme::hierarchical),
                   inside + n / 4);
}

// Cards are of no more use than what is inside the node lets through.
TEST(SchemeCatalog, InsideLimitsCards) {
  EXPECT_DOUBLE_EQ(Lab(insideLink + ", cardsPerNode = 64").seconds(Scheme::ring),
                   2 * n * 7 / 8 * 0.125);
}

// Half duplex doubles what the cards carry, not what is inside.
TEST(SchemeCatalog, HalfDuplex) {
  EXPECT_DOUBLE_EQ(Lab(", cardsPerNode = 4, halfDuplex = true").seconds(Scheme::ring),
                   2 * 2 * n * 7 / 8 / 4);
  EXPECT_DOUBLE_EQ(Lab(", halfDuplex = true").seconds(Scheme::tree), 2 * 1.5 * tree);
  EXPECT_DOUBLE_EQ(Lab(insideLink + ", cardsPerNode = 64, halfDuplex = true").seconds(Scheme::ring),
                   2 * n * 7 / 8 * 0.125);
}

// The slowest link sets the pace of all; a faster one is of no use unless every node has it.
TEST(SchemeCatalog, SlowestLink) {
  auto override = [](std::string_view nodes, std::string_view beta) {
    return ", overrides = [<nodes = " + std::string(nodes) +
           ", link = <alpha = 0.0, beta = " + std::string(beta) + ", gamma = 0.0>>]";
  };
  EXPECT_DOUBLE_EQ(Lab(override("[1]", "10.0")).seconds(Scheme::ring), 10 * 2 * n * 7 / 8);
  EXPECT_DOUBLE_EQ(Lab(override("[1]", "10.0")).gather(), 10 * 7 * n);
  EXPECT_DOUBLE_EQ(Lab(override("[1]", "10.0")).seconds(Scheme::parameterServer),
                   10 * 4 * 2 * n * 7 / 8);
  EXPECT_DOUBLE_EQ(Lab(override("[1]", "0.5")).seconds(Scheme::ring), 2 * n * 7 / 8);
  EXPECT_DOUBLE_EQ(Lab(override("[0, 1]", "0.5")).seconds(Scheme::ring), n * 7 / 8);
}

// A stated formula over the network's own constants is what the network gives; other constants are
// taken as they stand.
TEST(SchemeCatalog, StatedFormula) {
  auto ring = [](std::string_view beta) {
    return Lab(", cardsPerNode = 2, collectives = [<ring, #cluster.formula<algorithm = ring, ranks "
               "= 8, alpha = 0.0, beta = " +
               std::string(beta) + ", gamma = 0.0>>]")
        .seconds(Scheme::ring);
  };
  EXPECT_DOUBLE_EQ(ring("1.0"), n * 7 / 8);
  EXPECT_DOUBLE_EQ(ring("3.0"), 3 * 2 * n * 7 / 8);
}

// With 16 bits on the wire every message moves half of the bytes, in half of the time of the links,
// but for the parameters that a reduce-scatter gathers.
TEST(SchemeCatalog, WireOf16Bits) {
  const std::string rest = insideLink + ", cardsPerNode = 2";
  for (const WirePrecision wire : {WirePrecision::bf16, WirePrecision::fp16}) {
    Lab whole(rest), narrow(rest, "beta = 1.0", wire);
    for (Scheme scheme :
         {Scheme::ring, Scheme::tree, Scheme::halvingDoubling, Scheme::recursiveDoubling,
          Scheme::hierarchical, Scheme::parameterServer, Scheme::reduceScatter}) {
      const double share = scheme == Scheme::reduceScatter ? 0.75 : 0.5;
      EXPECT_DOUBLE_EQ(narrow.seconds(scheme), share * whole.seconds(scheme)) << schemeName(scheme);
      for (std::int64_t bytes : {1 << 10, 1 << 20})
        EXPECT_DOUBLE_EQ(narrow.catalog->option(scheme)->bytesMoved(bytes),
                         share * whole.catalog->option(scheme)->bytesMoved(bytes))
            << schemeName(scheme);
    }
    EXPECT_DOUBLE_EQ(narrow.gather(), whole.gather() / 2);
    EXPECT_DOUBLE_EQ(gatherTraffic(*narrow.catalog, Scheme::factors, 1000),
                     gatherTraffic(*whole.catalog, Scheme::factors, 1000) / 2);
    EXPECT_DOUBLE_EQ(narrow.gather(Scheme::sparse), whole.gather()); // numbers of rows stay whole
    EXPECT_DOUBLE_EQ(gatherTraffic(*narrow.catalog, Scheme::sparse, 1000),
                     gatherTraffic(*whole.catalog, Scheme::factors, 1000));
  }
}

// An embedding's rows cost what the all-gather of factors is stated to cost.
TEST(SchemeCatalog, Rows) {
  Lab stated(", collectives = [<ring, #cluster.affine<a = 5.0, b = 2.0>>, <factors, "
             "#cluster.affine<a = 7.0, b = 3.0>>]");
  EXPECT_DOUBLE_EQ(stated.gather(Scheme::sparse, 100), 7 + 3 * 100);
  for (Scheme scheme : {Scheme::sparse, Scheme::factors})
    EXPECT_TRUE(Lab(", nccl = true").catalog->gatherOf(scheme));
}

// Latencies and sums do not depend on the wire: a ring of 8 ranks has 14 rounds and 7/8 of sums.
TEST(SchemeCatalog, WireLeavesLatencyAndSums) {
  Lab narrow("", "beta = 1.0", WirePrecision::bf16);
  auto spec = mlir::cast<cluster::SpecAttr>(narrow.parsed.attr(
      "#cluster.spec<name = \"sums\", ranks = 8, device = <launchOverhead = 0.0>, link = <alpha = "
      "1000.0, beta = 1.0, gamma = 3.0>>"));
  const Result<SchemeCatalog> catalog = catalogOf(spec, WirePrecision::bf16);
  ASSERT_TRUE(catalog);
  EXPECT_DOUBLE_EQ(catalog->option(Scheme::ring)->cost->seconds(1 << 20),
                   14 * 1000.0 + n * 7 / 8 * (2 * 0.5 + 3));
}

// A stated line or table tells the time of the bytes that travel.
TEST(SchemeCatalog, WireAndStatedCosts) {
  const std::string rest = ", collectives = [<ring, #cluster.affine<a = 5.0, b = 2.0>>, <tree, "
                           "#cluster.table<[0, 1.0], [1000, 2.0], [1001, 5.0], [3000, 9.0]>>]";
  Lab whole(rest), narrow(rest, "beta = 1.0", WirePrecision::fp16);
  EXPECT_DOUBLE_EQ(narrow.seconds(Scheme::ring, 1000), 5 + 2 * 500);
  for (std::int64_t bytes : {0, 700, 1000, 1001, 2222, 5000})
    EXPECT_DOUBLE_EQ(narrow.seconds(Scheme::tree, 2 * bytes), whole.seconds(Scheme::tree, bytes));
}

// What NCCL chooses is offered where its time is stated and NCCL carries the messages.
TEST(SchemeCatalog, NcclsChoice) {
  const std::string stated = ", collectives = [<ring, #cluster.affine<a = 5.0, b = 2.0>>, "
                             "<library, #cluster.table<[0, 1.0], [1000, 2.0]>>]",
                    nccl = ", nccl = true";
  Lab gpus(stated + nccl), cpus(stated), unmeasured(nccl);
  EXPECT_DOUBLE_EQ(gpus.seconds(Scheme::library, 500), 1.5);
  EXPECT_DOUBLE_EQ(gpus.catalog->option(Scheme::library)->traffic,
                   gpus.catalog->option(Scheme::ring)->traffic);
  EXPECT_TRUE(gpus.catalog->unsupported.empty());
  EXPECT_FALSE(cpus.catalog->option(Scheme::library));
  EXPECT_TRUE(cpus.catalog->option(Scheme::ring));
  EXPECT_EQ(cpus.catalog->unsupported, std::vector{Scheme::library});
  EXPECT_FALSE(unmeasured.catalog->option(Scheme::library));
  EXPECT_EQ(std::ranges::count(unmeasured.catalog->unsupported, Scheme::library), 0);
}

// Groups share a node's cards: whatever goes over them takes so many times as long.
TEST(SchemeCatalog, Groups) {
  Lab alone(""), shared(", groups = 4"), cards(", groups = 4, cardsPerNode = 4");
  for (Scheme scheme : {Scheme::ring, Scheme::halvingDoubling, Scheme::parameterServer}) {
    EXPECT_DOUBLE_EQ(shared.seconds(scheme), 4 * alone.seconds(scheme));
    EXPECT_DOUBLE_EQ(cards.seconds(scheme), alone.seconds(scheme));
  }
  EXPECT_DOUBLE_EQ(shared.gather(), 4 * alone.gather());
  // Links inside the node are each group's own.
  const std::string inside = ", inside = <alpha = 0.0, beta = 3.0, gamma = 0.0>";
  EXPECT_DOUBLE_EQ(Lab(inside + ", groups = 2").seconds(Scheme::ring),
                   Lab(inside).seconds(Scheme::ring));
}

// Where NCCL's protocols are known on every link, they decide, and NCCL may choose.
TEST(SchemeCatalog, Protocols) {
  const std::string has = ", protocols = <ll = 1.0, llShare = 0.1, ll128 = 2.0, ll128Share = 0.5, "
                          "simple = 4.0, simpleShare = 0.8",
                    inside = ", inside = <alpha = 0.0, beta = 0.25, gamma = 0.0",
                    nccl = ", nccl = true";
  Parsed parsed("");
  auto catalog = [&](const std::string &rest) {
    auto spec = mlir::dyn_cast_or_null<cluster::SpecAttr>(
        parsed.attr("#cluster.spec<name = \"lab\", ranks = 8, devicesPerNode = 4, device = "
                    "<launchOverhead = 0.0>, link = <alpha = 0.0, beta = 1.0, gamma = 0.0" +
                    has + ">>" + rest + ">"));
    EXPECT_TRUE(spec) << parsed.error;
    return catalogOf(spec);
  };
  const auto known = catalog(inside + has + ">>" + nccl), silent = catalog(inside + ">" + nccl),
             cpus = catalog(inside + has + ">>");
  ASSERT_TRUE(known && silent && cpus);
  // 2 nodes: 12 messages inside, 2 between; beta / share between is the larger.
  EXPECT_NEAR(known->option(Scheme::ring)->cost->seconds(1 << 30), 14 / 8.0 / 0.8 * (1 << 30),
              1e-6 * (1 << 30));
  ASSERT_TRUE(known->option(Scheme::library));
  EXPECT_NEAR(known->option(Scheme::library)->cost->seconds(1 << 30), 1 / 0.8 * (1 << 30),
              1e-6 * (1 << 30)); // by the tree of two nodes
  // The first of equal costs counts: that is NCCL's own choice.
  EXPECT_EQ(known->collectives.front().scheme, Scheme::library);
  EXPECT_FALSE(silent->option(Scheme::library));
  EXPECT_FALSE(cpus->option(Scheme::library));
  // What is no all-reduce goes by the same protocols: 0.8 of the rate. Workers share the card, and
  // reach less by sends.
  EXPECT_NEAR(known->option(Scheme::reduceScatter)->cost->seconds(1 << 30),
              14 / 8.0 / 0.8 * (1 << 30), 1e-6 * (1 << 30));
  EXPECT_NEAR(gatherSeconds(*known, Scheme::factors, 1 << 30), 7 / 0.8 * (1 << 30),
              1e-6 * (1 << 30));
  EXPECT_NEAR(known->option(Scheme::parameterServer)->cost->seconds(1 << 30),
              4 * 14 / 8.0 / (0.8 * 0.8) * (1 << 30), 1e-6 * (1 << 30));
  EXPECT_NEAR(cpus->option(Scheme::parameterServer)->cost->seconds(1 << 30),
              4 * 14 / 8.0 * (1 << 30), 1e-6 * (1 << 30));
}

// The slowest device computes for all; every value is of the nodes that there are.
TEST(Slowest, DeviceAndLink) {
  Parsed parsed("");
  auto spec = [&](std::string_view overrides) {
    return mlir::cast<cluster::SpecAttr>(parsed.attr(
        "#cluster.spec<name = \"n\", ranks = 3, device = <compute = 6.0, memory = 3.0, "
        "launchOverhead = 1.0, memorySize = 5>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, "
        "overrides = [" +
        std::string(overrides) + "]>"));
  };
  EXPECT_EQ(slowestDevice(spec("<nodes = [1], slowdown = 1.5>, <nodes = [2], slowdown = 0.5>")),
            parsed.attr("#cluster.device<compute = 4.0, memory = 2.0, launchOverhead = 1.5, "
                        "memorySize = 5>"));
  EXPECT_EQ(slowdown(spec("<nodes = [1], slowdown = 0.5>")), 1);
  EXPECT_EQ(slowdown(spec("<nodes = [0, 1, 2], slowdown = 0.5>")), 0.5);
  EXPECT_EQ(slowestLink(spec("<nodes = [0], link = <alpha = 0.5, beta = 4.0, gamma = 0.0>>, "
                             "<nodes = [1, 2], link = <alpha = 0.25, beta = 2.0, gamma = 3.0>>")),
            parsed.attr("#cluster.link<alpha = 0.5, beta = 4.0, gamma = 3.0>"));
  EXPECT_EQ(slowestLink(spec("<nodes = [0], slowdown = 2.0>")), spec("").getLink());
}

} // namespace
} // namespace syncline::cost
