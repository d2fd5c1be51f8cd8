// What Z3 says of bounds and of planners' names, true ones and false ones.
#include "frontend/driver/AskZ3.h"

#include "passes/RegisterAll.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace syncline::driver {
namespace {

/// Two gradients, 2 s a message: one message ends at 4 s, which is the best, two end at 5 s.
Result<std::string> asked(const std::string &planner, int messages, const std::string &bound) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  const std::string plan =
      messages == 1 ? R"([#sync.message<layers = [0, 1], scheme = ring, merge_class = 0,
                          bytes = 30, ready = 2.0, start = 2.0, end = 4.0>] finish 4.0)"
                    : R"([#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 10,
                          ready = 1.0, start = 1.0, end = 3.0>,
                          #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 20,
                          ready = 2.0, start = 3.0, end = 5.0>] finish 5.0)";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      R"(sync.problem @p layers ["b", "a"] bytes [10, 20] ready <[1.0, 2.0]>
           merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>,
                                              traffic = 1.0>]>]
           forward_end 0.5 backward_end 2.0 updates 0.0
         sync.solution of @p by ")" +
          planner + "\" messages " + plan + " bound " + bound,
      &context);
  return module ? askZ3("a.plan", *module, 600) : Status::badInput("not MLIR");
}

/// Two gradients, 2 s a message; the next forward pass reads b a quarter of a second behind a. b's
/// message first makes a step of 5 s, a's first one of 5.75 s.
Result<std::string> askedAboutOrder(bool aFirst, const std::string &bound) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  const auto message = [](int layer, int bytes, const char *ready, const char *start,
                          const char *end) {
    return "#sync.message<layers = [" + std::to_string(layer) +
           "], scheme = ring, merge_class = 0, bytes = " + std::to_string(bytes) +
           ", ready = " + ready + ", start = " + start + ", end = " + end + ">";
  };
  const std::string messages =
      aFirst ? message(1, 20, "1.5", "1.5", "3.5") + ", " + message(0, 10, "0.5", "3.5", "5.5")
             : message(0, 10, "0.5", "0.5", "2.5") + ", " + message(1, 20, "1.5", "2.5", "4.5");
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      R"(sync.problem @p layers ["b", "a"] bytes [10, 20] ready <[1.0, 2.0]>
           merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>,
                                              traffic = 1.0>]>]
           forward_end 0.5 backward_end 2.0 updates 0.0 tails <[0.25, 0.5]> own_updates <[0.0, 0.0]>
         sync.solution of @p by "tictac" messages [)" +
          messages + "] finish " + (aFirst ? "5.75" : "5.0") + " bound " + bound,
      &context);
  return module ? askZ3("a.plan", *module, 600) : Status::badInput("not MLIR");
}

void expectAnswer(const Result<std::string> &answer, const std::string &part) {
  ASSERT_TRUE(answer) << answer.status().message();
  EXPECT_NE(answer->find(part), std::string::npos) << *answer;
}

void expectError(const Result<std::string> &answer, int code, const std::string &message) {
  ASSERT_FALSE(answer) << *answer;
  EXPECT_EQ(answer.status().exitCode(), code);
  EXPECT_EQ(answer.status().message(), message);
}

TEST(AskZ3, ProvesATrueBound) {
  expectAnswer(asked("optimal", 1, "4.0"), "Z3: no plan finishes before 4.00 s (proved in ");
}

/// A judge of ours must have accepted the bound, so the fault is ours: exit code 3.
TEST(AskZ3, CallsAFalseBoundAFaultOfOurs) {
  expectError(
      asked("me", 2, "5.0"), 3,
      "'a.plan' states a proof that no plan finishes before 5.00000000 s, but Z3 finds one that "
      "finishes at 4.00000000 s");
}

TEST(AskZ3, FindsTheBetterPlan) {
  expectAnswer(asked("me", 2, "0.0"),
               "Z3: the plan does not claim to be optimal; one that finishes at 4.00 s exists");
}

TEST(AskZ3, ProvesWhatALimitedPlannersNameStates) {
  expectAnswer(
      asked("z3:messages=1", 1, "3.0"),
      "Z3: no plan with at most 1 message finishes before 4.00 s, and none with more before "
      "3.00 s (proved in ");
}

/// So is one beside a limited planner's name, which is true.
TEST(AskZ3, FindsAFalseBoundOfALimitedPlanner) {
  expectError(asked("z3:messages=1", 1, "4.5"), 3,
              "'a.plan' states a proof that no plan finishes before 4.50000000 s, but Z3 finds one "
              "that finishes at 4.00000000 s");
}

/// No certificate stands behind the name, so whoever wrote the plan may have erred: exit code 1.
TEST(AskZ3, RefusesAFalseName) {
  expectError(asked("z3:messages=2", 2, "3.0"), 1,
              "'a.plan' states by its planner's name that no plan with at most 2 messages finishes "
              "before 5.00000000 s, but Z3 finds one that finishes at 4.00000000 s");
}

/// The rules do not count messages by the planner's name, so this does.
TEST(AskZ3, RefusesMoreMessagesThanTheNameAllows) {
  expectError(asked("z3:messages=1", 2, "3.0"), 1,
              "'a.plan': expected at most 1 message, as its planner's name says, got 2");
}

TEST(AskZ3, ProvesThatNoOtherOrderIsShorter) {
  const Result<std::string> answer = askedAboutOrder(false, "4.0");
  expectAnswer(answer, "Z3: the plan's 2 messages have no order with a step below 5.00 s in the "
                       "planner's model (proved in ");
  expectAnswer(answer, "Z3 was not asked about other messages");
}

TEST(AskZ3, FindsAShorterOrder) {
  expectAnswer(askedAboutOrder(true, "4.0"),
               "Z3: the plan's 2 messages have an order with a step of 5.00 s in the planner's "
               "model, not 5.75 s (found in ");
}

TEST(AskZ3, FindsAFalseBoundOfAnOrder) {
  expectError(askedAboutOrder(true, "5.5"), 3,
              "'a.plan' states a proof that no order has a step below 5.50000000 s, but Z3 finds "
              "one of 5.00000000 s");
}

} // namespace
} // namespace syncline::driver
