// If, Loop and functions whose bodies are imported in their place, and sequences.
#include "TestModel.h"

#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

using namespace syncline;
using namespace syncline::test;

static std::string branches(const std::string &condition) {
  return condition + " b = If (c) <then_branch = t () => (float[M] p) { p = Tanh(h) }, "
                     "else_branch = e () => (float[M] q) { r = Neg(h) q = Sigmoid(r) }> "
                     "y = Neg(b)";
}

TEST(ControlFlow, AKnownConditionTakesItsBranch) {
  Outcome yes = importNodes(13, branches("c = Constant <value = bool {1}> ()"));
  EXPECT_TRUE(yes.has("tanh")) << yes.error << yes.ir;
  EXPECT_EQ(yes.count("sigmoid"), 0);
  Outcome no = importNodes(13, branches("s = Shape(h) i = Constant <value_int = 1> () "
                                        "d = Gather(s, i) o = Constant <value_int = 1> () "
                                        "c = Equal(d, o)"));
  EXPECT_TRUE(no.has("sigmoid")) << no.error << no.ir;
  EXPECT_EQ(no.count("tanh"), 0);
}

// Exporters write squeeze(dim) so where the dimension's size is not known.
TEST(ControlFlow, SqueezesAsOldExportersWriteThem) {
  Outcome outcome = importNodes(
      13, "p = GlobalAveragePool(h) s = Shape(p) i = Constant <value_int = 3> () d = Gather(s, i) "
          "o = Constant <value_int = 1> () c = Equal(d, o) "
          "b = If (c) <then_branch = t () => (float[A,B,C] v) { a = Constant <value_ints = [3]> () "
          "v = Squeeze(p, a) }, else_branch = e () => (float[A,B,C,D] w) { w = Identity(p) }> "
          "y = Neg(b)");
  EXPECT_TRUE(outcome.has("tensor<2x4x1xf32>")) << outcome.error << outcome.ir;
}

TEST(ControlFlow, AnUnknownConditionIsRefused) {
  expectError(importNodes(13, branches("z = Constant <value_float = 0.0> () m = ReduceSum(h) "
                                       "c = Less(m, z)")),
              "node that makes 'b' (If): expected a condition that is known at import, got 'c'");
}

static std::string loop(const std::string &trips, const std::string &body) {
  return trips +
         " l = Loop (n, , h) <body = b (int64 i, bool k, float[M] v) => (bool k2, "
         "float[M] w) { " +
         body + " }> y = Neg(l)";
}

TEST(ControlFlow, KnownIterationsAreUnrolled) {
  const std::string trips = "n = Constant <value_int = 3> ()";
  Outcome outcome = importNodes(13, loop(trips, "k2 = Identity(k) w = Tanh(v)"));
  EXPECT_EQ(outcome.count("tanh"), 3) << outcome.error << outcome.ir;
  // The number of the iteration is known in the body, and values from outside are read.
  Outcome numbers = importNodes(13, loop(trips, "k2 = Identity(k) f = Cast <to = 1> (i) "
                                                "m = Mul(h, f) w = Add(v, m)"));
  EXPECT_TRUE(numbers.has("dense<2.000000e+00> : tensor<f32>")) << numbers.error << numbers.ir;
}

TEST(ControlFlow, ALoopOfNoIterationChangesNothing) {
  Outcome outcome =
      importNodes(13, loop("n = Constant <value_int = 0> ()", "k2 = Identity(k) w = Tanh(v)"));
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.count("tanh"), 0);
}

TEST(ControlFlow, AConditionOfTheBodyEndsTheLoop) {
  Outcome outcome = importNodes(13, loop("n = Constant <value_int = 100000000> ()",
                                         "o = Constant <value_int = 4> () k2 = Less(i, o) "
                                         "w = Tanh(v)"));
  EXPECT_EQ(outcome.count("tanh"), 5) << outcome.error << outcome.ir;
}

TEST(ControlFlow, ResultsOfIterationsAreStacked) {
  Outcome outcome = importNodes(
      13, "n = Constant <value_int = 3> () "
          "l, s = Loop (n, , h) <body = b (int64 i, bool k, float[M] v) => (bool k2, float[M] w, "
          "float[M] u) { k2 = Identity(k) w = Tanh(v) u = Neg(w) }> "
          "a = Constant <value_ints = [0]> () r = ReduceSum <keepdims = 0> (s, a) y = Add(l, r)");
  EXPECT_TRUE(outcome.has("-> tensor<3x2x4x8x8xf32>")) << outcome.error << outcome.ir;
}

