// Which tensors a step in bf16 keeps as bf16, and what they reserve.
#include "passes/lower/Rounding.h"
#include "passes/lower/Lifetimes.h"
#include "tests/unit/cost/Parsed.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

namespace syncline::lower {
namespace {

/// The layers of a step whose first results are rounded, each told of those before it.
std::set<std::string> roundedLayers(const std::string &body) {
  Parsed parsed(R"(nn.step @s batch 2 {
      %x = nn.input "x" : tensor<2x16x8x8xf32>
      %w = nn.parameter "w" at 0 : tensor<16x16x1x1xf32>
      %v = nn.parameter "v" at 1024 : tensor<16xf32>
      %c = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
        pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>, nn.layer = "conv"}
        : (tensor<2x16x8x8xf32>, tensor<16x16x1x1xf32>) -> tensor<2x16x8x8xf32>
    )" + body + "}");
  EXPECT_TRUE(parsed.module) << parsed.error;
  std::set<std::string> layers;
  if (!parsed.module)
    return layers;
  llvm::DenseSet<mlir::Value> rounded;
  for (mlir::Operation &op : parsed.step().getBody().front())
    for (mlir::OpResult result : op.getResults())
      if (isStoredRounded(result, [&](mlir::Value value) { return rounded.contains(value); })) {
        rounded.insert(result);
        layers.insert(nn::layerOf(&op).str() + std::to_string(result.getResultNumber()));
      }
  return layers;
}

using Layers = std::set<std::string>;

} // namespace

// A blocked layout pads the channels of either type to 16.
TEST(ArenaReserve, RoundedElementsHaveTwoBytes) {
  mlir::MLIRContext context;
  const auto image = mlir::RankedTensorType::get({2, 20, 3, 3}, mlir::Float32Type::get(&context));
  EXPECT_EQ(arenaReserve(image, false), 2 * 32 * 9 * 4);
  EXPECT_EQ(arenaReserve(image, true), 2 * 32 * 9 * 2);
  const auto scalar = mlir::RankedTensorType::get({}, mlir::Float32Type::get(&context));
  EXPECT_EQ(arenaReserve(scalar, true), 64);
}

// A normalization's statistics and mask keep their types.
TEST(IsStoredRounded, NormalizationsFollowTheirOperand) {
  EXPECT_EQ(roundedLayers(R"(
    %s = nn.state "s" at 2048 : tensor<16xf32>
    %n, %m, %d = nn.batch_norm %c, %v, %v, %s, %s
      {epsilon = 1.0e-5 : f64, momentum = 0.1 : f64, nn.layer = "after"}
      : (tensor<2x16x8x8xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
      -> (tensor<2x16x8x8xf32>, tensor<16xf32>, tensor<16xf32>)
    %o, %p, %q = nn.batch_norm %x, %v, %v, %s, %s
      {epsilon = 1.0e-5 : f64, momentum = 0.1 : f64, nn.layer = "of input"}
      : (tensor<2x16x8x8xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
      -> (tensor<2x16x8x8xf32>, tensor<16xf32>, tensor<16xf32>))"),
            (Layers{"conv0", "after0"}));
}

// A flat loop rounds where one operand is rounded; a loop that broadcasts works on f32.
TEST(IsStoredRounded, FlatLoops) {
  const std::string types = "(tensor<2x16x8x8xf32>, ", body = R"( {
    ^bb0(%a: f32, %b: f32):
      nn.yield %a : f32
    })";
  EXPECT_EQ(roundedLayers("%l = nn.pointwise %c, %x {nn.layer = \"flat\"} : " + types +
                          "tensor<2x16x8x8xf32>) -> tensor<2x16x8x8xf32>" + body),
            (Layers{"conv0", "flat0"}));
  EXPECT_EQ(roundedLayers("%e = nn.constant dense<1.0> : tensor<f32>\n"
                          "%l = nn.pointwise %c, %e {nn.layer = \"rows\"} : " +
                          types + "tensor<f32>) -> tensor<2x16x8x8xf32>" + body),
            Layers{"conv0"});
}

// Joined parts are rounded if all are.
TEST(IsStoredRounded, Concat) {
  const auto joined = [](const std::string &parts) {
    return roundedLayers("%j = nn.concat " + parts + R"( {axis = 1 : i64, nn.layer = "join"}
      : (tensor<2x16x8x8xf32>, tensor<2x16x8x8xf32>) -> tensor<2x32x8x8xf32>)");
  };
  EXPECT_EQ(joined("%c, %c"), (Layers{"conv0", "join0"}));
  EXPECT_EQ(joined("%c, %x"), Layers{"conv0"});
}

// Means of whole images are f32 on CPUs, and what copies them is too.
TEST(IsStoredRounded, MeansOfImages) {
  EXPECT_EQ(roundedLayers(R"(
    %m = nn.average_pool %c {kernel = array<i64: 8, 8>, strides = array<i64: 1, 1>,
      dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>,
      nn.layer = "global"} : (tensor<2x16x8x8xf32>) -> tensor<2x16x1x1xf32>
    %h = nn.average_pool %c {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>,
      dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>,
      nn.layer = "half"} : (tensor<2x16x8x8xf32>) -> tensor<2x16x4x4xf32>
    %f = nn.reshape %m {nn.layer = "flatten"} : (tensor<2x16x1x1xf32>) -> tensor<2x16xf32>
    %g = nn.reshape %h {nn.layer = "reshape"} : (tensor<2x16x4x4xf32>) -> tensor<2x256xf32>)"),
            (Layers{"conv0", "half0", "reshape0"}));
}

} // namespace syncline::lower
