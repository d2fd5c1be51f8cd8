// Derivatives of operations whose operands broadcast, on random shapes.
#include "tests/unit/differentiate/GradientHarness.h"

#include <gtest/gtest.h>

using namespace syncline::nn;
using namespace syncline::test;

namespace {

/// A shape that broadcasts to `shape`: some dimensions become one, some leading ones are dropped.
Dims shrink(std::mt19937 &random, DimsRef shape) {
  Dims result(shape.drop_front(random() % (shape.size() + 1)));
  for (std::int64_t &d : result)
    d = random() % 2 ? d : 1;
  return result;
}

class BinaryGradient : public testing::TestWithParam<const char *> {};

void expectRightBinary(const std::string &kind, DimsRef a, DimsRef b) {
  SCOPED_TRACE(kind + " " + toString(a) + " and " + toString(b));
  Dims y = llvm::cantFail(broadcastShape(a, b));
  expectRightGradients(parameter("x", a) + parameter("positive", b) + "%y = nn.binary " + kind +
                           " %x, %positive : (" + type(a) + ", " + type(b) + ") -> " + type(y) +
                           "\n",
                       y);
}

} // namespace

TEST_P(BinaryGradient, OfOneShape) { expectRightBinary(GetParam(), {2, 3}, {2, 3}); }
TEST_P(BinaryGradient, OfChannels) { expectRightBinary(GetParam(), {2, 3, 2, 2}, {3, 1, 1}); }
TEST_P(BinaryGradient, OfScalars) { expectRightBinary(GetParam(), {2, 3}, {}); }

TEST_P(BinaryGradient, OfRandomShapes) {
  std::mt19937 random(5);
  for (int i = 0; i < 20; ++i) {
    Dims shape = randomShape(random, 1 + random() % 4, 3);
    Dims a = i % 2 ? shape : shrink(random, shape), b = shrink(random, shape);
    expectRightBinary(GetParam(), a, b);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, BinaryGradient,
                         testing::Values("add", "sub", "mul", "div", "prelu"),
                         [](const auto &info) { return std::string(info.param); });

// What is repeated gets the sum of the gradients of its copies.
TEST(BroadcastGradient, OfRandomShapes) {
  std::mt19937 random(6);
  for (int i = 0; i < 20; ++i) {
    Dims y = randomShape(random, 1 + random() % 4, 3), x = shrink(random, y);
    expectRightGradients(
        parameter("x", x) + "%y = nn.broadcast %x : (" + type(x) + ") -> " + type(y) + "\n", y);
  }
}

// A tensor that is added to itself doubles its gradient.
TEST(BroadcastGradient, OfOneValueTwice) {
  expectRightGradients(parameter("x", {2, 3}) +
                           "%y = nn.binary mul %x, %x : (tensor<2x3xf64>, tensor<2x3xf64>) -> "
                           "tensor<2x3xf64>\n",
                       {2, 3});
}
