// Files that PyTorch's optimizer changed: one tensor for equal parameters, weights without names.
#include "TestModel.h"

#include "frontend/onnx/ImportLayers.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

using namespace syncline;
using namespace syncline::frontend;
using namespace syncline::test;

namespace {

/// A model as torch.onnx.export(..., dynamo=True) writes it.
class Export {
public:
  explicit Export(const std::string &graph) : model(parseModel(18, graph)) {}

  /// An initialiser; a parameter by its name in the traced graph, or unmarked. ONNX's text has no
  /// dots in names: it writes '_'.
  Export &tensor(const std::string &name, const std::vector<std::int64_t> &dims,
                 const std::string &original = "") {
    std::string text = name;
    std::replace(text.begin(), text.end(), '.', '_');
    for (onnx::NodeProto &node : *model.mutable_graph()->mutable_node())
      std::replace(node.mutable_input()->begin(), node.mutable_input()->end(), text, name);
    onnx::TensorProto &tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    tensor.mutable_dims()->Assign(dims.begin(), dims.end());
    std::int64_t count = 1;
    for (std::int64_t size : dims)
      count *= size;
    for (std::int64_t i = 0; i < count; ++i)
      tensor.add_float_data(static_cast<float>(i % 7));
    if (original.empty())
      return *this;
    onnx::ValueInfoProto &value = *model.mutable_graph()->add_value_info();
    value.set_name(name);
    for (const auto &mark :
         {property("pkg.torch.export.graph_signature.InputSpec.kind", "PARAMETER"),
          property("pkg.torch.onnx.original_node_name", original)})
      value.mutable_unknown_fields()->AddLengthDelimited(4, mark.SerializeAsString());
    return *this;
  }

  /// The next node was made of this call, in this module.
  Export &call(const std::string &function, const std::string &arguments,
               const std::string &module = "") {
    markCall(*model.mutable_graph()->mutable_node(next++), function, arguments, module);
    return *this;
  }

  /// The node of the last call has no operand `k`.
  Export &leaveOut(int k) {
    model.mutable_graph()->mutable_node(next - 1)->set_input(k, "");
    return *this;
  }

  Outcome step(const ImportOptions &options = meanSquare()) {
    return importBytes(model.SerializeAsString(), options);
  }

  Result<ModelLayers> layers(const ImportOptions &options = meanSquare()) {
    const std::string path = scratchPath("optimized.onnx");
    std::ofstream(path, std::ios::binary) << model.SerializeAsString();
    static mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    return importLayers(path, options, context);
  }

  /// Expects that both ways train these parameters and no others.
  Outcome trains(const std::set<std::string> &names, const ImportOptions &options = meanSquare()) {
    const Outcome outcome = step(options);
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.count("nn.parameter"), static_cast<int>(names.size())) << outcome.ir;
    for (const std::string &name : names)
      EXPECT_TRUE(outcome.has("nn.parameter \"" + name + "\"")) << name << outcome.ir;
    Result<ModelLayers> made = layers(options);
    EXPECT_TRUE(bool(made)) << made.status().message();
    std::set<std::string> planned;
    for (const ModelLayer &layer : made ? made->layers : std::vector<ModelLayer>())
      if (layer.bytes > 0)
        planned.insert(layer.name);
    EXPECT_EQ(planned, names);
    return outcome;
  }

  /// Expects that layers alone are planned of these parameters, in this order, each behind the node
  /// whose result has the name given with it.
  void isPlanned(const ParameterList &list,
                 const std::vector<std::pair<std::string, std::string>> &expected) {
    ImportOptions options = meanSquare();
    options.parameters = list;
    EXPECT_EQ(step(options).exitCode, 1);
    const Result<ModelLayers> made = layers(options);
    ASSERT_TRUE(bool(made)) << made.status().message();
    std::vector<std::pair<std::string, std::string>> planned;
    std::map<std::string, std::int64_t> bytes;
    for (const ModelLayer &layer : made->layers)
      if (layer.bytes > 0) {
        planned.emplace_back(layer.name, layer.node);
        bytes[layer.name] = layer.bytes;
      }
    EXPECT_EQ(planned, expected);
    for (const ListedParameter &parameter : list)
      EXPECT_EQ(bytes[parameter.name], 4 * nn::elementCount(parameter.dims)) << parameter.name;
  }

  /// Expects that both ways refuse the file with these words.
  void isRefused(const std::string &words) {
    const Outcome outcome = step();
    EXPECT_EQ(outcome.exitCode, 1);
    EXPECT_NE(outcome.error.find(words), std::string::npos) << outcome.error;
    Result<ModelLayers> made = layers();
    ASSERT_FALSE(made);
    EXPECT_NE(made.status().message().find(words), std::string::npos) << made.status().message();
  }

private:
  onnx::ModelProto model;
  int next = 0;
};

