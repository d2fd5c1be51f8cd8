// Derivatives of losses and of whole steps: shared parameters, frozen ones, scaled losses.
#include "tests/unit/differentiate/GradientHarness.h"

#include <gtest/gtest.h>

using namespace syncline::test;

namespace {

/// A step whose body defines %z of shape 3x2x2 and scalar %scale; the loss is cross entropy.
/// `rest` stands behind its operands.
std::string crossEntropyStep(const std::string &loss, const std::string &rest = "",
                             const std::string &weightsType = "") {
  return "nn.step @s batch 3 {\n" + parameter("z", {3, 2, 2}) + parameter("scale", {}) +
         "%t = nn.target \"t\" : tensor<3x2xi64>\n"
         "%k = nn.constant dense<[0.5, 2.0]> : tensor<2xf64>\n"
         "%c, %d = nn.cross_entropy %z, %t " +
         rest + " : (tensor<3x2x2xf64>, tensor<3x2xi64>" + weightsType +
         ") -> "
         "(tensor<f64>, tensor<3x2x2xf64>)\n" +
         loss + "}\n";
}

} // namespace

// A loss that is scaled scales the ready gradient.
TEST(LossGradient, OfScaledCrossEntropy) {
  expectRightGradientsOfStep(
      crossEntropyStep("%l = nn.binary mul %c, %scale : (tensor<f64>, tensor<f64>) -> tensor<f64>\n"
                       "nn.loss %l : tensor<f64>\n"));
}

TEST(LossGradient, OfSmoothedCrossEntropy) {
  expectRightGradientsOfStep(
      crossEntropyStep("%l = nn.binary mul %scale, %c : (tensor<f64>, tensor<f64>) -> tensor<f64>\n"
                       "nn.loss %l : tensor<f64>\n",
                       "{smoothing = 0.3 : f64}"));
}

TEST(LossGradient, OfWeighedCrossEntropy) {
  for (const char *smoothing : {"", " {smoothing = 0.3 : f64}"})
    expectRightGradientsOfStep(crossEntropyStep(
        "%l = nn.binary mul %scale, %c : (tensor<f64>, tensor<f64>) -> tensor<f64>\n"
        "nn.loss %l : tensor<f64>\n",
        std::string("weights %k") + smoothing, ", tensor<2xf64>"));
}

TEST(LossGradient, OfCrossEntropyAndAPenalty) {
  expectRightGradientsOfStep(crossEntropyStep(
      "%sq = nn.binary mul %scale, %scale : (tensor<f64>, tensor<f64>) -> tensor<f64>\n"
      "%l = nn.binary add %c, %sq : (tensor<f64>, tensor<f64>) -> tensor<f64>\n"
      "nn.loss %l : tensor<f64>\n"));
}

// A tied weight has one gradient, the sum over its uses; a frozen one in between has none.
TEST(StepGradient, OfTiedAndFrozenWeights) {
  expectRightGradients(
      "%x = nn.input \"x\" : tensor<2x3xf64>\n%f = nn.state \"f\" at 0 : tensor<3x3xf64>\n" +
          parameter("w", {3, 3}) +
          "%1 = nn.matmul %x, %w : (tensor<2x3xf64>, tensor<3x3xf64>) -> tensor<2x3xf64>\n"
          "%2 = nn.unary tanh %1 : tensor<2x3xf64>\n"
          "%3 = nn.matmul %2, %f : (tensor<2x3xf64>, tensor<3x3xf64>) -> tensor<2x3xf64>\n"
          "%y = nn.matmul %3, %w {transpose_b} : (tensor<2x3xf64>, tensor<3x3xf64>) -> "
          "tensor<2x3xf64>\n",
      {2, 3});
}

// Two parameters that are added share one gradient; each update still has its own.
TEST(StepGradient, OfSharedGradients) {
  expectRightGradients(parameter("a", {2, 3}) + parameter("b", {2, 3}) +
                           "%y = nn.binary add %a, %b : (tensor<2x3xf64>, tensor<2x3xf64>) -> "
                           "tensor<2x3xf64>\n",
                       {2, 3});
}

// A residual block: the skip's gradient meets the branch's.
TEST(StepGradient, OfResidualBlock) {
  expectRightGradients(
      "%x = nn.input \"x\" : tensor<2x3xf64>\n" + parameter("v", {3, 3}) + parameter("w", {3, 3}) +
          "%0 = nn.matmul %x, %v : (tensor<2x3xf64>, tensor<3x3xf64>) -> tensor<2x3xf64>\n"
          "%1 = nn.unary relu %0 : tensor<2x3xf64>\n"
          "%2 = nn.matmul %1, %w : (tensor<2x3xf64>, tensor<3x3xf64>) -> tensor<2x3xf64>\n"
          "%3 = nn.binary add %2, %1 : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>\n"
          "%y = nn.unary relu %3 : tensor<2x3xf64>\n",
      {2, 3});
}

// Every kind of fusion at once: batch_norm with relu, convolution with relu, a gate that
// broadcasts, a residual sum, and a mean over space.
TEST(StepGradient, OfConvolutionalNetwork) {
  const std::string image = "tensor<2x2x3x3xf64>", channels = "tensor<2xf64>";
  const std::string pixelwise = " {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, "
                                "pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>} : (" +
                                image + ", tensor<2x2x1x1xf64>) -> " + image + "\n";
  expectRightGradients(
      "%x = nn.input \"x\" : " + image + "\n%rm = nn.state \"rm\" at 0 : " + channels +
          "\n%rv = nn.state \"rv\" at 0 : " + channels + "\n" + parameter("v", {2, 2, 1, 1}) +
          parameter("w", {2, 2, 1, 1}) + parameter("positive", {2}) + parameter("b", {2}) +
          parameter("g", {2, 2, 1, 1}) + parameter("a", {2, 1, 1}) + "%0 = nn.conv %x, %v" +
          pixelwise +
          "%1, %m, %va = nn.batch_norm %0, %positive, %b, %rm, %rv {epsilon = 1.0e-3 : f64, "
          "momentum = 0.1 : f64} : (" +
          image + ", " + channels + ", " + channels + ", " + channels + ", " + channels + ") -> (" +
          image + ", " + channels + ", " + channels + ")\n%2 = nn.unary relu %1 : " + image +
          "\n%3 = nn.conv %2, %w" + pixelwise + "%4 = nn.unary relu %3 : " + image +
          "\n%5 = nn.binary add %4, %2 : (" + image + ", " + image + ") -> " + image +
          "\n%6 = nn.binary mul %5, %g : (" + image + ", tensor<2x2x1x1xf64>) -> " + image +
          "\n%7 = nn.binary prelu %6, %a : (" + image + ", tensor<2x1x1xf64>) -> " + image +
          "\n%8 = nn.unary elu %7 {alpha = 0.5 : f64} : " + image +
          "\n%y = nn.reduce mean %8 {axes = array<i64: 2, 3>} : (" + image +
          ") -> "
          "tensor<2x2xf64>\n",
      {2, 2});
}
