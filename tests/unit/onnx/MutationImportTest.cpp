// Random damage to a valid model ends in a message or an import, never in a crash.
#include "TestModel.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <random>

using namespace syncline::test;

/// A model that has an operator of each family, weights and shape arithmetic.
static std::string smallModel() {
  onnx::ModelProto model = parseModel(
      12,
      "agraph (float[N,2,8,8] x) => (float[N,3] y) {"
      " k = RandomNormal <shape = [4,2,3,3]> ()"
      " c = Conv <pads = [1,1,1,1], strides = [1,1], kernel_shape = [3,3]> (x, k)"
      " one = Constant <value = int64[1] {4}> () s = ConstantOfShape(one)"
      " b = ConstantOfShape(one) m = ConstantOfShape(one) v = ConstantOfShape(one)"
      " n = BatchNormalization <epsilon = 0.001> (c, s, b, m, v)"
      " r = Relu(n) p = MaxPool <kernel_shape = [2,2], strides = [2,2], ceil_mode = 1> (r)"
      " t = Transpose <perm = [0,2,3,1]> (p)"
      " l = Slice(t, from, to, axes, steps) from = Constant <value = int64[2] {0,3}> ()"
      " to = Constant <value = int64[2] {2,-5}> () axes = Constant <value = int64[2] {1,2}> ()"
      " steps = Constant <value = int64[2] {1,-1}> ()"
      " q = Concat <axis = 1> (l, l) e, f = Split <axis = 3> (q) g = Add(e, f)"
      " a = Pad(g, pads) pads = Constant <value = int64[8] {0,0,1,0,0,0,1,0}> ()"
      " d = AveragePool <kernel_shape = [2,2], pads = [1,0,0,0], ceil_mode = 1> (a)"
      " shape = Shape(d) zero = Constant <value = int64 {0}> () size = Gather(shape, zero)"
      " u = Unsqueeze <axes = [0]> (size) rest = Constant <value = int64[1] {-1}> ()"
      " target = Concat <axis = 0> (u, rest) flat = Reshape(d, target)"
      " w = RandomUniform <shape = [3,24]> () y = Gemm <transB = 1, alpha = 0.5> (flat, w, bias)"
      " }");
  onnx::TensorProto &bias = *model.mutable_graph()->add_initializer();
  bias.set_name("bias");
  bias.set_data_type(onnx::TensorProto::FLOAT);
  bias.add_dims(3);
  bias.set_raw_data(std::string(12, '\1'));
  return model.SerializeAsString();
}

static syncline::frontend::ImportOptions options() {
  syncline::frontend::ImportOptions result;
  result.batch = 2;
  return result;
}

TEST(MutationImport, TheModelItselfImports) {
  EXPECT_EQ(importBytes(smallModel(), options()).error, "");
}

TEST(MutationImport, DamagedModelsNeverCrash) {
  const std::string model = smallModel();
  std::mt19937 random(7);
  auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  int imported = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = model;
    for (size_t edits = 1 + below(2); edits-- > 0 && !damaged.empty();)
      switch (below(4)) {
      case 0:
        damaged[below(damaged.size())] = static_cast<char>(below(256));
        break;
      case 1:
        damaged[below(damaged.size())] ^= static_cast<char>(1 << below(8));
        break;
      case 2:
        damaged.erase(below(damaged.size()), 1 + below(8));
        break;
      case 3:
        damaged.resize(1 + below(damaged.size()));
        break;
      }
    Outcome outcome = importBytes(damaged, options());
    imported += outcome.error.empty();
    EXPECT_NE(outcome.exitCode, 3) << "round " << round << ": " << outcome.error;
    EXPECT_EQ(outcome.error.find('\n'), std::string::npos) << outcome.error;
  }
  EXPECT_GT(imported, 20) << "most damage is caught by the parser; some must get past it";
}

// Numbers of all sizes in place of those the file has: shapes, axes, pads, counts.
TEST(MutationImport, ExtremeNumbersNeverCrash) {
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(smallModel()));
  const std::int64_t extremes[] = {INT64_MIN, INT64_MIN + 1,         INT32_MIN, -1, 0, 1, 1 << 20,
                                   INT32_MAX, std::int64_t(1) << 40, INT64_MAX};
  std::mt19937 random(11);
  auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  for (int round = 0; round < 2000; ++round) {
    onnx::ModelProto damaged = model;
    onnx::NodeProto &node =
        *damaged.mutable_graph()->mutable_node(below(damaged.graph().node_size()));
    if (node.attribute_size() == 0)
      continue;
    onnx::AttributeProto &attribute = *node.mutable_attribute(below(node.attribute_size()));
    std::int64_t value = extremes[below(std::size(extremes))];
    if (attribute.ints_size() > 0)
      attribute.set_ints(below(attribute.ints_size()), value);
    else if (attribute.has_t() && attribute.t().int64_data_size() > 0)
      attribute.mutable_t()->set_int64_data(below(attribute.t().int64_data_size()), value);
    else
      attribute.set_i(value);
    Outcome outcome = importBytes(damaged.SerializeAsString(), options());
    EXPECT_NE(outcome.exitCode, 3) << "round " << round << ": " << outcome.error;
  }
}
