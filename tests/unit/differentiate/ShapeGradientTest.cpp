// Derivatives of operations that move or reduce elements.
#include "tests/unit/differentiate/GradientHarness.h"

#include <gtest/gtest.h>

using namespace syncline::nn;
using namespace syncline::test;

TEST(ReshapeGradient, IsTheReshapeBack) {
  expectRightGradients(parameter("x", {2, 3, 2}) +
                           "%y = nn.reshape %x : (tensor<2x3x2xf64>) -> tensor<4x3xf64>\n",
                       {4, 3});
}

TEST(TransposeGradient, InvertsThePermutation) {
  expectRightGradients(parameter("x", {2, 3, 4}) +
                           "%y = nn.transpose %x {permutation = array<i64: 2, 0, 1>} : "
                           "(tensor<2x3x4xf64>) -> tensor<4x2x3xf64>\n",
                       {4, 2, 3});
}

// One operand is used twice, one is not trained.
TEST(ConcatGradient, GoesToEveryOperand) {
  expectRightGradients(parameter("a", {2, 3}) + parameter("b", {2, 1}) +
                           "%i = nn.input \"i\" : tensor<2x2xf64>\n"
                           "%y = nn.concat %a, %i, %b, %a {axis = 1 : i64} : (tensor<2x3xf64>, "
                           "tensor<2x2xf64>, tensor<2x1xf64>, tensor<2x3xf64>) -> "
                           "tensor<2x9xf64>\n",
                       {2, 9});
}

TEST(SliceGradient, WithStepsOfBothSigns) {
  expectRightGradients(parameter("x", {5, 6}) +
                           "%y = nn.slice %x {starts = array<i64: 4, 1>, steps = array<i64: -2, 3>}"
                           " : (tensor<5x6xf64>) -> tensor<3x2xf64>\n",
                       {3, 2});
}

/// The columns [begin, begin + size) of x, all of them, and half of x, side by side.
static std::string columnsOf(llvm::ArrayRef<std::pair<int, int>> parts) {
  std::string text = parameter("x", {3, 8}) + "%half = nn.constant dense<0.5> : tensor<f64>\n"
                                              "%z = nn.binary mul %x, %half : (tensor<3x8xf64>, "
                                              "tensor<f64>) -> tensor<3x8xf64>\n";
  std::string names = "%z", types = "tensor<3x8xf64>";
  int width = 8;
  for (auto [number, part] : llvm::enumerate(parts)) {
    const std::string name = "%p" + std::to_string(number);
    const std::string own = "tensor<3x" + std::to_string(part.second) + "xf64>";
    // The step of one column may be any.
    text += name + " = nn.slice %x {starts = array<i64: 0, " + std::to_string(part.first) +
            ">, steps = array<i64: 1, " + (part.second == 1 ? "-2" : "1") +
            ">} : (tensor<3x8xf64>) -> " + own + "\n";
    names += ", " + name;
    types += ", " + own;
    width += part.second;
  }
  return text + "%y = nn.concat " + names + " {axis = 1 : i64} : (" + types + ") -> tensor<3x" +
         std::to_string(width) + "xf64>\n";
}

// The parts are all columns, some, the same ones twice, two runs, and some with common columns.
TEST(SliceGradient, OfPartsSideBySide) {
  using Parts = std::vector<std::pair<int, int>>;
  for (const Parts &parts :
       {Parts{{0, 3}, {3, 1}, {4, 4}}, Parts{{6, 1}, {2, 4}}, Parts{{3, 5}, {0, 3}, {3, 5}, {3, 5}},
        Parts{{0, 2}, {2, 1}, {4, 1}, {5, 2}, {7, 1}}, Parts{{0, 5}, {4, 4}}, Parts{{1, 2}, {1, 2}},
        Parts{{0, 8}, {0, 4}, {4, 4}}}) {
    std::int64_t width = 8;
    for (auto [begin, size] : parts)
      width += size;
    expectRightGradients(columnsOf(parts), {3, width});
  }
}

