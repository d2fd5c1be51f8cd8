// Derivatives of elementwise operations.
#include "tests/unit/differentiate/GradientHarness.h"

#include <gtest/gtest.h>

using namespace syncline::test;

namespace {

struct UnaryCase {
  const char *kind, *operand, *attributes;
};

class UnaryGradient : public testing::TestWithParam<UnaryCase> {};

} // namespace

TEST_P(UnaryGradient, IsRight) {
  auto [kind, operand, attributes] = GetParam();
  std::string name = operand;
  expectRightGradients(parameter(name, {2, 5}) + "%y = nn.unary " + kind + " %" + name + " " +
                           attributes + " : " + type({2, 5}) + "\n",
                       {2, 5});
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, UnaryGradient,
    testing::Values(UnaryCase{"relu", "x", ""}, UnaryCase{"leaky_relu", "x", "{alpha = 0.1 : f64}"},
                    UnaryCase{"sigmoid", "x", ""}, UnaryCase{"tanh", "x", ""},
                    UnaryCase{"hard_sigmoid", "x", "{alpha = 0.9 : f64, beta = 0.5 : f64}"},
                    UnaryCase{"hard_swish", "x", ""},
                    UnaryCase{"clip", "x", "{alpha = -0.3 : f64, beta = 0.4 : f64}"},
                    UnaryCase{"elu", "x", "{alpha = 0.7 : f64}"}, UnaryCase{"neg", "x", ""},
                    UnaryCase{"exp", "x", ""}, UnaryCase{"log", "positive", ""},
                    UnaryCase{"sqrt", "positive", ""}, UnaryCase{"abs", "x", ""},
                    UnaryCase{"reciprocal", "positive", ""}, UnaryCase{"erf", "x", ""},
                    UnaryCase{"softplus", "x", ""}, UnaryCase{"softsign", "x", ""},
                    UnaryCase{"mish", "x", ""}, UnaryCase{"swish", "x", "{alpha = 1.3 : f64}"},
                    UnaryCase{"thresholded_relu", "x", "{alpha = -0.2 : f64}"},
                    UnaryCase{"celu", "x", "{alpha = 0.7 : f64}"}, UnaryCase{"sin", "x", ""},
                    UnaryCase{"cos", "x", ""}, UnaryCase{"tan", "x", ""},
                    UnaryCase{"atan", "x", ""}, UnaryCase{"acos", "x", ""},
                    UnaryCase{"asin", "x", ""}, UnaryCase{"sinh", "x", ""},
                    UnaryCase{"cosh", "x", ""}, UnaryCase{"asinh", "x", ""},
                    UnaryCase{"atanh", "x", ""}),
    [](const auto &info) { return std::string(info.param.kind); });

TEST(UnaryGradients, AcoshAboveOne) {
  expectRightGradients(parameter("positive", {2, 5}) +
                           "%one = nn.constant dense<1.0> : tensor<f64>\n"
                           "%x = nn.binary add %positive, %one : (tensor<2x5xf64>, tensor<f64>) "
                           "-> tensor<2x5xf64>\n"
                           "%y = nn.unary acosh %x : " +
                           type({2, 5}) + "\n",
                       {2, 5});
}

class PowerGradient : public testing::TestWithParam<const char *> {};

TEST_P(PowerGradient, IsRight) {
  expectRightGradients(parameter("positive", {2, 5}) + "%y = nn.unary pow %positive {alpha = " +
                           GetParam() + " : f64} : " + type({2, 5}) + "\n",
                       {2, 5});
}

INSTANTIATE_TEST_SUITE_P(Exponents, PowerGradient,
                         testing::Values("0.5", "1.5", "2.0", "3.0", "-1.0", "2.7"));

// A square of negative numbers has a derivative too.
TEST(PowerGradients, OfNegativeNumbers) {
  expectRightGradients(parameter("x", {2, 5}) +
                           "%y = nn.unary pow %x {alpha = 2.0 : f64} : " + type({2, 5}) + "\n",
                       {2, 5});
}

