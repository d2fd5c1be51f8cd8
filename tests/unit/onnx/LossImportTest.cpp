// Losses that are made of elementwise operations and reductions.
#include "TestModel.h"

#include "onnx/onnx_pb.h"

#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::frontend;
using namespace syncline::test;

namespace {

/// Imports y, made by `end` of h [2, 3], which a parameter makes.
Outcome importLoss(const std::string &loss, const std::string &end = "y = Identity(h)",
                   const std::string &dims = "3", ClassesIn in = ClassesIn::automatic,
                   const std::vector<double> &weights = {}) {
  ImportOptions options;
  options.loss = *TrainedLoss::parse(loss);
  options.loss.classWeights = weights;
  options.classesIn = in;
  return importText(13,
                    "agraph (float[2," + dims +
                        "] x) => (float[2,D] y) { w = RandomNormal <shape "
                        "= [" +
                        dims.substr(dims.rfind(',') + 1) + "]> () h = Mul(x, w) " + end + " }",
                    options);
}

/// Imports y and `second`, in place of the name z, of shape [2, 3], with the loss on `outputs`.
Outcome importTwo(const std::string &outputs, const std::string &second = "z") {
  ImportOptions options = meanSquare();
  options.output = outputs;
  return importText(13,
                    "agraph (float[2,3] x) => (float[2,3] y, float[2,3] z) { w = RandomNormal "
                    "<shape = [3]> () h = Mul(x, w) y = Identity(h) z = Exp(h) }",
                    options, [&](onnx::ModelProto &model) {
                      onnx::GraphProto &graph = *model.mutable_graph();
                      graph.mutable_output(1)->set_name(second);
                      graph.mutable_node(graph.node_size() - 1)->set_output(0, second);
                    });
}

void expectAll(const Outcome &outcome, const std::vector<std::string> &texts) {
  EXPECT_EQ(outcome.error, "");
  for (const std::string &text : texts)
    EXPECT_TRUE(outcome.has(text)) << "no " << text << " in\n" << outcome.ir;
}

constexpr auto mean = "nn.reduce mean";
constexpr auto target = "nn.target \"target\" : tensor<2x3xf32>";

} // namespace

TEST(LossImport, OfElements) {
  expectAll(importLoss("l1"), {target, mean, "nn.unary abs"});
  expectAll(importLoss("smooth-l1"), {target, mean, "nn.unary clip", "dense<1.000000e+00>"});
  expectAll(importLoss("smooth-l1:beta=0.25"), {"nn.unary clip", "2.500000e-01", "dense<4.0"});
  expectAll(importLoss("bce-with-logits"), {target, mean, "nn.unary softplus", "nn.unary neg"});
  expectAll(importLoss("mse"), {target, "nn.mean_squared_error"});
}

TEST(LossImport, BeneathASigmoid) {
  const Outcome outcome = importLoss("bce-with-logits", "y = Sigmoid(h)");
  expectAll(outcome, {"nn.unary softplus"});
  EXPECT_EQ(outcome.count("nn.unary sigmoid"), 0) << outcome.ir;
  ASSERT_EQ(outcome.notes.size(), 1u);
  EXPECT_EQ(outcome.notes[0].find("the model ends in a sigmoid"), 0u) << outcome.notes[0];
  const Outcome reshaped = importLoss("bce-with-logits", "s = Sigmoid(h) f = Flatten(s) a = "
                                                         "Constant <value_ints = [2,3,1]> () "
                                                         "y = Reshape(f, a)");
  EXPECT_EQ(reshaped.count("nn.unary sigmoid"), 0) << reshaped.error << reshaped.ir;
  EXPECT_EQ(importLoss("l1", "y = Sigmoid(h)").count("nn.unary sigmoid"), 1);
}

TEST(LossImport, OfProbabilities) {
  const std::string loss = "cross-entropy:targets=probabilities";
  const Outcome outcome = importLoss(loss, "y = Softmax(h)");
  expectAll(outcome, {target, "logarithm", "nn.reduce sum", mean});
  EXPECT_EQ(outcome.count("nn.softmax"), 1) << outcome.ir; // the logits beneath it
  EXPECT_EQ(outcome.count("nn.cross_entropy"), 0) << outcome.ir;
  expectAll(importLoss(loss, "y = Identity(h)", "4,3", ClassesIn::second),
            {"nn.target \"target\" : tensor<2x4x3xf32>", "-> tensor<2x3xf32>"});
  const Outcome last = importLoss(loss, "y = Identity(h)", "4,3", ClassesIn::last);
  EXPECT_NE(last.error.find("has its classes last; 'targets=probabilities' expects them in the "
                            "second dimension"),
            std::string::npos)
      << last.error;
}

