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

// Five tokens have at most place 6 with one to begin with: 7 rows hold them. With 6 a number may
// have no row, which is infinite then.
TEST(ComputedRows, WithoutARowAreInfinite) {
  const char *const infinity = "0x7F800000";
  EXPECT_FALSE(withPlaces(counted, 7).has(infinity));
  EXPECT_TRUE(withPlaces(counted, 6).has(infinity)) << withPlaces(counted, 6).ir;
  EXPECT_TRUE(withPlaces("p = Add(t, one)").has(infinity)); // tokens have no known bounds
  EXPECT_TRUE(
      withPlaces("same = Equal(t, one) m = Cast <to = 7> (same) p = Sub(m, one)").has(infinity));
}

TEST(ComputedRows, MustFitTheTable) {
  const Outcome outcome = withPlaces("same = Equal(t, one) m = Cast <to = 7> (same) "
                                     "k = Constant <value_int = 9> () p = Add(m, k)");
  EXPECT_TRUE(mentions(outcome, "(Gather): indices of 9 to 10 do not fit a table of 9 rows"))
      << outcome.error;
}

// A row of a product has at most as many ones and zeros.
TEST(ComputedRows, OfALargeTableAreTaken) {
  const Outcome outcome = withPlaces(counted, 4097);
  EXPECT_TRUE(outcome.has("{axis = 0 : i64, shared = 0 : i64} : (tensor<4097x3xf32>, "
                          "tensor<2x5xf32>) -> tensor<2x5x3xf32>"))
      << outcome.error << outcome.ir;
}

// Bounds of views, choices, differences and inputs of truth values.
TEST(ComputedRows, BoundsOfOtherOperators) {
  const auto expect = [](const std::string &nodes, int rows) {
    for (const int count : {rows - 1, rows}) {
      const Outcome outcome = withPlaces(nodes, count, "int64[2,5] t, bool[2,5] b");
      EXPECT_EQ(outcome.error, "");
      EXPECT_EQ(outcome.has("0x7F800000"), count < rows) << nodes;
    }
  };
  expect("p = Cast <to = 7> (b)", 2);
  expect("u = Unsqueeze(b, axis) v = Squeeze(u, axis) p = Cast <to = 7> (v)", 2);
  expect("k = Constant <value_int = 8> () p = Where(b, one, k)", 9);
  expect("k = Cast <to = 7> (b) d = Sub(one, k) n = Add(d, one) p = Mul(n, n)", 5);
}

// What is scattered may have other bounds than what it is scattered into.
TEST(ComputedRows, BoundsOfAScatter) {
  const Outcome outcome =
      withPlaces("z = Constant <value = int64[2,5] {0,0,0,0,0,0,0,0,0,0}> () "
                 "i = Constant <value = int64[2,1] {3, 4}> () k = Constant <value_ints = [1]> () "
                 "a = Constant <value_ints = [0]> () u = Slice(t, a, k, k) "
                 "p = ScatterElements <axis = 1> (z, i, u)");
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("0x7F800000")) << outcome.ir;
}

// Elements of equal ones are known whichever places they are taken from; others where these are.
TEST(GatherElements, OfConstants) {
  const std::string zeros =
      "z = Constant <value = int64[2,9] {0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}> ()";
  const Outcome outcome = withPlaces(zeros + " p = GatherElements <axis = 1> (z, t)");
  EXPECT_TRUE(outcome.has("nn.constant dense<0> : tensor<2x5xi64>")) << outcome.error << outcome.ir;
  const Outcome known =
      withPlaces("x = Constant <value = int64[2,3] {4, 5, 6, 7, 8, 3}> () "
                 "i = Constant <value = int64[2,5] {0, 2, 1, -1, 0, 1, 1, 0, 2, 2}> () "
                 "p = GatherElements <axis = 1> (x, i)");
  EXPECT_TRUE(known.has("4, 6, 5, 6, 4], [8, 8, 7, 3, 3")) << known.error << known.ir;
  const Outcome given = withPlaces("x = Constant <value = int64[2,3] {4, 5, 6, 7, 8, 3}> () "
                                   "p = GatherElements <axis = 1> (x, t)");
  EXPECT_TRUE(given.has("(tensor<2x3xf32>, tensor<2x5xi64>) -> tensor<2x5xf32>")) << given.error;
}

// Cells of a constant are computed at import; shared dimensions have places of their own.
TEST(GatherNd, OfConstants) {
  const std::string cells = "x = Constant <value = int64[2,3] {4, 5, 6, 7, 8, 3}> () ";
  const Outcome known =
      withPlaces(cells + "i = Constant <value = int64[2,5,2] {0, 2, 1, 1, 0, -1, 1, 0, 1, 2, "
                         "0, 0, -1, 0, 0, 1, 1, 1, -2, 2}> () p = GatherND (x, i)");
  EXPECT_TRUE(known.has("6, 8, 6, 7, 3], [4, 7, 5, 8, 6")) << known.error << known.ir;
  const Outcome shared =
      withPlaces(cells + "i = Constant <value = int64[2,5,1] {0, 1, 2, 0, 2, 0, 1, 2, 2, 1}> () "
                         "p = GatherND <batch_dims = 1> (x, i)");
  EXPECT_TRUE(shared.has("4, 5, 6, 4, 6], [7, 8, 3, 3, 8")) << shared.error << shared.ir;
}