bool isNoted(const Outcome &outcome, const std::string &text) {
  for (const std::string &note : outcome.notes)
    if (note.find(text) != std::string::npos)
      return true;
  return false;
}

/// Two scales that are one tensor of the file, and these parameters of the model.
Export scaled(const std::string &first, const std::string &second) {
  Export made("agraph (float[2,3] x) => (float[2,3] y) { a = Mul(x, l_0_g) b = Relu(a) "
              "y = Mul(b, l_0_g) }");
  made.tensor("l.0.g", {3}, "p_l_0_g");
  made.call("mul", "%x, " + first).call("relu", "%mul").call("mul", "%relu, " + second);
  return made;
}

} // namespace

// Equal tensors are merged whether the model ties them or not; the calls tell.
TEST(OptimizedExport, EqualParametersArePartedAndTiedOnesAreNot) {
  scaled("%p_l_0_g", "%p_l_0_g").trains({"l.0.g"});
  scaled("%p_l_0_g", "%p_l_1_g").trains({"l.0.g", "l.1.g"});
}

// Weights that constants were folded into have made-up names, or one that no mark goes with.
TEST(OptimizedExport, WeightsWithoutMarksAreParameters) {
  Export made("agraph (float[2,3,4,4] x) => (float[2,5] y) { c = Conv(x, c_weight, c_bias) "
              "p = GlobalAveragePool(c) r = Flatten(p) m = MatMul(r, val_1) y = Add(m, h_bias) }");
  made.tensor("c.weight", {4, 3, 3, 3}).tensor("c.bias", {4}).tensor("val_1", {4, 5});
  made.tensor("h.bias", {5}, "p_h_bias");
  made.call("_native_batch_norm_legit_functional", "%conv2d, %p_n_weight, %p_n_bias, %b_n_mean")
      .call("mean", "%n, [2, 3]")
      .call("view", "%mean, [2, 4]")
      .call("linear", "%view, %p_h_weight, %p_h_bias")
      .call("linear", "%view, %p_h_weight, %p_h_bias");
  const Outcome outcome = made.trains({"c.weight", "c.bias", "val_1", "h.bias"});
  EXPECT_TRUE(isNoted(outcome, "'n_weight', 'n_bias': this file was exported with optimize=True, "
                               "PyTorch's default, which folded these parameters into others"));
  EXPECT_TRUE(isNoted(outcome, "'c.weight', 'c.bias', 'val_1': trained as a parameter"));
}

// A list has the parameters of a normalization that is part of a convolution by now.
TEST(OptimizedExport, ListedParametersThatWereFoldedAreNamedWithTheirPlace) {
  Export made("agraph (float[2,3,4,4] x) => (float[2,4,2,2] y) { c = Conv(x, c_weight, c_bias) "
              "y = Mul(c, g) }");
  made.tensor("c.weight", {4, 3, 3, 3}).tensor("c.bias", {4}).tensor("g", {1, 4, 1, 1}, "p_g");
  made.call("_native_batch_norm_legit_functional", "%conv2d, %p_n_weight, %p_n_bias, %b_n_mean")
      .call("mul", "%n, %p_g");
  ImportOptions options = meanSquare();
  options.parameters = {
      {"c.weight", {4, 3, 3, 3}}, {"c.bias", {4}}, {"g", {1, 4, 1, 1}}, {"n.bias", {4}}};
  const Outcome outcome = made.step(options);
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_NE(outcome.error.find(
                "--parameters lists what the file lacks: 'n.bias' (4); PyTorch's exporter folded "
                "such parameters into others, here likely into 'c.bias', 'c.weight', or left them "
                "out; to train the model itself, export it with"),
            std::string::npos)
      << outcome.error;
}

// What the model computes of a parameter is no parameter, though it has its shape.
TEST(OptimizedExport, ListedParametersAreNotWhatIsComputedOfThem) {
  const auto added = [](const std::string &name) {
    Export made("agraph (float[2,3] x) => (float[2,3] y) { h = MatMul(x, w) y = Add(h, " + name +
                ") }");
    made.tensor("w", {3, 3}, "p_w").tensor(name, {3});
    made.call("matmul", "%x, %p_w").call("add", "%matmul, %" + name);
    ImportOptions options = meanSquare();
    options.parameters = {{"w", {3, 3}}, {"b", {3}}};
    return made.step(options);
  };
  EXPECT_NE(added("mul_3").error.find("lacks: 'b' (3); PyTorch's exporter folded such parameters "
                                      "into others, here likely into 'mul_3', or left them out"),
            std::string::npos);
  EXPECT_EQ(added("view_1").error, "");
}

