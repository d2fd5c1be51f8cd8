// Which dimension of the output holds the classes: where the model's last layer has its features.
#include "TestModel.h"

#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::frontend;
using namespace syncline::test;

namespace {

enum class Place { second, last };

/// Imports y, made by `nodes` of x [N, 7, 3] and a parameter w [3, V], where V is `classes`.
Outcome importEnd(std::string nodes, int classes, ClassesIn in = ClassesIn::automatic) {
  const std::string size = std::to_string(classes);
  for (size_t at; (at = nodes.find('V')) != std::string::npos;)
    nodes.replace(at, 1, size);
  ImportOptions options;
  options.batch = 2;
  options.classesIn = in;
  return importText(13,
                    "agraph (float[N,7,3] x) => (float[N,D,E] y) { w = RandomNormal <shape = [3," +
                        size + "]> () " + nodes + " }",
                    options);
}

/// Expects the classes there, be their number another than that of the positions or the same.
void expectClasses(const std::string &nodes, Place place) {
  const bool isLast = place == Place::last;
  const Outcome differ = importEnd(nodes, 5), equal = importEnd(nodes, 7);
  EXPECT_TRUE(differ.has(isLast ? "(tensor<2x7x5xf32>, tensor<2x7xi64>)"
                                : "(tensor<2x5x7xf32>, tensor<2x7xi64>)"))
      << nodes << differ.error << differ.ir;
  const std::string note = isLast ? "the output's last dimension, 5, holds the classes; "
                                    "--classes-in 1 takes the second"
                                  : "the output's second dimension, 5, holds the classes; "
                                    "--classes-in -1 takes the last";
  EXPECT_EQ(std::count(differ.notes.begin(), differ.notes.end(), note), 1) << nodes;
  // As many classes as positions: the loss takes the second, where the last are moved.
  const auto output = equal.ir.find("nn.output %");
  ASSERT_NE(output, std::string::npos) << nodes << equal.error;
  const std::string value =
      equal.ir.substr(output + 10, equal.ir.find(' ', output + 10) - output - 10);
  EXPECT_TRUE(equal.has("nn.cross_entropy " + value + ",")) << nodes << equal.ir;
  const auto made = equal.ir.find("  " + value + " = ");
  const std::string line = equal.ir.substr(made, equal.ir.find('\n', made) - made);
  const bool isMoved = line.find("nn.transpose") != std::string::npos;
  EXPECT_EQ(isMoved, isLast || nodes.ends_with("y = Transpose <perm = [0, 2, 1]> (h)"))
      << nodes << equal.ir;
}

} // namespace

// Gemma-2's soft cap, scales, biases, a vocabulary without its last words, masked words.
TEST(ClassAxis, IsLastBehindElementwiseOperations) {
  for (const char *end :
       {"c = Constant <value_float = 30.0> () d = Div(h, c) t = Tanh(d) y = Mul(t, c)",
        "s = RandomNormal <shape = [V]> () y = Mul(h, s)",
        "c = Constant <value_float = 2.0> () y = Add(h, c)",
        "c = Constant <value_float = 2.0> () y = Mul(c, h)", "y = Cast <to = 1> (h)",
        "y = Dropout(h)", "y = Identity(h)",
        "c = Constant <value_float = -9.0> () k = Constant <value_ints = [3]> ()"
        " f = Cast <to = 9> (k) y = Where(f, h, c)"})
    expectClasses(std::string("h = MatMul(x, w) ") + end, Place::last);
}

TEST(ClassAxis, IsLastBehindASliceAndAConcatOfTheVocabulary) {
  expectClasses("v = RandomNormal <shape = [3,9]> () h = MatMul(x, v)"
                " b = Constant <value_ints = [0]> () e = Constant <value_ints = [V]> ()"
                " a = Constant <value_ints = [2]> () y = Slice(h, b, e, a)",
                Place::last);
  expectClasses("v = RandomNormal <shape = [3,1]> () b = Constant <value_ints = [1]> ()"
                " e = Constant <value_ints = [V]> () a = Constant <value_ints = [1]> ()"
                " u = Slice(w, b, e, a) h = MatMul(x, u) k = MatMul(x, v)"
                " y = Concat <axis = 2> (h, k)",
                Place::last);
}

// Weights that the step computes: MobileBERT's joined tables, a normalised weight, LoRA's sum.
TEST(ClassAxis, IsLastBehindComputedWeights) {
  for (const char *nodes :
       {"a = RandomNormal <shape = [V,2]> () t = Transpose <perm = [1, 0]> (a)"
        " b = RandomNormal <shape = [1,V]> () u = Concat <axis = 0> (t, b) y = MatMul(x, u)",
        "q = Mul(w, w) s = ReduceSum <keepdims = 1> (q) r = Sqrt(s) u = Div(w, r)"
        " g = RandomNormal <shape = [V]> () v = Mul(u, g) y = MatMul(x, v)",
        "a = RandomNormal <shape = [3,2]> () b = RandomNormal <shape = [2,V]> ()"
        " l = MatMul(x, a) k = MatMul(l, b) h = MatMul(x, w) y = Add(h, k)",
        "a = RandomNormal <shape = [3,2]> () b = RandomNormal <shape = [2,V]> ()"
        " k = MatMul(a, b) u = Add(w, k) y = MatMul(x, u)"})
    expectClasses(nodes, Place::last);
}

TEST(ClassAxis, IsSecondWhereATransposePutsItThere) {
  expectClasses("h = MatMul(x, w) y = Transpose <perm = [0, 2, 1]> (h)", Place::second);
  expectClasses("h = MatMul(x, w) t = Transpose <perm = [0, 2, 1]> (h) y = Tanh(t)", Place::second);
}

// A linear layer over time leaves the features where they are.
TEST(ClassAxis, IsSecondBehindALinearLayerOverPositions) {
  expectClasses("h = MatMul(x, w) t = Transpose <perm = [0, 2, 1]> (h)"
                " v = RandomNormal <shape = [7,7]> () y = MatMul(t, v)",
                Place::second);
  expectClasses("v = RandomNormal <shape = [V,7,1]> () c = Conv(x, v)"
                " u = RandomNormal <shape = [3,7]> () y = MatMul(c, u)",
                Place::second);
}

// Products of two computed values do not say which dimension are features.
TEST(ClassAxis, IsSecondWhereNoLayerSaysIt) {
  expectClasses("h = MatMul(x, w) t = Transpose <perm = [0, 2, 1]> (h)"
                " v = RandomNormal <shape = [3,7]> () k = MatMul(x, v) y = MatMul(t, k)",
                Place::second);
}

TEST(ClassAxis, IsAsTold) {
  for (int classes : {5, 7}) {
    const Outcome outcome = importEnd("y = MatMul(x, w)", classes, ClassesIn::second);
    const std::string size = std::to_string(classes);
    EXPECT_TRUE(outcome.has("(tensor<2x7x" + size + "xf32>, tensor<2x" + size + "xi64>)"))
        << outcome.error << outcome.ir;
    EXPECT_EQ(outcome.count("nn.transpose"), 0);
    EXPECT_TRUE(outcome.notes.empty());
  }
  const char *moved = "h = MatMul(x, w) y = Transpose <perm = [0, 2, 1]> (h)";
  const Outcome last = importEnd(moved, 5, ClassesIn::last);
  EXPECT_TRUE(last.has("(tensor<2x5x7xf32>, tensor<2x5xi64>)")) << last.error << last.ir;
  EXPECT_TRUE(last.notes.empty());
  EXPECT_EQ(importEnd(moved, 7, ClassesIn::last).count("nn.transpose"), 2);
}
