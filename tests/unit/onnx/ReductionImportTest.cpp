// Reductions and places of extremes: what they are composed of, of integers too, and bad ones.
#include "TestModel.h"

#include <gtest/gtest.h>

using namespace syncline::test;

namespace {

/// y is `operator` of h, of shape [2, 4, 8, 8], by the axes 1 and 3.
Outcome overTwoAxes(const std::string &op, const std::string &attributes = "") {
  return importNodes(18, "a = Constant <value_ints = [-1,1]> () y = " + op + attributes + "(h, a)");
}

/// y = x·w, w of shape [3], plus what `nodes` make of tokens t and truth values b, of shape [2, 5].
Outcome ofTokens(const std::string &nodes, int opset = 18) {
  return importText(opset,
                    "agraph (float[2,3] x, int64[2,5] t, bool[2,5] b) => (float[2,3] y) {"
                    " one = Constant <value_ints = [1]> () w = RandomNormal <shape = [3]> ()"
                    " h = Mul(x, w) " +
                        nodes + " y = Add(h, s) }",
                    meanSquare());
}

bool mentions(const Outcome &outcome, const std::string &text) {
  return outcome.error.find(text) != std::string::npos;
}

} // namespace

TEST(Reductions, AreOneOperationOrSeveral) {
  const std::string over = " {axes = array<i64: 1, 3>} : (tensor<2x4x8x8xf32>) -> ";
  const std::string kept = over + "tensor<2x1x8x1xf32>";
  for (const auto &[op, kind, others] : {std::tuple("ReduceMax", "maximum", 0),
                                         {"ReduceMin", "maximum", 2},
                                         {"ReduceSum", "sum", 0},
                                         {"ReduceMean", "mean", 0},
                                         {"ReduceL1", "sum", 1},
                                         {"ReduceLogSum", "sum", 1}}) {
    const Outcome outcome = overTwoAxes(op);
    EXPECT_EQ(outcome.error, "") << op;
    EXPECT_EQ(outcome.count(std::string("nn.reduce ") + kind), 1) << outcome.ir;
    EXPECT_TRUE(outcome.has(kept)) << outcome.ir;
    EXPECT_EQ(outcome.count("nn.unary"), others) << outcome.ir;
    EXPECT_TRUE(overTwoAxes(op, " <keepdims = 0>").has(over + "tensor<2x8xf32>")) << op;
  }
  for (const std::string op : {"ReduceL2", "ReduceSumSquare", "ReduceLogSumExp", "ReduceProd"}) {
    EXPECT_EQ(overTwoAxes(op).error, "") << op;
    EXPECT_TRUE(overTwoAxes(op).has("-> tensor<2x1x8x1xf32>")) << overTwoAxes(op).ir;
    EXPECT_TRUE(overTwoAxes(op, " <keepdims = 0>").has("tensor<2x8xf32>")) << op;
  }
}

// No gradient flows through what a power's exponent is shifted by, nor divides by a norm of zero.
TEST(Reductions, OfPowersAndNormsAreSafe) {
  const Outcome powers = importNodes(13, "y = ReduceLogSumExp <axes = [1]> (h)");
  EXPECT_TRUE(powers.has("nn.reduce maximum %2")) << powers.ir;
  EXPECT_TRUE(powers.has("nn.unary floor")) << powers.ir;
  EXPECT_FALSE(importNodes(13, "y = ReduceLogSum <axes = [1]> (h)").has("maximum"));
  const Outcome norm = importNodes(13, "y = ReduceL2 <axes = [1]> (h)");
  EXPECT_TRUE(norm.has("nn.binary not_less")) << norm.ir;
  EXPECT_TRUE(norm.has("nn.binary mask")) << norm.ir;
}

// Axes are an attribute before opset 18; without any all dimensions are reduced, or none.
TEST(Reductions, OfAllDimensionsAndOfNone) {
  const std::string all = "agraph (float[1,4] x) => (float[1,1] y) { w = RandomNormal <shape = [4]>"
                          " () h = Mul(x, w) y = ";
  EXPECT_TRUE(importText(13, all + "ReduceMax(h) }", meanSquare())
                  .has("nn.reduce maximum %2 {axes = array<i64: 0, 1>}"));
  EXPECT_TRUE(importNodes(13, "y = ReduceMin <axes = [2], keepdims = 0> (h)")
                  .has("{axes = array<i64: 2>} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8xf32>"));
  EXPECT_EQ(importNodes(18, "y = ReduceMax <noop_with_empty_axes = 1> (h)").count("nn.reduce"), 0);
  const Outcome sizes = importNodes(18, "y = ReduceL1 <noop_with_empty_axes = 1> (h)");
  EXPECT_TRUE(sizes.has("nn.unary abs")) << sizes.error << sizes.ir;
}

// Halves are multiplied by each other, and what is left of an odd count at the end.
TEST(Reductions, OfProductsAreHalved) {
  const Outcome even = importNodes(13, "y = ReduceProd <axes = [1]> (h)");
  EXPECT_EQ(even.count("nn.slice"), 4) << even.ir;
  EXPECT_EQ(even.count("nn.binary mul"), 3) << even.ir; // one is x·w
  const Outcome odd = importText(13,
                                 "agraph (float[2,7] x) => (float[2,1] y) {"
                                 " w = RandomNormal <shape = [7]> () h = Mul(x, w)"
                                 " y = ReduceProd <axes = [-1]> (h) }",
                                 meanSquare());
  EXPECT_EQ(odd.count("nn.slice"), 6) << odd.ir;
  EXPECT_EQ(odd.count("nn.binary mul"), 5) << odd.ir;
}

