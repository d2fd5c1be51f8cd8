// An operator becomes the same step whichever operator set it is written for.
#include "TestModel.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

using namespace syncline::test;

namespace {
struct Variant {
  int opset;
  const char *nodes;
};
} // namespace

static void expectSame(std::initializer_list<Variant> variants) {
  std::string first;
  for (const Variant &variant : variants) {
    Outcome outcome = importNodes(variant.opset, variant.nodes);
    EXPECT_EQ(outcome.error, "") << "opset " << variant.opset;
    first = first.empty() ? outcome.ir : first;
    EXPECT_EQ(outcome.ir, first) << "opset " << variant.opset;
  }
}

TEST(OpsetImport, ClipBoundsAreAttributesThenOperands) {
  expectSame({{7, "y = Clip <min = -1.0, max = 2.0> (h)"},
              {11, "a = Constant <value = float {-1.0}> () b = Constant <value = float {2.0}> () y "
                   "= Clip(h, a, b)"}});
}

TEST(OpsetImport, SliceRangesAreAttributesThenOperands) {
  expectSame({{9, "y = Slice <starts = [1], ends = [3], axes = [2]> (h)"},
              {10, "s = Constant <value = int64[1] {1}> () e = Constant <value = int64[1] {3}> () "
                   "a = Constant <value = int64[1] {2}> () y = Slice(h, s, e, a)"},
              {13, "s = Constant <value_ints = [1]> () e = Constant <value_ints = [3]> () "
                   "a = Constant <value_ints = [-2]> () y = Slice(h, s, e, a)"}});
}

TEST(OpsetImport, SqueezeAndUnsqueezeAxesAreAttributesThenOperands) {
  expectSame({{7, "u = Unsqueeze <axes = [1]> (h) r = Relu(u) y = Squeeze <axes = [1]> (r)"},
              {13, "a = Constant <value_ints = [1]> () u = Unsqueeze(h, a) r = Relu(u) "
                   "y = Squeeze(r, a)"},
              {21, "a = Constant <value_ints = [-4]> () u = Unsqueeze(h, a) r = Relu(u) "
                   "y = Squeeze(r, a)"}});
}

TEST(OpsetImport, PadsAreAttributesThenOperandsThenByAxis) {
  expectSame({{7, "y = Pad <pads = [0,0,1,0,0,0,2,0], value = 0.5> (h)"},
              {11, "p = Constant <value = int64[8] {0,0,1,0,0,0,2,0}> () v = Constant <value = "
                   "float {0.5}> () y = Pad(h, p, v)"},
              {18, "p = Constant <value_ints = [1,2]> () v = Constant <value_float = 0.5> () "
                   "a = Constant <value_ints = [-2]> () y = Pad(h, p, v, a)"}});
}

TEST(OpsetImport, ReductionAxesAreAttributesThenOperands) {
  expectSame({{7, "y = ReduceSum <axes = [2,3], keepdims = 0> (h)"},
              {13, "a = Constant <value_ints = [3,2]> () y = ReduceSum <keepdims = 0> (h, a)"}});
  expectSame({{7, "y = ReduceMean <axes = [2,3]> (h)"},
              {18, "a = Constant <value_ints = [2,3]> () y = ReduceMean(h, a)"}});
}

TEST(OpsetImport, SplitSizesAreAttributesThenOperands) {
  expectSame({{7, "a, b = Split <axis = 1> (h) y = Add(a, b)"},
              {11, "a, b = Split <axis = 1, split = [2,2]> (h) y = Add(a, b)"},
              {13, "s = Constant <value_ints = [2,2]> () a, b = Split <axis = 1> (h, s) "
                   "y = Add(a, b)"},
              {18, "a, b = Split <axis = 1, num_outputs = 2> (h) y = Add(a, b)"}});
}

// Since opset 18 the last part may be smaller.
TEST(OpsetImport, UnevenSplitsNeedOpset18) {
  EXPECT_EQ(importNodes(18, "a, b, y = Split <axis = 2, num_outputs = 3> (h)").error, "");
  EXPECT_NE(importNodes(13, "a, b, y = Split <axis = 2> (h)").error.find("evenly"),
            std::string::npos);
}

TEST(OpsetImport, DropoutRatioIsAttributeThenOperand) {
  expectSame({{7, "y = Dropout <ratio = 0.25> (h)"},
              {12, "r = Constant <value = float {0.25}> () y = Dropout(h, r)"},
              {13, "r = Constant <value_float = 0.25> () t = Constant <value = bool {0}> () "
                   "y = Dropout(h, r, t)"}});
}

