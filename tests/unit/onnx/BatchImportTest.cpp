// The batch dimension, the output that is trained on, and the loss.
#include "TestModel.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

using namespace syncline;
using namespace syncline::frontend;
using namespace syncline::test;

static ImportOptions withBatch(std::int64_t batch, ImportOptions options = meanSquare()) {
  options.batch = batch;
  return options;
}

static bool mentions(const Outcome &outcome, const std::string &text) {
  return outcome.error.find(text) != std::string::npos;
}

static const char *const linear = "agraph (float[N,3] x) => (float[N,5] y) {"
                                  " w = RandomNormal <shape = [3,5]> () y = MatMul(x, w) }";

TEST(BatchImport, SymbolicDimensionIsBound) {
  EXPECT_TRUE(importText(13, linear, withBatch(16)).has("nn.step @model batch 16"));
  EXPECT_TRUE(importText(13, linear, withBatch(16)).has("tensor<16x5xf32>"));
  Outcome outcome = importText(13, linear, meanSquare());
  EXPECT_TRUE(mentions(outcome, "input 'x': its batch, dimension 0 ('N'), is not fixed in "
                                "the file; give it by --batch"))
      << outcome.error;
}

TEST(BatchImport, FixedDimensionIsRebound) {
  std::string fixed = linear;
  for (size_t at; (at = fixed.find("[N")) != std::string::npos;)
    fixed.replace(at + 1, 1, "1");
  EXPECT_TRUE(importText(13, fixed, meanSquare()).has("batch 1"));
  EXPECT_EQ(importText(13, fixed, withBatch(16)).ir, importText(13, linear, withBatch(16)).ir);
  EXPECT_TRUE(mentions(importText(13, fixed, withBatch(0)), "batch of at least 1"));
}

TEST(BatchImport, OtherSymbolicDimensionsAreRejected) {
  Outcome outcome =
      importText(13, "agraph (float[N,C,width] x) => (float[N] y) { y = Relu(x) }", withBatch(2));
  EXPECT_TRUE(mentions(outcome, "input 'x': dimension 1 ('C') is not fixed")) << outcome.error;
}

TEST(BatchImport, MissingShapesAreRejected) {
  Outcome outcome = importText(13, linear, withBatch(2), [](onnx::ModelProto &model) {
    model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  });
  EXPECT_TRUE(mentions(outcome, "input 'x': expected a shape")) << outcome.error;
}

// A model exported with one sample often reshapes to a literal [1, ...].
TEST(BatchImport, ExportedBatchInReshapeIsRebound) {
  auto graph = [](const char *shape) {
    return std::string("agraph (float[1,3,4] x) => (float[1,12] y) { s = Constant <value_ints = ") +
           shape + "> () w = RandomNormal <shape = [12]> () f = Reshape(x, s) y = Mul(f, w) }";
  };
  for (const char *shape : {"[1,12]", "[1,-1]", "[-1,12]", "[0,12]"})
    EXPECT_TRUE(importText(13, graph(shape), withBatch(16))
                    .has("nn.reshape %0 : (tensor<16x3x4xf32>) -> tensor<16x12xf32>"))
        << shape;
  EXPECT_TRUE(mentions(importText(13, graph("[12]"), withBatch(16)),
                       "cannot reshape 16x3x4 to 12; the model may be bound to the batch"));
}

// Parameters are not batched, even where their first dimension happens to equal the batch.
TEST(BatchImport, ReshapedParametersKeepTheirShape) {
  Outcome outcome = importText(
      13,
      "agraph (float[1,16,2] x) => (float[1,16,2] y) { s = Constant <value_ints = [1,16,1]> ()"
      " w = RandomNormal <shape = [16]> () b = Reshape(w, s) y = Mul(x, b) }",
      withBatch(16));
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("(tensor<16xf32>) -> tensor<1x16x1xf32>")) << outcome.ir;
}

// x.view(x.size(0), -1) as PyTorch exports it.
TEST(BatchImport, ShapeArithmeticIsFoldedAway) {
  Outcome outcome = importText(
      13,
      "agraph (float[N,3,4] x) => (float[N,12] y) { w = RandomNormal <shape = [12]> ()"
      " s = Shape(x) i = Constant <value = int64 {0}> () n = Gather <axis = 0> (s, i)"
      " a = Constant <value_ints = [0]> () u = Unsqueeze(n, a) m = Constant <value_ints = [-1]> ()"
      " t = Concat <axis = 0> (u, m) f = Reshape(x, t) y = Mul(f, w) }",
      withBatch(4));
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("(tensor<4x3x4xf32>) -> tensor<4x12xf32>")) << outcome.ir;
  EXPECT_EQ(outcome.count("nn.constant"), 0);
}

