// A problem posed for another cluster is the problem that the passes pose for that cluster.
#include "passes/explain/ir/Explain.h"

#include "passes/Passes.h"
#include "passes/RegisterAll.h"
#include "passes/solver/Planner.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace syncline;
using namespace syncline::explain;
using namespace syncline::merge;

namespace {

struct Posed {
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;

  PlannedProblem problem() const {
    ModuleOp op = module.get();
    auto spec = op->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
    return *PlannedProblem::create(*op.getOps<sync::ProblemOp>().begin(), spec);
  }
};

constexpr const char *device = "device = <compute = 1.0e12, launchOverhead = 0.0>";

/// A cluster with servers of its own; `times` the bandwidth.
std::string clusterOf(int ranks, double times, const std::string &more = "") {
  const std::string beta = std::to_string(8e-3 / times) + "e-6";
  const std::string link = "<alpha = 5.0e-5, beta = " + beta + ", gamma = 1.0e-10>";
  return "name = \"lab\", ranks = " + std::to_string(ranks) + ", " + device + ", link = " + link +
         ", servers = <count = 2, dedicated = true, link = " + link + ">" + more;
}

/// Three layers of so many samples, the last one a matrix; passes pose the problem.
Posed pose(const std::string &spec, int samples, const std::string &requested = "",
           const std::string &overlap = "backward") {
  const std::string k = std::to_string(samples), time = std::to_string(samples) + ".0e-4";
  const std::string update = overlap == "step" ? " {update = 2.0e-4}" : "",
                    times = "forward " + time + " backward " + time;
  const std::string text = "module attributes {cluster.spec = #cluster.spec<" + spec +
                           ">} { sync.trace @net {\n" + "sync.layer \"conv1\" bytes 4000 " + times +
                           update + "\n" + "sync.layer \"conv2\" bytes 80000 " + times + update +
                           "\n" + "sync.layer \"fc\" bytes 4096000 " + times +
                           " matmul [1024, 1000, " + k + "]" + update + "\n} }";
  DialectRegistry registry;
  registerAllDialects(registry);
  Posed posed{std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED), {}};
  posed.context->loadAllAvailableDialects();
  posed.module = parseSourceString<ModuleOp>(text, posed.context.get());
  PassManager passes(posed.context.get());
  PoseProblemOptions options;
  options.overlap = overlap;
  llvm::SmallVector<std::string> patterns;
  if (!requested.empty())
    patterns.push_back(requested);
  options.requested = patterns;
  passes.addPass(createPoseProblem(options));
  EXPECT_TRUE(posed.module && succeeded(passes.run(*posed.module)));
  return posed;
}

void expectNear(double a, double b, const char *what) {
  EXPECT_NEAR(a, b, 1e-9 * std::abs(b)) << what;
}

void expectSame(const problem::Problem &a, const problem::Problem &b) {
  ASSERT_EQ(a.mergeClasses.size(), b.mergeClasses.size());
  expectNear(a.computeFree, b.computeFree, "computeFree");
  for (std::size_t mergeClass = 0; mergeClass < a.mergeClasses.size(); ++mergeClass) {
    ASSERT_EQ(a.mergeClasses[mergeClass].options.size(), b.mergeClasses[mergeClass].options.size());
    EXPECT_EQ(a.mergeClasses[mergeClass].capacity, b.mergeClasses[mergeClass].capacity);
    EXPECT_EQ(a.mergeClasses[mergeClass].largestMessage, b.mergeClasses[mergeClass].largestMessage);
    for (std::size_t i = 0; i < a.mergeClasses[mergeClass].options.size(); ++i) {
      const auto &one = a.mergeClasses[mergeClass].options[i],
                 &other = b.mergeClasses[mergeClass].options[i];
      EXPECT_EQ(one.scheme, other.scheme);
      expectNear(one.traffic, other.traffic, "traffic");
      EXPECT_EQ(one.lost == nullptr, other.lost == nullptr);
      for (std::int64_t bytes : {0, 1, 4000, 1 << 20, 1 << 22, 1 << 28}) {
        expectNear(one.cost->seconds(bytes), other.cost->seconds(bytes),
                   schemeName(one.scheme).data());
        expectNear(one.lostSeconds(bytes), other.lostSeconds(bytes), "lost");
        for (std::size_t work = 0; work < problem::workClasses; ++work) {
          ASSERT_EQ(one.lostBy.of[work] == nullptr, other.lostBy.of[work] == nullptr);
          if (one.lostBy.of[work]) {
            expectNear(one.lostBy.of[work]->seconds(bytes), other.lostBy.of[work]->seconds(bytes),
                       "lost by class");
          }
        }
      }
    }
  }
  ASSERT_EQ(a.layers.size(), b.layers.size());
  for (std::size_t k = 0; k < a.layers.size(); ++k) {
    expectNear(a.layers[k].ready, b.layers[k].ready, "ready");
    ASSERT_EQ(a.layers[k].factorOptions.size(), b.layers[k].factorOptions.size());
    for (std::size_t i = 0; i < a.layers[k].factorOptions.size(); ++i) {
      const auto &one = a.layers[k].factorOptions[i], &other = b.layers[k].factorOptions[i];
      expectNear(one.seconds, other.seconds, "factor_option");
      expectNear(one.lost, other.lost, "lost by factors");
      for (std::size_t work = 0; work < problem::workClasses; ++work)
        expectNear(one.lostBy.of[work], other.lostBy.of[work], "lost by factors and class");
      expectNear(one.reconstruct, other.reconstruct, "reconstruct");
      expectNear(one.traffic, other.traffic, "factor option traffic");
      EXPECT_EQ(one.factorBytes, other.factorBytes);
    }
  }
}