// Copies of a layer share its transposed weight, of which the file says nothing itself.
TEST(OptimizedExport, WeightsOfCopiedLayersAreParted) {
  const auto copied = [](const std::string &second) {
    Export made("agraph (float[2,3] x) => (float[2,3] y) { a = MatMul(x, val_0) b = Relu(a) "
                "c = MatMul(b, val_0) y = Mul(c, g) }");
    made.tensor("val_0", {3, 3}).tensor("g", {3}, "p_g");
    made.call("linear", "%x, %p_l_0_w").call("relu", "%linear").call("linear", "%relu, " + second);
    return made;
  };
  copied("%p_l_0_w").trains({"val_0", "g"});
  copied("%p_l_1_w").trains({"val_0", "l_1_w", "g"});
  copied("%mul_3").isRefused("which these are is not known of 'val_0'");
}

// The transposed copy of a tied embedding would be trained apart from it.
TEST(OptimizedExport, TornTiesAreRefused) {
  Export made("agraph (float[2,3] x) => (float[2,3] y) { a = Gemm(x, e_weight) b = Relu(a) "
              "y = MatMul(b, val_6) }");
  made.tensor("e.weight", {3, 3}, "p_e_weight").tensor("val_6", {3, 3});
  made.call("linear", "%x, %p_e_weight")
      .call("relu", "%linear")
      .call("linear", "%relu, "
                      "%p_e_weight");
  made.isRefused("makes two tensors of one parameter: 'e.weight' and 'val_6'");
}

// Who lists the parameters can plan such a file, by any of a tied one's names: the copy takes the
// time of what it is a copy of.
TEST(OptimizedExport, TornTiesArePlannedWhereListed) {
  Export made("agraph (float[2,3] x) => (float[2,100] y) { a = MatMul(x, e_weight) b = Relu(a) "
              "c = MatMul(b, w) y = MatMul(c, val_6) }");
  made.tensor("e.weight", {3, 100}, "p_e_weight").tensor("w", {100, 3}, "p_w");
  made.tensor("val_6", {3, 100});
  made.call("linear", "%x, %p_e_weight").call("relu", "%linear").call("linear", "%relu, %p_w");
  made.call("linear", "%linear, %p_e_weight");
  made.isPlanned({{"e.weight", {3, 100}}, {"w", {100, 3}}},
                 {{"e.weight", "MatMul_0"}, {"w", "MatMul_2"}});
  ImportOptions options = meanSquare();
  options.parameters = {{"head.weight", {100, 3}}, {"w", {100, 3}}};
  const Result<ModelLayers> layers = made.layers(options);
  ASSERT_TRUE(bool(layers)) << layers.status().message();
  std::int64_t bytes = 0;
  for (const ModelLayer &layer : layers->layers) {
    bytes += layer.bytes;
    if (layer.name == "MatMul_3") {
      EXPECT_EQ(layer.backward.size(), 2U); // of both operands
    }
  }
  EXPECT_EQ(bytes, 2 * 1200);
  EXPECT_TRUE(layers->inventory.leftOut.empty());
}

// A normalization is folded into a convolution, a table of positions into what was read of it.
TEST(OptimizedExport, FoldedParametersArePlannedWhereListed) {
  Export made("agraph (float[2,3,4,4] x) => (float[2,3,4,4] y) { a = Conv(x, c_weight, c_bias) "
              "b = Relu(a) d = Add(b, index_1) y = Conv(d, e_weight) }");
  made.tensor("c.weight", {3, 3, 1, 1}).tensor("c.bias", {3});
  made.tensor("index_1", {3, 4, 4}).tensor("e.weight", {3, 3, 1, 1}, "p_e_weight");
  made.call("_native_batch_norm_legit_functional", "%conv2d, %p_n_weight, %p_n_bias, %b", "n");
  made.call("relu", "%getitem").call("add", "%relu, %index_1", "l.0.attention");
  made.call("conv2d", "%add, %p_e_weight", "l.1");
  made.isPlanned({{"c.weight", {3, 3, 1, 1}},
                  {"n.weight", {3}},
                  {"n.bias", {3}},
                  {"l.0.attention.table", {7, 3}},
                  {"e.weight", {3, 3, 1, 1}}},
                 {{"c.weight", "Conv_0"},
                  {"n.weight", "Conv_0"},
                  {"n.bias", "Conv_0"},
                  {"l.0.attention.table", "Add_2"},
                  {"e.weight", "Conv_3"}});
}

