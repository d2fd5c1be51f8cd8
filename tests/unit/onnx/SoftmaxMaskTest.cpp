// Softmax with zeros in the rows that a mask hides, as PyTorch exports attention with truth values.
#include "TestModel.h"

#include <gtest/gtest.h>

using namespace syncline::test;

namespace {

/// softmax(scores + mask), p, without NaN, n, where `nodes` make the mask, of three places.
Outcome maskedSoftmax(const std::string &nodes, const std::string &inputs = "",
                      const std::string &choice = "y = Where(n, zero, p)") {
  return importText(16,
                    "agraph (float[2,3,3] x" + inputs +
                        ") => (float[2,3,3] y) { w = RandomNormal <shape = [3]> () h = Mul(x, w) "
                        "zero = Constant <value = float[1] {0}> () " +
                        nodes + " s = Add(h, mask) p = Softmax(s) n = IsNaN(p) " + choice + " }",
                    meanSquare());
}

} // namespace

// No row of this mask is hidden, so that nothing is to be replaced.
TEST(SoftmaxMask, KnownOnesThatHideNoRow) {
  const Outcome outcome = maskedSoftmax(
      "mask = Constant <value = float[3,3] {0, -1e38, -1e38, 0, 0, -1e38, 0, 0, 0}> ()");
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.count("nn.binary mask"), 0) << outcome.ir;
  EXPECT_EQ(outcome.count("nn.unary clip"), 0) << outcome.ir;
}

// Minus infinity, as stock causal masks have it: from every place those behind it are hidden.
TEST(SoftmaxMask, KnownInfinities) {
  const auto causal = [](const std::string &firstRow) {
    return maskedSoftmax("t = Constant <value = float[3,3] {" + firstRow +
                         ", 1, 1, 0, 1, 1, 1}> () mask = Log(t)");
  };
  const Outcome outcome = causal("1, 0, 0"), hidden = causal("0, 0, 0");
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.count("nn.binary mask"), 1) << outcome.ir; // minus infinity in its places
  EXPECT_EQ(outcome.count("nn.unary clip"), 0) << outcome.ir;
  EXPECT_GT(hidden.count("nn.unary clip"), 0) << hidden.error << hidden.ir;
}

// What is hidden has the scores' shape, and so the batch, also where the mask is alike for all.
TEST(SoftmaxMask, KnownOnesHideTheSameOfEachSample) {
  syncline::frontend::ImportOptions options = meanSquare();
  options.batch = 3;
  const Outcome outcome =
      importText(16,
                 "agraph (float[N,2,2] x) => (float[N,2,2] y) { w = RandomNormal <shape = [2]> () "
                 "h = Mul(x, w) zero = Constant <value = float[1] {0}> () "
                 "t = Constant <value = float[2,2] {0, 0, 0, 1}> () mask = Log(t) s = Add(h, mask) "
                 "p = Softmax(s) n = IsNaN(p) y = Where(n, zero, p) }",
                 options);
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("nn.reduce sum")) << outcome.ir;
}

// A padded sample may have rows without a place.
TEST(SoftmaxMask, ComputedOnes) {
  const Outcome outcome =
      maskedSoftmax("i = Constant <value = float[1] {-10}> () k = Cast <to = 9> (m) "
                    "mask = Where(k, zero, i)",
                    ", int64[2,1,3] m");
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("nn.reduce sum")) << outcome.ir;
  EXPECT_TRUE(outcome.has("nn.broadcast")) << outcome.ir;
  EXPECT_TRUE(outcome.has("{alpha = -3.402823466385288")) << outcome.ir;
}

// The first question changes the mask, so that the second one has its answer.
TEST(SoftmaxMask, AskedTwice) {
  const auto ask = [](const std::string &choice) {
    return maskedSoftmax("i = Constant <value = float[1] {-10}> () k = Cast <to = 9> (m) "
                         "mask = Where(k, zero, i)",
                         ", int64[2,1,3] m", choice);
  };
  const Outcome once = ask("y = Where(n, zero, p)");
  const Outcome twice = ask("q = Where(n, zero, p) o = IsNaN(p) r = Where(o, zero, p) "
                            "y = Add(q, r)");
  EXPECT_EQ(twice.error, "");
  EXPECT_EQ(twice.count("nn.reduce sum"), once.count("nn.reduce sum")) << twice.ir;
  EXPECT_EQ(twice.count("nn.broadcast"), once.count("nn.broadcast")) << twice.ir;
}

// The mask depends on scores that are trained, but has no derivative with respect to them.
TEST(SoftmaxMask, PlacesOfTrainedScores) {
  const std::string hidden = " i = Constant <value = float[1] {-10}> () mask = Where(b, zero, i)";
  for (const char *places :
       {"b = Greater(h, zero)",
        "c = Constant <value = int64[1] {2}> () v, t = TopK(h, c) "
        "o = Sub(h, h) k = Cast <to = 9> (o) e = Constant <value = bool[1] {1}> () "
        "f = Expand(e, d) b = ScatterElements <axis = -1> (k, t, f)"}) {
    const Outcome outcome = maskedSoftmax("d = Constant <value = int64[3] {2, 3, 2}> () " +
                                          std::string(places) + hidden);
    EXPECT_EQ(outcome.error, "");
    EXPECT_TRUE(outcome.has("nn.reduce sum")) << outcome.ir;
  }
}

// Only masks are looked at: scores that are trained have no derivative with respect to being NaN.
TEST(SoftmaxMask, OthersAreRefused) {
  const Outcome outcome = maskedSoftmax("mask = Mul(h, h)");
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

namespace {

/// y = x·w + d, where `nodes` make d of three known numbers.
Outcome withConstant(const std::string &nodes) {
  return importText(16,
                    "agraph (float[2,3] x) => (float[2,3] y) { w = RandomNormal <shape = [3]> () "
                    "h = Mul(x, w) " +
                        nodes + " y = Add(h, d) }",
                    meanSquare());
}

} // namespace

// A number beyond the type's largest is infinite.
TEST(SoftmaxMask, InfinitiesByRounding) {
  for (const char *nodes :
       {"a = Constant <value = float[3] {-3.4028234e38, 1, 0}> () d = Add(a, a)",
        "a = Constant <value = double[3] {-1e308, 1, 0}> () d = Cast <to = 1> (a)"}) {
    const Outcome outcome = withConstant(nodes);
    EXPECT_TRUE(outcome.has("dense<0xFF800000> : tensor<f32>")) << outcome.error << outcome.ir;
    EXPECT_FALSE(outcome.has("[0xFF800000")) << outcome.ir;
    EXPECT_EQ(outcome.count("nn.binary mask"), 1) << outcome.ir;
  }
}

TEST(SoftmaxMask, NotANumber) {
  for (const char *nodes : {"z = Constant <value = float[3] {0, 1, 2}> () d = Div(z, z)",
                            "z = Constant <value = float[3] {-1, 1, 2}> () d = Log(z)"})
    EXPECT_NE(
        withConstant(nodes).error.find("constant 'd' has elements that are not numbers (NaN)"),
        std::string::npos)
        << withConstant(nodes).error << withConstant(nodes).ir;
}