/// The problem planned on `from`, posed on `to`.
Result<problem::Problem> posedOn(const std::string &from, const std::string &to) {
  const Posed planned = pose(from, 32);
  const std::string text = "#cluster.spec<" + to + ">";
  return planned.problem().poseOn(
      cast<cluster::SpecAttr>(parseAttribute(text, planned.context.get())), 1);
}

/// The order problem that is planned.
problem::OrderProblem orderOf(const Posed &posed) {
  const PlannedProblem planned = posed.problem();
  return *planned.orderOn(planned.asPlanned(), planned.cluster(), 1);
}

/// The order planned for 32 samples on `from`, posed for so many on `to`, is what the passes pose.
void expectSameOrder(const std::string &from, const std::string &to, int samples) {
  const Posed posed = pose(from, 32, "", "step");
  const PlannedProblem planned = posed.problem();
  const auto there =
      cast<cluster::SpecAttr>(parseAttribute("#cluster.spec<" + to + ">", posed.context.get()));
  const double batch = samples / 32.0;
  const Result<problem::Problem> sync = planned.poseOn(there, batch);
  ASSERT_TRUE(sync) << sync.status().message();
  const auto order = planned.orderOn(*sync, there, batch);
  ASSERT_TRUE(order.has_value());
  const Status valid = problem::validate(*order);
  EXPECT_TRUE(valid) << valid.message();
  const problem::OrderProblem wanted = orderOf(pose(to, samples, "", "step"));
  expectSame(order->sync, wanted.sync);
  expectNear(order->forward, wanted.forward, "forward");
  ASSERT_EQ(order->tail.size(), wanted.tail.size());
  for (std::size_t k = 0; k < wanted.tail.size(); ++k) {
    expectNear(order->tail[k], wanted.tail[k], "tail");
    expectNear(order->update[k], wanted.update[k], "update");
    // A reader stands behind the forward passes of the layers in front of it.
    const double before = static_cast<double>(wanted.tail.size() - 1 - k) * samples * 1e-4;
    EXPECT_NEAR(planned.readingOn(there, batch)[k], before * cluster::slowdown(there), 1e-9);
  }
}

/// The cluster with so much memory for each of two servers, and such a largest message; 0 is no
/// limit. All gradients are 4,180,000 B.
std::string limited(std::int64_t memory, std::int64_t largest) {
  const std::string link = "<alpha = 5.0e-5, beta = 8.0e-9, gamma = 1.0e-10>";
  return "name = \"lab\", ranks = 8, " + std::string(device) + ", link = " + link +
         ", servers = <count = 2, dedicated = true, link = " + link +
         (memory ? ", memory = " + std::to_string(memory) : "") + ">" +
         (largest ? ", largestMessage = " + std::to_string(largest) : "");
}

} // namespace

