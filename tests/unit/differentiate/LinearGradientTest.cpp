// Derivatives of convolution and matrix product.
#include "tests/unit/differentiate/GradientHarness.h"

#include <gtest/gtest.h>

using namespace syncline::nn;
using namespace syncline::test;

namespace {

void expectRightConv(DimsRef x, DimsRef w, const WindowRef &window, std::int64_t groups,
                     bool bias) {
  Dims y = llvm::cantFail(convShape(x, w, window, groups));
  std::string text = parameter("x", x) + parameter("w", w);
  if (bias)
    text += parameter("b", {w[0]});
  text += std::string("%y = nn.conv %x, %w") + (bias ? " bias %b" : "") +
          " {strides = " + array(window.strides) + ", dilations = " + array(window.dilations) +
          ", pads_begin = " + array(window.padsBegin) + ", pads_end = " + array(window.padsEnd) +
          ", groups = " + std::to_string(groups) + " : i64} : (" + type(x) + ", " + type(w) +
          (bias ? ", " + type({w[0]}) : "") + ") -> " + type(y) + "\n";
  SCOPED_TRACE(text);
  expectRightGradients(text, y);
}

/// x is what the convolution would make of y.
void expectRightTransposed(DimsRef y, DimsRef w, const WindowRef &window, std::int64_t groups) {
  Dims x = llvm::cantFail(convShape(y, w, window, groups));
  const std::string text =
      parameter("x", x) + parameter("w", w) +
      "%y = nn.conv_backward_data %x, %w {strides = " + array(window.strides) +
      ", dilations = " + array(window.dilations) + ", pads_begin = " + array(window.padsBegin) +
      ", pads_end = " + array(window.padsEnd) + ", groups = " + std::to_string(groups) +
      " : i64} : (" + type(x) + ", " + type(w) + ") -> " + type(y) + "\n";
  SCOPED_TRACE(text);
  expectRightGradients(text, y);
}

void expectRightMatmul(DimsRef a, bool ta, DimsRef b, bool tb, std::optional<Dims> bias) {
  Dims y = llvm::cantFail(matmulShape(a, ta, b, tb));
  std::string text = parameter("a", a) + parameter("b", b);
  if (bias)
    text += parameter("c", *bias);
  text += std::string("%y = nn.matmul %a, %b") + (bias ? " bias %c" : "") + " {";
  text += ta ? "transpose_a" : "";
  text += ta && tb ? ", " : "";
  text += tb ? "transpose_b" : "";
  text += "} : (" + type(a) + ", " + type(b) + (bias ? ", " + type(*bias) : "") + ") -> " +
          type(y) + "\n";
  SCOPED_TRACE(text);
  expectRightGradients(text, y);
}

} // namespace

TEST(ConvGradient, OfUnevenWindow) {
  expectRightConv({2, 2, 5, 4}, {3, 2, 3, 2}, {{}, {2, 1}, {1, 2}, {1, 0}, {0, 2}}, 1, true);
}

