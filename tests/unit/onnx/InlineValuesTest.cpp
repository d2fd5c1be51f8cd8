// Values in files beside the model: where they may lie, where they may lack, and that a saved model
// needs none of them.
#include "TestModel.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <filesystem>
#include <fstream>

using namespace syncline::frontend;
using namespace syncline::test;
namespace fs = std::filesystem;

static onnx::TensorProto weight() {
  onnx::TensorProto tensor;
  tensor.set_name("a");
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.add_dims(3);
  for (float value : {1.f, 2.f, 3.f})
    tensor.add_float_data(value);
  return tensor;
}

/// A tensor of int64 whose values are `count` numbers of 8 bytes at the start of `location`.
static onnx::TensorProto outside(const std::string &name, std::int64_t count,
                                 const std::string &location) {
  onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.add_dims(count);
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  onnx::StringStringEntryProto *entry = tensor.add_external_data();
  entry->set_key("location");
  entry->set_value(location);
  return tensor;
}

static onnx::AttributeProto *setValue(onnx::NodeProto &node, const onnx::TensorProto &value) {
  onnx::AttributeProto *attribute = node.add_attribute();
  attribute->set_name("value");
  attribute->set_type(onnx::AttributeProto::TENSOR);
  *attribute->mutable_t() = value;
  return attribute;
}

// A saved model is loaded from any folder: indices, Constants and what a branch keeps are in it.
TEST(InlineValues, SkeletonRefersToNoOtherFile) {
  const std::int64_t values[] = {0, 1, 2};
  std::ofstream(scratchPath("beside.data"), std::ios::binary)
      .write(reinterpret_cast<const char *>(values), sizeof values);
  Outcome outcome = importText(
      13,
      "agraph (float[2,3] x) => (float[2,3] y) { h = Mul(x, a) k = Constant () "
      "g = Gather <axis = 1> (h, i) y = Gather <axis = 1> (g, k) z = If (c) w = Gather (x, z) }",
      meanSquare(), [](onnx::ModelProto &model) {
        onnx::GraphProto &graph = *model.mutable_graph();
        *graph.add_initializer() = weight();
        *graph.add_initializer() = outside("i", 3, "beside.data");
        *graph.add_initializer() = outside("unread", 3, "absent.data");
        onnx::TensorProto *condition = graph.add_initializer();
        condition->set_name("c");
        condition->set_data_type(onnx::TensorProto::BOOL);
        condition->add_int32_data(1);
        setValue(*graph.mutable_node(1), outside("", 3, "beside.data"));
        for (const char *name : {"then_branch", "else_branch"}) {
          onnx::AttributeProto *attribute = graph.mutable_node(4)->add_attribute();
          attribute->set_name(name);
          attribute->set_type(onnx::AttributeProto::GRAPH);
          onnx::GraphProto &body = *attribute->mutable_g();
          *body.add_initializer() = outside("b", 3, "beside.data");
          body.set_name(name);
          body.add_output()->set_name("b");
        }
      });
  ASSERT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.skeleton.find(".data"), std::string::npos);
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(outcome.skeleton));
  const onnx::GraphProto &graph = model.graph();
  ASSERT_EQ(graph.initializer_size(), 2) << "what nothing reads needs no values";
  const std::string bytes(reinterpret_cast<const char *>(values), sizeof values);
  EXPECT_EQ(graph.initializer(0).raw_data(), bytes);
  EXPECT_EQ(graph.node(1).attribute(0).t().raw_data(), bytes);
  EXPECT_EQ(graph.node(4).attribute(1).g().initializer(0).raw_data(), bytes);
  EXPECT_FALSE(graph.initializer(0).has_data_location());
}

// Only what a file beside the model has could complete the model.
TEST(InlineValues, SkeletonNeedsTheValuesOfOtherNodes) {
  Outcome outcome =
      importText(13, "agraph (float[2,3] x) => (float[2,3] y) { y = Mul(x, a) z = Gather(x, i) }",
                 meanSquare(), [](onnx::ModelProto &model) {
                   *model.mutable_graph()->add_initializer() = weight();
                   *model.mutable_graph()->add_initializer() = outside("i", 3, "absent.data");
                 });
  EXPECT_NE(outcome.error.find("tensor 'i': cannot open external data 'absent.data'"),
            std::string::npos)
      << outcome.error;
}

/// y = x·a of a model whose values of 'a' lie in `location`.
static std::string modelWithDataIn(const std::string &location) {
  onnx::ModelProto model =
      parseModel(13, "agraph (float[2,3] x) => (float[2,3] y) { y = Mul(x, a) }");
  onnx::TensorProto &tensor = *model.mutable_graph()->add_initializer();
  tensor = outside("a", 3, location);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  return model.SerializeAsString();
}

static void write(const fs::path &path, const std::string &content) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

static void link(const fs::path &target, const fs::path &path) {
  fs::create_directories(path.parent_path());
  fs::create_symlink(target, path);
}