// To the last bit: what is planned is what is explained.
TEST(PlannedProblem, NoChangeIsNoChange) {
  const Posed posed = pose(clusterOf(8, 1), 32);
  const PlannedProblem planned = posed.problem();
  Result<problem::Problem> same = planned.pose({});
  ASSERT_TRUE(same);
  const problem::Problem &before = planned.asPlanned();
  for (std::size_t i = 0; i < before.mergeClasses[0].options.size(); ++i)
    EXPECT_EQ(same->mergeClasses[0].options[i].cost->seconds(12345678),
              before.mergeClasses[0].options[i].cost->seconds(12345678));
  EXPECT_EQ(same->layers[0].factorOptions[0].seconds, before.layers[0].factorOptions[0].seconds);
  EXPECT_EQ(same->layers[0].factorOptions[0].reconstruct,
            before.layers[0].factorOptions[0].reconstruct);
}

// The next forward pass grows with the batch and with the slowest node, updates with the node only.
TEST(PlannedProblem, PosesOrders) {
  const std::string slow = ", overrides = [<nodes = [3], slowdown = 8.0>]";
  for (int samples : {1, 32, 320}) {
    expectSameOrder(clusterOf(8, 1), clusterOf(8, 4), samples);
    expectSameOrder(clusterOf(8, 1), clusterOf(12, 1), samples);
    expectSameOrder(clusterOf(8, 1), clusterOf(8, 1, slow), samples);
    expectSameOrder(clusterOf(8, 1, slow), clusterOf(8, 1), samples);
  }
  const Posed posed = pose(clusterOf(8, 1), 32);
  const PlannedProblem planned = posed.problem();
  EXPECT_FALSE(planned.orderOn(planned.asPlanned(), planned.cluster(), 1).has_value());
  EXPECT_TRUE(planned.readingOn(planned.cluster(), 1).empty());
}

// Memory-bound operations of an order are where its backward pass is.
TEST(PlannedProblem, OrdersKeepMemoryBoundOperations) {
  const Posed posed = pose(clusterOf(8, 1, ", memoryInterference = 2.0"), 32, "", "step");
  ModuleOp module = posed.module.get();
  sync::ProblemOp op = *module.getOps<sync::ProblemOp>().begin();
  const double end = op.getBackwardEnd().convertToDouble();
  op.setMemoryBoundAttr(sync::TimesAttr::get(posed.context.get(), {end / 2, end}));
  const problem::OrderProblem order = orderOf(posed);
  ASSERT_TRUE(order.sync.memoryBound && order.sync.computeFree < end);
  EXPECT_EQ(order.sync.memoryBound->front().end, order.sync.computeFree);
  EXPECT_TRUE(problem::validate(order));
}

// What messages take from computation is the other cluster's.
TEST(PlannedProblem, OnClustersWithInterference) {
  const std::string slows = ", interference = 1.5, latencyInterference = 1.2";
  const std::string free = clusterOf(8, 1), slow = clusterOf(8, 1, slows),
                    byClass = clusterOf(8, 1, slows + ", memoryInterference = 2.0");
  EXPECT_GT(pose(slow, 32).problem().asPlanned().layers[0].factorOptions[0].lost, 0);
  for (const auto &[from, to] :
       {std::pair(free, slow), std::pair(slow, free), std::pair(slow, clusterOf(12, 4, slows)),
        std::pair(slow, byClass), std::pair(byClass, free)}) {
    const Result<problem::Problem> posed = posedOn(from, to);
    ASSERT_TRUE(posed) << posed.status().message();
    expectSame(*posed, pose(to, 32).problem().asPlanned());
  }
}

TEST(PlannedProblem, OnOtherBandwidths) {
  const Posed planned = pose(clusterOf(8, 1), 32);
  for (double times : {0.25, 2.0, 64.0})
    expectSame(*planned.problem().pose({.bandwidth = times}),
               pose(clusterOf(8, times), 32).problem().asPlanned());
}

TEST(PlannedProblem, OnOtherNumbersOfRanks) {
  const Posed planned = pose(clusterOf(8, 1), 32);
  for (int ranks : {2, 5, 100})
    expectSame(*planned.problem().pose({.ranks = ranks}),
               pose(clusterOf(ranks, 1), 32).problem().asPlanned());
}

TEST(PlannedProblem, WithOtherBatches) {
  const Posed planned = pose(clusterOf(8, 1), 32);
  for (int samples : {1, 16, 320})
    expectSame(*planned.problem().pose({.batch = samples / 32.0}),
               pose(clusterOf(8, 1), samples).problem().asPlanned());
}