TEST(ConvGradient, OfDepthwise) {
  expectRightConv({2, 3, 4, 4}, {6, 1, 3, 3}, {{}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, 3, false);
}

TEST(ConvGradient, OfOneDimension) {
  expectRightConv({2, 2, 6}, {2, 2, 3}, {{}, {1}, {1}, {1}, {1}}, 1, true);
}

TEST(ConvGradient, OfRandomShapes) {
  std::mt19937 random(3);
  for (int i = 0; i < 12; ++i) {
    auto pick = [&](int low, int high) {
      return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    std::size_t rank = pick(1, 2);
    std::int64_t groups = pick(1, 2);
    Dims x{2, groups * pick(1, 2)}, w{groups * pick(1, 2), x[1] / groups};
    Dims strides, dilations, begin, end;
    for (std::size_t d = 0; d < rank; ++d) {
      x.push_back(pick(4, 6));
      w.push_back(pick(1, 3));
      strides.push_back(pick(1, 3));
      dilations.push_back(pick(1, 2));
      begin.push_back(pick(0, 1));
      end.push_back(pick(0, 1));
    }
    expectRightConv(x, w, {{}, strides, dilations, begin, end}, groups, i % 2);
  }
}

TEST(TransposedConvGradient, OfUnevenWindow) {
  expectRightTransposed({2, 2, 7, 5}, {3, 2, 3, 2}, {{}, {2, 1}, {1, 2}, {1, 0}, {0, 2}}, 1);
}

// The last position of y is reached by no window.
TEST(TransposedConvGradient, OfOutputPadding) {
  expectRightTransposed({2, 2, 6}, {2, 2, 3}, {{}, {2}, {1}, {1}, {1}}, 1);
}

TEST(TransposedConvGradient, OfGroups) {
  expectRightTransposed({1, 4, 4, 4}, {6, 2, 2, 2}, {{}, {2, 2}, {1, 1}, {0, 0}, {0, 0}}, 2);
}

TEST(TransposedConvGradient, OfThreeDimensions) {
  expectRightTransposed({1, 2, 2, 3, 4}, {2, 2, 1, 2, 2},
                        {{}, {1, 1, 2}, {1, 1, 1}, {0, 1, 0}, {0, 0, 0}}, 1);
}

// A frozen weight leaves the data a gradient, and a known image leaves the weights one.
TEST(TransposedConvGradient, OfOneOperand) {
  const std::string rest =
      "%y = nn.conv_backward_data %x, %w {strides = array<i64: 2>, dilations = array<i64: 1>, "
      "pads_begin = array<i64: 0>, pads_end = array<i64: 0>} : (tensor<2x3x4xf64>, "
      "tensor<3x2x2xf64>) -> tensor<2x2x8xf64>\n";
  expectRightGradients("%w = nn.state \"w\" at 0 : tensor<3x2x2xf64>\n" +
                           parameter("x", {2, 3, 4}) + rest,
                       {2, 2, 8});
  expectRightGradients(
      "%x = nn.input \"x\" : tensor<2x3x4xf64>\n" + parameter("w", {3, 2, 2}) + rest, {2, 2, 8});
}

// A frozen weight leaves the bias a gradient of its own.
TEST(ConvGradient, OfBiasAlone) {
  expectRightGradients(
      "%x = nn.input \"x\" : tensor<2x2x3x3xf64>\n%w = nn.state \"w\" at 0 : "
      "tensor<2x2x1x1xf64>\n" +
          parameter("b", {2}) +
          "%y = nn.conv %x, %w bias %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, "
          "pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>} : (tensor<2x2x3x3xf64>, "
          "tensor<2x2x1x1xf64>, tensor<2xf64>) -> tensor<2x2x3x3xf64>\n",
      {2, 2, 3, 3});
}

TEST(MatmulGradient, OfAllTransposes) {
  for (bool ta : {false, true})
    for (bool tb : {false, true})
      expectRightMatmul(ta ? Dims{3, 2} : Dims{2, 3}, ta, tb ? Dims{4, 3} : Dims{3, 4}, tb,
                        Dims{4});
}

TEST(MatmulGradient, OfBatches) {
  for (bool ta : {false, true})
    for (bool tb : {false, true}) {
      Dims a = ta ? Dims{2, 3, 2} : Dims{2, 2, 3}, b = tb ? Dims{4, 3} : Dims{3, 4};
      expectRightMatmul(a, ta, b, tb, std::nullopt);
      Dims wide{3, 1};
      wide.append(b.begin(), b.end());
      expectRightMatmul(a, ta, wide, tb, Dims{2, 1});
    }
}

TEST(MatmulGradient, OfOneMatrixOnTheLeft) {
  expectRightMatmul({2, 3}, false, {2, 3, 4}, false, Dims{2, 4});
  expectRightMatmul({3, 2}, true, {2, 4, 3}, true, Dims{});
}
