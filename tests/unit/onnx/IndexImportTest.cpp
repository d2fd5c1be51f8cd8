// Gather, scatter, TopK and OneHot by indices that are known, given or computed.
#include "TestModel.h"

#include <gtest/gtest.h>

using namespace syncline::test;

namespace {

/// y = `nodes` on h = x·w of [B, 5, 4], with ids i of [B, 3], at a batch that the file leaves open.
Outcome byIds(const std::string &nodes, int batch = 2, int opset = 18) {
  syncline::frontend::ImportOptions options = meanSquare();
  options.batch = batch;
  return importText(opset,
                    "agraph (float[B,5,4] x, int64[B,3] i) => (float[B,3] y) { w = RandomNormal "
                    "<shape = [4]> () h = Mul(x, w) " +
                        nodes + " }",
                    options);
}

void expectHas(const Outcome &outcome, const char *text) {
  EXPECT_TRUE(outcome.has(text)) << outcome.error << outcome.ir;
}

} // namespace

TEST(IndexImport, GatherAlongAnyAxis) {
  expectHas(byIds("k = Constant <value_ints = [3, 0, 0, -1]> () y = Gather <axis = 1> (h, k)"),
            "nn.gather_rows %2, %3 {axis = 1 : i64, shared = 0 : i64} : (tensor<2x5x4xf32>, "
            "tensor<4xi64>) -> tensor<2x4x4xf32>");
  expectHas(
      byIds("k = Constant <value = int64[2,2] {3, 0, 0, 1}> () y = Gather <axis = -1> (h, k)"),
      "(tensor<2x5x4xf32>, tensor<2x2xi64>) -> tensor<2x5x2x2xf32>");
}

// A parameter of rank 1, and numbers that the step computes.
TEST(IndexImport, GatherByGivenIndices) {
  expectHas(byIds("t = RandomNormal <shape = [9]> () y = Gather(t, i)"),
            "(tensor<9xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>");
  expectHas(byIds("t = RandomNormal <shape = [6,9]> () n = Add(i, i) "
                  "y = Gather <axis = 1> (t, n)"),
            "(tensor<6x9xf32>, tensor<2x3xf32>) -> tensor<6x2x3xf32>");
}

TEST(IndexImport, GatherElementsOfEachSample) {
  const Outcome outcome =
      byIds("k = Constant <value_ints = [0]> () two = Constant <value_ints = [2]> () "
            "u = Unsqueeze(i, two) y = GatherElements <axis = 1> (h, u)");
  expectHas(outcome, "nn.transpose");
  expectHas(outcome, "{axis = 2 : i64, shared = 2 : i64} : (tensor<2x1x5xf32>, tensor<2x1x3xi64>) "
                     "-> tensor<2x1x3xf32>");
}

// x[arange(B), ids] is each sample's own row, whatever the batch.
TEST(IndexImport, SamplesNameTheirOwnRows) {
  const std::string places =
      "s = Shape <start = 0, end = 1> (i) n = Squeeze(s) zero = Constant <value_int = 0> () "
      "one = Constant <value_int = 1> () r = Range(zero, n, one) last = Constant <value_int = 2> "
      "() "
      "t = Gather <axis = 1> (i, last) p = Add(t, one) k = Constant <value_ints = [-1]> () ";
  const Outcome cells = byIds(places + "a = Unsqueeze(r, k) b = Unsqueeze(p, k) "
                                       "c = Concat <axis = -1> (a, b) y = GatherND(h, c)",
                              3);
  expectHas(cells, "{axis = 1 : i64, shared = 1 : i64} : (tensor<3x5x4xf32>, tensor<3x1xf32>) -> "
                   "tensor<3x1x4xf32>");
  const Outcome flat =
      byIds(places + "five = Constant <value_int = 5> () m = Mul(r, five) f = Add(p, m) "
                     "shape = Constant <value_ints = [-1, 4]> () table = Reshape(h, shape) "
                     "y = Gather(table, f)",
            3);
  expectHas(flat, "{axis = 1 : i64, shared = 1 : i64} : (tensor<3x5x4xf32>, tensor<3x1xf32>) -> "
                  "tensor<3x1x4xf32>");
  // Numbers below zero, of an earlier sample's rows, are moved to where no row is.
  expectHas(flat, "nn.constant dense<-6.000000e+00>");
  expectError(byIds(places + "y = Gather(h, p)", 3), "it would take entries of one sample");
}

