// Initialisers that PyTorch calls buffers are not trained.
#include "TestModel.h"

#include "frontend/onnx/ImportLayers.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <fstream>

using namespace syncline;
using namespace syncline::frontend;
using namespace syncline::test;

namespace {

/// Adds floats as an initialiser of one dimension.
void add(onnx::ModelProto &model, const std::string &name, int count) {
  onnx::TensorProto &tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.add_dims(count);
  for (int i = 0; i < count; ++i)
    tensor.add_float_data(static_cast<float>(i));
}

/// Says of a value what PyTorch's exporter says: a property in the field that IR version 10 added.
void mark(onnx::ModelProto &model, const std::string &name, const std::string &kind) {
  onnx::ValueInfoProto &value = *model.mutable_graph()->add_value_info();
  value.set_name(name);
  const auto property = [&](const std::string &key, const std::string &text) {
    onnx::StringStringEntryProto entry;
    entry.set_key(key);
    entry.set_value(text);
    value.mutable_unknown_fields()->AddLengthDelimited(4, entry.SerializeAsString());
  };
  property("another key", "BUFFER");
  property("pkg.torch.export.graph_signature.InputSpec.kind", kind);
}

/// y = x·w + b, where b is a vector that is `kind` to the exporter, or unmarked.
Outcome withBias(const std::string &kind, int count, const ImportOptions &options = meanSquare()) {
  const std::string shape = "(float[2," + std::to_string(count) + "] ";
  return importText(18,
                    "agraph " + shape + "x) => " + shape +
                        "y) { w = RandomNormal <shape = [1]> () h = Mul(x, w) y = Add(h, b) }",
                    options, [&](onnx::ModelProto &model) {
                      add(model, "b", count);
                      if (!kind.empty())
                        mark(model, "b", kind);
                    });
}

/// y = x·w·cos(angles), where `nodes` make the angles from f, an initialiser of three numbers.
Outcome withAngles(const std::string &nodes, const std::string &kind = "") {
  return importText(18,
                    "agraph (float[2,3] x) => (float[2,3] y) { w = RandomNormal <shape = [3]> () "
                    "h = Mul(x, w) " +
                        nodes + " y = Mul(h, c) }",
                    meanSquare(), [&](onnx::ModelProto &model) {
                      add(model, "f", 3);
                      if (!kind.empty())
                        mark(model, "f", kind);
                    });
}

/// y = node(x·w, p), where p is one float.
std::string withNumber(const std::string &node, const std::string &type) {
  return "agraph (float[2,3] x) => (float[2,3] y) <" + type +
         " p = {3.0}> { w = RandomNormal <shape = [3]> () h = Mul(x, w) y = " + node + " }";
}

/// The bytes of p that are planned by shapes, and the notes in a line.
std::string plannedNumber(const std::string &graph, const Edit &edit,
                          const ImportOptions &options = {}) {
  onnx::ModelProto model = parseModel(17, graph);
  if (edit)
    edit(model);
  const std::string path = scratchPath("layers.onnx");
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const Result<ModelLayers> layers = importLayers(path, options, context);
  if (!layers)
    return layers.status().message();
  std::string text;
  for (const ModelLayer &layer : layers->layers)
    if (layer.name == "p")
      text += std::to_string(layer.bytes);
  for (const std::string &note : layers->notes)
    text += note;
  return text;
}

void callParameter(onnx::ModelProto &model) { mark(model, "p", "PARAMETER"); }

const char *const takenAsNumber = "'p': taken as a number, not as a parameter";

} // namespace

// A learnable exponent cannot be trained; one that is a number is a constant, and a note says so.
TEST(Buffers, ExponentsAreNoParameters) {
  const auto refused = [&](const Outcome &outcome) {
    EXPECT_NE(outcome.error.find("(Pow): expected a constant number as exponent, got the parameter "
                                 "'p'; '--freeze NAME' says that one is not trained"),
              std::string::npos)
        << outcome.error << outcome.ir;
    EXPECT_EQ(outcome.exitCode, 1);
  };
  const std::string list = withNumber("Pow(h, p)", "float[1]"),
                    scalar = withNumber("Pow(h, p)", "float");
  refused(importText(17, list, meanSquare()));
  refused(importText(17, scalar, meanSquare(), callParameter));
  ImportOptions options = meanSquare();
  options.freeze = {"p"};
  EXPECT_EQ(importText(17, list, options).error, "");
  EXPECT_EQ(importText(17, scalar, options).notes, std::vector<std::string>());
  EXPECT_EQ(importText(17, scalar, meanSquare()).notes, std::vector<std::string>{takenAsNumber});
}

// What is planned by shapes counts them, since it trains nothing.
TEST(Buffers, ParametersOfOneElementArePlanned) {
  ImportOptions options;
  options.freeze = {"p"};
  for (const char *node : {"Pow(h, p)", "Max(h, p)", "Min(p, h)"}) {
    EXPECT_EQ(plannedNumber(withNumber(node, "float[1]"), {}), "4") << node;
    EXPECT_EQ(plannedNumber(withNumber(node, "float[1]"), {}, options), "") << node;
    EXPECT_EQ(plannedNumber(withNumber(node, "float"), callParameter), "4") << node;
    EXPECT_EQ(plannedNumber(withNumber(node, "float"), {}), takenAsNumber) << node;
  }
  EXPECT_EQ(plannedNumber(withNumber("Clip(h, p)", "float"), callParameter), "4");
  EXPECT_EQ(plannedNumber(withNumber("Clip(h, p)", "float"), {}), takenAsNumber);
}

