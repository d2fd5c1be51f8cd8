// Rows of a table by numbers that the step computes, and running sums.
#include "TestModel.h"

#include <gtest/gtest.h>

using namespace syncline::test;

namespace {

/// y = rows of a table of `rows` by places p, which `nodes` make of tokens t.
Outcome withPlaces(const std::string &nodes, int rows = 9,
                   const std::string &inputs = "int64[2,5] t") {
  return importText(16,
                    "agraph (" + inputs +
                        ") => (float[2,5,3] y) { one = Constant <value_int = 1> () "
                        "axis = Constant <value_int = 1> () "
                        "w = RandomNormal <shape = [20,3]> () e = Gather(w, t) " +
                        nodes + " table = RandomNormal <shape = [" + std::to_string(rows) +
                        ",3]> () g = Gather(table, p) y = Add(e, g) }",
                    meanSquare());
}

/// The places of tokens that are not padding, as RoBERTa counts them.
const char *const counted = "same = Equal(t, one) other = Not(same) m = Cast <to = 6> (other) "
                            "s = CumSum(m, axis) c = Cast <to = 6> (s) q = Mul(c, m) "
                            "l = Cast <to = 7> (q) p = Add(l, one)";

bool mentions(const Outcome &outcome, const char *text) {
  return outcome.error.find(text) != std::string::npos;
}

} // namespace

// The product of ones where the number is that of the row and of the table.
TEST(ComputedRows, AreAProduct) {
  const Outcome outcome = withPlaces(counted);
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("(tensor<2x5x9xf32>, tensor<9x3xf32>) -> tensor<2x5x3xf32>"))
      << outcome.ir;
  EXPECT_EQ(outcome.count("nn.embedding"), 1) << outcome.ir;
}

// Five tokens have at most place 6 with one to begin with: 7 rows hold them, 6 do not.
TEST(ComputedRows, MustFitTheTable) {
  EXPECT_EQ(withPlaces(counted, 7).error, "");
  EXPECT_TRUE(
      mentions(withPlaces(counted, 6), "(Gather): indices of 1 to 6 do not fit a table of 6 rows"))
      << withPlaces(counted, 6).error;
  EXPECT_TRUE(mentions(withPlaces("same = Equal(t, one) m = Cast <to = 7> (same) p = Sub(m, one)"),
                       "indices of -1 to 0 do not fit a table of 9 rows"));
  EXPECT_TRUE(mentions(withPlaces(counted, 4097), "into at most 4096 rows, got 4097"));
}

// Tokens have no bounds that are known.
TEST(ComputedRows, MustHaveBounds) {
  const Outcome outcome = withPlaces("p = Add(t, one)");
  EXPECT_TRUE(mentions(outcome, "whose bounds follow from truth values; 'p' has none"))
      << outcome.error;
}

// Bounds of views, choices, differences and inputs of truth values.
TEST(ComputedRows, BoundsOfOtherOperators) {
  const char *const inputs = "int64[2,5] t, bool[2,5] b";
  EXPECT_EQ(withPlaces("p = Cast <to = 7> (b)", 2, inputs).error, "");
  EXPECT_EQ(
      withPlaces("u = Unsqueeze(b, axis) v = Squeeze(u, axis) p = Cast <to = 7> (v)", 2, inputs)
          .error,
      "");
  EXPECT_TRUE(
      mentions(withPlaces("k = Constant <value_int = 8> () p = Where(b, one, k)", 8, inputs),
               "indices of 1 to 8 do"));
  EXPECT_TRUE(mentions(withPlaces("k = Cast <to = 7> (b) d = Sub(one, k) n = Add(d, one) "
                                  "p = Mul(n, n)",
                                  4, inputs),
                       "indices of 1 to 4 do"));
}

// Five places are summed by ones, twos and fours.
TEST(RunningSum, OfComputedNumbers) {
  const auto sum = [](const std::string &attributes) {
    return importText(16,
                      "agraph (float[2,5] x) => (float[2,5] y) { w = RandomNormal <shape = [5]> () "
                      "h = Mul(x, w) a = Constant <value_int = -1> () y = CumSum <" +
                          attributes + "> (h, a) }",
                      meanSquare());
  };
  const Outcome plain = sum("exclusive = 0");
  EXPECT_EQ(plain.error, "");
  EXPECT_EQ(plain.count("nn.pad"), 3) << plain.ir;
  for (const char *begins : {"array<i64: 0, 1>", "array<i64: 0, 2>", "array<i64: 0, 4>"})
    EXPECT_TRUE(plain.has(begins)) << begins << plain.ir;
  EXPECT_TRUE(sum("reverse = 1").has("array<i64: 0, -4>"));
  EXPECT_EQ(sum("exclusive = 1").count("nn.pad"), 4);
}

// Sums of known numbers are known.
TEST(RunningSum, OfKnownNumbers) {
  const auto expect = [](const std::string &attributes, const char *values) {
    const Outcome outcome =
        importText(16,
                   "agraph (float[2,2,3] x) => (float[2,2,3] y) { w = RandomNormal <shape = [3]> ()"
                   " h = Mul(x, w) a = Constant <value_int = 1> () "
                   "k = Constant <value = float[2,3] {1, 2, 3, 4, 5, 6}> () s = CumSum <" +
                       attributes + "> (k, a) y = Mul(h, s) }",
                   meanSquare());
    EXPECT_TRUE(outcome.has(values)) << outcome.error << outcome.ir;
  };
  expect("exclusive = 0", "[1.000000e+00, 3.000000e+00, 6.000000e+00]");
  expect("exclusive = 1", "[0.000000e+00, 4.000000e+00, 9.000000e+00]");
  expect("reverse = 1", "[6.000000e+00, 5.000000e+00, 3.000000e+00]");
  expect("reverse = 1, exclusive = 1", "[5.000000e+00, 3.000000e+00, 0.000000e+00]");
}