// A result without elements is what the body states, and may be joined with others.
TEST(ControlFlow, ResultsOfNoIterationAreEmpty) {
  const auto none = [](const std::string &shape) {
    return importNodes(
        13,
        "n = Constant <value_int = 0> () "
        "l, s = Loop (n, , h) <body = b (int64 i, bool k, float[M] v) => (bool k2, float[M] w, "
        "float" +
            shape +
            " u) { k2 = Identity(k) w = Tanh(v) u = Neg(w) }> "
            "a = Constant <value_ints = [0]> () g = Unsqueeze(l, a) c = Concat <axis = 0> (s, g) "
            "y = Squeeze(c, a)");
  };
  EXPECT_EQ(none("[2,4,8,8]").error, "");
  expectError(none("[2,4,K,8]"),
              "its result 's' is of no iteration, and dimension 'K' is not known");
}

TEST(ControlFlow, AConditionThatIsFalseAtFirstEndsTheLoop) {
  const Outcome outcome = importNodes(
      13, "c = Constant <value = bool {0}> () n = Constant <value_int = 9000> () l = Loop (n, c, "
          "h) <body = b (int64 i, bool k, "
          "float[M] v) => (bool k2, float[M] w) { k2 = Identity(k) w = Tanh(v) }> y = Neg(l)");
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.count("tanh"), 0);
}

TEST(ControlFlow, LoopsThatCannotBeUnrolledAreRefused) {
  const std::string tanh = "k2 = Identity(k) w = Tanh(v)";
  expectError(importNodes(13, loop("n = Constant <value = int64 {1099511627776}> ()", tanh)),
              "node that makes 'l' (Loop): expected at most 1000 iterations, got 1099511627776");
  expectError(importNodes(13, loop("n = Constant <value = int64 {1099511627776}> ()",
                                   "o = Constant <value_int = -1> () k2 = Less(o, i) w = Tanh(v)")),
              "expected at most 1000 iterations, got more");
  expectError(importNodes(13, loop("f = ReduceSum(h) n = Cast <to = 7> (f)", tanh)), "Cast");
  expectError(importNodes(13, loop("n = Constant <value_int = 3> ()",
                                   "m = ReduceSum(v) z = Constant <value_float = 0.0> () "
                                   "k2 = Less(m, z) w = Tanh(v)")),
              "expected a condition that is known at import");
  expectError(importNodes(13, loop("n = Constant <value_int = 3> ()", tanh),
                          [](onnx::ModelProto &model) {
                            for (onnx::NodeProto &node : *model.mutable_graph()->mutable_node())
                              if (node.op_type() == "Loop")
                                node.set_input(0, "");
                          }),
              "expected at most 1000 iterations, got a loop without an end");
  expectError(importNodes(13, "n = Constant <value_int = 2> () l = Loop (n, , h) "
                              "<body = b (int64 i, bool k) => (bool k2) { k2 = Identity(k) }> "
                              "y = Neg(l)"),
              "expected a body with an input for each value that is carried");
}

// A parameter that bodies read from outside is one parameter.
TEST(ControlFlow, ParametersOfBodiesAreTrained) {
  Outcome outcome = importNodes(
      13, "p = RandomNormal <shape = [8,8]> () n = Constant <value_int = 2> () "
          "y = Loop (n, , h) <body = b (int64 i, bool k, float[M] v) => (bool k2, float[M] w) "
          "{ k2 = Identity(k) w = MatMul(v, p) }>");
  EXPECT_EQ(outcome.count("nn.matmul"), 2) << outcome.error << outcome.ir;
  EXPECT_EQ(outcome.count("nn.parameter"), 2);
}

TEST(ControlFlow, WhatBodiesCannotKeepIsRefused) {
  const auto branch = [](const std::string &nodes) {
    return importNodes(13, "c = Constant <value = bool {1}> () y = If (c) <then_branch = t () => "
                           "(float[M] r) { " +
                               nodes + " }, else_branch = e () => (float[M] q) { q = Neg(h) }>");
  };
  const auto rejects = [](const Outcome &outcome, const std::string &text) {
    EXPECT_NE(outcome.error.find(text), std::string::npos) << outcome.error << outcome.ir;
    EXPECT_EQ(outcome.exitCode, 1);
  };
  rejects(branch("p = RandomNormal <shape = [8]> () r = Mul(h, p)"),
          "draws a parameter in a function, branch or loop");
  rejects(branch("r = Relu(h) r = Neg(h)"), "its body defines 'r' twice");
  rejects(importNodes(13, "s = RandomUniform <shape = [4]> () c = Constant <value = bool {1}> () "
                          "y = If (c) <then_branch = t () => (float[M] r) { "
                          "r = BatchNormalization (h, s, s, s, s) }, "
                          "else_branch = e () => (float[M] q) { q = Neg(h) }>"),
          "its body has a BatchNormalization");
}