TEST(IndexImport, GatherNdByComputedLists) {
  const std::string lists = "k = Constant <value_ints = [-1]> () u = Unsqueeze(i, k) "
                            "c = Concat <axis = -1> (u, u) ";
  expectHas(byIds(lists + "y = GatherND <batch_dims = 1> (h, c)"),
            "{axis = 1 : i64, shared = 1 : i64} : (tensor<2x20xf32>, tensor<2x3xf32>) -> "
            "tensor<2x3xf32>");
  expectHas(byIds(lists + "y = GatherND <batch_dims = 1> (h, u)"),
            "(tensor<2x5x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>");
}

TEST(IndexImport, Scatter) {
  const std::string start = "k = Constant <value_ints = [2]> () u = Unsqueeze(i, k) "
                            "o = Constant <value_ints = [0]> () p = Constant <value_ints = [1]> () "
                            "v = Slice(h, o, p, k) c = Slice(v, o, three, p) "
                            "three = Constant <value_ints = [3]> () ";
  const Outcome added =
      byIds(start + "y = ScatterElements <axis = 1, reduction = \"add\"> (v, u, c)");
  expectHas(added, "{axis = 2 : i64, kind = 0 : i64, shared = 2 : i64} : (tensor<2x1x3xf32>, "
                   "tensor<2x1x3xi64>, tensor<2x1x5xf32>) -> tensor<2x1x5xf32>");
  // Where indices name fewer elements off the axis, the rest of x stays.
  const Outcome part = byIds(start + "y = ScatterElements <axis = 1> (h, u, c)");
  expectHas(part, "nn.concat");
  expectHas(part, "kind = 1 : i64");
}

// Each sample has the same rows assigned, whatever the batch.
TEST(IndexImport, ScatterNdOfKnownPlaces) {
  const std::string places = "s = Shape <start = 0, end = 1> (h) n = Squeeze(s) "
                             "a = Constant <value_int = 0> () b = Constant <value_int = 1> () "
                             "r = Range(a, n, b) k = Constant <value_ints = [1]> () "
                             "u = Unsqueeze(r, k) o = Constant <value = int64[1,1] {3}> () "
                             "z = Mul(u, a) v = Add(z, o) c = Concat <axis = -1> (u, v) "
                             "w2 = Slice(h, a1, k, k) a1 = Constant <value_ints = [0]> () "
                             "g = Squeeze(w2, k) ";
  const Outcome outcome = byIds(places + "y = ScatterND <reduction = \"add\"> (h, c, g)", 3);
  expectHas(outcome, "dense<3> : tensor<1xi64>");
  expectHas(outcome, "{axis = 1 : i64, kind = 0 : i64, shared = 0 : i64} : (tensor<3x1x4xf32>, "
                     "tensor<1xi64>, tensor<3x5x4xf32>) -> tensor<3x5x4xf32>");
}

TEST(IndexImport, TopKAlongAnyAxis) {
  const std::string k = "k = Constant <value_ints = [2]> () ";
  expectHas(
      byIds(k + "y, n = TopK(h, k)"),
      "nn.top_k %2 {largest} : (tensor<2x5x4xf32>) -> (tensor<2x5x2xf32>, tensor<2x5x2xf32>)");
  const Outcome middle = byIds(k + "y, n = TopK <axis = 1, largest = 0, sorted = 0> (h, k)");
  expectHas(middle, "(tensor<2x4x5xf32>) -> (tensor<2x4x2xf32>, tensor<2x4x2xf32>)");
  EXPECT_FALSE(middle.has("largest"));
  expectHas(byIds("y, n = TopK <k = 3> (h)", 2, 9), "(tensor<2x5x3xf32>, tensor<2x5x3xf32>)");
  expectError(byIds(k + "y, n = TopK <axis = 0> (h, k)"), "it would choose among dimension");
}

TEST(IndexImport, OneHotOfIds) {
  const std::string depth = "k = Constant <value_ints = [1, 2]> () q = ReduceSum(h, k) d = "
                            "Constant <value_int = 4> () v = Constant <value_floats = [0.5, "
                            "2.0]> () ";
  expectHas(byIds(depth + "o = OneHot <axis = 1> (i, d, v) y = Mul(o, q)"), "tensor<2x4x3xf32>");
  expectHas(byIds(depth + "ones = Constant <value_ints = [0, 1]> () o = OneHot(i, d, ones) "
                          "c = Cast <to = 1> (o) y = Mul(c, q)"),
            "tensor<2x3x4xf32>");
}