// A weight that the exporter transposed is known by its call, though a folded one had its shape.
TEST(OptimizedExport, RenamedWeightsTakeTheirTimeBesideFoldedOnes) {
  Export made("agraph (float[2,3] x) => (float[2,3] y) { a = MatMul(x, val_1) b = Add(a, index) "
              "y = MatMul(b, val_2) }");
  made.tensor("val_1", {3, 3}).tensor("index", {2, 3}).tensor("val_2", {3, 3});
  made.call("linear", "%x, %p_f_weight", "f").call("add", "%linear, %index", "h");
  made.call("linear", "%add, %p_g_weight", "g");
  ImportOptions options = meanSquare();
  options.parameters = {{"f.weight", {3, 3}}, {"h.table", {3, 3}}, {"g.weight", {3, 3}}};
  const Result<ModelLayers> layers = made.layers(options);
  ASSERT_TRUE(bool(layers)) << layers.status().message();
  std::map<std::string, std::size_t> planned;
  for (const ModelLayer &layer : layers->layers)
    if (layer.bytes > 0)
      planned[layer.name] = layer.backward.size();
  EXPECT_EQ(planned,
            (std::map<std::string, std::size_t>{{"val_1", 1}, {"h.table", 0}, {"val_2", 1}}));
}

// A name that no call, and no tensor the exporter made in its module, speaks for is a mistake.
TEST(OptimizedExport, UnknownParametersAreNotPlanned) {
  Export made("agraph (float[2,3] x) => (float[2,4] y) { a = MatMul(x, e_weight) "
              "b = Add(a, mask) c = MatMul(b, val_1) y = MatMul(c, val_2) }");
  made.tensor("e.weight", {3, 4}, "p_e_weight").tensor("mask", {2, 4});
  made.tensor("val_1", {4, 4}).tensor("val_2", {4, 4});
  made.call("linear", "%x, %p_e_weight", "e").call("add", "%linear, %mask", "l.0");
  made.call("linear", "%add, %w", "f").call("linear", "%linear_1, %v", "g");
  const auto refusal = [&](const ParameterList &list) {
    ImportOptions options = meanSquare();
    options.parameters = list;
    const Result<ModelLayers> layers = made.layers(options);
    return layers ? "" : layers.status().message();
  };
  const ListedParameter known{"e.weight", {3, 4}};
  EXPECT_EQ(refusal({known, {"l.0.table", {9}}}), "");
  for (const ListedParameter &wrong : {ListedParameter{"m.0.huge", {3000, 1000}}, {"e.bias", {4}}})
    EXPECT_NE(
        refusal({known, wrong}).find("--parameters lists what the file lacks: '" + wrong.name),
        std::string::npos);
  EXPECT_NE(refusal({known, {"f.weight", {4, 4}}}).find("which of 'val_1', 'val_2' is not known"),
            std::string::npos);
}

// A mask that was folded looks like a parameter that is added: the user says what it is.
TEST(OptimizedExport, OtherTensorsAreInDoubt) {
  Export made("agraph (float[2,3] x) => (float[2,3] y) { a = MatMul(x, w) y = Add(a, mask) }");
  made.tensor("w", {3, 3}, "p_w").tensor("mask", {2, 3});
  made.call("matmul", "%x, %p_w").call("add", "%matmul, %masked_fill");
  made.isRefused("cannot be told from parameters: 'mask' (24 B); '--freeze NAME' says that");
  ImportOptions options = meanSquare();
  options.freeze = {"mask"};
  made.trains({"w"}, options);
}

// Ones and zeros of a GroupNorm and the states that a recurrent layer starts from are numbers.
TEST(OptimizedExport, NumbersAreNotPlanned) {
  Export made("agraph (float[2,4,3] x) => (float[2,4,3] y) { "
              "n = InstanceNormalization(x, ones, zeros) m = Mul(n, n_weight) "
              "l, h, c = LSTM <hidden_size = 3> (m, val_1, val_2, val_3, x, s, s) "
              "y = Squeeze(l) }");
  made.tensor("ones", {4}).tensor("zeros", {4}).tensor("n.weight", {4, 1}, "p_n_weight");
  made.tensor("val_1", {1, 12, 3}).tensor("val_2", {1, 12, 3}).tensor("val_3", {1, 24});
  made.tensor("s", {1, 4, 3});
  const std::string lstm = "%mul, [%zeros, %zeros_1], [%p_a, %p_b, %p_c, %p_d]";
  made.call("group_norm", "%x, 4, %p_n_weight, %p_n_bias")
      .call("group_norm", "%x, 4, %p_n_weight, %p_n_bias")
      .call("lstm", lstm)
      .leaveOut(4);
  Result<ModelLayers> layers = made.layers();
  ASSERT_TRUE(bool(layers)) << layers.status().message();
  std::int64_t bytes = 0;
  for (const ModelLayer &layer : layers->layers)
    bytes += layer.bytes;
  EXPECT_EQ(bytes, 4 * (4 + 2 * 36 + 24));
}
