// Tensors without elements are known at import, and no operation of a step has one.
#include "TestModel.h"

#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::test;

/// e is h's part of no elements along the last dimension.
static const std::string nothing = "a = Constant <value_ints = [8]> () "
                                   "b = Constant <value_ints = [9]> () "
                                   "d = Constant <value_ints = [3]> () e = Slice(h, a, b, d) ";

TEST(EmptyTensors, DropOutOfAConcat) {
  Outcome last = importNodes(13, nothing + "c = Concat <axis = 3> (h, e) y = Neg(c)");
  EXPECT_TRUE(last.has("neg %2")) << last.error << last.ir;
  EXPECT_EQ(last.count("nn.concat"), 0);
  Outcome first = importNodes(13, nothing + "t = Tanh(h) y = Concat <axis = 3> (e, h, t)");
  EXPECT_TRUE(first.has("-> tensor<2x4x8x16xf32>")) << first.error << first.ir;
}

// A rotary embedding of width 0, as Phi's partial one has it.
TEST(EmptyTensors, PassThroughElementwiseOperators) {
  Outcome outcome = importNodes(
      14, nothing + "n = Neg(e) s = Constant <value = float[8,1] {1,2,3,4,5,6,7,8}> () "
                    "m = Mul(n, s) g = Sigmoid(m) q = Add(g, e) "
                    "k = Constant <value_ints = [2,4,8,0]> () r = Reshape <allowzero = 1> (q, k) "
                    "c = Concat <axis = -1> (r, h) y = Neg(c)");
  EXPECT_TRUE(outcome.has("neg %2")) << outcome.error << outcome.ir;
}

TEST(EmptyTensors, ASplitMayHaveEmptyParts) {
  Outcome outcome = importNodes(13, "s = Constant <value_ints = [0,8]> () "
                                    "p, q = Split <axis = 3> (h, s) "
                                    "c = Concat <axis = 3> (q, p) y = Neg(c)");
  EXPECT_EQ(outcome.error, "");
  expectError(importNodes(13, "s = Constant <value_ints = [-1,9]> () "
                              "p, q = Split <axis = 3> (h, s) y = Neg(q)"),
              "expected 2 parts that make up 8");
}

TEST(EmptyTensors, AnExpandToNothingIsEmpty) {
  Outcome outcome = importNodes(13, "i = Constant <value_ints = [4]> () g = Unsqueeze(h, i) "
                                    "s = Constant <value_ints = [2,4,8,8,0]> () e = Expand(g, s) "
                                    "c = Concat <axis = 4> (g, e) y = Neg(c)");
  EXPECT_EQ(outcome.error, "");
}

TEST(EmptyTensors, ThatAStepWouldComputeOnAreRefused) {
  expectError(importNodes(13, nothing + "t = Transpose <perm = [0,1,3,2]> (e) y = MatMul(h, t)"),
              "constant 't' has no elements");
  expectError(importNodes(13, nothing + "y = ReduceMean <axes = [3]> (e)"),
              "expected an element or more, got the shape 2x4x8x0");
  expectError(importNodes(13, nothing + "y = Concat <axis = 2> (h, e)"),
              "operand 'e' of shape 2x4x8x0 differs from 2x4x8x8 off axis 2");
}