/// y = cells of h that the indices name.
static Outcome cellsOf(const std::string &indices, const std::string &attributes = "") {
  return importText(13,
                    "agraph (float[2,5,3] x) => (float[2,5,3] y) { w = RandomNormal <shape = [3]> "
                    "() h = Mul(x, w) i = Constant <value = int64" +
                        indices + "> () y = GatherND" + attributes + " (h, i) }",
                    meanSquare());
}

// All cells in order are the tensor itself, with the indices' shape; even ones are a slice.
TEST(GatherNd, InOrderIsAView) {
  const Outcome all = cellsOf("[2,1,1] {0, 1}");
  EXPECT_TRUE(all.has("(tensor<2x5x3xf32>) -> tensor<2x1x5x3xf32>")) << all.error << all.ir;
  EXPECT_FALSE(all.has("nn.slice")) << all.ir;
  const Outcome even = cellsOf("[2,2] {0, 1, 1, 1}");
  EXPECT_TRUE(even.has("(tensor<10x3xf32>) -> tensor<2x3xf32>")) << even.error << even.ir;
  EXPECT_FALSE(even.has("nn.embedding")) << even.ir;
}

// Others are rows of a table.
TEST(GatherNd, OfOtherPlacesIsAnEmbedding) {
  const Outcome rows = cellsOf("[2,2,2] {0, 1, 1, 4, 0, 1, 1, -5}");
  EXPECT_TRUE(rows.has("[1, 9], [1, 5]")) << rows.error << rows.ir;
  EXPECT_TRUE(rows.has("(tensor<2x2xi64>, tensor<10x3xf32>) -> tensor<2x2x3xf32>")) << rows.ir;
  const Outcome shared = cellsOf("[2,2,1] {0, 3, 4, 0}", " <batch_dims = 1>");
  EXPECT_TRUE(shared.has("[0, 3], [9, 5]")) << shared.error << shared.ir;
}

TEST(GatherNd, IndicesMustFit) {
  const auto expect = [](const Outcome &outcome, const char *message) {
    EXPECT_TRUE(mentions(outcome, message)) << outcome.error << outcome.ir;
  };
  expect(cellsOf("[1,2] {0, 5}"), "(GatherND): index 5 is not within size 5");
  expect(cellsOf("[1,2] {0, -6}"), "(GatherND): index -6 is not within size 5");
  expect(cellsOf("[1,4] {0, 0, 0, 0}"), "expected indices that fit x, 2x5x3, got 1x4");
  expect(cellsOf("[3,1] {0, 0, 0}", " <batch_dims = 1>"), "that fit x, 2x5x3, got 3x1");
  expect(cellsOf("[2,1] {0, 0}", " <batch_dims = -1>"), "that fit x, 2x5x3, got 2x1");
  expect(cellsOf("[2,1] {0, 0}", " <batch_dims = 2>"), "that fit x, 2x5x3, got 2x1");
}

// A mask of truth values by all its cells, as PyTorch looks up padding, and places of RoBERTa.
TEST(GatherNd, OfTruthValuesKeepsTheirBounds) {
  const Outcome outcome =
      withPlaces("i = Constant <value = int64[2,1] {0, 1}> () kept = GatherND(b, i) "
                 "p = Cast <to = 7> (kept)",
                 2, "int64[2,5] t, bool[2,5] b");
  EXPECT_EQ(outcome.error, "");
  EXPECT_FALSE(outcome.has("0x7F800000")) << outcome.ir;
}

// A Cast says that numbers of bounds 0 and 1 are integers, so that others may have their type.
TEST(CastLike, ToWhatACastMakes) {
  const std::string mask = "same = Equal(t, one) other = Not(same) m = Cast <to = 6> (other) "
                           "l = Cast <to = 7> (m) s = CumSum(l, axis) ";
  EXPECT_EQ(withPlaces(mask + "c = CastLike(s, m) p = Mul(c, m)").error, "");
  const Outcome truth = withPlaces(mask + "c = CastLike(s, other) p = Mul(c, m)");
  EXPECT_TRUE(mentions(truth, "(CastLike): cannot convert 's' to the type of 'other'"))
      << truth.error;
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

// Before the only place there is nothing.
TEST(RunningSum, ExclusiveOfOnePlace) {
  const Outcome outcome =
      importText(16,
                 "agraph (float[2,1] x) => (float[2,1] y) { w = RandomNormal <shape = [1]> () "
                 "h = Mul(x, w) a = Constant <value_int = 1> () "
                 "s = CumSum <exclusive = 1> (h, a) y = Add(s, h) }",
                 meanSquare());
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("nn.constant dense<0.000000e+00> : tensor<f32>")) << outcome.ir;
  EXPECT_EQ(outcome.count("nn.binary mask"), 1) << outcome.ir;
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

// Integers wrap around as their own type does.
TEST(RunningSum, OfKnownIntegers) {
  const Outcome outcome =
      importText(16,
                 "agraph (float[2,3] x) => (float[2,3] y) { w = RandomNormal <shape = [3]> () "
                 "h = Mul(x, w) a = Constant <value_int = 0> () "
                 "k = Constant <value = int32[3] {2147483647, 1, 0}> () s = CumSum(k, a) "
                 "f = Cast <to = 1> (s) y = Mul(h, f) }",
                 meanSquare());
  EXPECT_TRUE(outcome.has("[2.147483650e+09, -2.147483650e+09, -2.147483650e+09]") ||
              outcome.has("[2.14748365E+9, -2.14748365E+9, -2.14748365E+9]"))
      << outcome.error << outcome.ir;
}
