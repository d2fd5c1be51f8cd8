// Plans whose messages slow computation end in virtual time when their planner says.
#include "passes/problem/Interference.h"
#include "passes/proof/OrderChecker.h"
#include "passes/simulate/IssueOrder.h"
#include "passes/simulate/Prediction.h"
#include "passes/solver/OrderPlanner.h"
#include "tests/support/Depth.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

using namespace syncline;
using namespace syncline::simulate;

namespace {

using problem::AffineCost;
using problem::CollectiveCost;
using problem::Interference;

/// A step and the cluster that it is planned for.
class Drawn {
public:
  explicit Drawn(std::uint64_t seed, bool tellsClasses = false) : engine(seed) {
    interference = {between(1, 2.5), between(1, 2.5)};
    const bool hasOwn = below(2) == 0; // trees slow operations by a factor of their own
    ofTrees = {hasOwn ? between(1, 2.5) : interference.beside, interference.latency};
    const double latency = between(0, 2e-3), perByte = between(1e-10, 3e-8);
    for (Scheme scheme : {Scheme::ring, Scheme::tree}) {
      problem::SchemeOption option{scheme,
                                   costFrom(latency * between(0.2, 5), perByte * between(0.2, 5))};
      problem::setLost(option, scheme == Scheme::tree ? ofTrees : interference);
      options.push_back(option);
    }
    gather = std::make_shared<AffineCost>(latency, perByte);
    problem.mergeClasses = {{options}};
    double ready = 0;
    const std::size_t layers = 1 + below(40);
    for (std::size_t k = 0; k < layers; ++k)
      addLayer(ready += between(0, 3e-3));
    problem.computeFree = ready + between(0, 2e-3);
    if (tellsClasses)
      addClasses();
  }

  /// The plan's messages in virtual time. Those of an order hide behind a forward pass that first
  /// reads the gradients' parameters at the times `reading` of its `forward` seconds.
  Prediction predict(const problem::Solution &plan, double forward = 0,
                     const std::vector<double> &reading = {}) const {
    std::vector<std::string> names(problem.layers.size(), "g");
    // Its times count from the beginning of the forward pass.
    const problem::Problem step = problem::shifted(problem, forward);
    Scenario scenario = issueMessages(simulate::operationsOf(step, forward, names, reading), step,
                                      plan, names, {}, reading);
    scenario.machines = {.ranks = 2};
    scenario.machines.interference = interference.beside;
    scenario.machines.latencyInterference = interference.latency;
    scenario.machines.schemeInterference = {{Scheme::tree, ofTrees.beside}};
    for (const auto &[scheme, of] : byClass)
      scenario.machines.classInterference[scheme] = {{of.of[0].beside, of.of[1].beside}};
    for (Message &message : scenario.messages) {
      message.isStated = true;
      message.cost = gather;
      for (const problem::SchemeOption &option : options)
        if (option.scheme == message.scheme)
          message.cost = option.cost;
    }
    const Result<Prediction> prediction = predictStep(scenario);
    EXPECT_TRUE(prediction.isOk()) << prediction.status().message();
    return *prediction;
  }

  /// The problem with a next forward pass of about half of the backward pass. The last layer in
  /// backward order is read first; some are read sooner, as over a skip connection.
  problem::OrderProblem withForward() {
    problem::OrderProblem order{.sync = problem, .tail = {}};
    for (std::size_t k = 0; k < problem.layers.size(); ++k)
      order.tail.push_back(order.forward += between(0, 1.5e-3));
    for (double &tail : order.tail)
      if (below(6) == 0)
        tail = between(tail, order.forward);
    return order;
  }

  problem::Problem problem;

private:
  double unit() { return static_cast<double>(engine() >> 11) * 0x1p-53; }
  double between(double low, double high) { return low + (high - low) * unit(); }
  std::size_t below(std::size_t count) { return engine() % count; }

