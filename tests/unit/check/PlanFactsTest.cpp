// What a plan's text says, found in proportion to its length.
#include "passes/check/PlanFacts.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace syncline::check {
namespace {

/// A program of as many reshapes, each of the result before.
std::string chainOf(int reshapes) {
  const std::string type = "memref<4x4xf32>";
  std::string text = "plan.program @p ranks 1 batch 4 spaces {input = 64 : i64, target = 0 : i64, "
                     "parameters = 0 : i64, gradients = 0 : i64, state = 0 : i64, arena = 64 : "
                     "i64} {\n%v0 = plan.tensor \"x\" in input at 0 reserve 64 : " +
                     type + "\n";
  for (int i = 1; i <= reshapes; ++i)
    text += "%v" + std::to_string(i) + " = plan.tensor \"v" + std::to_string(i) +
            "\" in arena at 0 reserve 64 live [0, 1] : " + type + "\n";
  text += "plan.phase forward\n";
  for (int i = 1; i <= reshapes; ++i)
    text += "plan.call reshape \"v\" [\"x\", \"y\"] ins(%v" + std::to_string(i - 1) + " : " + type +
            ") outs(%v" + std::to_string(i) + " : " + type + ")\n";
  return text + "}";
}

} // namespace

// Following the chain from each of its results would take minutes.
TEST(PlanFacts, LooksThroughLongChainsOfReshapesOnce) {
  constexpr int reshapes = 50000;
  mlir::MLIRContext context;
  context.loadDialect<plan::PlanDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(chainOf(reshapes), &context);
  ASSERT_TRUE(module);
  const mlir::FailureOr<PlanFacts> facts = gather(*module->getOps<plan::ProgramOp>().begin());
  ASSERT_TRUE(mlir::succeeded(facts));
  for (std::int64_t step = 0; step < reshapes; ++step)
    EXPECT_EQ(facts->sourceOf({facts->steps[step].writes[0], step}).tensor.getName(), "x");
}

} // namespace syncline::check
