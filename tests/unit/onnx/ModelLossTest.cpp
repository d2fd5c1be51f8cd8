// Losses that a model computes: what becomes of them, and which would mix samples.
#include "TestModel.h"

#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::frontend;
using namespace syncline::test;

namespace {

/// Imports the loss `l` that `nodes` make of h = x·w, of shape [batch, 3], of the other input v and
/// of labels.
Outcome importModelLoss(const std::string &nodes, std::int64_t batch = 4,
                        const std::string &exported = "N", const std::string &name = "l") {
  ImportOptions options;
  options.loss = *TrainedLoss::parse("output:" + name);
  options.batch = batch;
  return importText(18,
                    "agraph (float[" + exported + ",3] x, float[" + exported + ",3] v, int64[" +
                        exported +
                        "] labels) => (float l, float[N,3] h) { w = RandomNormal <shape = [3]> ()"
                        " h = Mul(x, w) " +
                        nodes + " }",
                    options);
}

void expectHas(const Outcome &outcome, const std::vector<std::string> &texts) {
  EXPECT_EQ(outcome.error, "");
  for (const std::string &text : texts)
    EXPECT_TRUE(outcome.has(text)) << "no " << text << " in\n" << outcome.ir;
}

void expectRefused(const Outcome &outcome, const std::string &text) {
  EXPECT_NE(outcome.error.find(text), std::string::npos) << outcome.error << outcome.ir;
  EXPECT_EQ(outcome.exitCode, 1);
}

constexpr auto squares = "d = Sub(h, v) e = Mul(d, d) ";

} // namespace

// Neither a target nor an output: the loss alone is reported.
TEST(ModelLoss, IsAnOutputOfOneElement) {
  const Outcome outcome =
      importModelLoss(std::string(squares) + "l = ReduceMean <keepdims = 0> (e)");
  expectHas(outcome, {"nn.reduce mean", "nn.loss", "nn.input \"v\""});
  EXPECT_FALSE(outcome.has("nn.target") || outcome.has("nn.output"));
  expectHas(importModelLoss(std::string(squares) + "l = ReduceMean(e)"),
            {"(tensor<1x1xf32>) -> tensor<f32>", "nn.loss"});
  expectHas(importModelLoss(
                "a = Constant <value = int64[1] {1}> () l = ReduceSum <keepdims = 0> (h, a)", 1),
            {"(tensor<1xf32>) -> tensor<f32>"});
}

TEST(ModelLoss, OtherOutputsAreRefused) {
  const std::string mean = std::string(squares) + "l = ReduceMean <keepdims = 0> (e)";
  expectRefused(importModelLoss(mean, 4, "N", "none"), "no output 'none'; it has 'l', 'h'");
  expectRefused(importModelLoss(mean, 4, "N", "l=0.5"), "no output 'l=0.5'; it has 'l', 'h'");
  expectRefused(importModelLoss(mean, 4, "N", "h"),
                "output 'h' of shape 4x3: expected one element, the loss of the batch");
  expectRefused(importModelLoss("l = Constant <value = float {1.0}> ()"),
                "does not depend on the input");
  expectRefused(importModelLoss("a = ArgMax <axis = 1> (h) l = ReduceSum <keepdims = 0> (a)"),
                "output 'l' is not floating-point");
}

// What is computed from a sum or mean over samples is a number of the batch.
TEST(ModelLoss, MayAddUpSamples) {
  for (const char *end :
       {"l = ReduceSum <keepdims = 0> (e)", "a = ReduceMean <keepdims = 0> (e) l = Sqrt(a)",
        "a = ReduceSum <keepdims = 0> (e) b = ReduceSum <keepdims = 0> (h) l = Div(a, b)",
        "l = ReduceL2 <keepdims = 0> (d)",
        "f = Flatten <axis = 0> (e) a = ReduceMean <keepdims = 0> (f) l = Neg(a)",
        "s = Shape <start = 0, end = 1> (x) t = Squeeze(s) n = Cast <to = 1> (t)"
        " a = ReduceSum <keepdims = 0> (e) l = Div(a, n)"})
    EXPECT_EQ(importModelLoss(std::string(squares) + end).error, "") << end;
}

TEST(ModelLoss, MayNotMixSamples) {
  const std::string back = "it would compute samples from a sum or mean over all of them";
  const std::string zero = "z = Constant <value = int64[1] {0}> () m = ReduceMean(h, z) ";
  for (const char *mixing : {"c = Sub(h, m)", "s = Shape(h) g = Expand(m, s) c = Sub(h, g)",
                             "c = Concat <axis = 1> (h, h) e = Mul(m, h)"})
    expectRefused(importModelLoss(zero + mixing + " l = ReduceMean <keepdims = 0> (" +
                                  (std::string(mixing).ends_with("h)") ? "e" : "c") + ")"),
                  back);
  expectRefused(importModelLoss("l = ReduceMax <keepdims = 0> (h)"), "and so mix samples");
  expectRefused(importModelLoss("l = ReduceProd <keepdims = 0> (h)"), "and so mix samples");
  expectRefused(importModelLoss("t = Transpose <perm = [1,0]> (v) p = MatMul(h, t)"
                                " l = ReduceMean <keepdims = 0> (p)"),
                "it would mix samples");
}