TEST(LossImport, CrossEntropyTakesIndices) {
  Outcome outcome = importText(13, linear, withBatch(4, {}));
  EXPECT_TRUE(outcome.has("nn.output %2 \"y\" : tensor<4x5xf32>"));
  EXPECT_TRUE(outcome.has("nn.target \"target\" : tensor<4xi64>"));
  EXPECT_TRUE(outcome.has("nn.cross_entropy %2, %3 : (tensor<4x5xf32>, tensor<4xi64>) -> "
                          "(tensor<f32>, tensor<4x5xf32>)"));
}

TEST(LossImport, MeanSquareTakesTheOutputsShape) {
  EXPECT_TRUE(importText(13, linear, withBatch(4)).has("nn.target \"target\" : tensor<4x5xf32>"));
}

TEST(LossImport, LogitsAreBeneathAFinalSoftmax) {
  for (const char *name : {"Softmax", "LogSoftmax"}) {
    std::string graph = std::string("agraph (float[N,3] x) => (float[N,5] y) {"
                                    " w = RandomNormal <shape = [3,5]> () h = MatMul(x, w) y = ") +
                        name + "(h) }";
    Outcome outcome = importText(13, graph, withBatch(4, {}));
    EXPECT_TRUE(outcome.has("nn.output %2 \"y\"")) << outcome.ir;
    EXPECT_TRUE(outcome.has("nn.cross_entropy %2, %3")) << outcome.ir;
    EXPECT_EQ(outcome.notes.size(), 1u);
  }
}

// SqueezeNet's old form: class scores of shape [N, C, 1, 1], softmax before opset 13.
TEST(LossImport, UnitDimensionsBehindClassesAreDropped) {
  Outcome outcome = importText(
      9,
      "agraph (float[N,3,4,4] x) => (float[N,5,1,1] y) { w = RandomNormal <shape = [5,3,1,1]> ()"
      " c = Conv(x, w) p = GlobalAveragePool(c) y = Softmax(p) }",
      withBatch(4, {}));
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("(tensor<4x5xf32>, tensor<4xi64>)")) << outcome.ir;
}

TEST(LossImport, DenseClassificationHasATargetPerPosition) {
  Outcome outcome = importText(
      13,
      "agraph (float[N,3,4,4] x) => (float[N,5,4,4] y) { w = RandomNormal <shape = [5,3,1,1]> ()"
      " y = Conv(x, w) }",
      withBatch(2, {}));
  EXPECT_TRUE(outcome.has("nn.target \"target\" : tensor<2x4x4xi64>")) << outcome.ir;
}

/// y = x·w with `classes` classes, then `end`.
static Outcome importLanguage(const std::string &classes, const std::string &end) {
  return importText(13,
                    "agraph (float[N,7,3] x) => (float[N,7," + classes +
                        "] y) { w = RandomNormal <shape = [3," + classes + "]> () " + end + " }",
                    withBatch(2, {}));
}

// A linear layer has its features last, so the classes are there, also beneath a softmax.
TEST(LossImport, ClassesOfALinearLayerAreLast) {
  for (const char *end : {"y = MatMul(x, w)", "h = MatMul(x, w) y = Softmax(h)",
                          "h = MatMul(x, w) y = LogSoftmax <axis = 2> (h)"}) {
    const Outcome outcome = importLanguage("5", end);
    EXPECT_TRUE(outcome.has("(tensor<2x7x5xf32>, tensor<2x7xi64>)")) << outcome.error << outcome.ir;
    EXPECT_EQ(outcome.count("nn.transpose"), 0);
    ASSERT_FALSE(outcome.notes.empty());
    const std::string chosen = std::string(end).find("Softmax") == std::string::npos
                                   ? "; --classes-in 1 takes the second"
                                   : "";
    EXPECT_EQ(outcome.notes[0], "the output's last dimension, 5, holds the classes" + chosen);
  }
}

TEST(LossImport, ClassesOfASoftmaxOverTheSecondDimensionAreThere) {
  const Outcome outcome = importLanguage("5", "h = MatMul(x, w) y = Softmax <axis = 1> (h)");
  EXPECT_TRUE(outcome.has("(tensor<2x7x5xf32>, tensor<2x5xi64>)")) << outcome.error << outcome.ir;
}

