// Max, Min and Trilu of values that a step computes, and bad operands of elementwise operators.
#include "TestModel.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

using namespace syncline::test;

namespace {

void expectMessage(const Outcome &outcome, const std::string &text) {
  EXPECT_NE(outcome.error.find(text), std::string::npos)
      << "expected: " << text << "\ngot: " << outcome.error << outcome.ir;
  EXPECT_EQ(outcome.exitCode, 1);
}

/// A parameter in the place of the last operand of the node that makes y, of one number.
Outcome withScalar(const std::string &node, bool isVector = false) {
  return importNodes(13, "s = Constant <value_float = 0.5> () y = " + node + "(h, s)",
                     [&](onnx::ModelProto &model) {
                       onnx::GraphProto &graph = *model.mutable_graph();
                       graph.mutable_node()->DeleteSubrange(graph.node_size() - 2, 1);
                       onnx::TensorProto &tensor = *graph.add_initializer();
                       tensor.set_name("s");
                       tensor.set_data_type(onnx::TensorProto::FLOAT);
                       if (isVector)
                         tensor.add_dims(1);
                       tensor.add_float_data(0.5);
                     });
}

/// y = h·m, where `nodes` make m of x, integers of [2, 3, 4], and h has this shape too.
Outcome ofIntegers(const std::string &nodes, const std::string &type = "int64") {
  return importText(16,
                    "agraph (float[2,3,4] a, " + type +
                        "[2,3,4] x) => (float[2,3,4] y) { w = RandomNormal <shape = [4]> () "
                        "h = Mul(a, w) two = Constant <value_int = 2> () "
                        "seven = Constant <value_int = 7> () " +
                        nodes + " y = Mul(h, m) }",
                    meanSquare());
}

} // namespace

TEST(Extremes, OfOneOperandAreIt) {
  const Outcome outcome = importNodes(13, "m = Max(h) y = Relu(m)");
  EXPECT_TRUE(outcome.has("nn.unary relu %2")) << outcome.error << outcome.ir;
}

// One of no dimensions is a number, as a bound of Clip is; a vector is a parameter.
TEST(Extremes, TakeAScalarAsANumber) {
  const Outcome number = withScalar("Max"), vector = withScalar("Max", /*isVector=*/true);
  EXPECT_TRUE(number.has("nn.constant dense<5.000000e-01> : tensor<f32>")) << number.error;
  EXPECT_FALSE(number.has("nn.parameter \"s\"")) << number.ir;
  ASSERT_EQ(number.notes.size(), 1U);
  EXPECT_EQ(number.notes[0], "'s': taken as a number, not as a parameter");
  EXPECT_TRUE(vector.has("nn.parameter \"s\"")) << vector.error << vector.ir;
}

TEST(Extremes, BroadcastBothWays) {
  const Outcome outcome =
      importNodes(13, "c = Constant <value_floats = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> () "
                      "m = ReduceMean <axes = [3]> (h) y = Max(m, c)");
  EXPECT_TRUE(outcome.has("nn.binary max %3, %4 : (tensor<2x4x8x1xf32>, tensor<8xf32>) -> "
                          "tensor<2x4x8x8xf32>"))
      << outcome.error << outcome.ir;
}

// Bounded numbers may be rows of a table.
TEST(Extremes, OfIntegersAreBounded) {
  const auto rows = [](const std::string &nodes) {
    return ofIntegers(nodes + " t = RandomNormal <shape = [8,4]> () g = Gather(t, i) "
                              "m = ReduceSum <keepdims = 0> (g, two)");
  };
  const Outcome bounded = rows("o = Constant <value_int = 0> () l = Min(x, seven) i = Max(o, l)");
  EXPECT_EQ(bounded.error, "");
  EXPECT_TRUE(bounded.has("nn.binary min")) << bounded.ir;
  EXPECT_TRUE(bounded.has("nn.binary max")) << bounded.ir;
  const Outcome equal = ofIntegers("n = Max(x, two, seven) m = Cast <to = 1> (n)");
  EXPECT_EQ(equal.count("nn.binary max"), 2) << equal.error << equal.ir;
}