// Before opset 13 all dimensions from the axis on are one; on a matrix that is the same.
TEST(OpsetImport, OldSoftmaxFlattens) {
  expectSame({{11, "f = Flatten(h) y = Softmax(f)"}, {13, "f = Flatten(h) y = Softmax(f)"}});
  Outcome old = importNodes(11, "y = Softmax(h)");
  EXPECT_TRUE(old.has("nn.softmax %3 {axis = 1 : i64} : tensor<2x256xf32>")) << old.ir;
  EXPECT_TRUE(old.has("(tensor<2x256xf32>) -> tensor<2x4x8x8xf32>")) << old.ir;
  Outcome pooled = importNodes(11, "p = GlobalAveragePool(h) y = Softmax(p)");
  EXPECT_TRUE(pooled.has("{axis = 1 : i64} : tensor<2x4x1x1xf32>")) << pooled.ir;
}

TEST(OpsetImport, BatchNormalizationLosesSpatialAndGainsTrainingMode) {
  std::string head = "c = Constant <value = int64[1] {4}> () s = ConstantOfShape(c) b = "
                     "ConstantOfShape(c) m = ConstantOfShape(c) v = ConstantOfShape(c) ";
  std::string old = head + "y = BatchNormalization <spatial = 1> (h, s, b, m, v)";
  std::string middle = head + "y, n, u, p, q = BatchNormalization(h, s, b, m, v)";
  std::string recent = head + "y, n, u = BatchNormalization <training_mode = 1> (h, s, b, m, v)";
  expectSame({{7, old.c_str()}, {9, middle.c_str()}, {14, recent.c_str()}});
  std::string every = head + "y = BatchNormalization <spatial = 0> (h, s, b, m, v)";
  EXPECT_NE(importNodes(7, every).error.find("spatial = 0"), std::string::npos);
}

TEST(OpsetImport, AutoPadBecomesPads) {
  std::string kernel = "k = RandomNormal <shape = [4,4,4,4]> () ";
  auto conv = [&](const char *attributes) {
    return kernel + "y = Conv <strides = [2,2], " + attributes + "> (h, k)";
  };
  // 8 wide, stride 2, kernel 4: total padding 2.
  std::string same = conv("auto_pad = \"SAME_UPPER\""), given = conv("pads = [1,1,1,1]");
  expectSame({{11, same.c_str()}, {13, given.c_str()}});
  std::string valid = conv("auto_pad = \"VALID\""), none = conv("pads = [0,0,0,0]");
  expectSame({{11, valid.c_str()}, {13, none.c_str()}});
  // Kernel 3, stride 2: an odd total of 1.
  auto pool = [](const char *attributes) {
    return std::string("y = MaxPool <kernel_shape = [3,3], strides = [2,2], ") + attributes +
           "> (h)";
  };
  std::string upper = pool("auto_pad = \"SAME_UPPER\""), end = pool("pads = [0,0,1,1]");
  expectSame({{11, upper.c_str()}, {13, end.c_str()}});
  std::string lower = pool("auto_pad = \"SAME_LOWER\""), begin = pool("pads = [1,1,0,0]");
  expectSame({{11, lower.c_str()}, {13, begin.c_str()}});
}

TEST(OpsetImport, ReshapeCopiesAndInfers) {
  expectSame({{7, "s = Constant <value = int64[2] {2,256}> () y = Reshape(h, s)"},
              {13, "s = Constant <value_ints = [0,-1]> () y = Reshape(h, s)"},
              {14, "s = Constant <value_ints = [-1,256]> () y = Reshape <allowzero = 1> (h, s)"}});
  EXPECT_NE(importNodes(14, "s = Constant <value_ints = [0,-1]> () "
                            "y = Reshape <allowzero = 1> (h, s)")
                .error.find("cannot reshape"),
            std::string::npos);
}

// Computed at import: a shape of [2, 256], of lists and of h's 512 elements.
TEST(OpsetImport, ShapesAreConstants) {
  const std::string lists = "a = Constant <value_ints = [2,-256]> () "
                            "b = Constant <value_ints = [-9,256]> () ";
  for (const std::string &nodes :
       {lists + "s = Max(a, b)", lists + "c = Neg(a) d = Neg(b) e = Min(c, d) s = Neg(e)",
        std::string("a = Constant <value_ints = [-3,768]> () "
                    "b = Constant <value_ints = [5,512]> () s = Mod(a, b)"),
        std::string("a = Constant <value_floats = [1.25,255.5]> () c = Ceil(a) "
                    "s = Cast <to = 7> (c)"),
        std::string("a = Constant <value_floats = [2.75,256.5]> () c = Floor(a) "
                    "s = Cast <to = 7> (c)"),
        std::string("a = Constant <value_ints = [2]> () n = Size(h) b = Div(n, a) "
                    "s = Concat <axis = 0> (a, b)"),
        std::string("a = Constant <value_ints = [2]> () n = Shape(h) p = ReduceProd(n) "
                    "b = Div(p, a) s = Concat <axis = 0> (a, b)"),
        std::string("a = Constant <value = int64[2,2] {0,4,256,256}> () "
                    "s = ReduceMean <axes = [1], keepdims = 0> (a)")}) {
    const std::string computed = nodes + " y = Reshape(h, s)";
    expectSame(
        {{15, "s = Constant <value_ints = [2,256]> () y = Reshape(h, s)"}, {15, computed.c_str()}});
  }
}