// Shapes do not tell seven classes from seven positions: the classes are moved, once for both.
TEST(LossImport, AsManyClassesAsPositions) {
  for (const char *end : {"y = MatMul(x, w)", "h = MatMul(x, w) y = LogSoftmax <axis = 2> (h)"}) {
    const Outcome outcome = importLanguage("7", end);
    EXPECT_EQ(outcome.count("nn.transpose %2 {permutation = array<i64: 0, 2, 1>}"), 1)
        << outcome.error << outcome.ir;
    EXPECT_TRUE(outcome.has("nn.output %3")) << outcome.ir;
    EXPECT_TRUE(outcome.has("nn.cross_entropy %3, ")) << outcome.ir;
  }
}

TEST(LossImport, OutputsOfTheWrongShapeAreRejected) {
  Outcome outcome = importText(13,
                               "agraph (float[N,3] x) => (float[N] y) {"
                               " w = RandomNormal <shape = [3]> () y = MatMul(x, w) }",
                               withBatch(2, {}));
  EXPECT_TRUE(mentions(outcome, "output 'y' of shape 2: a cross-entropy needs logits"))
      << outcome.error;
  outcome = importText(13,
                       "agraph (float[N,3] x) => (float y) { w = RandomNormal <shape = [3]> ()"
                       " h = Mul(x, w) y = ReduceMean <keepdims = 0> (h) }",
                       withBatch(2));
  EXPECT_TRUE(mentions(outcome, "(ReduceMean): it would reduce over dimension 0")) << outcome.error;
}

TEST(LossImport, FirstOfSeveralOutputsUnlessAsked) {
  std::string graph = "agraph (float[N,3] x) => (float[N,3] y, float[N,3] z) {"
                      " w = RandomNormal <shape = [3]> () y = Mul(x, w) z = Relu(y) }";
  Outcome outcome = importText(13, graph, withBatch(2));
  EXPECT_TRUE(outcome.has("nn.output %2 \"y\""));
  ASSERT_EQ(outcome.notes.size(), 1u);
  EXPECT_NE(outcome.notes[0].find("2 outputs"), std::string::npos);
  ImportOptions options = withBatch(2);
  options.output = "z";
  EXPECT_TRUE(importText(13, graph, options).has("nn.output %3 \"z\""));
  options.output = "q";
  EXPECT_TRUE(mentions(importText(13, graph, options), "no output 'q'; it has 'y', 'z'"));
}

TEST(LossImport, TargetsNameIsFree) {
  Outcome outcome = importText(13,
                               "agraph (float[N,3] target) => (float[N,3] y) {"
                               " w = RandomNormal <shape = [3]> () y = Mul(target, w) }",
                               withBatch(2));
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("nn.target \"target_\"")) << outcome.ir;
}

TEST(DropoutImport, CanBeLeftOut) {
  std::string graph = "agraph (float[N,3] x) => (float[N,3] y) {"
                      " w = RandomNormal <shape = [3]> () h = Mul(x, w) y = Dropout(h) }";
  EXPECT_TRUE(importText(13, graph, withBatch(2)).has("nn.dropout"));
  ImportOptions options = withBatch(2);
  options.dropout = false;
  Outcome outcome = importText(13, graph, options);
  EXPECT_EQ(outcome.error, "");
  EXPECT_FALSE(outcome.has("nn.dropout"));
}

static Outcome importLookup(const std::string &idType) {
  return importText(13,
                    "agraph (" + idType +
                        "[N,5] ids) => (float[N,5,3] y) {"
                        " table = RandomNormal <shape = [7,3]> () y = Gather(table, ids) }",
                    withBatch(2));
}

// Token ids: the table's rows, whichever dimensions the ids have.
TEST(EmbeddingImport, RowsByIdsOfTheInput) {
  const Outcome outcome = importLookup("int64");
  EXPECT_TRUE(
      outcome.has("nn.embedding %0, %1 : (tensor<2x5xi64>, tensor<7x3xf32>) -> tensor<2x5x3xf32>"))
      << outcome.error << outcome.ir;
}

