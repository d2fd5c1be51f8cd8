// Normalizations in training and inference mode, frozen statistics, and groups of channels.
#include "TestModel.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

using namespace syncline;
using namespace syncline::test;

namespace {

/// Two normalizations of x [2,3,4], first.* and second.*, each in training mode or not.
Outcome normalized(bool first, bool second, const std::vector<std::string> &freeze = {},
                   const Edit &edit = {}) {
  frontend::ImportOptions options = meanSquare();
  options.freeze = freeze;
  std::string nodes;
  for (auto [name, x, y, isTraining] :
       {std::tuple("first", "x", "h", first), {"second", "h", "y", second}}) {
    const std::string n = name;
    nodes += std::string(" ") + y + (isTraining ? ", m" + n + ", v" + n : "") +
             " = BatchNormalization <training_mode = " + (isTraining ? "1" : "0") + "> (" + x +
             ", " + n + "_scale, " + n + "_shift, " + n + "_mean, " + n + "_var)";
  }
  return importText(15, "agraph (float[2,3,4] x) => (float[2,3,4] y) {" + nodes + " }", options,
                    [&](onnx::ModelProto &model) {
                      for (const char *name : {"first", "second"})
                        for (const char *end : {"_scale", "_shift", "_mean", "_var"}) {
                          onnx::TensorProto &tensor = *model.mutable_graph()->add_initializer();
                          tensor.set_name(std::string(name) + end);
                          tensor.set_data_type(onnx::TensorProto::FLOAT);
                          tensor.add_dims(3);
                          for (float value : {1.f, 2.f, 3.f})
                            tensor.add_float_data(value);
                        }
                      if (edit)
                        edit(model);
                    });
}

const std::string kept = "takes its running statistics, which stay as they are: ";

// What a frozen normalization computes: (x - mean)·(scale/sqrt(variance + epsilon)) + shift.
TEST(BatchStatistics, MixedFilesKeepTheirModes) {
  const Outcome outcome = normalized(false, true);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.count("nn.batch_norm"), 1) << outcome.ir;
  EXPECT_EQ(outcome.count("nn.unary sqrt"), 1) << outcome.ir;
  EXPECT_EQ(outcome.count("nn.state"), 4) << outcome.ir;
  EXPECT_EQ(outcome.count("nn.parameter"), 4) << outcome.ir;
  EXPECT_EQ(outcome.notes, std::vector<std::string>{"'BatchNormalization_0': " + kept +
                                                    "the file has it in inference mode, and "
                                                    "others in training mode"});
}

TEST(BatchStatistics, EqualModesTakeTheBatch) {
  const Outcome inference = normalized(false, false), training = normalized(true, true);
  EXPECT_EQ(inference.count("nn.batch_norm"), 2);
  EXPECT_EQ(inference.ir, training.ir);
  EXPECT_TRUE(training.notes.empty());
  ASSERT_EQ(inference.notes.size(), 1U);
  EXPECT_EQ(inference.notes[0].find("every BatchNormalization of this file is in inference mode"),
            0U);
}

/// Two normalizations as PyTorch's exporter with dynamo=True writes them: inference in the nodes,
/// each one's mode in its call.
Outcome exported(bool first, bool second, const std::string &statistics = "%mean, %variance, ") {
  return normalized(false, false, {}, [&](onnx::ModelProto &model) {
    for (auto [i, isTraining] : {std::pair(0, first), {1, second}})
      markCall(*model.mutable_graph()->mutable_node(i),
               isTraining ? "_native_batch_norm_legit_functional"
                          : "_native_batch_norm_legit_no_training",
               "%x, %p_weight, %p_bias, " + statistics + (isTraining ? "True, " : "") +
                   "0.1, 1e-05");
  });
}

TEST(BatchStatistics, CallsOfPyTorchHaveTheMode) {
  const Outcome training = exported(true, true), inference = exported(false, false);
  EXPECT_EQ(training.notes, std::vector<std::string>{});
  EXPECT_EQ(training.ir, normalized(true, true).ir);
  EXPECT_EQ(inference.notes, normalized(false, false).notes);
  const Outcome mixed = exported(false, true), same = normalized(false, true);
  EXPECT_EQ(mixed.ir, same.ir);
  EXPECT_EQ(mixed.notes, same.notes);
  // Without running statistics a normalization is in training mode always.
  EXPECT_EQ(exported(true, true, "").notes, inference.notes);
  EXPECT_EQ(exported(true, true, "None, None, ").notes, inference.notes);
}

