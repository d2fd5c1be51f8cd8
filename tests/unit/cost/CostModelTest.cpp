// Seconds of operations: roofline, profile, and what is missing.
#include "passes/cost/CostModel.h"
#include "ir/nn/NN.h"
#include "tests/unit/cost/Parsed.h"

#include <gtest/gtest.h>

namespace syncline::cost {
namespace {

/// Layer 'fc' with one forward and two backward operations, and an update.
constexpr llvm::StringLiteral stepName = R"(nn.step @s batch 4 {
  %x = nn.input "x" : tensor<4x8xf32>
  %w = nn.parameter "w" at 0 : tensor<8x8xf32>
  %y = nn.matmul %x, %w {nn.layer = "fc"} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %dw = nn.matmul %x, %y {transpose_a, nn.layer = "fc", nn.backward}
    : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %dx = nn.unary relu %y {nn.layer = "fc", nn.backward} : tensor<4x8xf32>
  nn.update %w, %dw : tensor<8x8xf32>, tensor<8x8xf32>
})";

std::vector<double> seconds(nn::StepOp step) {
  std::vector<double> result;
  for (mlir::Operation &op : step.getBody().front())
    if (auto value = op.getAttrOfType<mlir::FloatAttr>(nn::secondsAttr))
      result.push_back(value.getValueAsDouble());
  return result;
}

cluster::DeviceAttr device(Parsed &parsed, std::optional<cluster::Real> compute,
                           std::optional<cluster::Real> memory, double overhead) {
  return cluster::DeviceAttr::get(&parsed.context, compute, memory, overhead, std::nullopt, {});
}

// The larger of computing and moving, and the launch on top.
TEST(CostModel, Roofline) {
  Parsed parsed("");
  const auto fast = device(parsed, cluster::Real(100), cluster::Real(10), 1);
  EXPECT_EQ(roofline({1000, 50}, fast), 11);
  EXPECT_EQ(roofline({1000, 500}, fast), 51);
  EXPECT_EQ(roofline({0, 0}, fast), 1);
  const auto noRates = device(parsed, std::nullopt, std::nullopt, 1);
  EXPECT_EQ(roofline({1000, 50}, noRates), std::nullopt);
  EXPECT_EQ(roofline({0, 0}, noRates), 1);
}

// Without a profile every operation is predicted.
TEST(CostModel, PredictsEveryOperation) {
  Parsed parsed(stepName);
  ASSERT_TRUE(parsed.module) << parsed.error;
  ASSERT_TRUE(succeeded(
      annotate(parsed.step(), device(parsed, cluster::Real(1), cluster::Real(1), 0), {})));
  EXPECT_EQ(seconds(parsed.step()), (std::vector<double>{512, 512, 256, 1280}));
}

// A layer's measured time is shared out among its operations of the phase, and nothing is lost.
TEST(CostModel, SharesMeasuredTimes) {
  Parsed parsed(stepName);
  ASSERT_TRUE(parsed.module) << parsed.error;
  auto profile = mlir::cast<mlir::DictionaryAttr>(
      parsed.attr("{fc = #cluster.times<forward = 1.0, backward = 3.0>}"));
  ASSERT_TRUE(succeeded(
      annotate(parsed.step(), device(parsed, cluster::Real(1), cluster::Real(1), 0), profile)));
  EXPECT_EQ(seconds(parsed.step()), (std::vector<double>{1, 2, 1, 1280}));
}

// A measured update counts by the parameter's bytes, on the slowest node.
TEST(CostModel, MeasuredUpdates) {
  Parsed parsed(stepName);
  ASSERT_TRUE(parsed.module) << parsed.error;
  ASSERT_TRUE(succeeded(
      annotate(parsed.step(), device(parsed, cluster::Real(1), cluster::Real(1), 0), {}, 2, 0.5)));
  EXPECT_EQ(seconds(parsed.step()).back(), 256);
}