// PyTorch takes a negative alpha.
TEST(UnaryGradients, CeluOfNegativeAlpha) {
  expectRightGradients(parameter("x", {2, 5}) +
                           "%y = nn.unary celu %x {alpha = -0.7 : f64} : " + type({2, 5}) + "\n",
                       {2, 5});
}

// From 20 on softplus is its operand.
TEST(UnaryGradients, FarOut) {
  for (const char *const kind : {"softplus", "mish", "swish", "softsign", "atan"})
    expectRightGradients(parameter("distinct", {9, 7}) +
                             "%ten = nn.constant dense<10.0> : tensor<f64>\n"
                             "%x = nn.binary mul %distinct, %ten : (tensor<9x7xf64>, tensor<f64>) "
                             "-> tensor<9x7xf64>\n"
                             "%y = nn.unary " +
                             kind + " %x {alpha = 1.0 : f64} : " + type({9, 7}) + "\n",
                         {9, 7});
}

namespace {
class RoundingGradient : public testing::TestWithParam<const char *> {};
} // namespace

// What is rounded has no gradient: that of the sum is one of x alone.
TEST_P(RoundingGradient, IsNone) {
  expectRightGradients(parameter("x", {2, 5}) + "%r = nn.unary " + GetParam() +
                           " %x : tensor<2x5xf64>\n"
                           "%y = nn.binary add %x, %r : (tensor<2x5xf64>, tensor<2x5xf64>) -> "
                           "tensor<2x5xf64>\n",
                       {2, 5});
}

INSTANTIATE_TEST_SUITE_P(Kinds, RoundingGradient,
                         testing::Values("floor", "ceil", "round", "sign"));

namespace {
class ExtremeGradient : public testing::TestWithParam<const char *> {};
} // namespace

// Both operands broadcast.
TEST_P(ExtremeGradient, IsRight) {
  expectRightGradients(parameter("x", {4, 1}) + parameter("z", {3}) + "%y = nn.binary " +
                           GetParam() +
                           " %x, %z : (tensor<4x1xf64>, tensor<3xf64>) -> tensor<4x3xf64>\n",
                       {4, 3});
}

TEST_P(ExtremeGradient, IsRightBesideANumber) {
  expectRightGradients(parameter("x", {4, 3}) +
                           "%c = nn.constant dense<0.1> : tensor<f64>\n"
                           "%y = nn.binary " +
                           GetParam() +
                           " %c, %x : (tensor<f64>, tensor<4x3xf64>) -> tensor<4x3xf64>\n",
                       {4, 3});
}

INSTANTIATE_TEST_SUITE_P(Kinds, ExtremeGradient, testing::Values("max", "min"));

// A mask of one row for all: what is masked has no gradient, whatever it is.
TEST(BinaryGradients, Mask) {
  expectRightGradients(parameter("x", {4, 3}) +
                           "%m = nn.constant dense<[1.0, 0.0, 2.0]> : tensor<3xf64>\n"
                           "%y = nn.binary mask %x, %m : (tensor<4x3xf64>, tensor<3xf64>) -> "
                           "tensor<4x3xf64>\n",
                       {4, 3});
}

// Beyond [-3, 3] hard_swish is zero or the identity.
TEST(UnaryGradients, HardSwishFarOut) {
  expectRightGradients(parameter("distinct", {9, 7}) +
                           "%y = nn.unary hard_swish %distinct : " + type({9, 7}) + "\n",
                       {9, 7});
}

// A gated unit: the value is used by its own gate, so two gradients are added.
TEST(UnaryGradients, GateAddsBothPaths) {
  expectRightGradients(parameter("x", {3, 4}) +
                           "%g = nn.unary sigmoid %x : tensor<3x4xf64>\n"
                           "%y = nn.binary mul %x, %g : (tensor<3x4xf64>, tensor<3x4xf64>) -> "
                           "tensor<3x4xf64>\n",
                       {3, 4});
}