// A cache has model and data as links into one folder, under names of their content.
TEST(LinkedData, OfCachesIsRead) {
  const fs::path top = scratchPath("cache");
  write(top / "blobs/aa", modelWithDataIn("model.data"));
  write(top / "blobs/bb", "abcdefghijkl");
  link("../../blobs/aa", top / "snapshots/1/model.onnx");
  link("../../blobs/bb", top / "snapshots/1/model.data");
  link("../snapshots/1/model.onnx", top / "mine/model.onnx");
  link("../snapshots/1/model.data", top / "mine/model.data");
  for (const char *name : {"snapshots/1/model.onnx", "mine/model.onnx"}) {
    const Outcome outcome = importFile(top / name, meanSquare());
    EXPECT_EQ(outcome.error, "") << name;
    EXPECT_EQ(outcome.weights, "abcdefghijkl") << name;
  }
}

// Data beside a model is found by a link to the model alone.
TEST(LinkedData, BesideTheRealModelIsRead) {
  const fs::path top = scratchPath("real");
  write(top / "there/model.onnx", modelWithDataIn("parts/model.data"));
  write(top / "there/parts/model.data", "abcdefghijkl");
  link("../there/model.onnx", top / "here/other.onnx");
  EXPECT_EQ(importFile(top / "here/other.onnx", meanSquare()).weights, "abcdefghijkl");
}

TEST(LinkedData, ElsewhereIsRefusedByItsTarget) {
  const fs::path top = fs::canonical(fs::path(scratchPath("x")).parent_path()) / "refused";
  write(top / "model/model.onnx", modelWithDataIn("model.data"));
  write(top / "secret/model.data", "abcdefghijkl");
  link("../secret/model.data", top / "model/model.data");
  const std::string target = "it is a link to '" + (top / "secret/model.data").string() + "'";
  Outcome outcome = importFile(top / "model/model.onnx", meanSquare());
  EXPECT_NE(outcome.error.find(target), std::string::npos) << outcome.error;
  // A link to the model brings its folder, and no other one.
  link("../model/model.onnx", top / "mine/model.onnx");
  link("../secret/model.data", top / "mine/model.data");
  outcome = importFile(top / "mine/model.onnx", meanSquare());
  EXPECT_NE(outcome.error.find(target), std::string::npos) << outcome.error;
}

// "a/../b" is b, wherever that lies.
TEST(LinkedData, DetoursAreFollowed) {
  const fs::path top = scratchPath("detour");
  write(top / "model.onnx", modelWithDataIn("a/../model.data"));
  write(top / "model.data", "abcdefghijkl");
  EXPECT_EQ(importFile(top / "model.onnx", meanSquare()).weights, "abcdefghijkl");
  write(top / "out.onnx", modelWithDataIn("a/../../model.data"));
  EXPECT_NE(importFile(top / "out.onnx", meanSquare()).error.find("lies outside"),
            std::string::npos);
}

// Plans of shapes alone do without values; others name the tensor.
TEST(AbsentData, ShapesSuffice) {
  ImportOptions shapes = meanSquare();
  shapes.shapesSuffice = true;
  const std::string external = modelWithDataIn("absent.data");
  onnx::ModelProto empty;
  ASSERT_TRUE(empty.ParseFromString(external));
  empty.mutable_graph()->mutable_initializer(0)->clear_data_location();
  for (const std::string &model : {external, empty.SerializeAsString()}) {
    const Outcome outcome = importBytes(model, shapes);
    EXPECT_EQ(outcome.error, "");
    EXPECT_TRUE(outcome.has("nn.parameter \"a\"")) << outcome.ir;
    EXPECT_EQ(outcome.notes,
              std::vector<std::string>{"'a': planned by shape, since the values cannot be read"});
    EXPECT_NE(importBytes(model, meanSquare()).error.find("tensor 'a': "), std::string::npos);
  }
}

static std::string errorOf(const std::string &graph, const ImportOptions &options,
                           const Edit &edit) {
  return importText(13, graph, options, edit).error;
}

TEST(GraphMessage, NamesWhatIsBehindARefusal) {
  const std::string graph = "agraph (float[2,3] x) => (float[2,3] y) { y = Mul(x, a) }";
  const auto expect = [](const std::string &error, const std::string &text) {
    EXPECT_NE(error.find(text), std::string::npos) << error;
  };
  expect(errorOf(graph, meanSquare(),
                 [](onnx::ModelProto &model) {
                   model.mutable_graph()->add_sparse_initializer()->mutable_values()->set_name("a");
                 }),
         "its input 'a' is a sparse initialiser: expected it dense");
  expect(errorOf(graph, meanSquare(),
                 [](onnx::ModelProto &model) {
                   *model.mutable_graph()->add_initializer() = weight();
                   model.mutable_graph()->mutable_node(0)->set_domain("com.microsoft");
                 }),
         "; ONNX Runtime's optimizer writes such operators: expected the model as it was before; ");
  ImportOptions frozen = meanSquare();
  frozen.freeze = {"a", "*"};
  expect(errorOf(
             graph, frozen,
             [](onnx::ModelProto &model) { *model.mutable_graph()->add_initializer() = weight(); }),
         "no parameter that could be trained reaches the output: freeze patterns 'a' and '*' leave "
         "none");
}
