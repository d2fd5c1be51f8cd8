// Values in files beside the model, which a saved model may not need.
#include "TestModel.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <fstream>

using namespace syncline::test;

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
