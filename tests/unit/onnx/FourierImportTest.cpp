// DFT as a product by cosines and sines, and the transforms that are refused.
#include "TestModel.h"

#include <gtest/gtest.h>

using namespace syncline::test;

namespace {

/// The transform of u, [2, 4, .., 8, parts], which has h's elements; l and a are its operands.
Outcome transformed(const std::string &call, const std::string &parts = "1",
                    const std::string &length = "8", const std::string &axis = "-2",
                    int opset = 20) {
  return importNodes(opset, "s = Constant <value_ints = [2,4,-1,8," + parts +
                                "]> () u = Reshape(h, s) l = Constant <value_int = " + length +
                                "> () a = Constant <value_int = " + axis + "> () y = DFT " + call);
}

} // namespace

TEST(Fourier, RealNumbersBecomePairs) {
  const Outcome outcome = transformed("(u)");
  EXPECT_TRUE(outcome.has("tensor<2x4x8x8xf32>, tensor<8x16xf32>)")) << outcome.error << outcome.ir;
  EXPECT_TRUE(outcome.has("-> tensor<2x4x8x8x2xf32>")) << outcome.ir;
  EXPECT_EQ(outcome.count("nn.transpose"), 0) << outcome.ir;
}

TEST(Fourier, OneSideOfPairs) {
  EXPECT_TRUE(transformed("<onesided = 1> (u)").has("-> tensor<2x4x8x5x2xf32>"));
  EXPECT_TRUE(transformed("<onesided = 1, inverse = 1> (u)", "2").has("-> tensor<2x4x4x14x1xf32>"));
}

TEST(Fourier, LengthsCutAndPad) {
  EXPECT_TRUE(transformed("(u, l)", "1", "5").has("-> tensor<2x4x8x5x2xf32>"));
  EXPECT_TRUE(transformed("(u, l, a)", "1", "11").has("-> tensor<2x4x8x11x2xf32>"));
}

// The axis is an attribute before opset 20, and an operand since.
TEST(Fourier, AxesMoveAndReturn) {
  for (const Outcome &outcome : {transformed("<axis = 1> (u)", "1", "8", "-2", 17),
                                 transformed("(u, , a)", "1", "8", "1")}) {
    EXPECT_EQ(outcome.count("nn.transpose"), 2) << outcome.error << outcome.ir;
    EXPECT_TRUE(outcome.has("tensor<4x8xf32>)")) << outcome.ir;
    EXPECT_TRUE(outcome.has("-> tensor<2x4x8x8x2xf32>")) << outcome.ir;
  }
}

TEST(Fourier, EqualMatricesAreOne) {
  const Outcome outcome = importNodes(
      20, "s = Constant <value_ints = [2,4,1,64,1]> () u = Reshape(h, s) p = DFT(u) q = DFT(p) "
          "r = DFT(q) y = Neg(r)");
  EXPECT_EQ(outcome.count("nn.state"), 2) << outcome.error << outcome.ir; // of one part, and of two
}

TEST(Fourier, BadOperandsAreRefused) {
  expectError(transformed("(u)", "4"), "expected a last dimension of 1 or 2, got shape 2x4x2x8x4");
  expectError(transformed("<onesided = 1> (u)", "2"), "expected a last dimension of 1, got");
  expectError(transformed("<onesided = 1, inverse = 1> (u)"),
              "expected a last dimension of 2, got");
  expectError(transformed("(u, l)", "1", "0"), "expected a length of at least 1, got 0");
  expectError(transformed("(u, l)", "1", "-3"), "expected a length of at least 1, got -3");
  expectError(transformed("(u, u)"), "expected a constant integer as the length, got 'u'");
  expectError(transformed("(u, l, u)"), "expected a constant integer as the axis, got 'u'");
  expectError(transformed("(u, l, a)", "1", "8", "-1"), "expected an axis before the last");
  expectError(transformed("(u, l, a)", "1", "8", "5"), "axis 5 is not within rank 5");
  expectError(importNodes(20, "s = Constant <value_ints = [-1]> () u = Reshape(h, s) y = DFT(u)"),
              "expected numbers in the last of at least 2 dimensions, got shape 512");
}

TEST(Fourier, LargeMatricesAreRefused) {
  EXPECT_EQ(transformed("(u, l)", "1", "262144").error, "");
  expectError(transformed("(u, l)", "1", "262145"),
              "expected a matrix of at most 4194304 elements, got 8 rows and 262145 terms of 2");
  for (const char *length : {"4611686018427387904", "9223372036854775807"})
    expectError(transformed("<inverse = 1> (u, l)", "2", length), "expected a matrix of at most");
}

// The samples are no signal.
TEST(Fourier, OfTheBatchIsRefused) {
  syncline::frontend::ImportOptions options = meanSquare();
  options.batch = 3;
  const Outcome outcome = importText(
      20,
      "agraph (float[N,4,1] x) => (float[N,4,2] y) { w = RandomNormal <shape = [4,1]> () "
      "h = Mul(x, w) a = Constant <value_int = 0> () y = DFT(h, , a) }",
      options);
  expectError(outcome, "samples");
}