  /// A line, or a table whose times may fall.
  std::shared_ptr<const CollectiveCost> costFrom(double latency, double perByte) {
    if (below(2) == 0)
      return std::make_shared<AffineCost>(latency, perByte);
    std::vector<problem::CostPoint> points;
    for (std::int64_t bytes = 1024; bytes < 1 << 24; bytes *= 8)
      points.push_back(
          {bytes, (latency + perByte * static_cast<double>(bytes)) * between(0.8, 1.2)});
    return std::make_shared<problem::TableCost>(*problem::TableCost::create(points));
  }

  void addLayer(double ready) {
    problem::Layer layer{static_cast<std::int64_t>(4 + below(1 << (4 + below(20)))), ready, 1};
    if (below(4) == 0) {
      const auto bytes = static_cast<std::int64_t>(1 + below(1 << 16));
      layer.factorOptions.push_back(
          {.seconds = gather->seconds(bytes),
           .reconstruct = below(2) == 0 ? 0 : between(0, 3e-3),
           .factorBytes = bytes,
           .lost = interference.lost(gather->seconds(0), gather->seconds(bytes))});
    }
    problem.layers.push_back(std::move(layer));
  }

  /// Lets each scheme's messages slow products and memory-bound operations by factors of their own.
  void addClasses() {
    for (Scheme scheme : {Scheme::ring, Scheme::tree, Scheme::factors})
      byClass[scheme] = {{Interference{between(1, 2.5), interference.latency},
                          Interference{between(1, 2.5), interference.latency}}};
    for (problem::SchemeOption &option : problem.mergeClasses[0].options)
      problem::setLost(option, {interference, byClass.at(option.scheme)});
    for (problem::Layer &layer : problem.layers)
      for (problem::FactorOption &option : layer.factorOptions)
        problem::setLost(option, {interference, byClass.at(Scheme::factors)}, gather->seconds(0));
    problem.memoryBound.emplace();
    for (double at = 0; at < problem.computeFree;) {
      const double begin = at + between(0, 2e-3);
      at = begin + between(0, 2e-3);
      if (begin < problem.computeFree)
        problem.memoryBound->push_back({begin, std::min(at, problem.computeFree)});
    }
  }

  std::mt19937_64 engine;
  Interference interference, ofTrees;
  std::map<Scheme, problem::ByClass<Interference>> byClass;
  std::vector<problem::SchemeOption> options;
  std::shared_ptr<const CollectiveCost> gather;
};

constexpr double rounding = 1e-9;

void expectSameTimes(const problem::Solution &plan, const Prediction &prediction) {
  ASSERT_EQ(prediction.messages.size(), plan.messages.size());
  for (std::size_t i = 0; i < plan.messages.size(); ++i) {
    const problem::Message &planned = plan.messages[i];
    const PredictedMessage &simulated = prediction.messages[i];
    SCOPED_TRACE("message " + std::to_string(i));
    ASSERT_NEAR(simulated.ready, planned.ready, rounding * plan.finish);
    ASSERT_NEAR(simulated.start, planned.start, rounding * plan.finish);
    ASSERT_NEAR(simulated.end, planned.end, rounding * plan.finish);
    ASSERT_NEAR(simulated.reconstructed, planned.reconstructed, rounding * plan.finish);
  }
  ASSERT_NEAR(prediction.step, plan.finish, rounding * plan.finish);
}

/// 500 plans: every message is ready, starts and ends when the planner says, and so does the step.
TEST(SlowedPlans, EndInVirtualTimeWhenTheirPlannerSays) {
  const auto seeds = static_cast<std::uint64_t>(test::repeat(125, 1000));
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Drawn drawn(seed);
    ASSERT_TRUE(problem::validate(drawn.problem).isOk());
    for (const char *name : {"optimal", "wfbp", "ddp:1MiB", "single"}) {
      SCOPED_TRACE(std::string(name) + ", seed " + std::to_string(seed));
      const auto result = (*solver::parsePlanner(name))->plan(drawn.problem);
      ASSERT_TRUE(result.isOk()) << result.status().message();
      ASSERT_NO_FATAL_FAILURE(expectSameTimes(result->plan, drawn.predict(result->plan)));
    }
  }
}

