// Import in proportion to the nodes. Each graph is so long that work of the square of its length
// would take minutes.
#include "TestModel.h"

#include "frontend/onnx/ImportLayers.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <fstream>

using namespace syncline;
using namespace syncline::frontend;
using namespace syncline::test;

namespace {

constexpr int nodes = 60000;

std::string numbered(const char *name, int i) { return name + std::to_string(i); }

/// Each node reads the one before, from `first` on; `last` is the last one's result.
std::string chain(const std::string &op, const std::string &first, const std::string &last,
                  const std::string &operands = "") {
  std::string text;
  for (int i = 0; i < nodes; ++i)
    text += (i + 1 < nodes ? numbered(" a", i + 1) : " " + last) + " = " + op + "(" +
            (i ? numbered("a", i) : first) + operands + ")";
  return text;
}

/// y = (x through `nodes`, as v) times (r through `weights`, as w).
std::string product(const std::string &nodes, const std::string &weights = " w = Identity(r)") {
  return "agraph (float[2,4] x) => (float[2,3] y) {"
         " r = RandomNormal <shape = [4,3]> ()"
         " number = Constant <value = float {0}> ()"
         " shape = Constant <value = int64[2] {0, 4}> ()"
         " from = Constant <value = int64[1] {0}> ()"
         " to = Constant <value = int64[1] {100}> ()" +
         nodes + weights + " y = MatMul(v, w) }";
}

std::vector<ModelLayer> layersOf(const std::string &graph) {
  const std::string path = scratchPath("long.onnx");
  std::ofstream(path, std::ios::binary) << parseModel(17, graph).SerializeAsString();
  static mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  Result<ModelLayers> model = importLayers(path, {}, context);
  EXPECT_TRUE(bool(model)) << model.status().message();
  return model ? model->layers : std::vector<ModelLayer>();
}

/// A node that changes nothing: an operator and its other operands.
using Idle = std::pair<const char *, const char *>;

class LongChain : public testing::TestWithParam<Idle> {};

} // namespace

// They leave nothing in the step, and are planned by their shapes too.
TEST_P(LongChain, OfNodesThatChangeNothing) {
  const auto &[op, operands] = GetParam();
  const std::string graph = product(chain(op, "x", "v", operands));
  const Outcome outcome = importText(17, graph);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.count(" = nn."), importText(17, product(" v = Identity(x)")).count(" = nn."));
  EXPECT_FALSE(layersOf(graph).empty());
}

INSTANTIATE_TEST_SUITE_P(Operators, LongChain,
                         testing::Values(Idle("Identity", ""), Idle("Cast <to = 1> ", ""),
                                         Idle("Dropout", ", number"), Idle("Reshape", ", shape"),
                                         Idle("Slice", ", from, to")),
                         [](const auto &info) {
                           return llvm::StringRef(info.param.first).split(' ').first.str();
                         });

// The first and the last of the names are one parameter.
TEST(LongChainOfNames, OfOneParameter) {
  const Outcome outcome = importText(17, product(" v = Identity(x)", chain("Identity", "r", "w")));
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.count("nn.parameter"), 1);
}

// Whether a value goes on to the output by a way without a cosine is asked once for all cosines.
TEST(LongChainOfNames, OfCosines) {
  const Outcome outcome = importText(
      17, product(chain("Cos", "u", "c") + " v = Add(x, c)"), {}, [](onnx::ModelProto &model) {
        onnx::TensorProto *u = model.mutable_graph()->add_initializer();
        u->set_name("u");
        u->set_data_type(onnx::TensorProto::FLOAT);
        u->add_dims(4);
        for (int i = 0; i < 4; ++i)
          u->add_float_data(0);
      });
  EXPECT_EQ(outcome.error, "");
  ASSERT_EQ(outcome.notes.size(), 1u);
  EXPECT_NE(outcome.notes[0].find("'u': not trained"), std::string::npos) << outcome.notes[0];
}

// All of them read the names of one weight, which may be one that the exporter computed.
TEST(LongChainOfNames, ReadByManyNodes) {
  std::string readers = " v0 = Identity(x)";
  for (int i = 0; i < 2000; ++i)
    readers += numbered(" v", i + 1) + " = MatMul(" + numbered("v", i) + ", w)";
  const Outcome outcome =
      importText(17, "agraph (float[2,4] x) => (float[2,4] y) {"
                     " r = RandomNormal <shape = [4,4]> ()" +
                         chain("Identity", "r", "w") + readers + " y = Identity(v2000) }");
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.count("nn.matmul"), 2000);
}

// A sum of many operands is as many additions, each of which has the last one's result.
TEST(LongChainOfNames, OfSummands) {
  constexpr int summands = 20000;
  std::string text = "agraph (float[2,3] x) => (float[2,3] y) {"
                     " w = RandomNormal <shape = [3]> () h = Mul(x, w)",
              sum = " y = Sum(h";
  for (int i = 0; i < summands; ++i) {
    text += numbered(" a", i) + " = Relu(h)";
    sum += numbered(", a", i);
  }
  const Outcome outcome = importText(17, text + sum + ") }", meanSquare());
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.count("nn.binary add"), summands);
  EXPECT_FALSE(layersOf(text + sum + ") }").empty());
}
