// Which tensors are trained, which are kept, where their values are, and what the skeleton holds.
#include "TestModel.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <cstring>

using namespace syncline;
using namespace syncline::frontend;
using namespace syncline::test;

static onnx::TensorProto floats(const std::string &name, std::vector<std::int64_t> dims,
                                const std::vector<float> &values) {
  onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.mutable_dims()->Assign(dims.begin(), dims.end());
  tensor.mutable_float_data()->Assign(values.begin(), values.end());
  return tensor;
}

static float floatAt(const std::string &bytes, size_t offset) {
  float value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

/// Adds float initialisers of shape [count] with the given values.
static Edit withInitializers(std::vector<onnx::TensorProto> tensors) {
  return [=](onnx::ModelProto &model) {
    for (const onnx::TensorProto &tensor : tensors)
      *model.mutable_graph()->add_initializer() = tensor;
  };
}

/// The trained model that the runtime would write: the skeleton and one record a stored tensor.
static onnx::ModelProto append(const Outcome &outcome,
                               const std::vector<onnx::TensorProto> &values) {
  std::string bytes = outcome.skeleton;
  for (const onnx::TensorProto &tensor : values) {
    onnx::ModelProto record;
    *record.mutable_graph()->add_initializer() = tensor;
    bytes += record.SerializeAsString();
  }
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(bytes));
  return model;
}

TEST(ParameterImport, ValuesLieAtTheirOffsets) {
  Outcome outcome = importText(
      13, "agraph (float[2,3] x) => (float[2,3] y) { h = Mul(x, a) y = Add(h, b) }", meanSquare(),
      withInitializers({floats("b", {3}, {4, 5, 6}), floats("a", {3}, {1, 2, 3})}));
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("nn.parameter \"a\" at 0 : tensor<3xf32>")) << outcome.ir;
  EXPECT_TRUE(outcome.has("nn.parameter \"b\" at 64 : tensor<3xf32>")) << outcome.ir;
  ASSERT_EQ(outcome.weights.size(), 64u + 12);
  EXPECT_EQ(floatAt(outcome.weights, 8), 3);
  EXPECT_EQ(floatAt(outcome.weights, 12), 0) << "zeros between tensors";
  EXPECT_EQ(floatAt(outcome.weights, 64), 4);
}

TEST(ParameterImport, SkeletonAndRecordsAreTheModel) {
  onnx::TensorProto a = floats("a", {3}, {1, 2, 3}), unused = floats("unused", {1}, {7});
  std::string text = "agraph (float[2,3] x) => (float[2,3] y) { y = Mul(x, a) }";
  Edit edit = withInitializers({a, unused});
  Outcome outcome = importText(13, text, meanSquare(), edit);
  onnx::ModelProto skeleton = append(outcome, {});
  ASSERT_EQ(skeleton.graph().initializer_size(), 1) << "what no step needs stays";
  EXPECT_EQ(skeleton.graph().initializer(0).name(), "unused");
  a.set_float_data(0, 8);
  onnx::ModelProto trained = append(outcome, {a});
  ASSERT_EQ(trained.graph().initializer_size(), 2);
  EXPECT_EQ(trained.graph().initializer(1).float_data(0), 8);
  EXPECT_EQ(trained.graph().node_size(), 1);
  EXPECT_EQ(importBytes(trained.SerializeAsString(), meanSquare()).ir, outcome.ir);
}