// What does not fit is refused by name, and sizes before memory is taken.
TEST(IndexImport, BadInput) {
  const auto expect = [](const std::string &nodes, const std::string &message) {
    expectError(
        byIds("u = Constant <value_ints = [1]> () z = Constant <value_int = 7> () " + nodes),
        message);
  };
  expect("k = Constant <value_ints = [0,1,5]> () y = Gather <axis = 1> (h, k)",
         "(Gather): index 5 is not within size 5");
  expect("k = Constant <value_ints = [0,1,-6]> () y = Gather <axis = 1> (h, k)",
         "(Gather): index -6 is not within size 5");
  expect("y = Gather <axis = 3> (h, i)", "(Gather): axis 3 is not within rank 3");
  expect("y = Gather(h, x)", "(Gather): expected int64 indices, got 'x'");
  expect("y = GatherElements <axis = -4> (h, i)", "axis -4 is not within rank 3");
  expect("y = GatherElements <axis = 1> (h, i)", "expected indices that fit x, 2x5x4, got 2x3");
  expect("k = Constant <value = int64[1,2,1] {0, 5}> () y = GatherElements <axis = 1> (h, k)",
         "index 5 is not within size 5");
  expect("y = GatherND <batch_dims = 3> (h, i)", "expected indices that fit x, 2x5x4, got 2x3");
  expect("y = ScatterElements <axis = 1> (h, i, x)", "expected indices that fit x");
  expect("k = Constant <value = int64[2,1,1] {0, 1}> () y = ScatterElements <axis = 1> (h, k, x)",
         "expected updates of shape 2x1x1, got 2x5x4");
  expect(
      "k = Constant <value = int64[2,5,4] {0,1,2,3,4,0,1,2,3,4,0,1,2,3,4,0,1,2,3,4,0,1,2,3,4,0,1,"
      "2,3,4,0,1,2,3,4,0,1,2,3,4}> () y = ScatterElements <axis = 1, reduction = \"mean\"> (h, k, "
      "x)",
      "expected reduction none, add, mul, max or min, got 'mean'");
  expect("k = Constant <value = int64[1,1] {9}> () y = ScatterND(h, k, x)",
         "expected updates of shape 1x5x4, got 2x5x4");
  expect("y = ScatterND(h, z, x)", "expected indices that fit x, 2x5x4, got");
  expect("y, n = TopK(h, z)", "(TopK): expected k from 1 to 4, got 7");
  expect("k = Constant <value_int = 0> () y, n = TopK(h, k)", "expected k from 1 to 4, got 0");
  expect("y, n = TopK <axis = 3> (h, u)", "axis 3 is not within rank 3");
  expect("y, n = TopK(h, i)", "expected a constant integer as k, got 'i'");
  expect("v = Constant <value_floats = [0.0, 1.0]> () k = Constant <value_int = 1099511627776> () "
         "y = OneHot(i, k, v)",
         "expected a depth from 1 to 2^24, got 1099511627776");
  expect("y = OneHot(i, z, z)", "expected two constant values, got 'z'");
  expect("v = Constant <value_floats = [0.0, 1.0]> () y = OneHot(h, z, v)",
         "expected integers as indices, got 'h'");
  expect("v = Constant <value_floats = [0.0, 1.0]> () y = OneHot <axis = 3> (i, z, v)",
         "axis 3 is not within rank 3");
  expect("k = Constant <value_ints = [1, 1, 1099511627776]> () y = Tile(h, k)", "(Tile)");
  expect("k = Constant <value_ints = [1099511627776, 1, 1, 1]> () y = Expand(h, k)", "(Expand)");
  expect("n = NonZero(h) f = Cast <to = 1> (n) y = Mul(h, f)",
         "(NonZero): this operator is supported for values that are known at import only");
}

// Places that are known at import are a constant.
TEST(IndexImport, NonZeroOfConstants) {
  const Outcome outcome = byIds("m = Constant <value = int64[2,2] {0, 1, 1, 1}> () n = NonZero(m) "
                                "k = Gather(n, one) one = Constant <value_int = 1> () "
                                "y = Gather <axis = 2> (h, k)");
  expectHas(outcome, "dense<[1, 0, 1]> : tensor<3xi64>");
}