TEST(Buffers, MarkedOnesAreNotTrained) {
  for (const char *kind : {"", "PARAMETER"})
    EXPECT_TRUE(withBias(kind, 3).has("nn.parameter \"b\"")) << kind;
  for (const char *kind : {"BUFFER", "CONSTANT_TENSOR"}) {
    const Outcome outcome = withBias(kind, 3);
    EXPECT_TRUE(outcome.has("nn.state \"b\" at 0 : tensor<3xf32>")) << outcome.error << outcome.ir;
    EXPECT_TRUE(withBias(kind, 2000).has("nn.state \"b\" at 0 : tensor<2000xf32>"));
  }
}

// Neither a list nor a mark says what a tensor is that nothing reads as a weight.
TEST(Buffers, DoubtfulParametersAreNoted) {
  const auto notes = [](const std::string &producer, const ImportOptions &options = meanSquare()) {
    return importText(18,
                      "agraph (float[2,3] x) => (float[2,3] y) { h = Mul(x, scale) n = Add(h, pe) "
                      "m = Add(n, fc_bias) k = BatchNormalization(m, g, fc_bias, mean, mean) "
                      "y = Mul(k, one) }",
                      options,
                      [&](onnx::ModelProto &model) {
                        model.set_producer_name(producer);
                        for (onnx::NodeProto &node : *model.mutable_graph()->mutable_node())
                          for (std::string &name : *node.mutable_input())
                            if (name == "fc_bias")
                              name = "fc.bias";
                        for (const char *name : {"scale", "pe", "fc.bias", "g", "mean"})
                          add(model, name, 3);
                        add(model, "one", 1);
                      })
        .notes;
  };
  const std::string note =
      "trained as parameters, 28 B, though no node reads them as weights and the file does not say "
      "what they are; '--freeze NAME' says that one is not trained, '--parameters FILE' which ones "
      "are";
  EXPECT_EQ(notes("pytorch").back(), "'scale', 'pe', 'one': " + note);
  EXPECT_EQ(notes("another").size() + 1, notes("pytorch").size());
  ImportOptions options = meanSquare();
  options.freeze = {"scale", "pe", "one"};
  EXPECT_EQ(notes("pytorch", options).size(), notes("another").size());
}

// A property that is none is passed over.
TEST(Buffers, BrokenPropertiesSayNothing) {
  const Outcome outcome =
      importText(18, "agraph (float[2,3] x) => (float[2,3] y) { y = Add(x, b) }", meanSquare(),
                 [](onnx::ModelProto &model) {
                   add(model, "b", 3);
                   onnx::ValueInfoProto &value = *model.mutable_graph()->add_value_info();
                   value.set_name("b");
                   value.mutable_unknown_fields()->AddVarint(4, 1);
                   value.mutable_unknown_fields()->AddLengthDelimited(4, "\x0a\x7f");
                 });
  EXPECT_TRUE(outcome.has("nn.parameter \"b\"")) << outcome.error << outcome.ir;
}

// A pattern of --freeze that names a buffer has matched something.
TEST(Buffers, MayBeFrozen) {
  ImportOptions options = meanSquare();
  options.freeze = {"b"};
  EXPECT_EQ(withBias("BUFFER", 3, options).error, "");
}

// The inverse frequencies of rotary positions, whose angles are known with them.
TEST(Buffers, AnglesAreComputedAtImport) {
  const Outcome outcome =
      withAngles("s = Constant <value_ints = [3,1]> () g = Reshape(f, s) "
                 "p = Constant <value = float[1,2] {1.0, 2.0}> () a = MatMul(g, p) "
                 "t = Transpose(a) k = Cos(t) z = Constant <value_int = 1> () "
                 "i = Gather(k, z) q = Sin(i) c = Add(i, q)");
  EXPECT_EQ(outcome.error, "");
  EXPECT_FALSE(outcome.has("\"f\"")) << outcome.ir;
  ASSERT_EQ(outcome.notes.size(), 1U);
  EXPECT_EQ(outcome.notes[0],
            "'f': not trained, since only cosines and sines are computed from it, as from "
            "positions; '--parameters FILE' says what is trained");
}

// A parameter that anything else reads, or that the exporter calls one, is not frozen unasked.
TEST(Buffers, ParametersInCosinesStayParameters) {
  const auto isTrained = [](const Outcome &outcome) {
    EXPECT_EQ(outcome.error, "");
    return outcome.has("nn.parameter \"f\"") && outcome.has("nn.unary cos");
  };
  EXPECT_FALSE(isTrained(withAngles("c = Cos(f)")));
  EXPECT_FALSE(isTrained(withAngles("c = Cos(f)", "BUFFER")));
  EXPECT_TRUE(isTrained(withAngles("c = Cos(f)", "PARAMETER")));
  EXPECT_TRUE(isTrained(withAngles("k = Cos(f) c = Add(k, f)")));
  EXPECT_TRUE(isTrained(withAngles("n = Neg(f) k = Cos(n) q = Abs(n) c = Add(k, q)")));
  // What a buffer's other readers are does not matter: it is not trained in any case.
  EXPECT_FALSE(isTrained(withAngles("k = Cos(f) c = Add(k, f)", "BUFFER")));
}

// A layer whose activation is a cosine or sine is trained.
TEST(Buffers, WhatCosinesOfTheInputReadIsTrained) {
  const Outcome outcome = withAngles("a = Mul(h, f) c = Cos(a)");
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("nn.parameter \"f\"")) << outcome.ir;
  EXPECT_TRUE(outcome.has("nn.unary cos")) << outcome.ir;
}