// What other runtimes compute from the saved model is inference; read again, it trains alike.
TEST(ParameterImport, SkeletonIsForInference) {
  onnx::TensorProto on;
  on.set_name("on");
  on.set_data_type(onnx::TensorProto::BOOL);
  on.add_int32_data(1);
  const Edit values = withInitializers({floats("s", {3}, {1, 2, 3}), floats("b", {3}, {4, 5, 6}),
                                        floats("m", {3}, {0, 0, 1}), floats("v", {3}, {1, 1, 2}),
                                        floats("r", {}, {0.25}), on});
  const Outcome outcome =
      importText(15,
                 "agraph (float[2,3] x) => (float[2,3] y) {"
                 " h, m1, v1 = BatchNormalization <training_mode = 1, epsilon = 0.001>"
                 " (x, s, b, m, v) y = Dropout(h, r, on) }",
                 meanSquare(), values);
  EXPECT_EQ(outcome.error, "");
  const onnx::ModelProto saved =
      append(outcome, {floats("s", {3}, {1, 2, 3}), floats("b", {3}, {4, 5, 6}),
                       floats("m", {3}, {0, 0, 1}), floats("v", {3}, {1, 1, 2})});
  int seen = 0;
  for (const onnx::NodeProto &node : saved.graph().node()) {
    if (node.op_type() == "BatchNormalization") {
      ++seen;
      EXPECT_EQ(node.output_size(), 1);
      ASSERT_EQ(node.attribute_size(), 1);
      EXPECT_EQ(node.attribute(0).name(), "epsilon");
    } else if (node.op_type() == "Dropout") {
      ++seen;
      EXPECT_EQ(node.input_size(), 2);
    }
  }
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(importBytes(saved.SerializeAsString(), meanSquare()).ir, outcome.ir);
}

TEST(ParameterImport, GeneratorsAreParametersWithoutValues) {
  Outcome outcome = importText(
      13,
      "agraph (float[2,3] x) => (float[2,3] y) {"
      " s = Constant <value_ints = [3]> () a = ConstantOfShape <value = float[1] {0.5}> (s)"
      " b = RandomNormal <shape = [3], mean = 1.0, scale = 0.1> ()"
      " c = RandomUniform <shape = [3], low = -2.0, high = 2.0> ()"
      " h = Mul(x, a) g = Add(h, b) y = Add(g, c) }",
      meanSquare());
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("\"a\" init <constant, 5.000000e-01 : f64, 0.000000e+00 : f64>"));
  EXPECT_TRUE(outcome.has("\"b\" init <normal, 1.000000e+00 : f64, 1.000000e-01 : f64>"));
  EXPECT_TRUE(outcome.has("\"c\" init <uniform, -2.000000e+00 : f64, 2.000000e+00 : f64>"));
  EXPECT_TRUE(outcome.weights.empty());
  // The nodes that made the values would define the initialisers' names a second time.
  onnx::ModelProto trained =
      append(outcome, {floats("a", {3}, {1, 1, 1}), floats("b", {3}, {1, 1, 1}),
                       floats("c", {3}, {1, 1, 1})});
  EXPECT_EQ(trained.graph().node_size(), 4);
  EXPECT_EQ(importBytes(trained.SerializeAsString(), meanSquare()).error, "");
}

// Before IR version 4 every initialiser had to be an input too, which a generated tensor is not.
TEST(ParameterImport, SkeletonOfAnOldGeneratedModelIsNewer) {
  Outcome outcome = importText(
      9,
      "agraph (float[2,3] x) => (float[2,3] y) { a = RandomNormal <shape = [3]> () y = Mul(x, a) }",
      meanSquare(), [](onnx::ModelProto &model) { model.set_ir_version(3); });
  EXPECT_EQ(append(outcome, {}).ir_version(), 4);
}

TEST(ParameterImport, InitializersMayBeInputsToo) {
  Outcome outcome =
      importText(9, "agraph (float[2,3] x, float[3] a) => (float[2,3] y) { y = Mul(x, a) }",
                 meanSquare(), withInitializers({floats("a", {3}, {1, 2, 3})}));
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("nn.parameter \"a\"")) << outcome.ir;
}

TEST(ParameterImport, TiedTensorsAreOneParameter) {
  Outcome outcome = importText(
      13, "agraph (float[2,3] x) => (float[2,3] y) { b = Identity(a) h = Mul(x, a) y = Add(h, b) }",
      meanSquare(), withInitializers({floats("a", {3}, {1, 2, 3})}));
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.count("nn.parameter"), 1) << outcome.ir;
  EXPECT_EQ(outcome.notes,
            std::vector<std::string>{"'b' (12 B): trained as one parameter with another of equal "
                                     "values; where the model has two, list them with "
                                     "'--parameters FILE'"});
}

TEST(ParameterImport, NamesOfTiedTensorsAddTheirBytes) {
  Outcome outcome = importText(13,
                               "agraph (float[2,3] x) => (float[2,3] y) { b = Identity(a) "
                               "c = Identity(a) g = Mul(x, a) h = Add(g, b) y = Add(h, c) }",
                               meanSquare(), withInitializers({floats("a", {3}, {1, 2, 3})}));
  ASSERT_EQ(outcome.notes.size(), 1u);
  EXPECT_EQ(outcome.notes[0].find("'b', 'c' (24 B in all): trained as one parameter"), 0u)
      << outcome.notes[0];
}

