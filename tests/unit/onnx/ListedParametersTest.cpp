// A list of parameters says which tensors of a file are trained.
#include "TestModel.h"

#include "frontend/onnx/ParameterList.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

using namespace syncline;
using namespace syncline::frontend;
using namespace syncline::test;

namespace {

ImportOptions listing(const ParameterList &list) {
  ImportOptions options = meanSquare();
  options.parameters = list;
  return options;
}

void add(onnx::ModelProto &model, const std::string &name, const nn::Dims &dims) {
  onnx::TensorProto &tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.mutable_dims()->Assign(dims.begin(), dims.end());
  for (std::int64_t i = 0; i < nn::elementCount(dims); ++i)
    tensor.add_float_data(static_cast<float>(i % 5));
}

/// y = (x·w + mask)·v, where the file has the tensors w [3, 4], mask [2, 4] and v [4, 4].
Outcome masked(const ParameterList &list, const std::string &first = "w") {
  return importText(17,
                    "agraph (float[2,3] x) => (float[2,4] y) { h = MatMul(x, w) "
                    "m = Add(h, mask) y = MatMul(m, v) }",
                    listing(list), [&](onnx::ModelProto &model) {
                      model.mutable_graph()->mutable_node(0)->set_input(1, first);
                      add(model, first, {3, 4});
                      add(model, "mask", {2, 4});
                      add(model, "v", {4, 4});
                    });
}

std::string refusalOf(const std::string &text) {
  const Result<ParameterList> list = parseParameterList(text);
  return list ? "" : list.status().message();
}

} // namespace

TEST(ParameterList, TakesWhatNamedParametersPrints) {
  const Result<ParameterList> list =
      parseParameterList("w (3, 4)\r\n\nb (4,)\nscale ()\n v torch.Size([4, 4])\ns torch.Size([])");
  ASSERT_TRUE(bool(list)) << list.status().message();
  std::string text;
  for (const ListedParameter &parameter : *list)
    text += describe(parameter);
  EXPECT_EQ(text, "'w' (3, 4)'b' (4)'scale' ()'v' (4, 4)'s' ()");
}

TEST(ParameterList, NamesBrokenLinesByNumber) {
  for (const char *line : {"w", "w 3, 4", "w (3, 4", "w (3, x)", "w (3 4)", "w (-3, 4)", "(3, 4)",
                           "w torch.Size(3, 4)", "w (99999999999999999999)", "w of fc (3, 4)"})
    EXPECT_EQ(refusalOf("a (1,)\n\n" + std::string(line)),
              "line 3: expected a name and a shape such as 'fc.weight (10, 64)', got '" +
                  std::string(line) + "'");
  EXPECT_EQ(refusalOf("w (3,)\nw (3,)"), "line 2: 'w' is listed twice");
  EXPECT_EQ(refusalOf("\n \n"), "expected names and shapes of parameters, got an empty file");
}

TEST(ListedParameters, OthersAreNotTrained) {
  const Outcome outcome = masked({{"w", {3, 4}}, {"v", {4, 4}}});
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.count("nn.parameter"), 2) << outcome.ir;
  EXPECT_FALSE(outcome.has("nn.parameter \"mask\"")) << outcome.ir;
  EXPECT_TRUE(outcome.notes.empty());
  EXPECT_EQ(masked({{"mask", {2, 4}}}).count("nn.parameter"), 1);
}

// The exporter transposes a weight and gives it a name of its own.
TEST(ListedParameters, OneTensorOfTheShapeIsTheParameter) {
  const Outcome outcome = masked({{"fc.weight", {4, 3}}, {"v", {4, 4}}}, "onnx::MatMul_7");
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("nn.parameter \"onnx::MatMul_7\"")) << outcome.ir;
  ASSERT_EQ(outcome.notes.size(), 2U);
  EXPECT_EQ(outcome.notes[1], "'onnx::MatMul_7': taken for listed parameters of its shape that the "
                              "file has under no name of theirs");
}

TEST(ListedParameters, ThoseThatTheFileLacksAreRefused) {
  const auto refused = [](const Outcome &outcome, const std::string &words) {
    EXPECT_EQ(outcome.exitCode, 1);
    EXPECT_NE(outcome.error.find(words), std::string::npos) << outcome.error;
  };
  refused(masked({{"w", {3, 4}}, {"vv", {5}}}),
          "--parameters lists what the file lacks: 'vv' (5), did you mean 'v'?");
  refused(masked({{"w", {3, 5}}}), "--parameters lists 'w' (3, 5), which has shape 3x4 in");
  // Neither a mask's shape nor two weights of a shape say which tensor is meant.
  refused(masked({{"other", {4, 2}}}), "--parameters lists what the file lacks: 'other' (4, 2)");
  refused(importText(
              17, "agraph (float[2,3] x) => (float[2,3] y) { h = MatMul(x, a) y = MatMul(h, b) }",
              listing({{"fc.weight", {3, 3}}}),
              [](onnx::ModelProto &model) {
                add(model, "a", {3, 3});
                add(model, "b", {3, 3});
              }),
          "--parameters lists 'fc.weight' (3, 3), which the file has under another name; which of "
          "'a', 'b' is not known: list it by that name");
  refused(masked({{"onnx::Conv_1", {7}}}, "onnx::MatMul_7"), "lacks: 'onnx::Conv_1' (7); this file "
                                                             "was exported for inference");
}