TEST(Extremes, BadOperandsAreNamed) {
  const char *const three = "c = Constant <value_floats = [1.0, 2.0, 3.0]> () ";
  expectMessage(importNodes(13, std::string(three) + "y = Max(h, x, c)"),
                "(Max): shapes 2x4x8x8 and 3 do not broadcast");
  expectMessage(importNodes(13, "y = Min(h, , x)"), "(Min): operand 2 is missing");
  expectMessage(importNodes(13, "y = Max()"), "(Max): expected operand 1, which is missing");
  expectMessage(importNodes(13, "i = Constant <value_int = 1> () y = Max(h, i)"),
                "(Max): operands 'h' and 'i' have different element types");
  expectMessage(ofIntegers("n = Min(x, h) m = Cast <to = 1> (n)"),
                "(Min): operands 'x' and 'h' have different element types");
}

// Beside the matrix nothing stays; where all stays there is no operation.
TEST(Triangle, OfAllElementsIsTheOperand) {
  for (const char *const node : {"k = Constant <value_int = -7> () m = Trilu(h, k)",
                                 "k = Constant <value_int = 7> () m = Trilu <upper = 0> (h, k)",
                                 "k = Constant <value_int = 9223372036854775807> () "
                                 "m = Trilu <upper = 0> (h, k)"}) {
    const Outcome outcome = importNodes(14, std::string(node) + " y = Relu(m)");
    EXPECT_TRUE(outcome.has("nn.unary relu %2")) << node << outcome.error << outcome.ir;
  }
  const Outcome none = importNodes(
      14, "k = Constant <value_int = -9223372036854775808> () y = Trilu <upper = 0> (h, k)");
  EXPECT_TRUE(none.has("nn.binary mask %2")) << none.error << none.ir;
}

TEST(Triangle, OfIntegersAndTruthValues) {
  const Outcome whole = ofIntegers("n = Trilu(x) m = Cast <to = 1> (n)");
  EXPECT_EQ(whole.count("nn.binary mask"), 1) << whole.error << whole.ir;
  const Outcome truth = ofIntegers("e = Equal(x, two) n = Trilu(e) m = Cast <to = 1> (n)");
  EXPECT_EQ(truth.count("nn.binary mask"), 1) << truth.error << truth.ir;
}

TEST(Triangle, BadOperandsAreNamed) {
  const auto ofRows = [](const std::string &nodes) {
    return importNodes(14, "s = Constant <value_ints = [512]> () r = Reshape(h, s) " + nodes);
  };
  expectMessage(ofRows("y = Trilu(r)"), "(Trilu): expected matrices, got shape 512");
  expectMessage(importNodes(14, "y = Trilu(h, h)"),
                "(Trilu): expected a constant integer as k, got 'h'");
  expectMessage(importNodes(14, "k = Constant <value_ints = [1,2]> () y = Trilu(h, k)"),
                "(Trilu): expected a constant integer as k, got 'k'");
  expectMessage(ofIntegers("n = Trilu(h, x) m = Relu(n)"),
                "(Trilu): expected a constant integer as k, got 'x'");
  expectMessage(ofRows("t = Constant <value_ints = [1,1,512]> () u = Constant <value_ints = "
                       "[1,65536,512]> () q = Reshape(r, t) e = Expand(q, u) v = Constant "
                       "<value_ints = [1,33554432]> () z = Reshape(e, v) k = Constant <value_int = "
                       "1> () y = Trilu(z, k)"),
                "(Trilu): expected at most 16777216 rows and columns, got 1x33554432");
}

TEST(Functions, BadAttributesAndOperandsAreNamed) {
  expectMessage(importNodes(13, "y = Celu <alpha = 0.0> (h)"),
                "(Celu): expected an alpha that is finite and not 0, got 0");
  expectMessage(importNodes(13, "y = Selu <alpha = -1.0> (h)"),
                "(Selu): expected an alpha that is not negative, got -1");
  expectMessage(importNodes(14, "k = Constant <value_int = 1> () y = Trilu(h, k, k)"),
                "(Trilu): expected at most 2 operands");
  expectMessage(importNodes(13, "y = Softplus()"),
                "(Softplus): expected operand 1, which is missing");
  expectMessage(importNodes(13, "y = Softplus(h, x)"),
                "(Softplus): expected at most 1 operands, got 2");
  expectMessage(importNodes(13, "y = Selu(h, x, h)"), "(Selu): expected at most 1 operands, got 3");
  expectMessage(ofIntegers("n = Add(x, x) m = Sin(n)"),
                "(Sin): expected floating-point elements in 'n'");
  expectMessage(ofIntegers("n = Add(x, x) m = Round(n)"),
                "(Round): expected floating-point elements in 'n'");
}