// Computed at import: what exporters write for masks and rotations of positions.
TEST(OpsetImport, MasksAndAnglesAreConstants) {
  const std::string ones = "n = Constant <value = float[2,2] {1.0, 1.0, 1.0, 1.0}> () ";
  for (const std::string &nodes :
       {ones + "c = Trilu <upper = 0> (n)",
        ones + "i = Constant <value = int64[1,2] {0, 1}> () z = Constant <value_floats = [0.0]> () "
               "c = ScatterND(n, i, z)",
        std::string("z = Constant <value = float[2,2] {0.0, 4.0, 0.0, 0.0}> () "
                    "h2 = Constant <value_float = 0.5> () p = Pow(z, h2) m = Mul(p, p) "
                    "one = Constant <value_float = 4.0> () q = Div(m, one) r = Sub(e, q) "
                    "zero = Constant <value = float[2,2] {0.0, 0.0, 0.0, 0.0}> () e = Cos(zero) "
                    "c = Abs(r)")}) {
    const Outcome outcome =
        importText(14,
                   "agraph (float[3,2,2] x) => (float[3,2,2] y) { " + nodes +
                       " w = RandomNormal <shape = [2]> () h = Mul(x, w) y = Mul(h, c) }",
                   meanSquare());
    EXPECT_EQ(outcome.error, "");
    EXPECT_TRUE(outcome.has("nn.constant dense<[[1.000000e+00, 0.000000e+00], "
                            "[1.000000e+00, 1.000000e+00]]>"))
        << outcome.ir;
  }
}

// Attributes hold 32 bits; what counts is the decimal that was written.
TEST(OpsetImport, RealAttributesAreTheirDecimals) {
  EXPECT_TRUE(importNodes(13, "y = LeakyRelu <alpha = 0.1> (h)").has("alpha = 1.000000e-01 : f64"));
}

// com.microsoft's operator has the positions behind x, and needs all four operands.
TEST(ForeignOperator, RotaryEmbedding) {
  const auto turn = [](const std::string &operands, const std::string &attributes = "") {
    return importText(
        16,
        "agraph (float[2,3,8] x, int64[2,3] p) => (float[2,3,8] y) { w = RandomNormal <shape = "
        "[8]> () h = Mul(x, w) c = RandomNormal <shape = [5,2]> () s = RandomNormal <shape = "
        "[5,2]> () y = RotaryEmbedding" +
            attributes + "(" + operands + ") }",
        meanSquare(), [](onnx::ModelProto &model) {
          auto &node = *model.mutable_graph()->mutable_node();
          node.rbegin()->set_domain("com.microsoft");
        });
  };
  const Outcome outcome = turn("h, p, c, s");
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("(tensor<2x3xi64>, tensor<5x2xf32>) -> tensor<2x3x2xf32>")) << outcome.ir;
  EXPECT_TRUE(outcome.has("tensor<2x3x2x4xf32>")) << outcome.ir; // two heads of four, by the tables
  EXPECT_NE(turn("h, p, c, s", "<rotary_embedding_dim = 4>").error.find("expected num_heads"),
            std::string::npos);
  EXPECT_NE(turn("h, p, c").error.find("expected operands x, positions, cosines and sines"),
            std::string::npos);
}

// What torch.onnx.export(..., dynamo=True, optimize=False) writes of these.
TEST(UnoptimizedExport, PartsOfSequences) {
  for (const char *sizes : {"value_ints = [3,3,2]", "value_int = 3"}) {
    const Outcome outcome =
        importNodes(18, std::string("z = Constant <") + sizes +
                            "> () s = SplitToSequence <axis = 3> (h, z) i = Constant <value_int = "
                            "-1> () p = SequenceAt(s, i) o = Constant <value_int = 1> () "
                            "q = SequenceAt(s, o) y = Concat <axis = 3> (p, q)");
    EXPECT_EQ(outcome.error, "");
    EXPECT_TRUE(outcome.has("starts = array<i64: 0, 0, 0, 6>")) << outcome.ir;
    EXPECT_TRUE(outcome.has("starts = array<i64: 0, 0, 0, 3>")) << outcome.ir;
    EXPECT_TRUE(outcome.has("-> tensor<2x4x8x2xf32>")) << outcome.ir;
  }
  const char *const most = "9223372036854775807";
  for (const std::string &sizes : {std::string("3,3"), std::string("9,-1"), // their sum wraps to 8:
                                   std::string(most) + "," + most + ",1,9"}) {
    const Outcome wrong = importNodes(18, "z = Constant <value_ints = [" + sizes +
                                              "]> () s = SplitToSequence <axis = 3> (h, z) "
                                              "i = Constant <value_int = 0> () "
                                              "y = SequenceAt(s, i)");
    EXPECT_NE(wrong.error.find("expected parts that make up 8, got "), std::string::npos)
        << wrong.error << wrong.ir;
  }
}