TEST(BatchStatistics, FreezeKeepsStatistics) {
  const Outcome outcome = normalized(true, true, {"first_*"});
  EXPECT_EQ(outcome.count("nn.batch_norm"), 1) << outcome.ir;
  EXPECT_EQ(outcome.count("nn.parameter"), 2) << outcome.ir;
  EXPECT_EQ(outcome.notes,
            std::vector<std::string>{"'BatchNormalization_0': " + kept + "--freeze names them"});
  EXPECT_NE(normalized(true, true, {"first_mean"})
                .error.find("--freeze names its running statistic 'first_mean' and not "
                            "'first_var'; expected both or neither"),
            std::string::npos);
  EXPECT_EQ(normalized(true, true, {"first_scale"}).count("nn.batch_norm"), 2);
}

/// Makes the statistics' initializers nodes, as files without weights have them.
void leaveOutStatistics(onnx::ModelProto &model) {
  onnx::GraphProto &graph = *model.mutable_graph();
  onnx::TensorProto &shape = *graph.add_initializer();
  shape.set_name("shape");
  shape.set_data_type(onnx::TensorProto::INT64);
  shape.add_dims(1);
  shape.add_int64_data(3);
  for (int i = graph.initializer_size() - 1; i >= 0; --i) {
    const std::string name = graph.initializer(i).name();
    if (!name.ends_with("_mean") && !name.ends_with("_var"))
      continue;
    graph.mutable_initializer()->DeleteSubrange(i, 1);
    onnx::NodeProto &node = *graph.add_node();
    node.set_op_type("ConstantOfShape");
    node.add_input("shape");
    node.add_output(name);
  }
  std::rotate(graph.mutable_node()->pointer_begin(), graph.mutable_node()->pointer_begin() + 2,
              graph.mutable_node()->pointer_end());
}

TEST(BatchStatistics, FreezeKeepsStatisticsWithoutValues) {
  const Outcome outcome = normalized(true, true, {"first_mean", "first_var"}, leaveOutStatistics);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.count("nn.batch_norm"), 1) << outcome.ir;
  EXPECT_EQ(outcome.count("nn.state"), 4) << outcome.ir;
  EXPECT_EQ(normalized(false, true, {}, leaveOutStatistics).count("nn.batch_norm"), 1);
}

TEST(BatchStatistics, SharedStatisticsHaveOneMode) {
  const Edit share = [](onnx::ModelProto &model) {
    model.mutable_graph()->mutable_node(1)->set_input(3, "first_mean");
  };
  EXPECT_NE(normalized(false, true, {}, share).error.find("'first_mean' is another"),
            std::string::npos);
  EXPECT_EQ(normalized(true, true, {}, share).error, "");
}

