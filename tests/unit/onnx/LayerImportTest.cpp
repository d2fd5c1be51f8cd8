// Layers of models that cannot be trained here: parameters, work, and what is refused.
#include "TestModel.h"

#include "frontend/onnx/ImportLayers.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <fstream>

using namespace syncline;
using namespace syncline::frontend;
using namespace syncline::test;

namespace {

Result<ModelLayers> layersOf(int opset, const std::string &graph, const ImportOptions &options = {},
                             const Edit &edit = {}) {
  onnx::ModelProto model = parseModel(opset, graph);
  if (edit)
    edit(model);
  const std::string path = scratchPath("layers.onnx");
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
  static mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  return importLayers(path, options, context);
}

/// The layers of a graph that is good.
std::vector<ModelLayer> good(int opset, const std::string &graph, const ImportOptions &options = {},
                             const Edit &edit = {}) {
  Result<ModelLayers> model = layersOf(opset, graph, options, edit);
  EXPECT_TRUE(bool(model)) << model.status().message();
  return model ? model->layers : std::vector<ModelLayer>();
}

void expectError(const Result<ModelLayers> &model, const std::string &text) {
  ASSERT_FALSE(model);
  EXPECT_NE(model.status().message().find(text), std::string::npos) << model.status().message();
  EXPECT_EQ(model.status().exitCode(), 1);
}

std::string names(const std::vector<ModelLayer> &layers) {
  std::string text;
  for (const ModelLayer &layer : layers)
    text += layer.name + ":" + std::to_string(layer.bytes) + " ";
  return text;
}

double flops(const std::vector<Work> &work) {
  double sum = 0;
  for (const Work &part : work)
    sum += part.flops;
  return sum;
}

const char *const convModel = "agraph (float[2,3,8,8] x) => (float[2,4,8,8] y) {"
                              " w = RandomNormal <shape = [4,3,3,3]> ()"
                              " b = RandomNormal <shape = [4]> ()"
                              " y = Conv <pads = [1,1,1,1]> (x, w, b) }";

// A parameter's layer stands behind its node's, so that its gradient comes first in backward order;
// the bias takes no time of its own. x needs no gradient.
TEST(LayerImport, AConvolutionIsCountedByFormula) {
  const auto layers = good(13, convModel);
  EXPECT_EQ(names(layers), "Conv_2:0 b:16 w:432 loss:0 ");
  const double products = 2.0 * 2 * 4 * 8 * 8 * 3 * 3 * 3, bias = 2.0 * 4 * 8 * 8;
  EXPECT_EQ(flops(layers[0].forward), products + bias);
  EXPECT_EQ(flops(layers[0].backward), 0);
  EXPECT_TRUE(layers[1].forward.empty() && layers[1].backward.empty());
  EXPECT_EQ(flops(layers[2].backward), products + bias);
  EXPECT_EQ(layers[0].forward[0].bytes, 4.0 * (2 * 3 * 64 + 108 + 4 + 2 * 4 * 64));
  EXPECT_EQ(layers[0].forward[0].rows, 2 * 64); // as a product, over 27 weights
  EXPECT_EQ(layers[2].backward[0].rows, 27);
}

// The ONNX library has no rule for Mish; what follows needs its shape.
TEST(LayerImport, OperatorsThatKeepTheirShapeAreKnown) {
  const auto layers = good(18, "agraph (float[2,8] x) => (float[2,4] y) {"
                               " w = RandomNormal <shape = [8,4]> ()"
                               " h = Mish (x) y = MatMul (h, w) }");
  EXPECT_EQ(names(layers), "Mish_1:0 MatMul_2:0 w:128 loss:0 ");
}

TEST(LayerImport, TheBatchIsBound) {
  ImportOptions options;
  options.batch = 6;
  EXPECT_EQ(flops(good(13, convModel, options)[0].forward),
            3 * flops(good(13, convModel)[0].forward));
}

// Both products are [2·5, 8]·[8, 8]; behind a trained matrix the input's gradient is one, too.
TEST(LayerImport, ProductsStateTheirFactors) {
  const auto layers =
      good(13, "agraph (float[2,5,8] x) => (float[2,5,8] y) {"
               " v = RandomNormal <shape = [8,8]> ()"
               " w = RandomNormal <shape = [8,8]> () t = Transpose <perm = [1,0]> (w)"
               " h = MatMul(x, v) y = MatMul(h, t) }");
  EXPECT_EQ(names(layers), "MatMul_3:0 v:256 MatMul_4:0 w:256 loss:0 ");
  EXPECT_EQ(layers[1].factors, (FactorDims{8, 8, 10}));
  EXPECT_EQ(layers[3].factors, (FactorDims{8, 8, 10}));
  EXPECT_EQ(flops(layers[0].backward), 0);
  EXPECT_EQ(flops(layers[2].backward), 2.0 * 10 * 8 * 8);
}

// An embedding that is the head's matrix as well: one gradient, made whole by its first reader.
TEST(LayerImport, TiedParametersCountOnce) {
  const auto layers = good(13, "agraph (int64[2,5] x) => (float[2,5,9] y) {"
                               " w = RandomNormal <shape = [9,4]> () h = Gather(w, x)"
                               " t = Transpose <perm = [1,0]> (w) y = MatMul(h, t) }");
  EXPECT_EQ(names(layers), "Gather_1:0 w:144 MatMul_3:0 loss:0 ");
  EXPECT_FALSE(layers[1].factors);
  EXPECT_EQ(flops(layers[2].backward), 2 * 2.0 * 10 * 4 * 9) << "of the matrix and of its input";
}

TEST(LayerImport, OperatorsWithoutARuleHaveShapes) {
  const auto layers =
      good(17, "agraph (float[2,5,4] x) => (float[2,5,4] y) {"
               " s = RandomNormal <shape = [4]> () b = RandomNormal <shape = [4]> ()"
               " n = LayerNormalization(x, s, b) e = Erf(n)"
               " w = RandomNormal <shape = [1,12,4]> ()"
               " r = RandomNormal <shape = [1,12,3]> ()"
               " o, h = GRU <hidden_size = 3> (e, w, r) y = Relu(o) }");
  EXPECT_EQ(names(layers),
            "LayerNormalization_2:0 s:16 b:16 Erf_3:0 GRU_6:0 r:144 w:192 Relu_7:0 loss:0 ");
  EXPECT_GT(flops(layers[6].backward), 2.0 * 10 * (12 * 4 + 12 * 3));
}

double seconds(const std::vector<ModelLayer> &layers, const std::string &name, bool isBackward) {
  double sum = 0;
  for (const ModelLayer &layer : layers)
    if (layer.node == name)
      sum += flops(isBackward ? layer.backward : layer.forward);
  return sum;
}

// A classifier reads the last state of a recurrent layer, not the states of all steps.
TEST(LayerImport, UnusedFirstResultsAreStillMade) {
  for (const std::string op : {"LSTM", "GRU", "RNN"}) {
    const int gates = op == "LSTM" ? 4 : op == "GRU" ? 3 : 1;
    const auto layersWith = [&](const std::string &results, const std::string &read) {
      return good(17, "agraph (float[10,2,6] x) => (float y) {"
                      " w = RandomNormal <shape = [1," +
                          std::to_string(3 * gates) +
                          ",6]> ()"
                          " r = RandomNormal <shape = [1," +
                          std::to_string(3 * gates) +
                          ",3]> ()"
                          " v = RandomNormal <shape = [10,2,6]> () x2 = Mul(x, v) " +
                          results + " = " + op +
                          " <hidden_size = 3> (x2, w, r)"
                          " y = ReduceMean <keepdims = 0> (" +
                          read + ") }");
    };
    const auto all = layersWith("s, h", "s"), last = layersWith("s, h", "h");
    const std::string name = op + "_4";
    ASSERT_EQ(all.size(), last.size());
    for (const bool isBackward : {false, true}) {
      EXPECT_GT(seconds(all, name, isBackward), 2.0 * 20 * 3 * gates * 9) << op;
      EXPECT_NEAR(seconds(last, name, isBackward) / seconds(all, name, isBackward), 1, 0.1) << op;
    }
  }
  const auto split = good(13, "agraph (float[2,8] x) => (float[2,4] y) {"
                              " w = RandomNormal <shape = [8,8]> () h = MatMul(x, w)"
                              " a, b = Split <axis = 1> (h) y = Relu(b) }");
  EXPECT_FALSE(split[2].forward.empty() || split[2].backward.empty());
}

// A node that only names what it reads, here, neither cuts the gradient nor hides a parameter, and
// what is behind it still runs in the pass of what is before it.
TEST(LayerImport, OtherNamesAreTheValue) {
  const std::string alias[] = {
      "Identity (h)",    "Dropout (h)",           "Cast <to = 1> (h)",           "CastLike (h, x)",
      "Expand (h, one)", "Slice (h, zero, four)", "Transpose <perm = [0,1]> (h)"};
  const auto graph = [](const std::string &node, const std::string &read) {
    return "agraph (float[2,8] x) => (float[2,8] y) {"
           " one = Constant <value = int64[1] {1}> () zero = Constant <value = int64[1] {0}> ()"
           " four = Constant <value = int64[1] {9}> ()"
           " a = RandomNormal <shape = [8,8]> () b = RandomNormal <shape = [8,8]> ()"
           " t = Transpose <perm = [1,0]> (a) g = MatMul(x, t) h = MatMul(g, b) " +
           node + " k = Sigmoid(" + read + ") y = MatMul(k, t) }";
  };
  const auto without = good(17, graph("", "h"));
  for (const std::string &node : alias) {
    ImportOptions options;
    options.dropout = false;
    const auto with = good(17, graph("u = " + node, "u"), options);
    ASSERT_EQ(with.size(), without.size()) << node;
    for (std::size_t i = 0; i < with.size(); ++i) {
      EXPECT_EQ(with[i].bytes, without[i].bytes) << node;
      EXPECT_EQ(flops(with[i].backward), flops(without[i].backward)) << node << " " << i;
      EXPECT_EQ(with[i].forward.size(), without[i].forward.size()) << node << " " << i;
    }
  }
  EXPECT_EQ(names(good(17, "agraph (float[2,8] x) => (float[2,8] y) {"
                           " a = RandomNormal <shape = [8,8]> () t = Transpose <perm = [1,0]> (a)"
                           " u = Identity(t) l = MatMul(x, u) y = Cast <to = 1> (l) }")),
            "MatMul_3:0 a:256 loss:0 ");
}

// Exponents, bounds, quantisation's scales and a GroupNorm's ones and zeros.
TEST(LayerImport, NumbersAreNotParameters) {
  const auto one = [](const char *text, const char *result = "float[2,4,4,4]") {
    return std::string("agraph (float[2,4,4,4] x) => (") + result +
           " y) <float two = {2.0}, float lo = {0.0}, float s = {0.1}, float[2] ones = {1.0, 1.0},"
           " float[2] zeros = {0.0, 0.0}, int64[3] g = {0, 2, -1}, int64[4] d = {2, 4, 4, 4}> {"
           " w = RandomNormal <shape = [4,1,1]> () h = Mul(x, w) " +
           text + " }";
  };
  for (const char *text :
       {"y = Pow(h, two)", "y = Max(h, lo)", "y = Min(lo, h)",
        "r = Reshape(h, g) n = InstanceNormalization(r, ones, zeros) y = Reshape(n, d)",
        "q = QuantizeLinear(h, s) y = DequantizeLinear(q, s)"}) {
    const auto layers = good(17, one(text));
    int parameters = 0;
    for (const ModelLayer &layer : layers)
      parameters += layer.bytes > 0;
    EXPECT_EQ(parameters, 1) << text << ": " << names(layers);
    EXPECT_NE(names(layers).find("w:16 "), std::string::npos) << text;
  }
  EXPECT_EQ(names(good(17, "agraph (float[2,4,4,4] x) => (float[2,4,4,4] y) {"
                           " w = RandomNormal <shape = [4]> () b = RandomNormal <shape = [4]> ()"
                           " y = InstanceNormalization(x, w, b) }")),
            "InstanceNormalization_2:0 w:16 b:16 loss:0 ");
}

// Weights of a quantisation-aware model are floats behind a QuantizeLinear; those of a quantised
// one are integers, and are no parameters.
TEST(LayerImport, QuantisedWeightsAreRefused) {
  EXPECT_EQ(names(good(17, "agraph (float[2,4] x) => (float[2,4] y) <float s = {0.1}> {"
                           " w = RandomNormal <shape = [4,4]> () q = QuantizeLinear(w, s)"
                           " v = DequantizeLinear(q, s) y = MatMul(x, v) }")),
            "QuantizeLinear_1:0 w:64 DequantizeLinear_2:0 MatMul_3:0 loss:0 ");
  expectError(layersOf(17, "agraph (float[2,4] x) => (float[2,2] y)"
                           " <float s = {0.1}, int8[4,2] w = {1,2,3,4,5,6,7,8}> {"
                           " v = DequantizeLinear(w, s) y = MatMul(x, v) }"),
              "(DequantizeLinear): expected floating-point weights, got 'w', 8 B of quantised");
}

// What is refused in a step must not go on with the shape of the exported batch.
TEST(LayerImport, ShapesOfTheExportedBatchAreRefused) {
  ImportOptions options;
  options.batch = 6;
  const auto graph = [](const std::string &nodes) {
    return "agraph (float[2,4,4,4] x) => (float[2,4,4,4] y)"
           " <int64[4] sizes = {2, 4, 8, 8}, int64[4] repeats = {2, 1, 1, 1}> {"
           " w = RandomNormal <shape = [1,4,4,4]> () h = Mul(x, w) " +
           nodes + " }";
  };
  const std::string crop = "y = Resize <coordinate_transformation_mode = \"tf_crop_and_resize\">"
                           "(h, , , sizes)";
  expectError(layersOf(17, graph(crop), options), "(Resize): coordinate_transformation_mode");
  expectError(layersOf(17, graph("t = Tile(w, repeats) y = Hardmax(t)"), options), "(Tile): ");
  good(17, graph("y = Resize(h, , , sizes)"));
  EXPECT_TRUE(layersOf(17, graph("y = Resize(h, , , sizes)"), options)); // bound to the batch
}

TEST(LayerImport, FrozenParametersHaveNoGradient) {
  ImportOptions options;
  options.freeze = {"b"};
  EXPECT_EQ(names(good(13, convModel, options)), "Conv_2:0 w:432 loss:0 ");
  options.freeze = {"nothing*"};
  expectError(layersOf(13, convModel, options), "freeze pattern 'nothing*' matches no parameter");
  options.freeze = {"*"};
  expectError(layersOf(13, convModel, options), "no parameter that could be trained");
}

const char *const twoInputs = "agraph (float[N,S] x, float[N,3] z, float[M,3] m) => (float y) {"
                              " w = RandomNormal <shape = [7,3]> () h = MatMul(x, w)"
                              " p = Mul(h, z) q = Add(p, m) y = ReduceMean <keepdims = 0> (q) }";

// The batch is the first input's first dimension, with its name and, elsewhere, in its place; a
// loss inside needs no other.
TEST(LayerImport, SeveralInputsAndALossInside) {
  ImportOptions options;
  options.batch = 2;
  options.dimensions["S"] = 7;
  EXPECT_EQ(names(good(13, twoInputs, options)), "MatMul_1:0 w:84 Mul_2:0 Add_3:0 ReduceMean_4:0 ");
  options.dimensions.clear();
  expectError(
      layersOf(13, twoInputs, options),
      "input 'x': dimension 1 ('S') is not fixed; only the first, the batch, may be, or give it "
      "by --dim S=N");
  options.dimensions = {{"S", 7}, {"T", 8}};
  expectError(layersOf(13, twoInputs, options), "no input has a dimension 'T'");
}

TEST(LayerImport, UnknownShapesAreNamed) {
  expectError(
      layersOf(13, "agraph (float[2,4] x) => (float[2,4] y) {"
                   " w = RandomNormal <shape = [4]> () h = Mul(x, w) n = NonZero(h)"
                   " g = GatherND(h, n) y = Relu(g) }"),
      "node that makes 'n' (NonZero): the shape of its result 'n' is not known: it depends on "
      "values that the step computes");
  const char *foreign = "agraph (float[2,4] x) => (float[2,4] y) {"
                        " w = RandomNormal <shape = [4]> () h = Mul(x, w) y = Relu(h) }";
  const auto edit = [](onnx::ModelProto &model) {
    model.mutable_graph()->mutable_node(1)->set_domain("com.example");
  };
  expectError(
      layersOf(13, foreign, {}, edit),
      "(Mul): the shape of its result 'h' is not known: the file states none, and operators "
      "of domain 'com.example' are not supported");
  // What the file states counts.
  const auto layers = good(13, foreign, {}, [&](onnx::ModelProto &model) {
    edit(model);
    onnx::ValueInfoProto &value = *model.mutable_graph()->add_value_info();
    value = model.graph().output(0);
    value.set_name("h");
  });
  EXPECT_EQ(names(layers), "Mul_1:0 w:16 Relu_2:0 loss:0 ");
}

// The library divides by some attributes without a look, and crashes on ranks that do not fit.
TEST(LayerImport, AttributesThatDoNotFitAreRefused) {
  for (const char *node :
       {"LpPool <kernel_shape = [2,2], strides = [0,0]> (h)", "Concat <axis = 900> (h, h)",
        "DepthToSpace <blocksize = 0> (h)", "ReduceMax <axes = [70]> (h)",
        "Einsum <equation = \"ij->\"> (h)", "ConvTranspose <strides = [0,0]> (h, w)",
        "ConvTranspose <kernel_shape = [2,2]> (h, b)",
        "ConvTranspose <kernel_shape = [2,2]> (h, c)"}) {
    Result<ModelLayers> model =
        layersOf(13, std::string("agraph (float[2,4,8,8] x) => (float[2] y) {"
                                 " w = RandomNormal <shape = [4,1,1]> () h = Mul(x, w)"
                                 " b = RandomNormal <shape = [8]> ()"
                                 " c = RandomNormal <shape = [4,2,2,2,2]> () y = ") +
                         node + " }");
    EXPECT_FALSE(model) << node;
  }
}

/// One node after the other; every operator is one that only the library's rules know.
constexpr const char *foreignNodes[] = {
    "y = LpPool <kernel_shape = [2,2], strides = [1,1], pads = [0,0,1,1]> (h)",
    "y = ConvTranspose <strides = [2,2], pads = [0,0,1,1], dilations = [1,1], group = 1> (h, k)",
    "y = DepthToSpace <blocksize = 2> (h)",
    "y = SpaceToDepth <blocksize = 2> (h)",
    "y = Einsum <equation = \"bchw,cdkl->bdhwkl\"> (h, k)",
    "y = LayerNormalization <axis = -1> (h, w)",
    "s = Constant <value = float[4] {1.0, 1.0, 2.0, 2.0}> () y = Resize(h, , s)",
    "s = Constant <value = int64[4] {2, 4, 4, 4}> () y = Resize(h, , , s)",
    "a = Constant <value = int64[1] {2}> () y, i = TopK <axis = 1> (h, a)",
    "a = Constant <value = int64 {1}> () y = CumSum(h, a)",
    "a = Constant <value = int64[8] {0,0,1,1,0,0,1,1}> () y = Pad <mode = \"reflect\"> (h, a)",
    "a = Constant <value = int64[4] {1,2,1,1}> () y = Tile(h, a)",
    "a = Constant <value = int64[2,1] {0, 1}> () y = GatherND <batch_dims = 0> (h, a)",
    "a = Constant <value = int64[2,1] {0, 1}> () y = ScatterND(h, a, h)",
    "a = ArgMax <axis = 1> (h) d = Constant <value = int64 {5}> ()"
    " v = Constant <value = float[2] {0.0, 1.0}> () o = OneHot <axis = -1> (a, d, v) y = Mul(o, w)",
    "y = ReduceMax <axes = [2,3], keepdims = 0> (h)",
    "t = Squeeze(z) r, q = LSTM <hidden_size = 3> (t, l, l) y = Relu(r)",
    "y = Trilu <upper = 1> (h)",
    "y = MeanVarianceNormalization <axes = [0,2]> (h)",
    "y = GlobalLpPool (h)",
    "y = MaxUnpool <kernel_shape = [2,2], strides = [2,2]> (h, h)",
    "y = Compress <axis = 1> (h, h)",
    "y = NegativeLogLikelihoodLoss (h, h)",
    "y = Multinomial <sample_size = 3> (h)",
    "y = GatherElements <axis = 1> (h, h)"};

// Numbers of all sizes in attributes and constants: a message or layers, never a crash.
TEST(LayerImport, ExtremeNumbersNeverCrash) {
  const std::int64_t extremes[] = {INT64_MIN, INT32_MIN, -5,      -1,        0,
                                   1,         3,         1 << 20, INT32_MAX, INT64_MAX};
  int good = 0, bad = 0;
  for (const char *nodes : foreignNodes) {
    const std::string graph =
        std::string("agraph (float[2,4,8,8] x, float[5,2,1,6] z) => (float[2] y) {"
                    " w = RandomNormal <shape = [8]> () h = Mul(x, w)"
                    " l = RandomNormal <shape = [1,12,6]> ()"
                    " k = RandomNormal <shape = [4,3,2,2]> () ") +
        nodes + " }";
    const auto count = [&](const Edit &edit) {
      Result<ModelLayers> model = layersOf(17, graph, {}, edit);
      ++(model ? good : bad);
      EXPECT_TRUE(model || model.status().exitCode() == 1) << model.status().message();
    };
    count({});
    const onnx::ModelProto model = parseModel(17, graph);
    for (int i = 4; i < model.graph().node_size(); ++i)
      for (int a = 0; a < model.graph().node(i).attribute_size(); ++a)
        for (std::int64_t value : extremes)
          for (int place = 0; place < 3; ++place)
            count([&](onnx::ModelProto &damaged) {
              onnx::AttributeProto &attribute =
                  *damaged.mutable_graph()->mutable_node(i)->mutable_attribute(a);
              if (place < attribute.ints_size())
                attribute.set_ints(place, value);
              else if (place < attribute.t().int64_data_size())
                attribute.mutable_t()->set_int64_data(place, value);
              else if (place < attribute.t().float_data_size())
                attribute.mutable_t()->set_float_data(place, static_cast<float>(value));
              else
                attribute.set_i(value);
            });
  }
  EXPECT_GT(good, 50);
  EXPECT_GT(bad, 50);
}

} // namespace
