// The pass `fuse-rows` looks at each addition once.
#include "passes/Passes.h"
#include "tests/unit/cost/Parsed.h"

#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

namespace syncline::fuse {
namespace {

/// A parameter's gradient that is a sum of as many parts, the first of which are rows of a table.
std::string sumOf(int parts) {
  const std::string type = "tensor<3x2xf32>", pair = " : (" + type + ", " + type + ") -> " + type;
  std::string text = "nn.step @s batch 4 {\n%ids = nn.input \"ids\" : tensor<4xi64>\n"
                     "%dy = nn.input \"dy\" : tensor<4x2xf32>\n"
                     "%p = nn.input \"p\" : " +
                     type + "\n%w = nn.parameter \"w\" at 0 : " + type +
                     "\n%v0 = nn.embedding_backward %ids, %dy : (tensor<4xi64>, tensor<4x2xf32>) "
                     "-> " +
                     type + "\n";
  for (int i = 1; i < parts; ++i)
    text += "%v" + std::to_string(i) + " = nn.binary add %v" + std::to_string(i - 1) + ", %p" +
            pair + "\n";
  return text + "nn.update %w, %v" + std::to_string(parts - 1) + " : " + type + ", " + type + "\n}";
}

} // namespace

// Following the sum from each addition to its end would take minutes.
TEST(FuseRows, FollowsLongSumsOnce) {
  constexpr int parts = 100000;
  Parsed parsed(sumOf(parts));
  ASSERT_TRUE(parsed.module) << parsed.error;
  mlir::PassManager passes(&parsed.context);
  passes.enableVerifier(false);
  passes.nest<nn::StepOp>().addPass(createFuseRows());
  ASSERT_TRUE(mlir::succeeded(passes.run(*parsed.module))) << parsed.error;
  nn::StepOp step = parsed.step();
  EXPECT_EQ(llvm::range_size(step.getBody().getOps<nn::BinaryOp>()), parts - 2u);
  nn::EmbeddingBackwardOp rows = *step.getBody().getOps<nn::EmbeddingBackwardOp>().begin();
  EXPECT_TRUE(rows.getOnto());
}

} // namespace syncline::fuse