// Exporters merge tensors of equal values, such as all ones, behind an Identity.
TEST(ParameterImport, MergedUniformTensorsAreTrainedApart) {
  Outcome outcome = importText(
      13, "agraph (float[2,3] x) => (float[2,3] y) { b = Identity(a) h = Mul(x, a) y = Add(h, b) }",
      meanSquare(), withInitializers({floats("a", {3}, {1, 1, 1})}));
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("nn.parameter \"a\" at 0") && outcome.has("nn.parameter \"b\" at 64"))
      << outcome.ir;
  EXPECT_EQ(floatAt(outcome.weights, 64), 1);
  ASSERT_EQ(outcome.notes.size(), 1u);
  onnx::ModelProto trained =
      append(outcome, {floats("a", {3}, {1, 2, 3}), floats("b", {3}, {4, 5, 6})});
  EXPECT_EQ(trained.graph().node_size(), 2) << "the Identity is gone";
}

// A class token of zeros is expanded to the batch, which at batch 1 changes nothing.
TEST(ParameterImport, OperatorsThatChangeNothingMakeNoTensor) {
  Outcome outcome =
      importText(13,
                 "agraph (float[1,3] x) => (float[1,3] y) <int64[2] shape = {1, 3}>"
                 " { b = Expand(a, shape) h = Mul(x, b) c = Identity(b) y = Add(h, c) }",
                 meanSquare(), withInitializers({floats("a", {1, 3}, {0, 0, 0})}));
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("nn.parameter \"a\" at 0") && outcome.has("nn.parameter \"c\" at 64"))
      << outcome.ir;
}

// However many they are, the user reads one line.
TEST(ParameterImport, EqualNotesAreOneLine) {
  Outcome outcome = importText(
      13,
      "agraph (float[2,3] x) => (float[2,3] y) { b = Identity(a) c = Identity(a) d = Identity(a)"
      " e = Identity(a) h = Mul(x, a) i = Mul(h, b) j = Mul(i, c) k = Mul(j, d) y = Add(k, e) }",
      meanSquare(), withInitializers({floats("a", {3}, {1, 1, 1})}));
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.count("nn.parameter"), 5) << outcome.ir;
  ASSERT_EQ(outcome.notes.size(), 1u);
  EXPECT_EQ(outcome.notes[0], "'b', 'c', 'd' and 1 more: trained apart, though the file "
                              "has one tensor for all that start with equal values");
}

// Tensors are merged even when only the other names are read, so that no tensor has the name under
// which the values are stored.
TEST(ParameterImport, MergedTensorsOutliveTheirUnusedSource) {
  Outcome outcome = importText(
      13,
      "agraph (float[2,3] x) => (float[2,3] y) { b = Identity(a) c = Identity(a) h = Mul(x, c)"
      " y = Add(h, b) }",
      meanSquare(), withInitializers({floats("a", {3}, {2, 2, 2})}));
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.count("nn.parameter"), 2);
  EXPECT_EQ(floatAt(outcome.weights, 64), 2);
}

TEST(ParameterImport, RunningStatisticsAreStatesOfTheirOwn) {
  Outcome outcome =
      importText(15,
                 "agraph (float[2,3,4] x) => (float[2,3,4] y) { n = Identity(m)"
                 " h = BatchNormalization(x, s, b, m, v) y = BatchNormalization(h, s, b, n, v) }",
                 meanSquare(),
                 withInitializers({floats("s", {3}, {1, 2, 3}), floats("b", {3}, {4, 5, 6}),
                                   floats("m", {3}, {1, 2, 3}), floats("v", {3}, {1, 2, 3})}));
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.count("nn.parameter"), 2) << outcome.ir;
  EXPECT_TRUE(outcome.has("nn.state \"m\" at") && outcome.has("nn.state \"n\" at") &&
              outcome.has("nn.state \"v\" at"))
      << outcome.ir;
}