// The losses share a target; the first output is the one that is scored.
TEST(LossImport, OfSeveralOutputs) {
  const Outcome sum = importTwo("y,z=0.25");
  expectAll(sum, {"\"y\" : tensor<2x3xf32>", "dense<2.500000e-01>", "nn.binary add"});
  EXPECT_EQ(sum.count("nn.mean_squared_error"), 2) << sum.ir;
  EXPECT_EQ(sum.count("nn.target"), 1) << sum.ir;
  EXPECT_EQ(sum.count("nn.output"), 1) << sum.ir;
  EXPECT_EQ(sum.notes.size(), 0u);
  EXPECT_EQ(importTwo("z=2,y=3").count("nn.binary mul"), 3); // of which one makes h
  const Outcome one = importTwo("y");
  EXPECT_EQ(one.count("nn.mean_squared_error"), 1) << one.error << one.ir;
  EXPECT_EQ(one.count("nn.unary exp"), 0) << one.ir;
}

// A name may have what stands between names.
TEST(LossImport, OfAnOutputWithAComma) {
  for (const std::string name : {"y,z", "z=2", "y=1,y"}) {
    EXPECT_TRUE(importTwo(name, name).has("nn.output")) << name;
    EXPECT_EQ(importTwo(name, name).count("nn.mean_squared_error"), 1) << name;
  }
  EXPECT_EQ(importTwo("y,z=2", "z=2").count("nn.mean_squared_error"), 2);
}

TEST(LossImport, SaysWhichOutputsThereAre) {
  const auto refused = [](const std::string &outputs, const std::string &why) {
    const std::string error = importTwo(outputs).error;
    EXPECT_NE(error.find(why), std::string::npos) << error;
  };
  refused("y,q", "the graph has no output 'q'; it has 'y', 'z'");
  refused("y,", "the graph has no output ''");
  refused("y,z=", "output 'z': expected a weight from 1e-30 to 1e30, got ''");
  for (const char *weight : {"0", "-1", "nan", "1e31", "2x"})
    refused("y,z=" + std::string(weight),
            "expected a weight from 1e-30 to 1e30, got '" + std::string(weight) + "'");
  refused("y,z=2,y", "output 'y' is there twice");
}

TEST(LossImport, SmoothsLabels) {
  expectAll(importLoss("cross-entropy:smoothing=0.25"),
            {"nn.cross_entropy", "{smoothing = 2.500000e-01 : f64}"});
  const Outcome soft = importLoss("cross-entropy:targets=probabilities,smoothing=0.25");
  expectAll(soft, {target, "dense<7.500000e-01>", "dense<0.0833333358>"});
  EXPECT_FALSE(importLoss("cross-entropy").has("smoothing"));
}

TEST(LossImport, WeighsClasses) {
  const auto weighed = [](const std::string &parameters, const std::vector<double> &weights) {
    return importLoss("cross-entropy:" + parameters, "y = Identity(h)", "3", ClassesIn::automatic,
                      weights);
  };
  const std::string constant = "nn.constant dense<[5.000000e-01, 0.000000e+00, 2.000000e+00]>";
  expectAll(weighed("weights=w.npy", {0.5, 0, 2}), {constant, " weights %"});
  expectAll(weighed("targets=probabilities,weights=w.npy", {0.5, 0, 2}), {target, constant});
  for (const char *parameters : {"weights=w.npy", "targets=probabilities,weights=w.npy"})
    EXPECT_NE(weighed(parameters, {0.5, 2})
                  .error.find(
                      "'w.npy': expected 3 weights, one for each class of output 'y' of shape 2x3, "
                      "got 2"),
              std::string::npos);
}

TEST(LossImport, NeedsTheBatch) {
  for (const char *loss : {"l1", "smooth-l1", "bce-with-logits"})
    EXPECT_NE(
        importLoss(loss, "y = ReduceMean <keepdims = 0> (h)").error.find("expected the batch"),
        std::string::npos);
}