// Servers with limited memory keep their merge class. Nodes of several devices keep their
// hierarchical scheme.
TEST(PlannedProblem, KeepsMergeClasses) {
  const std::string nodes = ", devicesPerNode = 4";
  auto spec = [&](int ranks, double times) {
    return clusterOf(ranks, times,
                     ", inside = <alpha = 1.0e-5, beta = " + std::to_string(1e-4 / times) +
                         "e-6, gamma = 0.0>") +
           nodes;
  };
  const Posed planned = pose(spec(8, 1), 32);
  expectSame(*planned.problem().pose({.bandwidth = 4, .ranks = 12}),
             pose(spec(12, 4), 32).problem().asPlanned());
}

// What --scheme decided stays decided.
TEST(PlannedProblem, KeepsRequestedSchemes) {
  const Posed planned = pose(clusterOf(8, 1), 32, "conv*=parameter-server");
  ASSERT_EQ(planned.problem().asPlanned().mergeClasses.size(), 2u);
  expectSame(*planned.problem().pose({.bandwidth = 2, .ranks = 16}),
             pose(clusterOf(16, 2), 32, "conv*=parameter-server").problem().asPlanned());
}

TEST(PlannedProblem, SaysWhatIsMeasured) {
  EXPECT_TRUE(pose(clusterOf(8, 1), 32).problem().measured().empty());
  const Posed stated = pose(
      clusterOf(8, 1, ", collectives = [<ring, #cluster.affine<a = 1.0e-3, b = 1.0e-9>>]"), 32);
  EXPECT_EQ(stated.problem().measured(), std::vector<Scheme>{Scheme::ring});
}

// Times are those of the slowest node, here and there.
TEST(PlannedProblem, OnSlowerNodes) {
  const std::string slow = ", overrides = [<nodes = [3], slowdown = 8.0>]",
                    slower = ", overrides = [<nodes = [0, 2], slowdown = 10.0>]";
  const std::string specs[] = {clusterOf(8, 1), clusterOf(8, 1, slow), clusterOf(8, 1, slower)};
  for (const std::string &from : specs)
    for (const std::string &to : specs)
      expectSame(*posedOn(from, to), pose(to, 32).problem().asPlanned());
}

// The limits are those of the cluster that it is posed for.
TEST(PlannedProblem, TakesTheOtherClustersLimits) {
  const auto tight = [](std::int64_t largest) { return limited(2'000'000, largest); };
  expectSame(*posedOn(limited(0, 0), limited(0, 5'000'000)),
             pose(limited(0, 5'000'000), 32).problem().asPlanned());
  expectSame(*posedOn(tight(5'000'000), limited(1'500'000, 0)),
             pose(limited(1'500'000, 0), 32).problem().asPlanned());
  // Servers that have room there keep their merge class.
  Result<problem::Problem> roomy = posedOn(tight(0), limited(0, 0));
  ASSERT_TRUE(roomy);
  ASSERT_EQ(roomy->mergeClasses.size(), 2u);
  EXPECT_EQ(roomy->mergeClasses[1].capacity, problem::unlimited);
}

TEST(PlannedProblem, RefusesServersThatGetTight) {
  Result<problem::Problem> posed = posedOn(limited(0, 0), limited(2'000'000, 0));
  ASSERT_FALSE(posed);
  EXPECT_EQ(posed.status().kind(), ErrorKind::badInput);
  EXPECT_EQ(posed.status().message(),
            "servers hold 4000000 B there and all gradients are 4180000 B, where the plan was made "
            "servers could hold them all");
}

// Colocated servers stand beside ranks, and a node that is overridden is there.
TEST(PlannedProblem, RefusesTooFewRanks) {
  const std::string network = ", link = <alpha = 5.0e-5, beta = 8.0e-9, gamma = 0.0>",
                    start = "name = \"lab\", ranks = 8, " + std::string(device) + network;
  const Posed six = pose(start + ", servers = <count = 6, dedicated = false, link = <alpha = "
                                 "5.0e-5, beta = 8.0e-9, gamma = 0.0>>",
                         32);
  const cluster::SpecAttr servers = six.problem().cluster();
  EXPECT_EQ(changed(servers, {.ranks = 9})->getServers().getCount(), 6);
  EXPECT_EQ(changed(servers, {.ranks = 5}).status().message(),
            "cluster 'lab' has 6 servers beside the ranks, expected at most 5, the ranks");
  EXPECT_EQ(fewestRanks(servers), 6);

  const Posed slow = pose(start + ", overrides = [<nodes = [1, 3], slowdown = 2.0>]", 32);
  const cluster::SpecAttr overridden = slow.problem().cluster();
  EXPECT_TRUE(changed(overridden, {.ranks = 4}));
  EXPECT_EQ(changed(overridden, {.ranks = 3}).status().message(),
            "cluster 'lab' overrides node 3, expected nodes below 3");
  EXPECT_EQ(fewestRanks(overridden), 4);
  EXPECT_FALSE(slow.problem().pose({.ranks = 2}));
}