TEST(ParameterImport, FrozenTensorsAreStates) {
  ImportOptions options = meanSquare();
  options.freeze = {"layer1.*"};
  std::vector<onnx::TensorProto> values = {floats("layer1.w", {3}, {1, 2, 3}),
                                           floats("layer2.w", {3}, {1, 2, 3})};
  Edit edit = [&](onnx::ModelProto &model) {
    withInitializers(values)(model);
    model.mutable_graph()->mutable_node(0)->set_input(1, "layer1.w");
    model.mutable_graph()->mutable_node(1)->set_input(1, "layer2.w");
  };
  std::string text = "agraph (float[2,3] x) => (float[2,3] y) { h = Mul(x, a) y = Add(h, b) }";
  Outcome outcome = importText(13, text, options, edit);
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("nn.state \"layer1.w\"") && outcome.has("nn.parameter \"layer2.w\""))
      << outcome.ir;
  options.freeze = {"layer3*"};
  EXPECT_NE(importText(13, text, options, edit).error.find("'layer3*' matches no parameter, "),
            std::string::npos);
  options.freeze = {"*"};
  EXPECT_NE(importText(13, text, options, edit).error.find("no parameter that could be trained"),
            std::string::npos);
  options.freeze = {"[a"};
  EXPECT_NE(importText(13, text, options, edit).error.find("freeze pattern '[a'"),
            std::string::npos);
}

// Constants are not trained; large ones are kept beside the weights.
TEST(ParameterImport, LargeConstantsAreStates) {
  std::vector<float> values(2000);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i);
  Outcome outcome = importText(13,
                               "agraph (float[2,2000] x) => (float[2,2000] y) { h = Mul(x, w)"
                               " w = RandomNormal <shape = [1]> () c = Constant() y = Add(h, c) }",
                               meanSquare(), [&](onnx::ModelProto &model) {
                                 onnx::AttributeProto *value =
                                     model.mutable_graph()->mutable_node(2)->add_attribute();
                                 value->set_name("value");
                                 value->set_type(onnx::AttributeProto::TENSOR);
                                 *value->mutable_t() = floats("", {2000}, values);
                               });
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("nn.state \"c\" at 0 : tensor<2000xf32>")) << outcome.ir;
  EXPECT_EQ(floatAt(outcome.weights, 4 * 1999), 1999);
}

// Initialisers may be raw, and values of 16 bits lie in a field of 32.
TEST(ParameterImport, ValuesMayBeRawOrInAWiderField) {
  onnx::TensorProto raw;
  raw.set_name("a");
  raw.set_data_type(onnx::TensorProto::FLOAT);
  raw.add_dims(2);
  raw.set_raw_data(std::string("\x00\x00\x80\x3f\x00\x00\x00\x40", 8));
  onnx::TensorProto half;
  half.set_data_type(onnx::TensorProto::FLOAT16);
  half.add_dims(2);
  half.add_int32_data(0x3c00); // 1.0
  half.add_int32_data(0x4000); // 2.0
  Outcome outcome = importText(13,
                               "agraph (float[2,2] x) => (float[2,2] y) { c = Constant <value = "
                               "float {0}> () f = Cast <to = 1> (c) h = Mul(x, a) y = Add(h, f) }",
                               meanSquare(), [&](onnx::ModelProto &model) {
                                 withInitializers({raw})(model);
                                 auto &constant = *model.mutable_graph()->mutable_node(0);
                                 *constant.mutable_attribute(0)->mutable_t() = half;
                               });
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("nn.parameter \"a\" at 0 : tensor<2xf32>")) << outcome.ir;
  EXPECT_TRUE(outcome.has("dense<[1.000000e+00, 2.000000e+00]>")) << outcome.ir;
  EXPECT_EQ(outcome.weights, raw.raw_data());
}

TEST(ParameterImport, SameModelGivesSameBytes) {
  auto import = [] {
    return importText(13, "agraph (float[2,3] x) => (float[2,3] y) { h = Mul(x, a) y = Add(h, b) }",
                      meanSquare(),
                      withInitializers({floats("b", {3}, {4, 5, 6}), floats("a", {3}, {1, 2, 3})}));
  };
  Outcome first = import(), second = import();
  EXPECT_EQ(first.ir, second.ir);
  EXPECT_EQ(first.weights, second.weights);
  EXPECT_EQ(first.skeleton, second.skeleton);
}