TEST(Reductions, WithWrongAxesAreRefused) {
  for (const std::string op :
       {"ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum",
        "ReduceLogSumExp", "ReduceProd", "ReduceSum", "ReduceMean"}) {
    const auto by = [&](const std::string &axes) {
      return importNodes(18, "a = " + axes + " () y = " + op + "(h, a)");
    };
    EXPECT_TRUE(mentions(by("Constant <value_ints = [4]>"), "axis 4 is not within rank 4")) << op;
    EXPECT_TRUE(mentions(by("Constant <value_ints = [-5]>"), "axis -5 is not within rank 4")) << op;
    EXPECT_TRUE(mentions(by("Constant <value_ints = [1,-3]>"), "axis 1 is named twice")) << op;
    EXPECT_TRUE(mentions(by("Constant <value_floats = [1.0]>"), "constant integers as axes")) << op;
    const Outcome computed = importNodes(18, "y = " + op + "(h, h)");
    EXPECT_TRUE(mentions(computed, "expected constant integers as axes, got 'h'"))
        << computed.error;
    const Outcome mixing = importText(18,
                                      "agraph (float[N,4] x) => (float[1,4] y) {"
                                      " w = RandomNormal <shape = [4]> () h = Mul(x, w)"
                                      " a = Constant <value_ints = [0]> () y = " +
                                          op + "(h, a) }",
                                      [] {
                                        auto options = meanSquare();
                                        options.batch = 4;
                                        return options;
                                      }());
    EXPECT_TRUE(mentions(mixing, "dimension 0, which has the batch")) << op << mixing.error;
  }
}

// Integers stay such; results that are none, and sums of truth values, are refused.
TEST(Reductions, OfIntegers) {
  for (const std::string op :
       {"ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceProd", "ReduceSumSquare"}) {
    const Outcome outcome = ofTokens("r = " + op + "(t, one) s = Cast <to = 1> (r)");
    EXPECT_EQ(outcome.error, "") << op;
    EXPECT_TRUE(outcome.has("tensor<2x1xf32>")) << outcome.ir;
    EXPECT_TRUE(mentions(ofTokens("r = " + op + "(t, one) s = Add(h, r)"), "element types")) << op;
  }
  for (const std::string op : {"ReduceMean", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp"})
    EXPECT_TRUE(mentions(ofTokens("s = " + op + "(t, one)"), "floating-point elements in 't'"))
        << op;
  EXPECT_EQ(ofTokens("r = ReduceMax(b, one) s = Cast <to = 1> (r)", 20).error, "");
  EXPECT_TRUE(mentions(ofTokens("r = ReduceSum(b, one) s = Cast <to = 1> (r)"),
                       "floating-point elements in 'b'"));
}

// A sum of five truth values is at most five: a table of six rows has all of them.
TEST(Reductions, OfIntegersHaveBounds) {
  const auto rows = [](const std::string &op, int count) {
    return ofTokens("k = Cast <to = 7> (b) p = " + op + " <keepdims = 0> (k, one)" +
                    " v = RandomNormal <shape = [" + std::to_string(count) +
                    ",3]> () s = Gather(v, p)");
  };
  for (const auto &[op, most] :
       {std::pair("ReduceSum", 5), {"ReduceL1", 5}, {"ReduceSumSquare", 5}, {"ReduceMax", 1}}) {
    EXPECT_FALSE(rows(op, most + 1).has("0x7F800000")) << op;
    EXPECT_TRUE(rows(op, most).has("0x7F800000")) << op << rows(op, most).error;
  }
}

// The place is a number from zero to the count less one, and takes rows of a table.
TEST(PlacesOfExtremes, AreIntegers) {
  for (const std::string op : {"ArgMax", "ArgMin"})
    for (const std::string of : {"t", "b", "h"}) {
      const std::string axis = of == "h" ? " <axis = -1, keepdims = 0>" : " <axis = 1>";
      const Outcome outcome = ofTokens("k = Cast <to = 1> (b) p = " + op + axis + "(" + of +
                                       ") v = RandomNormal <shape = [5,3]> () g = Gather(v, p)"
                                       " z = Constant <value_ints = [2,3]> () s = Reshape(g, z)");
      EXPECT_EQ(outcome.error, "") << op << of;
      EXPECT_EQ(outcome.count("nn.reduce maximum"), 2) << outcome.ir;
      EXPECT_FALSE(outcome.has("0x7F800000")) << outcome.ir; // no number is no row's
    }
  EXPECT_TRUE(
      ofTokens("p = ArgMax <axis = 1> (t) c = Cast <to = 1> (p) s = Add(h, c)").has("dense<[[5.0"))
      << ofTokens("p = ArgMax <axis = 1> (t) c = Cast <to = 1> (p) s = Add(h, c)").ir;
  EXPECT_TRUE(mentions(ofTokens("s = ArgMax <axis = 1> (t)"), "element types"));
}

TEST(PlacesOfExtremes, AlongAWrongAxisAreRefused) {
  EXPECT_TRUE(mentions(importNodes(13, "y = ArgMax <axis = 4> (h)"), "axis 4 is not within rank"));
  EXPECT_TRUE(mentions(importNodes(13, "y = ArgMin <axis = -5> (h)"), "axis -5 is not within"));
  const Outcome mixing = importText(13,
                                    "agraph (float[N,4] x) => (float[1,4] y) {"
                                    " w = RandomNormal <shape = [4]> () h = Mul(x, w)"
                                    " p = ArgMax(h) c = Cast <to = 1> (p) y = Mul(c, w) }",
                                    [] {
                                      auto options = meanSquare();
                                      options.batch = 4;
                                      return options;
                                    }());
  EXPECT_TRUE(mentions(mixing, "(ArgMax): it would reduce over dimension 0")) << mixing.error;
}
