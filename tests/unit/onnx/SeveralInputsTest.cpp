// Several inputs, and integers that a step computes with.
#include "TestModel.h"

#include <gtest/gtest.h>

using namespace syncline::test;

namespace {

/// y = h·f, where h depends on x and a parameter, and `nodes` make f of tokens or a mask.
Outcome withMask(const std::string &nodes, const std::string &inputs = "int64[2,3] m") {
  return importText(16,
                    "agraph (float[2,3] x, " + inputs +
                        ") => (float[2,3] y) { w = RandomNormal <shape = [3]> () h = Mul(x, w) " +
                        nodes + " y = Mul(h, f) }",
                    meanSquare());
}

#define SAME " : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>"
#define WITH_NUMBER " : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>"

} // namespace

// A mask's integers are an input of f32 under the model's name, whatever its type in the file.
TEST(SeveralInputs, MasksAreReal) {
  for (const char *type : {"int64", "int32", "bool", "uint8"}) {
    const Outcome outcome = withMask("f = Cast <to = 1> (m)", std::string(type) + "[2,3] m");
    EXPECT_EQ(outcome.error, "");
    EXPECT_TRUE(outcome.has("nn.input \"m\" {of = \"m\"} : tensor<2x3xf32>")) << outcome.ir;
    EXPECT_EQ(outcome.count("nn.input"), 2) << outcome.ir;
  }
}

// What only moves integers moves the floating-point ones.
TEST(SeveralInputs, ViewsOfMasks) {
  const Outcome outcome = withMask("a = Constant <value_ints = [1]> () u = Unsqueeze(m, a) "
                                   "v = Squeeze(u, a) t = Transpose(v) r = Transpose(t) "
                                   "f = Cast <to = 1> (r)");
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.count("i64"), 2) << outcome.ir; // the permutations
}

// An input that numbers rows and is computed with is there in both types.
TEST(SeveralInputs, TokensAreIntegersAndReal) {
  const Outcome outcome = withMask(
      "t = RandomNormal <shape = [7,1]> () r = Gather(t, m) "
      "s = Constant <value_ints = [2,3]> () g = Reshape(r, s) z = Constant <value_int = 0> () "
      "e = Equal(m, z) n = Not(e) c = Cast <to = 1> (n) f = Mul(g, c)");
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("nn.input \"m\" : tensor<2x3xi64>")) << outcome.ir;
  EXPECT_TRUE(outcome.has("nn.input \"m as f32\" {of = \"m\"} : tensor<2x3xf32>")) << outcome.ir;
  EXPECT_TRUE(outcome.has("nn.unary clip")) << outcome.ir;
}

// Comparisons and connectives of truth values.
TEST(SeveralInputs, TruthValues) {
  const auto expect = [](const std::string &nodes, const char *text) {
    const Outcome outcome =
        withMask("k = Constant <value_int = 2> () " + nodes + " f = Cast <to = 1> (c)");
    EXPECT_EQ(outcome.error, "");
    EXPECT_TRUE(outcome.has(text)) << text << "\n" << outcome.ir;
  };
  expect("c = Less(m, k)", "nn.binary sub %4, %2 : (tensor<f32>, tensor<2x3xf32>)");
  expect("c = Greater(m, k)", "nn.binary sub %2, %4" WITH_NUMBER);
  expect("c = Greater(m, k)", "nn.unary clip");
  expect("c = LessOrEqual(m, k)", "nn.unary clip");
  expect("l = Less(m, k) e = Equal(m, k) c = Or(l, e)", "nn.binary mul");
  expect("l = Less(m, k) e = Equal(m, k) c = Xor(l, e)", "nn.unary abs");
  expect("l = Less(m, k) e = Equal(m, k) c = And(l, e)", "nn.binary mul");
  expect("c = Cast <to = 9> (m)", "nn.unary abs");
  expect("c = Sub(m, k)", "nn.binary sub %2, %4" WITH_NUMBER);
  expect("l = Less(m, k) c = Where(l, m, k)", "nn.binary mask %2");
  const auto expectSame = [](const std::string &nodes, const std::string &others) {
    const std::string two = "k = Constant <value_int = 2> () l = Less(m, k) e = Equal(m, k) ";
    const Outcome one = withMask(two + nodes + " f = Cast <to = 1> (c)");
    EXPECT_EQ(one.error, "");
    EXPECT_EQ(one.ir, withMask(two + others + " f = Cast <to = 1> (c)").ir);
  };
  expectSame("c = GreaterOrEqual(m, k)", "c = Not(l)");
  expectSame("d = Xor(l, e) c = Not(d)", "c = Equal(l, e)");
}

// Inputs that the output does not need may have any type and shape; a note names them.
TEST(SeveralInputs, UnneededInputs) {
  const Outcome outcome = withMask("f = Cast <to = 1> (m)", "int64[2,3] m, string[9] s");
  EXPECT_EQ(outcome.error, "");
  ASSERT_EQ(outcome.notes.size(), 1u);
  EXPECT_EQ(outcome.notes[0], "'s': the output does not need this input");
}

#undef SAME
#undef NUMBER
