// Derivatives of pooling.
#include "tests/unit/differentiate/GradientHarness.h"

#include <gtest/gtest.h>

using namespace syncline::nn;
using namespace syncline::test;

namespace {

void expectRightPool(const std::string &op, DimsRef x, const WindowRef &window,
                     const std::string &extra = "") {
  Dims y = llvm::cantFail(poolShape(x, window));
  bool maximum = op == "max_pool";
  std::string results = maximum ? "(" + type(y) + ", tensor<" + toString(y) + "xui8>)" : type(y);
  std::string text =
      parameter("distinct", x) + (maximum ? "%y, %ws" : "%y") + " = nn." + op +
      " %distinct {kernel = " + array(window.kernel) + ", strides = " + array(window.strides) +
      ", dilations = " + array(window.dilations) + ", pads_begin = " + array(window.padsBegin) +
      ", pads_end = " + array(window.padsEnd) + extra + "} : (" + type(x) + ") -> " + results +
      "\n";
  SCOPED_TRACE(text);
  expectRightGradients(text, y);
}

} // namespace

TEST(MaxPoolGradient, OfOverlappingWindows) {
  expectRightPool("max_pool", {2, 2, 5, 5}, {{3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}});
}

TEST(MaxPoolGradient, OfDilatedUnevenWindows) {
  expectRightPool("max_pool", {1, 2, 6, 5}, {{2, 3}, {1, 2}, {2, 1}, {0, 1}, {1, 0}});
}

TEST(MaxPoolGradient, OfOneDimension) {
  expectRightPool("max_pool", {2, 3, 6}, {{2}, {2}, {1}, {0}, {0}});
}

TEST(AveragePoolGradient, WithAndWithoutPadding) {
  for (const char *extra : {"", ", count_include_pad"})
    expectRightPool("average_pool", {2, 2, 5, 4}, {{3, 2}, {2, 1}, {1, 1}, {1, 1}, {1, 0}}, extra);
}

TEST(AveragePoolGradient, OfDilatedWindows) {
  expectRightPool("average_pool", {1, 1, 6, 6}, {{2, 2}, {1, 2}, {2, 2}, {0, 0}, {0, 0}});
}
