// Softmax with zeros in the rows that a mask hides, as PyTorch exports attention with truth values.
#include "TestModel.h"

#include <gtest/gtest.h>

using namespace syncline::test;

namespace {

/// softmax(scores + mask), without NaN, where `nodes` make the mask, of three places.
Outcome withMask(const std::string &nodes, const std::string &inputs = "") {
  return importText(16,
                    "agraph (float[2,3,3] x" + inputs +
                        ") => (float[2,3,3] y) { w = RandomNormal <shape = [3]> () h = Mul(x, w) "
                        "zero = Constant <value = float[1] {0}> () " +
                        nodes +
                        " s = Add(h, mask) p = Softmax(s) n = IsNaN(p) y = Where(n, zero, p) }",
                    meanSquare());
}

} // namespace

// No row of this mask is hidden, so that nothing is to be replaced.
TEST(SoftmaxMask, KnownOnesThatHideNoRow) {
  const Outcome outcome =
      withMask("mask = Constant <value = float[3,3] {0, -1e38, -1e38, 0, 0, -1e38, 0, 0, 0}> ()");
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.count("nn.binary mask"), 0) << outcome.ir;
  EXPECT_EQ(outcome.count("nn.unary clip"), 0) << outcome.ir;
}

// A padded sample may have rows without a place.
TEST(SoftmaxMask, ComputedOnes) {
  const Outcome outcome = withMask("i = Constant <value = float[1] {-10}> () k = Cast <to = 9> (m) "
                                   "mask = Where(k, zero, i)",
                                   ", int64[2,1,3] m");
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("nn.reduce sum")) << outcome.ir;
  EXPECT_TRUE(outcome.has("nn.broadcast")) << outcome.ir;
  EXPECT_TRUE(outcome.has("{alpha = -3.402823466385288")) << outcome.ir;
}

// Only masks are looked at: scores that are trained have no derivative with respect to being NaN.
TEST(SoftmaxMask, OthersAreRefused) {
  const Outcome outcome = withMask("mask = Mul(h, h)");
  EXPECT_NE(outcome.error.find("(IsNaN): expected a softmax over the last dimension of scores and "
                               "a mask that is added to them"),
            std::string::npos)
      << outcome.error;
}

// A choice by a known truth value is one of the operands.
TEST(SoftmaxMask, ChoicesThatAreKnown) {
  const auto choose = [](const char *truth, const char *shape) {
    return importText(16,
                      "agraph (float[2,3] x) => (float[2,3] y) { a = RandomNormal <shape = [3]> () "
                      "b = RandomNormal <shape = " +
                          std::string(shape) + "> () c = Constant <value = bool[1] {" + truth +
                          "}> () k = Where(c, a, b) y = Mul(x, k) }",
                      meanSquare());
  };
  EXPECT_EQ(choose("1", "[3]").count("nn.binary mask"), 0);
  EXPECT_TRUE(choose("1", "[3]").has("nn.parameter \"a\""));
  EXPECT_TRUE(choose("0", "[3]").has("nn.parameter \"b\""));
  EXPECT_EQ(choose("0", "[1]").count("nn.binary mask"), 2); // b is repeated
}

// A plan's tensors hold finite numbers: infinities are chosen by ones.
TEST(SoftmaxMask, InfinitiesOfConstants) {
  const Outcome outcome = importText(
      16,
      "agraph (float[2,3] x) => (float[2,3] y) { w = RandomNormal <shape = [3]> () h = Mul(x, w) "
      "z = Constant <value = float[3] {0, 1, 0}> () "
      "d = Log(z) y = Add(h, d) }",
      meanSquare());
  EXPECT_TRUE(outcome.has("dense<0.000000e+00> : tensor<3xf32>")) << outcome.error << outcome.ir;
  EXPECT_TRUE(outcome.has("dense<0xFF800000> : tensor<f32>")) << outcome.ir;
  EXPECT_TRUE(outcome.has("dense<[1.000000e+00, 0.000000e+00, 1.000000e+00]>")) << outcome.ir;
  EXPECT_EQ(outcome.count("nn.binary mask"), 1) << outcome.ir;
}