// PyTorch's older exporter computes 3·b and gives it a name of its own.
TEST(ListedParameters, WhatIsComputedOfThemIsNamed) {
  const Outcome outcome =
      importText(17, "agraph (float[2,3] x) => (float[2,4] y) { h = MatMul(x, w) y = Add(h, m) }",
                 listing({{"w", {3, 4}}, {"b", {4}}}), [&](onnx::ModelProto &model) {
                   model.mutable_graph()->mutable_node(1)->set_input(1, "onnx::Add_21");
                   add(model, "w", {3, 4});
                   add(model, "onnx::Add_21", {4});
                 });
  EXPECT_NE(outcome.error.find("lacks: 'b' (4); PyTorch's exporter folded such parameters into "
                               "others, here likely into 'onnx::Add_21', or left them out; to "
                               "train the model itself, export it with torch.onnx.export(model, "
                               "x, f, training="),
            std::string::npos)
      << outcome.error;
}

// PyTorch merges copies behind an Identity; those that are tied are listed once.
TEST(ListedParameters, NamesBehindAnIdentityAreParametersWhereListed) {
  const auto shared = [](const ParameterList &list) {
    return importText(17,
                      "agraph (float[2,3] x) => (float[2,3] y) { w2 = Identity(w1) "
                      "h = MatMul(x, w1) y = MatMul(h, w2) }",
                      listing(list), [](onnx::ModelProto &model) { add(model, "w1", {3, 3}); });
  };
  EXPECT_EQ(shared({{"w1", {3, 3}}}).count("nn.parameter"), 1);
  EXPECT_EQ(shared({{"w1", {3, 3}}, {"w2", {3, 3}}}).count("nn.parameter"), 2);
  EXPECT_EQ(shared({{"w1", {3, 3}}, {"renamed", {3, 3}}}).count("nn.parameter"), 2);
  const Outcome second = shared({{"w2", {3, 3}}});
  EXPECT_TRUE(second.has("nn.parameter \"w2\"") && second.has("nn.state \"w1\"")) << second.error;
}

// An LSTM's tensor of biases holds two parameters of PyTorch.
TEST(ListedParameters, RecurrentTensorsHoldSeveral) {
  const ParameterList list{
      {"l.weight_ih_l0", {8, 3}},
      {"l.weight_hh_l0", {8, 2}},
      {"l.bias_ih_l0", {8}},
      {"l.bias_hh_l0", {8}},
      {"fc", {2, 2}},
  };
  const auto recurrent = [&](const ParameterList &listed) {
    return importText(17,
                      "agraph (float[2,5,3] x) => (float[2,2] y) { t = Transpose <perm = [1,0,2]> "
                      "(x) l, h, c = LSTM <hidden_size = 2> (t, W, R, B) z = Constant <value_ints "
                      "= [0]> () s = Squeeze(h, z) y = MatMul(s, fc) }",
                      listing(listed), [](onnx::ModelProto &model) {
                        add(model, "W", {1, 8, 3});
                        add(model, "R", {1, 8, 2});
                        add(model, "B", {1, 16});
                        add(model, "fc", {2, 2});
                      });
  };
  const std::string words = "--parameters";
  EXPECT_EQ(recurrent(list).error.find(words), std::string::npos) << recurrent(list).error;
  const ParameterList fewer{list[0], list[1], list[2], list[4]};
  EXPECT_NE(recurrent(fewer).error.find("which of 'B' is not known"), std::string::npos)
      << recurrent(fewer).error;
}

TEST(ListedParameters, GeneratorsAreParametersWhereListed) {
  const auto generated = [](const ParameterList &list) {
    return importText(17,
                      "agraph (float[2,3] x) => (float[2,3] y) { w = RandomNormal <shape = [3,3]> "
                      "() g = RandomNormal <shape = [3]> () h = MatMul(x, w) y = Mul(h, g) }",
                      listing(list));
  };
  const Outcome outcome = generated({{"w", {3, 3}}});
  EXPECT_TRUE(outcome.has("nn.parameter \"w\"") && outcome.has("nn.state \"g\"")) << outcome.error;
  EXPECT_EQ(generated({{"w", {3, 3}}, {"g", {3}}}).count("nn.parameter"), 2);
}
