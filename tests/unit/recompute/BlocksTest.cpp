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

TEST(Blocks, ConvolutionsAreHeavyInBothDirections) {
  Parsed parsed(R"(nn.step @s batch 2 {
    %x = nn.input "x" : tensor<2x3x4x4xf32>
    %w = nn.parameter "w" at 0 : tensor<6x3x2x2xf32>
    %h = nn.conv %x, %w {nn.layer = "conv", strides = array<i64: 2, 2>,
      dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>}
      : (tensor<2x3x4x4xf32>, tensor<6x3x2x2xf32>) -> tensor<2x6x2x2xf32>
    %y = nn.conv_backward_data %h, %w {nn.layer = "transposed", strides = array<i64: 2, 2>,
      dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>}
      : (tensor<2x6x2x2xf32>, tensor<6x3x2x2xf32>) -> tensor<2x3x4x4xf32>
  })");
  ASSERT_TRUE(parsed.module) << parsed.error;
  int heavy = 0;
  for (mlir::Operation &op : parsed.step().getBody().front())
    heavy += isHeavy(&op);
  EXPECT_EQ(heavy, 2);
}

} // namespace
} // namespace syncline::recompute