// A body reads what bodies around it define, and may define a name of theirs anew.
TEST(ControlFlow, BodiesStandInBodies) {
  Outcome outcome = importNodes(
      13, "n = Constant <value_int = 2> () "
          "y = Loop (n, , h) <body = b (int64 i, bool k, float[M] v) => (bool k2, float[M] w) { "
          "k2 = Identity(k) t = Tanh(v) z = Constant <value_int = 0> () c = Equal(i, z) "
          "w = If (c) <then_branch = t () => (float[M] r) { m = Constant <value_int = 3> () "
          "r = Loop (m, , t) <body = d (int64 j, bool g, float[M] a) => (bool g2, float[M] t) { "
          "g2 = Identity(g) s = Sigmoid(a) t = Mul(s, h) }> }, "
          "else_branch = e () => (float[M] q) { q = Neg(t) }> }>");
  EXPECT_EQ(outcome.count("tanh"), 2) << outcome.error << outcome.ir;
  EXPECT_EQ(outcome.count("sigmoid"), 3);
  EXPECT_EQ(outcome.count("neg"), 1);
}

TEST(ControlFlow, BodiesWithinBodiesAreBounded) {
  std::string body = "u = Tanh(v) ";
  for (const char *level : {"a", "b"})
    body = std::string("n") + level + " = Constant <value_int = 1000> () u = Loop (n" + level +
           ", , v) <body = b (int64 i, bool k, float[M] v) => (bool k2, float[M] u) { "
           "k2 = Identity(k) " +
           body + " }> ";
  expectError(importNodes(13, "v = Identity(h) " + body + " y = Neg(u)"),
              "have more than 200000 nodes, or 512 MiB, when they are written out");
}

// --save writes the user's file: the copies of bodies are not in it.
TEST(ControlFlow, TheSkeletonIsTheFile) {
  Outcome outcome =
      importNodes(13, loop("n = Constant <value_int = 3> ()", "k2 = Identity(k) w = Tanh(v)"));
  onnx::ModelProto saved;
  ASSERT_TRUE(saved.ParseFromString(outcome.skeleton));
  int loops = 0, others = 0;
  for (const onnx::NodeProto &node : saved.graph().node())
    ++(node.op_type() == "Loop" ? loops : others);
  EXPECT_EQ(loops, 1);
  EXPECT_EQ(others, 3); // Mul, Constant, Neg
}

static Outcome importModel(const std::string &text) {
  onnx::ModelProto model;
  onnx::OnnxParser parser(text.c_str());
  const onnx::Common::Status status = parser.Parse(model);
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage();
  return importBytes(model.SerializeAsString(), meanSquare());
}

static const std::string functionModel =
    "<ir_version: 8, opset_import: [\"\":17, \"f\":1]> agraph (float[2,3] x) => (float[2,3] y) "
    "{ w = RandomNormal <shape = [3]> () h = Mul(x, w) y = f.outer <a = 0> (h) } ";

TEST(Functions, AreWrittenOut) {
  Outcome outcome = importModel(
      functionModel + "<domain: \"f\", opset_import: [\"\":17, \"f\":1]> outer <a> (x) => (y) "
                      "{ h = f.inner(x) g = f.inner(h) y = Softmax <axis: int = @a> (g) } "
                      "<domain: \"f\", opset_import: [\"\":17]> inner (x) => (y) { y = Tanh(x) }");
  EXPECT_EQ(outcome.count("tanh"), 2) << outcome.error << outcome.ir;
  onnx::ModelProto saved;
  ASSERT_TRUE(saved.ParseFromString(outcome.skeleton));
  EXPECT_EQ(saved.graph().node_size(), 2);
  EXPECT_EQ(saved.functions_size(), 2);
}

TEST(Functions, AttributesReachTheirNodes) {
  const std::string tail = "<domain: \"f\", opset_import: [\"\":17]> outer <a> (x) => (y) "
                           "{ y = Softmax <axis: int = @a> (x) }";
  EXPECT_TRUE(importModel(functionModel + tail).has("{axis = 0 : i64}"));
}

TEST(Functions, StandInBranchesAndHaveThem) {
  Outcome outcome = importModel(
      functionModel + "<domain: \"f\", opset_import: [\"\":17, \"f\":1]> outer <a> (x) => (y) "
                      "{ c = Constant <value_int: int = @a> () b = Cast <to = 9> (c) "
                      "y = If (b) <then_branch = t () => (float[M] p) { p = Tanh(x) }, "
                      "else_branch = e () => (float[M] q) { q = f.inner(x) }> } "
                      "<domain: \"f\", opset_import: [\"\":17]> inner (x) => (y) "
                      "{ s = Sigmoid(x) y = Neg(s) }");
  EXPECT_EQ(outcome.count("sigmoid"), 1) << outcome.error << outcome.ir;
  EXPECT_EQ(outcome.count("tanh"), 0);
}