/// 500 plans whose messages slow classes of operations unequally.
TEST(SlowedPlans, EndWhenTheirPlannerSaysByClass) {
  const auto seeds = static_cast<std::uint64_t>(test::repeat(125, 1000));
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Drawn drawn(seed, true);
    ASSERT_TRUE(problem::validate(drawn.problem).isOk());
    for (const char *name : {"optimal", "wfbp", "ddp:1MiB", "single"}) {
      SCOPED_TRACE(std::string(name) + ", seed " + std::to_string(seed));
      const auto result = (*solver::parsePlanner(name))->plan(drawn.problem);
      ASSERT_TRUE(result.isOk()) << result.status().message();
      ASSERT_NO_FATAL_FAILURE(expectSameTimes(result->plan, drawn.predict(result->plan)));
    }
  }
}

/// 240 orders: the time from step to step is the planner's period, and where no bucket travels in
/// halves every message starts and ends when the planner says. It is issued behind those before it.
TEST(SlowedPlans, OrdersRepeatInVirtualTimeWhenTheirPlannerSays) {
  const auto seeds = static_cast<std::uint64_t>(test::repeat(60, 1000));
  std::size_t inHalves = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Drawn drawn(seed);
    const problem::OrderProblem problem = drawn.withForward();
    std::vector<double> reading;
    for (double tail : problem.tail)
      reading.push_back(problem.forward - tail);
    for (const char *name : {"optimal", "wfbp", "p3:64KiB", "dear:1MiB"}) {
      SCOPED_TRACE(std::string(name) + ", seed " + std::to_string(seed));
      const auto result = solver::planOrder(problem, **solver::parsePlanner(name));
      ASSERT_TRUE(result.isOk()) << result.status().message();
      const problem::Solution plan = messagesOf(problem, result->solution);
      const Prediction prediction = drawn.predict(plan, problem.forward, reading);
      ASSERT_NEAR(prediction.step, plan.finish, rounding * plan.finish);
      const bool hasHalves =
          std::ranges::any_of(plan.messages, [](const auto &m) { return m.gather.has_value(); });
      inHalves += hasHalves;
      for (std::size_t i = 0; i < plan.messages.size() && !hasHalves; ++i) {
        const auto fromBackward = [&](double time) { return time - prediction.forwardEnd; };
        ASSERT_NEAR(fromBackward(prediction.messages[i].start), plan.messages[i].start,
                    rounding * plan.finish);
        ASSERT_NEAR(fromBackward(prediction.messages[i].end), plan.messages[i].end,
                    rounding * plan.finish);
      }
    }
  }
  EXPECT_GT(inHalves, seeds);
}

/// Where classes lose unequally, no order's steps in virtual time are below the bound.
TEST(SlowedPlans, OrdersByClassStayAboveTheBound) {
  const auto seeds = static_cast<std::uint64_t>(test::repeat(30, 500));
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Drawn drawn(seed, true);
    const problem::OrderProblem problem = drawn.withForward();
    std::vector<double> reading;
    for (double tail : problem.tail)
      reading.push_back(problem.forward - tail);
    for (const char *name : {"optimal", "wfbp"}) {
      SCOPED_TRACE(std::string(name) + ", seed " + std::to_string(seed));
      const auto result = solver::planOrder(problem, **solver::parsePlanner(name));
      ASSERT_TRUE(result.isOk()) << result.status().message();
      const problem::Solution plan = messagesOf(problem, result->solution);
      ASSERT_GE(drawn.predict(plan, problem.forward, reading).step,
                result->certificate.bound * (1 - rounding));
      ASSERT_FALSE(proof::checkOrderBound(problem, result->certificate, plan.finish));
    }
  }
}

} // namespace