TEST(UnoptimizedExport, NumbersOfAnotherType) {
  const Outcome outcome =
      importNodes(18, "k = Constant <value_int = 3> () c = CastLike(k, h) y = Mul(h, c)");
  EXPECT_TRUE(outcome.has("nn.constant dense<3.000000e+00> : tensor<f32>")) << outcome.error;
  const Outcome whole =
      importNodes(18, "k = Constant <value_float = 8.0> () i = Constant <value_int "
                      "= 1> () z = CastLike(k, i) r = Range(i, z, i) "
                      "c = Gather(h, r) y = ReduceSum(c)");
  EXPECT_NE(whole.error.find("(Gather)"), std::string::npos) << whole.error; // 1 to 7 of 2
  const Outcome same = importNodes(18, "c = CastLike(h, w) y = Mul(h, c)");
  EXPECT_TRUE(same.has("nn.binary mul %2, %2")) << same.error << same.ir;
  EXPECT_NE(importNodes(18, "k = Constant <value_int = 3> () c = CastLike(h, k) y = Mul(h, c)")
                .error.find("only constants are converted, and to float or int64"),
            std::string::npos);
}

namespace {

/// y = x·w + s as float, where `nodes` make s of the tokens t, the truth values b and the computed
/// integers m.
Outcome withTokens(const std::string &nodes) {
  return importText(18,
                    "agraph (float[2,3] x, int64[2,3] t) => (float[2,3] y) { "
                    "w = RandomNormal <shape = [3]> () h = Mul(x, w) b = Equal(t, t) "
                    "one = Constant <value_int = 1> () m = Add(t, one) " +
                        nodes + " f = Cast <to = 1> (s) y = Add(h, f) }",
                    meanSquare());
}

} // namespace

// Computed integers are f32 here, but not floating-point numbers of the file.
TEST(UnoptimizedExport, TypesOfComputedIntegers) {
  const auto refused = [](const std::string &nodes, const std::string &names) {
    const Outcome outcome = withTokens(nodes);
    EXPECT_NE(outcome.error.find("cannot convert " + names), std::string::npos)
        << outcome.error << outcome.ir;
  };
  refused("s = CastLike(h, m)", "'h' to the type of 'm'");
  refused("s = CastLike(m, h)", "'m' to the type of 'h'");
  refused("s = CastLike(m, b)", "'m' to the type of 'b'"); // integers, as truth values
  refused("k = Constant <value_int = 3> () s = CastLike(k, b)", "'k' to the type of 'b'");
  EXPECT_EQ(withTokens("s = CastLike(b, m)").error, "");
  EXPECT_EQ(withTokens("s = CastLike(one, b)").error, "");
  const Outcome known =
      withTokens("k = Constant <value_float = 3.75> () c = CastLike(k, m) s = Mul(c, m)");
  EXPECT_TRUE(known.has("dense<3.000000e+00>")) << known.error << known.ir;
}

// A part of integers is one of integers, to which an integer can be added.
TEST(UnoptimizedExport, PartsOfComputedIntegers) {
  const Outcome outcome = withTokens("z = Constant <value_int = 1> () "
                                     "q = SplitToSequence <axis = 1> (m, z) "
                                     "p = SequenceAt(q, one) s = Add(p, one)");
  EXPECT_EQ(outcome.error, "");
}

TEST(UnoptimizedExport, RangesOfReals) {
  const Outcome outcome =
      importNodes(18, "a = Constant <value_float = 1.0> () b = Constant <value_float = 4.75> () "
                      "c = Constant <value_float = 0.5> () r = Range(a, b, c) y = Mul(h, r)");
  EXPECT_TRUE(outcome.has("[1.000000e+00, 1.500000e+00, 2.000000e+00")) << outcome.error;
  EXPECT_TRUE(outcome.has("tensor<8xf32>")) << outcome.ir;
  EXPECT_NE(importNodes(18, "a = Constant <value_float = 1.0> () b = Constant <value_float = 0.0> "
                            "() r = Range(a, a, b) y = Mul(h, r)")
                .error.find("its range is too long"),
            std::string::npos);
}