// A saved model is set to inference, and trains like the original when it is read again.
TEST(BatchStatistics, SavedModelsRememberModes) {
  const Outcome outcome = normalized(true, false);
  onnx::ModelProto saved;
  ASSERT_TRUE(saved.ParseFromString(outcome.skeleton));
  ASSERT_EQ(saved.metadata_props_size(), 1);
  EXPECT_EQ(saved.metadata_props(0).key(), "syncline.training_mode");
  EXPECT_EQ(saved.metadata_props(0).value(), "[\"h\"]");
  const auto again = [&](const std::string &names) {
    return normalized(false, false, {}, [&](onnx::ModelProto &model) {
      *model.add_metadata_props() = saved.metadata_props(0);
      model.mutable_metadata_props(0)->set_value(names);
    });
  };
  const Outcome second = again("[\"h\"]");
  EXPECT_EQ(second.ir, outcome.ir);
  EXPECT_EQ(second.notes, outcome.notes);
  onnx::ModelProto twice;
  ASSERT_TRUE(twice.ParseFromString(second.skeleton));
  ASSERT_EQ(twice.metadata_props_size(), 1);
  EXPECT_EQ(twice.metadata_props(0).value(), "[\"h\"]");
  EXPECT_NE(again("[3]").error.find("expected a list of names"), std::string::npos);
  EXPECT_NE(again("[").error.find("expected a list of names"), std::string::npos);
  EXPECT_NE(again(std::string(100'000, '[')).error.find("expected at most 1 levels"),
            std::string::npos);
  EXPECT_NE(again("[\"h\", \"gone\"]").error.find("BatchNormalization nodes, got 'gone'"),
            std::string::npos);
  onnx::ModelProto equal;
  ASSERT_TRUE(equal.ParseFromString(normalized(true, true).skeleton));
  EXPECT_EQ(equal.metadata_props_size(), 0);
}

TEST(BatchStatistics, MomentumAtItsEndsIsSaid) {
  for (auto [momentum, text] : {std::pair(1.f, "'BatchNormalization_0': momentum 1 "),
                                {0.f, "'BatchNormalization_0': momentum 0 "}}) {
    const Outcome outcome = normalized(true, true, {}, [&](onnx::ModelProto &model) {
      onnx::AttributeProto &attribute = *model.mutable_graph()->mutable_node(0)->add_attribute();
      attribute.set_name("momentum");
      attribute.set_type(onnx::AttributeProto::FLOAT);
      attribute.set_f(momentum);
    });
    ASSERT_EQ(outcome.notes.size(), 1U);
    EXPECT_EQ(outcome.notes[0].find(text), 0U) << outcome.notes[0];
  }
}

// PyTorch raises as well; running statistics need no second value.
TEST(BatchStatistics, OneValueAChannelIsRefused) {
  const Edit one = [](onnx::ModelProto &model) {
    auto &dims = *model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
    dims.mutable_shape()->mutable_dim(0)->set_dim_value(1);
    dims.mutable_shape()->mutable_dim(2)->set_dim_value(1);
  };
  EXPECT_NE(normalized(true, true, {}, one).error.find("'x' has one value for each channel, 1x3x1"),
            std::string::npos)
      << normalized(true, true, {}, one).error;
  EXPECT_EQ(normalized(true, true, {"*_mean", "*_var"}, one).error, "");
}

/// A scale and a shift for each of four channels.
const std::string perChannel =
    "s = RandomUniform <shape = [4]> () b = RandomUniform <shape = [4]> () ";

TEST(GroupNormalization, IsALayerNormalizationOfGroups) {
  const Outcome instance = importNodes(17, perChannel + "y = InstanceNormalization(h, s, b)");
  EXPECT_EQ(instance.error, "");
  EXPECT_TRUE(instance.has("nn.layer_norm")) << instance.ir;
  EXPECT_TRUE(instance.has("tensor<2x4x64xf32>")) << instance.ir;
  const Outcome group =
      importNodes(21, perChannel + "y = GroupNormalization <num_groups = 2> (h, s, b)");
  EXPECT_EQ(group.error, "");
  EXPECT_TRUE(group.has("tensor<2x2x128xf32>")) << group.ir;
  EXPECT_TRUE(group.has("tensor<2x2x1xf32>")) << group.ir;
  const Outcome odd =
      importNodes(21, perChannel + "y = GroupNormalization <num_groups = 3> (h, s, b)");
  EXPECT_NE(odd.error.find("num_groups that divides"), std::string::npos) << odd.error;
}

// Before opset 21 each group has one scale.
TEST(GroupNormalization, HadAScaleAGroup) {
  const Outcome group = importNodes(18, "s = RandomUniform <shape = [2]> () b = RandomUniform "
                                        "<shape = [2]> () "
                                        "y = GroupNormalization <num_groups = 2> (h, s, b)");
  EXPECT_EQ(group.error, "");
  EXPECT_TRUE(group.has("tensor<2x1x1xf32>")) << group.ir;
}

// PyTorch normalizes vectors, too.
TEST(GroupNormalization, OfVectors) {
  const auto groups = [](int count) {
    return importText(21,
                      "agraph (float[2,4] x) => (float[2,4] y) { s = RandomUniform <shape = [4]> ()"
                      " b = RandomUniform <shape = [4]> () h = Mul(x, s)"
                      " y = GroupNormalization <num_groups = " +
                          std::to_string(count) + "> (h, s, b) }",
                      meanSquare());
  };
  EXPECT_TRUE(groups(2).has("tensor<2x2x2xf32>")) << groups(2).error << groups(2).ir;
  EXPECT_NE(groups(4).error.find("expected more than one value in a group"), std::string::npos)
      << groups(4).error;
}

// As PyTorch exports a GroupNorm: its ones and zeros are numbers and no parameters.
TEST(GroupNormalization, OnesAndZerosAreNumbers) {
  const Outcome outcome = importNodes(
      17, "p = Constant <value_ints = [0,2,-1]> () q = Constant <value_ints = [0,4,8,8]> () "
          "one = Constant <value_floats = [1.0,1.0]> () zero = Constant <value_floats = [0.0,0.0]> "
          "() a = Reshape(h, p) n = InstanceNormalization(a, one, zero) o = Reshape(n, q) "
          "g = RandomUniform <shape = [4,1,1]> () y = Mul(o, g)");
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.count("nn.parameter"), 2) << outcome.ir;
  EXPECT_EQ(outcome.count("nn.binary"), 2) << outcome.ir;
}

} // namespace