// Samples are read as int64: the graph may say int32 and cast.
TEST(EmbeddingImport, IdsOfTheInputMayBeInt32) {
  const Outcome outcome =
      importText(13,
                 "agraph (int32[N,5] ids) => (float[N,5,3] y) {"
                 " table = RandomNormal <shape = [7,3]> () wide = Cast <to = 7> (ids)"
                 " a = Gather(table, ids) b = Gather(table, wide) y = Add(a, b) }",
                 withBatch(2));
  EXPECT_EQ(outcome.count("nn.embedding %0, %1 : (tensor<2x5xi64>"), 2) << outcome.error;
}

TEST(EmbeddingImport, IdsOfAnotherTypeAreRefused) {
  const Outcome outcome = importLookup("uint8");
  EXPECT_TRUE(mentions(outcome, "(Gather): expected int64 indices, got 'ids'")) << outcome.error;
}

// Relative positions: a table is looked up at places that the file knows.
TEST(EmbeddingImport, RowsByKnownNumbers) {
  const std::string graph = "agraph (float[N,4,3] x) => (float[N,4,3] y) {"
                            " i = Constant <value_ints = [2,0,-1,2]> () k = Gather(table, i)"
                            " y = Add(x, k) table = RandomNormal <shape = ";
  const Outcome rows = importText(13, graph + "[7,3]> () }", withBatch(2));
  EXPECT_TRUE(rows.has("nn.constant dense<[2, 0, 6, 2]> : tensor<4xi64>")) << rows.error;
  EXPECT_TRUE(rows.has("(tensor<4xi64>, tensor<7x3xf32>) -> tensor<4x3xf32>")) << rows.ir;
  const Outcome numbers =
      importText(13,
                 "agraph (float[N,2,3] x) => (float[N,2,3] y) {"
                 " i = Constant <value = int64[2,3] {4, 1, 0, 2, 6, 6}> () k = Gather(table, i)"
                 " y = Add(x, k) table = RandomNormal <shape = [7]> () }",
                 withBatch(2));
  EXPECT_TRUE(numbers.has("(tensor<2x3xi64>, tensor<7x1xf32>) -> tensor<2x3x1xf32>"))
      << numbers.error << numbers.ir;
}

// Places 0, 1, ... are a slice, whichever dimensions the list of places has.
TEST(EmbeddingImport, PlacesInOrderAreASlice) {
  const Outcome outcome =
      importText(13,
                 "agraph (float[N,2,3] x) => (float[N,2,3] y) {"
                 " i = Constant <value = int64[1,2] {0, 1}> () k = Gather(table, i)"
                 " y = Add(x, k) table = RandomNormal <shape = [7,3]> () }",
                 withBatch(2));
  EXPECT_FALSE(outcome.has("nn.embedding")) << outcome.error;
  EXPECT_TRUE(outcome.has("nn.reshape %2 : (tensor<2x3xf32>) -> tensor<1x2x3xf32>")) << outcome.ir;
}

// Kernels broadcast floating-point elements alone: five are two, two more, and one of them.
TEST(EmbeddingImport, ExpandedIdsAreJoined) {
  const Outcome outcome =
      importText(13,
                 "agraph (int64[N,1] ids) => (float[N,5,3] y) {"
                 " s = Constant <value_ints = [1,5]> () all = Expand(ids, s)"
                 " table = RandomNormal <shape = [7,3]> () y = Gather(table, all) }",
                 withBatch(2));
  EXPECT_EQ(outcome.count("nn.broadcast"), 0) << outcome.error << outcome.ir;
  EXPECT_EQ(outcome.count("nn.concat"), 3) << outcome.ir;
  EXPECT_TRUE(outcome.has("(tensor<2x5xi64>, tensor<7x3xf32>) -> tensor<2x5x3xf32>"));
}

// A large constant is stored without its repeats.
TEST(EmbeddingImport, KnownNumbersThatRepeatAreJoined) {
  const Outcome outcome = importText(
      13,
      "agraph (float[3,2000,4] x) => (float[3,2000,4] y) <int64 zero = {0}, int64 one = {1},"
      " int64 many = {2000}, int64 seven = {7}, int64[2] s = {3, 2000}> {"
      " places = Range(zero, many, one) k = Mod(places, seven) all = Expand(k, s)"
      " table = RandomNormal <shape = [7,4]> () e = Gather(table, all) y = Add(x, e) }",
      meanSquare());
  EXPECT_TRUE(outcome.has("{fixed} : tensor<1x2000xi64>")) << outcome.error << outcome.ir;
  EXPECT_EQ(outcome.count("nn.broadcast"), 0) << outcome.ir;
  EXPECT_EQ(outcome.count("nn.concat"), 2) << outcome.ir;
}