// Adam moves seven times a parameter's bytes where SGD with momentum moves five.
TEST(CostModel, UpdatesOfAdam) {
  Parsed parsed(stepName);
  ASSERT_TRUE(parsed.module) << parsed.error;
  (*parsed.module)->setAttr(nn::optimizerAttr, mlir::StringAttr::get(&parsed.context, "adamw"));
  const auto memory = device(parsed, cluster::Real(1e6), cluster::Real(1), 0);
  ASSERT_TRUE(succeeded(annotate(parsed.step(), memory, {})));
  EXPECT_EQ(seconds(parsed.step()).back(), 7 * 256);
  ASSERT_TRUE(succeeded(annotate(parsed.step(), memory, {}, 2, 0.5)));
  EXPECT_EQ(seconds(parsed.step()).back(), 256 * 7 / 5.0);
}

// LAMB reads parameter and moments once more.
TEST(CostModel, UpdatesOfLamb) {
  Parsed parsed(stepName);
  ASSERT_TRUE(parsed.module) << parsed.error;
  (*parsed.module)->setAttr(nn::optimizerAttr, mlir::StringAttr::get(&parsed.context, "lamb"));
  const auto memory = device(parsed, cluster::Real(1e6), cluster::Real(1), 0);
  ASSERT_TRUE(succeeded(annotate(parsed.step(), memory, {})));
  EXPECT_EQ(seconds(parsed.step()).back(), 10 * 256);
}

// Measured times are those of a node without slowdown.
TEST(CostModel, Slowdown) {
  Parsed parsed(stepName);
  ASSERT_TRUE(parsed.module) << parsed.error;
  auto profile = mlir::cast<mlir::DictionaryAttr>(
      parsed.attr("{fc = #cluster.times<forward = 1.0, backward = 3.0>}"));
  ASSERT_TRUE(succeeded(annotate(
      parsed.step(), device(parsed, cluster::Real(1), cluster::Real(1), 0), profile, 1.5)));
  EXPECT_EQ(seconds(parsed.step()), (std::vector<double>{1.5, 3, 1.5, 1280}));
}

// A profile alone is enough: shares then follow a nominal device, updates cost nothing known.
TEST(CostModel, ProfileWithoutRates) {
  Parsed parsed(stepName);
  ASSERT_TRUE(parsed.module) << parsed.error;
  auto profile = mlir::cast<mlir::DictionaryAttr>(
      parsed.attr("{fc = #cluster.times<forward = 1.0, backward = 3.0>}"));
  ASSERT_TRUE(
      succeeded(annotate(parsed.step(), device(parsed, std::nullopt, std::nullopt, 0), profile)));
  const std::vector<double> got = seconds(parsed.step());
  ASSERT_EQ(got.size(), 4u);
  EXPECT_EQ(got[0], 1);
  EXPECT_DOUBLE_EQ(got[1] + got[2], 3);
  EXPECT_DOUBLE_EQ(got[1], 3 * 512.0 / (512 + 256)); // both bound by bytes on that device
  EXPECT_EQ(got[3], 0);
}

// Where neither profile nor rates give a time, the operation's layer is named.
TEST(CostModel, MissingTimes) {
  Parsed parsed(stepName);
  ASSERT_TRUE(parsed.module) << parsed.error;
  auto profile =
      mlir::cast<mlir::DictionaryAttr>(parsed.attr("{fc = #cluster.times<forward = 1.0>}"));
  EXPECT_TRUE(
      failed(annotate(parsed.step(), device(parsed, std::nullopt, std::nullopt, 0), profile)));
  EXPECT_EQ(parsed.error, "'nn.matmul' op expected a profile with the layer 'fc' or a device with "
                          "compute and memory rates, got neither");
}

// A profile of another model is refused.
TEST(CostModel, ForeignProfile) {
  Parsed parsed(stepName);
  ASSERT_TRUE(parsed.module) << parsed.error;
  auto profile =
      mlir::cast<mlir::DictionaryAttr>(parsed.attr("{other = #cluster.times<forward = 1.0>}"));
  EXPECT_TRUE(failed(
      annotate(parsed.step(), device(parsed, cluster::Real(1), cluster::Real(1), 0), profile)));
  EXPECT_NE(parsed.error.find("names none of them (it starts with 'other')"), std::string::npos);
}

} // namespace
} // namespace syncline::cost
