// Operators on the bits of integers, integers that are joined, Col2Im and Scan.
#include "TestModel.h"

#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::test;

namespace {

/// A mask of truth values that the step computes: of an input of integers.
Outcome ofTokens(const std::string &nodes) {
  return importText(18,
                    "agraph (int64[2,3] t) => (float[2,3,4] y) { w = RandomNormal <shape = [7,4]> "
                    "() e = Gather(w, t) c = Constant <value_int = 3> () " +
                        nodes + " }",
                    meanSquare());
}

const std::string mask = " f = Cast <to = 1> (m) n = Constant <value_ints = [2]> () "
                         "u = Unsqueeze(f, n) y = Mul(e, u)";

TEST(Bits, TruthValuesAreOneBit) {
  const std::string truth = "l = Less(t, c) p = Cast <to = 6> (l) q = Cast <to = 6> (l) ";
  for (const auto *op : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"}) {
    const Outcome outcome = ofTokens(truth + "m = " + op + "(p, q)" + mask);
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.count("nn.unary floor"), 2) << outcome.ir; // of one bit each
  }
}

TEST(Bits, UnknownIntegersHaveAsManyAsF32) {
  const Outcome outcome = ofTokens("m = BitwiseAnd(t, c)" + mask);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.count("nn.unary floor"), 48);
  EXPECT_EQ(ofTokens("m = BitwiseNot(t)" + mask).error, "");
}

TEST(Bits, OthersThanIntegersAreRefused) {
  expectError(ofTokens("l = Less(t, c) b = BitwiseNot(l) m = Cast <to = 7> (b)" + mask),
              "node that makes 'b' (BitwiseNot): expected integers as 'l'");
  expectError(ofTokens("r = Constant <value_float = 1.5> () m = BitwiseNot(r)" + mask),
              "expected integers");
}

// A Cast between int32 and int64 makes no tensor.
TEST(Joined, KnownIntegersBecomeWhatOthersAre) {
  const Outcome outcome = importText(
      18,
      "agraph (int64[2,3] t) => (float[2,5,4] y) { w = RandomNormal <shape = [7,4]> () "
      "v = Cast <to = 6> (t) k = Constant <value = int32[1,2] {5, 6}> () s = Constant <value_ints "
      "= [2,2]> () p = Expand(k, s) j = Concat <axis = 1> (p, v) y = Gather(w, j) }",
      meanSquare());
  EXPECT_TRUE(outcome.has("tensor<2x2xi64>, tensor<2x3xi64>) -> tensor<2x5xi64>"))
      << outcome.error << outcome.ir;
  EXPECT_TRUE(outcome.has("nn.embedding")) << outcome.ir;
}

TEST(Clip, TakesIntegers) {
  const Outcome outcome = ofTokens("z = Constant <value_int = 0> () m = Clip(t, z, c)" + mask);
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("nn.unary clip")) << outcome.ir;
  expectError(ofTokens("z = Constant <value_int = 9> () m = Clip(t, z, c)" + mask),
              "expected min <= max, got 9 and 3");
}

// h is [2, 4, 8, 8]: 64 columns of 4 or of 16 entries.
Outcome columns(const std::string &image, const std::string &block,
                const std::string &attributes = "") {
  return importNodes(18, "s = Constant <value_ints = [2,4,64]> () r = Reshape(h, s) i = Constant "
                         "<value_ints = [" +
                             image + "]> () b = Constant <value_ints = [" + block +
                             "]> () y = Col2Im " + attributes + "(r, i, b)");
}

TEST(Columns, BlocksSideBySideAreMoved) {
  const Outcome outcome = columns("16,16", "2,2", "<strides = [2,2]>");
  EXPECT_TRUE(outcome.has("nn.transpose")) << outcome.error << outcome.ir;
  EXPECT_TRUE(outcome.has("-> tensor<2x1x16x16xf32>")) << outcome.ir;
  EXPECT_EQ(outcome.count("nn.binary add"), 0);
}

TEST(Columns, BlocksThatOverlapAreAddedUp) {
  const Outcome outcome = columns("8,8", "2,2", "<dilations = [2,1], pads = [1,0,1,1]>");
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.count("nn.binary add"), 2) << outcome.ir; // one along each dimension
  EXPECT_TRUE(outcome.has("-> tensor<2x1x8x8xf32>")) << outcome.ir;
}

TEST(Columns, BadSizesAreRefused) {
  expectError(columns("16,16", "3,2", "<strides = [2,2]>"),
              "block 3x2 does not divide the 4 rows of x");
  expectError(columns("16,15", "2,2", "<strides = [2,2]>"), "expected 8x7 columns, got 64");
  expectError(columns("16", "2,2"), "an image and a block of one rank");
  expectError(columns("16,0", "2,2"), "the image's shape 16x0 is empty or too large");
  expectError(columns("1099511627776,1099511627776", "2,2"), "is empty or too large");
  expectError(columns("16,16", "2,2", "<strides = [0,2]>"), "strides: expected at least 1, got 0");
  expectError(importNodes(18, "i = Constant <value_ints = [4,4]> () y = Col2Im(h, i, i)"),
              "expected x of rank 3");
}

Outcome scan(const std::string &attributes, const std::string &inputs = "g, h") {
  return importNodes(
      13, "z = Constant <value_float = 0.0> () p = Constant <value_ints = [0]> () "
          "q = ReduceSum <keepdims = 0> (h, p) g = Mul(q, z) l, o = Scan <num_scan_inputs = 1" +
              attributes +
              ", body = b (float[M] s, float[M] x) => (float[M] t, float[M] u) "
              "{ t = Add(s, x) u = Tanh(t) }> (" +
              inputs + ") y = Neg(o)");
}

TEST(Scan, IsUnrolled) {
  // The samples are the first dimension of h, as the file says for its own batch.
  const Outcome outcome = importNodes(
      13, "c = Constant <value_ints = [1]> () q = ReduceSum <keepdims = 0> (h, c) "
          "l, o = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1], body = "
          "b (float[M] s, float[M] x) => (float[M] t, float[M] u) { t = Add(s, x) u = Tanh(t) }> "
          "(q, h) y = Add(h, o)");
  EXPECT_EQ(outcome.count("tanh"), 4) << outcome.error << outcome.ir;
  EXPECT_TRUE(outcome.has("-> tensor<2x4x8x8xf32>")) << outcome.ir;
}

TEST(Scan, BadAttributesAreRefused) {
  expectError(scan(", scan_input_axes = [4]"), "axis 4 is not within rank 4");
  expectError(scan(", scan_input_axes = [1,2]"), "expected 1 entries in scan_input_axes");
  expectError(scan("", "g, h, h"), "expected a body with an input for each of the node's");
}

} // namespace