// Messages of an order may travel in halves, at whose ends computation loses what each half takes:
// no end of the device is claimed for it, and in ready order there is one.
TEST(PlannedModule, OrdersHaveNoEndOfTheDevice) {
  for (const char *overlap : {"backward", "step"}) {
    const Posed posed = pose(clusterOf(8, 1, ", interference = 1.5"), 32, "", overlap);
    PassManager passes(posed.context.get());
    passes.addPass(createSolveMerge(nullptr, 1));
    ASSERT_TRUE(succeeded(passes.run(posed.module.get())));
    const Result<PlannedModule> planned = readPlannedModule(posed.module.get());
    ASSERT_TRUE(planned) << planned.status().message();
    EXPECT_GT(planned->solution.finish, 0);
    EXPECT_EQ(planned->solution.computeEnd > 0, overlap == std::string("backward"));
  }
}

// Fewer nodes than the cluster file speaks of are not looked at.
TEST(Explain, AsksForNodesThatThereCanBe) {
  const Posed posed = pose(clusterOf(8, 1, ", overrides = [<nodes = [4], slowdown = 2.0>]"), 32);
  const PlannedProblem planned = posed.problem();
  auto planner = *solver::parsePlanner("ps");
  const problem::Solution plan = planner->plan(planned.asPlanned())->plan;
  Result<Explanation> explanation = explain::explain(planned, plan, "ps", 0, 32);
  ASSERT_TRUE(explanation);
  EXPECT_EQ(explanation->axes[2].range.least, 5);
}

// On every axis the planned value chooses what is planned. Both sides of a crossover differ.
TEST(Explain, CrossoversAreWhereThePlannerChangesItsMind) {
  const Posed posed = pose(clusterOf(8, 1), 32);
  const PlannedProblem planned = posed.problem();
  auto planner = *solver::parsePlanner("ps");
  const problem::Solution plan = planner->plan(planned.asPlanned())->plan;
  Result<Explanation> servers = explain::explain(planned, plan, "ps", 0, 32);
  ASSERT_TRUE(servers);
  ASSERT_EQ(servers->axes.size(), 3u);
  for (const Axis &axis : servers->axes) // whatever happens, this planner stays with its servers
    EXPECT_FALSE(axis.crossovers.below || axis.crossovers.above);

  auto rule = *solver::parsePlanner("poseidon");
  const problem::Solution byRule = rule->plan(planned.asPlanned())->plan;
  Result<Explanation> poseidon = explain::explain(planned, byRule, "poseidon", 0, 32);
  ASSERT_TRUE(poseidon);
  // 2(P-1)K(M+N) elements against 2MN: 2 * 7 * 32 * 2024 = 906,752 against 2,048,000.
  EXPECT_EQ(poseidon->chosen, Scheme::factors);
  ASSERT_TRUE(poseidon->byteRule);
  EXPECT_DOUBLE_EQ(poseidon->byteRule->factorBytes, 4 * 906752.0);
  EXPECT_DOUBLE_EQ(poseidon->byteRule->serverBytes, 4 * 2048000.0);
  // K = 72.3 samples; P - 1 = 15.8 ranks.
  EXPECT_FALSE(poseidon->axes[0].crossovers.above);
  EXPECT_EQ(poseidon->axes[1].crossovers.above->at, 73);
  EXPECT_EQ(poseidon->axes[2].crossovers.above->at, 17);
  EXPECT_EQ(poseidon->axes[2].crossovers.above->choice, Scheme::parameterServer);
  EXPECT_FALSE(explain::explain(planned, byRule, "nobody", 0, 32));
}

// Nothing is sent, so nothing changes anything.
TEST(Explain, ALoneRankHasNoCrossovers) {
  const Posed posed = pose(clusterOf(1, 1), 32);
  const PlannedProblem planned = posed.problem();
  auto planner = *solver::parsePlanner("optimal");
  const problem::Solution plan = planner->plan(planned.asPlanned())->plan;
  EXPECT_TRUE(explain::explain(planned, plan, "optimal", 0, 32)->axes.empty());
}