// A file that fixes its batch may mix samples, and may divide by its number of samples.
TEST(ModelLoss, OfTheFilesOwnBatch) {
  const std::string all = "t = Transpose <perm = [1,0]> (v) p = MatMul(h, t)"
                          " i = Constant <value = int64[4] {0,1,2,3}> ()"
                          " l = SoftmaxCrossEntropyLoss <ignore_index = -100> (p, i)";
  const Outcome same = importModelLoss(all, 4, "4");
  expectHas(same, {"nn.cross_entropy"});
  expectRefused(importModelLoss(all, 2, "4"), "it would mix samples");
  const std::string sum = std::string(squares) + "n = Constant <value = float {4.0}> ()"
                                                 " a = ReduceSum <keepdims = 0> (e) l = Div(a, n)";
  EXPECT_EQ(importModelLoss(sum, 4, "4").error, "");
  expectRefused(importModelLoss(sum, 2, "4"), "the file may divide by its own, 4, in place of 2");
  EXPECT_EQ(
      importModelLoss(std::string(squares) + "l = ReduceMean <keepdims = 0> (e)", 2, "4").error,
      "");
}

// Labels as they are read are compared by the kernel, which ignores -100; all else is gathered.
TEST(ModelLoss, OfClasses) {
  const auto loss = [](const std::string &attributes, const std::string &more = "") {
    return importModelLoss("k = Constant <value = float[3] {1.0, 2.0, 0.5}> ()"
                           " l = SoftmaxCrossEntropyLoss <reduction = \"mean\"" +
                           attributes + "> (h, labels" + more + ")");
  };
  const std::string usual = ", ignore_index = -100";
  const Outcome compared = loss(usual);
  expectHas(compared, {"nn.cross_entropy"});
  EXPECT_FALSE(compared.has("nn.gather_rows"));
  for (const char *other : {"", ", ignore_index = 1"})
    expectHas(loss(other), {"nn.softmax", "nn.gather_rows"});
  expectHas(loss(usual, ", k"), {"nn.softmax", "nn.gather_rows"});
  const std::string none = "e = SoftmaxCrossEntropyLoss <reduction = \"none\"> (h, labels)";
  expectHas(importModelLoss(none + " l = ReduceMean <keepdims = 0> (e)"), {"nn.gather_rows"});
  expectHas(
      importModelLoss("s, g = SoftmaxCrossEntropyLoss(h, labels) a = ReduceMean <keepdims = 0> (g)"
                      " l = Sub(s, a)"),
      {"nn.softmax", "nn.gather_rows"});
  const Outcome likelihood =
      importModelLoss("g = LogSoftmax(h) l = NegativeLogLikelihoodLoss(g, labels)");
  expectHas(likelihood, {"nn.gather_rows"});
  EXPECT_EQ(likelihood.count("nn.softmax"), 1);
}

TEST(ModelLoss, WrongOperands) {
  const auto refused = [](const std::string &node, const std::string &why) {
    expectRefused(importModelLoss(node), why);
  };
  refused("l = SoftmaxCrossEntropyLoss(h, v)", "expected labels, integers of shape 4, as 'v'");
  refused("a = Unsqueeze(labels, z) z = Constant <value = int64[1] {1}> ()"
          " l = SoftmaxCrossEntropyLoss(h, a)",
          "expected labels, integers of shape 4, as 'a', got shape 4x1");
  refused("a = ReduceSum <keepdims = 0> (h, z) z = Constant <value = int64[1] {1}> ()"
          " l = NegativeLogLikelihoodLoss(a, labels)",
          "expected scores of shape [batch, classes, ...], got 4");
  refused("l = SoftmaxCrossEntropyLoss <reduction = \"most\"> (h, labels)",
          "expected reduction none, sum or mean, got 'most'");
  refused("k = Constant <value = float[2] {1.0, 2.0}> () l = SoftmaxCrossEntropyLoss(h, labels, k)",
          "expected weights of the scores' type and of shape 3, got shape 2");
  refused("l = SoftmaxCrossEntropyLoss(h, labels, labels)",
          "expected weights of the scores' type and of shape 3, got shape 4");
  refused("l = SoftmaxCrossEntropyLoss(labels, labels)", "expected floating-point elements");
  refused("l = SoftmaxCrossEntropyLoss(h)", "expected operand 2, which is missing");
  const std::string known = " l = SoftmaxCrossEntropyLoss <ignore_index = -1> (h, i)";
  expectRefused(importModelLoss("i = Constant <value = int64[4] {0,1,3,-1}> ()" + known, 4, "4"),
                "expected labels from 0 to 2, got 3");
}

// Other losses than the model's own do not take its mean.
TEST(ModelLoss, IsNamedWhereAnotherIsTaken) {
  ImportOptions options = meanSquare();
  options.batch = 4;
  expectRefused(importText(18,
                           "agraph (float[N,3] x, int64[N] labels) => (float l) {"
                           " w = RandomNormal <shape = [3]> () h = Mul(x, w)"
                           " l = SoftmaxCrossEntropyLoss <ignore_index = -100> (h, labels) }",
                           options),
                "--loss output:NAME trains by a loss that the model computes");
}