// The call's operand is h; the branch defines an h of its own.
TEST(Functions, NamesOfBodiesAreNotThoseOfTheCall) {
  Outcome outcome =
      importModel(functionModel + "<domain: \"f\", opset_import: [\"\":17]> outer <a> (x) => (y) "
                                  "{ c = Constant <value_int: int = @a> () b = Cast <to = 9> (c) "
                                  "y = If (b) <then_branch = t () => (float[M] p) { p = Tanh(x) }, "
                                  "else_branch = e () => (float[M] q) { t = Sigmoid(x) h = Relu(t) "
                                  "q = Add(h, x) }> }");
  EXPECT_TRUE(outcome.has("nn.binary add %4, %2")) << outcome.error << outcome.ir;
}

TEST(Functions, ThatCallThemselvesAreRefused) {
  expectError(importModel(functionModel +
                          "<domain: \"f\", opset_import: [\"\":17, \"f\":1]> outer <a> (x) => (y) "
                          "{ h = Tanh(x) y = f.outer(h) }"),
              "functions call each other more than 64 deep, or without an end");
}

TEST(Functions, OfOtherOperatorSetsAreRefused) {
  expectError(importModel(functionModel + "<domain: \"f\", opset_import: [\"\":15]> outer <a> (x) "
                                          "=> (y) { y = Tanh(x) }"),
              "function 'outer': expected operator set 17, as the model has, got 15");
}

TEST(Sequences, AreListsOfNames) {
  Outcome outcome = importNodes(
      13, "t = Tanh(h) e = SequenceEmpty() s = SequenceInsert(e, h) u = SequenceInsert(s, t) "
          "m = Constant <value_int = -1> () a = SequenceAt(u, m) "
          "z = Constant <value_int = 0> () d = SequenceErase(u, z) g = SequenceAt(d, z) "
          "l = SequenceLength(u) f = Cast <to = 1> (l) b = Mul(a, f) y = Add(b, g)");
  EXPECT_TRUE(outcome.has("dense<2.000000e+00>")) << outcome.error << outcome.ir;
}

TEST(Sequences, AreJoined) {
  Outcome old = importNodes(13, "t = Tanh(h) s = SequenceConstruct(h, t) "
                                "y = ConcatFromSequence <axis = 1> (s)");
  EXPECT_TRUE(old.has("-> tensor<2x8x8x8xf32>")) << old.error << old.ir;
  Outcome added = importNodes(13, "t = Tanh(h) s = SequenceConstruct(h, t) "
                                  "y = ConcatFromSequence <axis = 1, new_axis = 1> (s)");
  EXPECT_TRUE(added.has("-> tensor<2x2x4x8x8xf32>")) << added.error << added.ir;
}

TEST(Sequences, OfPartsAreJoinedAndCounted) {
  Outcome outcome = importNodes(13, "s = SplitToSequence <axis = 1, keepdims = 0> (h) "
                                    "y = ConcatFromSequence <axis = 1> (s)");
  EXPECT_TRUE(outcome.has("-> tensor<2x32x8xf32>")) << outcome.error << outcome.ir;
}

// A list that a loop appends to.
TEST(Sequences, AreCarriedByLoops) {
  Outcome outcome = importNodes(
      13, "n = Constant <value_int = 3> () e = SequenceEmpty() "
          "l, s = Loop (n, , h, e) <body = b (int64 i, bool k, float[M] v, float[M] q) => "
          "(bool k2, float[M] w, float[M] r) { k2 = Identity(k) w = Tanh(v) "
          "r = SequenceInsert(q, w) }> y = ConcatFromSequence <axis = 1> (s)");
  EXPECT_TRUE(outcome.has("-> tensor<2x12x8x8xf32>")) << outcome.error << outcome.ir;
}

TEST(Sequences, PlacesBeyondThemAreRefused) {
  expectError(importNodes(13, "s = SequenceConstruct(h, h) i = Constant <value_int = 2> () "
                              "y = SequenceAt(s, i)"),
              "place 2 is not within a sequence of 2 elements");
  expectError(importNodes(13, "s = SequenceConstruct(h, h) i = Constant <value_int = -3> () "
                              "y = SequenceAt(s, i)"),
              "place -3 is not within a sequence of 2 elements");
  expectError(importNodes(13, "e = SequenceEmpty() y = ConcatFromSequence <axis = 0> (e)"),
              "the sequence is empty");
  expectError(importNodes(13, "e = SequenceEmpty() r = SequenceErase(e) "
                              "y = ConcatFromSequence <axis = 0> (r)"),
              "the sequence is empty");
}
