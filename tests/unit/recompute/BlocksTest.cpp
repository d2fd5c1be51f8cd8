// Which operations are too long to be computed again for the bytes that they free.
#include "passes/recompute/Blocks.h"
#include "tests/unit/cost/Parsed.h"

#include <gtest/gtest.h>

namespace syncline::recompute {
namespace {

/// Attention of 16 texts of 32 places with heads of 8, and a linear layer before it.
TEST(Blocks, ScoresOfAttentionAreNotHeavy) {
  Parsed parsed(R"(nn.step @s batch 16 {
    %x = nn.input "x" : tensor<16x32x8xf32>
    %w = nn.parameter "w" at 0 : tensor<512x8xf32>
    %wide = nn.matmul %x, %w {transpose_b, nn.layer = "linear"}
      : (tensor<16x32x8xf32>, tensor<512x8xf32>) -> tensor<16x32x512xf32>
    %scores = nn.matmul %x, %x {transpose_b, nn.layer = "scores"}
      : (tensor<16x32x8xf32>, tensor<16x32x8xf32>) -> tensor<16x32x32xf32>
    %p = nn.softmax %scores {axis = 2 : i64, nn.layer = "softmax"} : tensor<16x32x32xf32>
    %y = nn.matmul %p, %x {nn.layer = "values"}
      : (tensor<16x32x32xf32>, tensor<16x32x8xf32>) -> tensor<16x32x8xf32>
  })");
  ASSERT_TRUE(parsed.module) << parsed.error;
  for (mlir::Operation &op : parsed.step().getBody().front()) {
    const std::string layer = nn::layerOf(&op).str();
    EXPECT_EQ(isHeavy(&op), layer == "linear" || layer == "values") << layer;
  }
}

} // namespace
} // namespace syncline::recompute