// Parts along two axes.
TEST(SliceGradient, OfRowsAndColumns) {
  expectRightGradients(parameter("x", {4, 4}) +
                           "%r = nn.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>}"
                           " : (tensor<4x4xf64>) -> tensor<2x4xf64>\n"
                           "%s = nn.slice %x {starts = array<i64: 2, 0>, steps = array<i64: 1, 1>}"
                           " : (tensor<4x4xf64>) -> tensor<2x4xf64>\n"
                           "%c = nn.slice %x {starts = array<i64: 0, 1>, steps = array<i64: 1, 1>}"
                           " : (tensor<4x4xf64>) -> tensor<4x1xf64>\n"
                           "%a = nn.binary mul %r, %s : (tensor<2x4xf64>, tensor<2x4xf64>) -> "
                           "tensor<2x4xf64>\n"
                           "%b = nn.concat %a, %r {axis = 0 : i64} : (tensor<2x4xf64>, "
                           "tensor<2x4xf64>) -> tensor<4x4xf64>\n"
                           "%y = nn.binary mul %b, %c : (tensor<4x4xf64>, tensor<4x1xf64>) -> "
                           "tensor<4x4xf64>\n",
                       {4, 4});
}

// Rows that are taken several times, and one that is never taken.
TEST(EmbeddingGradient, AddsUpWhatWasTakenFromARow) {
  expectRightGradients(
      parameter("table", {4, 2, 3}) +
          "%ids = nn.input \"ids\" : tensor<3x2xi64>\n"
          "%y = nn.embedding %ids, %table : (tensor<3x2xi64>, tensor<4x2x3xf64>) -> "
          "tensor<3x2x2x3xf64>\n",
      {3, 2, 2, 3});
}

TEST(PadGradient, Growing) {
  expectRightGradients(parameter("x", {2, 3}) +
                           "%y = nn.pad %x {begins = array<i64: 1, 0>, value = 0.5 : f64} : "
                           "(tensor<2x3xf64>) -> tensor<3x5xf64>\n",
                       {3, 5});
}

TEST(PadGradient, CroppingOneSide) {
  expectRightGradients(parameter("x", {2, 4}) +
                           "%y = nn.pad %x {begins = array<i64: 1, -1>, value = 0.5 : f64} : "
                           "(tensor<2x4xf64>) -> tensor<4x3xf64>\n",
                       {4, 3});
}

// Elements that differ, since a maximum of equal ones has no derivative.
TEST(ReduceGradient, OfEveryKind) {
  for (const char *kind : {"sum", "mean", "maximum"}) {
    std::string x = parameter("distinct", {2, 3, 4});
    std::string op = std::string("%y = nn.reduce ") + kind + " %distinct ";
    expectRightGradients(x + op +
                             "{axes = array<i64: 0, 2>} : (tensor<2x3x4xf64>) -> "
                             "tensor<1x3x1xf64>\n",
                         {1, 3, 1});
    expectRightGradients(x + op +
                             "{axes = array<i64: 1>} : (tensor<2x3x4xf64>) -> "
                             "tensor<2x4xf64>\n",
                         {2, 4});
    expectRightGradients(x + op +
                             "{axes = array<i64: 0, 1, 2>} : (tensor<2x3x4xf64>) -> "
                             "tensor<f64>\n",
                         {});
  }
}

TEST(ResampleGradient, OfEveryFilterUpAndDown) {
  struct Axes {
    const char *axes, *coordinates;
    Dims result;
  };
  const Axes all[] = {
      {"2, 3", "6, -2, 10, 1, 0, 2", {2, 2, 5, 8}},
      {"3", "8, 1, 6", {2, 2, 3, 3}},
      {"1, 2, 3", "0, 0, 1, 3, 0, 4, 3, 0, 1", {2, 3, 4, 2}},
  };
  const char *const filters[] = {"0 : i64",
                                 "1 : i64",
                                 "2 : i64",
                                 "3 : i64",
                                 "4 : i64",
                                 "4 : i64, antialias",
                                 "5 : i64",
                                 "5 : i64, exclude_outside",
                                 "5 : i64, antialias, exclude_outside"};
  for (const Axes &axes : all)
    for (const char *filter : filters)
      expectRightGradients(parameter("x", {2, 2, 3, 4}) +
                               "%y = nn.resample %x {axes = array<i64: " + axes.axes +
                               ">, coordinates = array<i64: " + axes.coordinates +
                               ">, cubic_coefficient = -0.75 : f64, filter = " + filter + "} : (" +
                               type({2, 2, 3, 4}) + ") -> " + type(axes.result) + "\n",
                           axes.result);
}
