// Every sample of a batch is computed as if it were alone, or the node that mixes them is named.
#include "TestModel.h"

#include "frontend/onnx/BatchLayout.h"
#include "frontend/onnx/ImportLayers.h"

#include "mlir/IR/Builders.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <fstream>

using namespace syncline;
using namespace syncline::frontend;
using namespace syncline::test;

static ImportOptions ofBatch(std::int64_t batch) {
  ImportOptions options = meanSquare();
  options.batch = batch;
  return options;
}

static Outcome imported(const std::string &graph, std::int64_t batch) {
  return importText(17, graph, ofBatch(batch));
}

/// What planning by shapes alone says of the graph; empty where it is planned.
static std::string plannedAlone(const std::string &graph, std::int64_t batch) {
  const std::string path = scratchPath("model.onnx");
  std::ofstream(path, std::ios::binary) << parseModel(17, graph).SerializeAsString();
  static mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  Result<ModelLayers> layers = importLayers(path, ofBatch(batch), context);
  return layers ? "" : layers.status().message();
}

static void expectRefused(const std::string &graph, std::int64_t batch, const std::string &text) {
  const Outcome outcome = imported(graph, batch);
  EXPECT_NE(outcome.error.find(text), std::string::npos) << outcome.error << outcome.ir;
  EXPECT_EQ(outcome.exitCode, 1);
}

/// Tokens that are merged with the batch, and unmerged by a target that states `size` samples.
static std::string merged(const std::string &batch, const std::string &size) {
  return "agraph (float[" + batch + ",6,8] x) => (float[" + batch +
         ",8] y) <int64[2] flat = {-1, 8}, int64[3] apart = {" + size +
         ", 6, -1}> {"
         " w = RandomNormal <shape = [8,8]> () a = Reshape(x, flat) b = MatMul(a, w)"
         " c = Reshape(b, apart) e = ReduceMean <axes = [1], keepdims = 0> (c)"
         " y = Reshape(e, flat) }";
}

TEST(BatchLayout, OpenEntryDoesNotTakeInSamples) {
  for (const char *size : {"1", "2"}) {
    const Outcome outcome = imported(merged(size, size), 4);
    EXPECT_TRUE(outcome.has("(tensor<24x8xf32>) -> tensor<4x6x8xf32>"))
        << outcome.error << outcome.ir;
    EXPECT_EQ(plannedAlone(merged(size, size), 4), "");
  }
}

TEST(BatchLayout, LiteralsOfAnOpenBatchAreNotGuessed) {
  const std::string text = "(Reshape): cannot reshape 24x8 to 1x6x-1; the model may be bound to";
  expectRefused(merged("N", "1"), 4, text);
  EXPECT_NE(plannedAlone(merged("N", "1"), 4).find(text), std::string::npos);
  EXPECT_EQ(imported(merged("N", "1"), 1).error, ""); // the file is right for one sample
  EXPECT_TRUE(imported(merged("N", "0"), 24).error.find("cannot reshape") != std::string::npos);
}

// [length, 2·heads, -1], as attention with time first splits its heads.
TEST(BatchLayout, HeadsAreMergedWithTheBatch) {
  const auto graph = [](const std::string &batch, const std::string &heads) {
    return "agraph (float[" + batch + ",6,8] x) => (float[" + batch +
           ",6,8] y) <int64[3] split = {6, " + heads +
           ", -1}, int64[3] joined = {6, -1, 8}> {"
           " w = RandomNormal <shape = [8]> () t = Transpose <perm = [1,0,2]> (x)"
           " s = Reshape(t, split) h = Transpose <perm = [1,0,2]> (s)"
           " p = MatMul(h, k) k = Transpose <perm = [0,2,1]> (h) q = Softmax(p) r = MatMul(q, h)"
           " b = Transpose <perm = [1,0,2]> (r) j = Reshape(b, joined)"
           " o = Transpose <perm = [1,0,2]> (j) y = Mul(o, w) }";
  };
  for (const auto &[batch, heads] : {std::pair("1", "2"), {"2", "4"}}) {
    const Outcome outcome = imported(graph(batch, heads), 5);
    EXPECT_TRUE(outcome.has("tensor<10x6x4xf32>")) << outcome.error << outcome.ir;
    EXPECT_TRUE(outcome.has("(tensor<6x10x4xf32>) -> tensor<6x5x8xf32>")) << outcome.ir;
  }
}

TEST(BatchLayout, SqueezeKeepsABatchOfOneSample) {
  const std::string graph = "agraph (float[N,8,1] x) => (float[N,8] y) {"
                            " s = Squeeze(x) w = RandomNormal <shape = [8]> () y = Mul(s, w) }";
  EXPECT_TRUE(imported(graph, 1).has("(tensor<1x8x1xf32>) -> tensor<1x8xf32>"));
  EXPECT_TRUE(imported(graph, 4).has("(tensor<4x8x1xf32>) -> tensor<4x8xf32>"));
}

namespace {

struct Mixing {
  const char *name, *nodes, *message;
};

class MixedSamples : public testing::TestWithParam<Mixing> {};

} // namespace

// h has the batch first; each node would let one sample's result depend on another.
TEST_P(MixedSamples, AreRefused) {
  const auto graph = [](const std::string &batch) {
    return "agraph (float[" + batch + ",4,8] x) => (float[" + batch +
           ",4,8] y) <int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2},"
           " int64[6] pads = {1, 0, 0, 0, 0, 0}, int64[2] flat = {4, -1}> {"
           " w = RandomNormal <shape = [8]> () big = RandomNormal <shape = [4,1,8]> ()"
           " h = Mul(x, w) " +
           std::string(GetParam().nodes) + " }";
  };
  expectRefused(graph("N"), 4, GetParam().message);
  EXPECT_EQ(imported(graph("4"), 4).error.find("mix samples"),
            std::string::npos); // the file says so
}

INSTANTIATE_TEST_SUITE_P(
    BatchLayout, MixedSamples,
    testing::Values(
        Mixing{"Reduce", "m = ReduceMean <axes = [0], keepdims = 1> (h) y = Sub(h, m)",
               "(ReduceMean): it would reduce over dimension 0, which has the batch"},
        Mixing{"Softmax", "y = Softmax <axis = 0> (h)",
               "(Softmax): it would compute over dimension 0, which has the batch"},
        Mixing{"Concat", "c = Concat <axis = 0> (h, big) y = Slice(c, zero, flat, zero)",
               "(Concat): operand"},
        Mixing{"ConcatSame", "c = Concat <axis = 0> (h, h) y = Relu(c)",
               "(Concat): it would join tensors along dimension 0, which has the batch"},
        Mixing{"Slice", "s = Slice(h, zero, one, zero) y = Add(h, s)",
               "(Slice): it would take a part of dimension 0, which has the batch"},
        Mixing{"Pad", "p = Pad(h, pads) y = Relu(p)",
               "(Pad): it would pad dimension 0, which has the batch"},
        Mixing{"Transposed", "t = Transpose <perm = [1,0,2]> (h) y = Add(h, t)",
               "(Add): it would mix samples: one operand has the batch in dimension 0"},
        Mixing{"Rows", "y = Mul(h, big)",
               "(Mul): an operand of shape 4x1x8 has 4 entries where the other has the batch"},
        Mixing{"Matmul",
               "t = Transpose <perm = [1,0,2]> (h) u = Transpose <perm = [1,2,0]> (h)"
               " k = Transpose <perm = [1,0,2]> (h) s = MatMul(k, u) z = MatMul(s, t)"
               " y = Transpose <perm = [1,0,2]> (z)",
               "(MatMul): it would mix samples: its operands have the batch in different"}),
    [](const auto &info) { return std::string(info.param.name); });

// Masks and positions that the file makes for each sample are alike for all.
TEST(BatchLayout, ConstantsThatFollowTheBatchAreShared) {
  const std::string head =
      "agraph (float[N,4,8] x) => (float[N,4,8] y) <int64[1] zero = {0}, int64[1] one = {1}> {"
      " w = RandomNormal <shape = [8]> () s = Shape(x) n = Slice(s, zero, one) l = Cast <to = 7> "
      "(n)";
  const Outcome filled = imported(
      head + " t = Concat <axis = 0> (n, one, one) f = ConstantOfShape <value = float[1] {3}> (t)"
             " a = Add(x, f) y = Mul(a, w) }",
      4);
  EXPECT_EQ(filled.error, "");
  EXPECT_TRUE(filled.has("tensor<4x1x1xf32>")) << filled.ir;
  // The number of a sample, or of samples, is of this batch alone.
  expectRefused(head + " z = Constant <value_int = 0> () i = Constant <value_int = 1> ()"
                       " e = Squeeze(n, zero) r = Range(z, e, i) c = Cast <to = 1> (r)"
                       " t = Concat <axis = 0> (n, one, one) u = Reshape(c, t) a = Add(x, u)"
                       " y = Mul(a, w) }",
                4, "(Add): constant 'u' is not the same for every sample and batch");
  expectRefused(head + " c = Cast <to = 1> (n) a = Div(x, c) y = Mul(a, w) }", 4,
                "(Div): constant 'c' is not the same for every sample and batch");
}

/// A sum over time, which is the first dimension.
static std::string timeFirst(const std::string &time, const std::string &batch) {
  return "agraph (float[" + time + "," + batch + ",4] x) => (float[" + batch +
         ",4] y) { w = RandomNormal <shape = [4]> () h = Mul(x, w)"
         " y = ReduceSum <keepdims = 0> (h, first) first = Constant <value_ints = [0]> () }";
}

TEST(BatchLayout, FixedFirstDimensionIsReplacedWithANote) {
  const Outcome outcome = imported("agraph (float[3,4] x) => (float[3,4] y) {"
                                   " w = RandomNormal <shape = [4]> () y = Mul(x, w) }",
                                   2);
  ASSERT_EQ(outcome.notes.size(), 1u) << outcome.error;
  EXPECT_EQ(outcome.notes[0], "'x': its dimension 0, of 3 in the file, is the batch, now of 2; "
                              "--batch-dimension NAME=D takes another");
}

TEST(BatchLayout, FirstDimensionThatTheOutputContradictsIsRefused) {
  const std::string text = "input 'x': its first dimension has 10 entries and that of the output "
                           "'y' 8; --batch-dimension x=D says";
  expectRefused(timeFirst("10", "8"), 4, text);
  EXPECT_NE(plannedAlone(timeFirst("10", "8"), 4).find(text), std::string::npos);
}

TEST(BatchLayout, BatchDimensionMayBeGivenOrNamed) {
  ImportOptions options = ofBatch(4);
  const std::string moved = "nn.transpose %0 {permutation = array<i64: 1, 0, 2>} : "
                            "(tensor<4x10x4xf32>) -> tensor<10x4x4xf32>";
  EXPECT_TRUE(importText(17, timeFirst("10", "batch"), options).has(moved));
  options.batchDimensions["x"] = 1;
  for (const char *batch : {"8", "N"}) {
    const Outcome outcome = importText(17, timeFirst("10", batch), options);
    EXPECT_TRUE(outcome.has(moved)) << outcome.error << outcome.ir;
    EXPECT_TRUE(outcome.has("nn.input \"x\" : tensor<4x10x4xf32>")) << outcome.ir;
    EXPECT_TRUE(outcome.notes.empty());
  }
  options.batchDimensions["x"] = 3;
  EXPECT_NE(importText(17, timeFirst("10", "8"), options).error.find("has 3 dimensions"),
            std::string::npos);
  options.batchDimensions = {{"z", 1}};
  EXPECT_NE(importText(17, timeFirst("10", "8"), options).error.find("--batch-dimension z=1: no"),
            std::string::npos);
}

/// Classes of each time step, of an input and an output with time first. `end` makes y of h.
static Outcome timeFirstClasses(const std::string &end, int opset = 17) {
  ImportOptions options;
  options.batch = 4;
  options.batchDimensions["x"] = 1;
  return importText(opset,
                    "agraph (float[7,2,3] x) => (float[7,2,5] y) {"
                    " w = RandomNormal <shape = [3,5]> () h = MatMul(x, w) " +
                        end + " }",
                    options);
}

// Samples come first in files of targets, as in those of inputs.
TEST(BatchLayout, OutputsHaveTheBatchFirst) {
  const std::string moved = "nn.transpose %3 {permutation = array<i64: 1, 0, 2>} : "
                            "(tensor<7x4x5xf32>) -> tensor<4x7x5xf32>";
  const std::string scored = "(tensor<4x7x5xf32>, tensor<4x7xi64>)";
  for (const char *end : {"y = Identity(h)", "y = Softmax(h)", "y = LogSoftmax <axis = 2> (h)"}) {
    const Outcome outcome = timeFirstClasses(end);
    EXPECT_TRUE(outcome.has(moved)) << end << outcome.error << outcome.ir;
    EXPECT_TRUE(outcome.has(scored)) << end << outcome.ir;
    EXPECT_FALSE(outcome.has("nn.softmax")) << end << outcome.ir; // the loss takes the logits
    ASSERT_FALSE(outcome.notes.empty());
    EXPECT_EQ(outcome.notes[0],
              "'y': its dimension 1 is the batch: samples come first in targets, as in 4x7x5");
  }
}

TEST(BatchLayout, OutputsWithoutTheBatchApartAreRefused) {
  const std::string merged = timeFirstClasses("s = Constant <value_ints = [-1,5]> ()"
                                              " y = Reshape(h, s)")
                                 .error;
  EXPECT_NE(merged.find("output 'y' of shape 28x5: expected the batch, 4, as first dimension, got "
                        "it in dimension 0, merged with others of 7 entries; end the model with"),
            std::string::npos)
      << merged;
  const std::string joined = timeFirstClasses("y = Softmax <axis = 2> (h)", 11).error;
  EXPECT_EQ(joined, "");
}

/// A class token before four others: `repeat` makes `all`, of [batch, 1, 8], of what samples share.
static std::string token(const std::string &batch, const std::string &repeat) {
  return "agraph (float[" + batch + ",4,8] x) => (float[" + batch +
         ",5,8] y) <int64[3] shape = {2, 1, 8}, int64[3] times = {2, 1, 1}, int64[2] row = {1, 8},"
         " int64[2] rows = {2, 1}, int64[1] zero = {0}, int64[1] one = {1}> {"
         " token = RandomNormal <shape = [1,1,8]> () w = RandomNormal <shape = [8]> () " +
         repeat + " c = Concat <axis = 1> (all, x) y = Mul(c, w) }";
}

// The file has a copy for each sample of its own batch: so has every other batch.
TEST(BatchLayout, CopiesForTheExportedBatchAreBound) {
  const std::pair<const char *, const char *> files[] = {
      {"2", "all = Expand(token, shape)"},
      {"2", "all = Tile(token, times)"},
      {"2", "t = Reshape(token, row) r = Tile(t, rows) all = Reshape(r, shape)"},
      {"2", "u = Mul(token, w) e = Expand(u, shape) n = Neg(e)"
            " k = RandomNormal <shape = [8,8]> () m = MatMul(n, k) all = Add(m, e)"},
      {"2", "e = Constant <value = float {3}> () all = Expand(e, shape)"},
      {"1", "all = Identity(token)"}};
  for (const auto &[batch, repeat] : files)
    for (const std::int64_t other : {1, 3, 8}) {
      const Outcome outcome = imported(token(batch, repeat), other);
      const std::string to = std::to_string(other);
      EXPECT_TRUE(outcome.has("tensor<" + to + "x1x8xf32>, tensor<" + to + "x4x8xf32>) -> tensor<" +
                              to + "x5x8xf32>"))
          << repeat << outcome.error << outcome.ir;
      EXPECT_EQ(plannedAlone(token(batch, repeat), other), "") << repeat;
    }
}

// Heads are merged with the copies as with the batch, and both are bound where they meet.
TEST(BatchLayout, CopiesWithHeadsAreBound) {
  const auto graph = [](const std::string &batch, const std::string &heads) {
    return "agraph (float[" + batch + ",6,8] x) => (float[" + batch +
           ",3,8] y) <int64[3] times = {1, " + batch + ", 1}, int64[3] split = {3, " + heads +
           ", 4}, int64[3] keys = {6, " + heads + ", 4}, int64[3] joined = {3, " + batch +
           ", 8}> { q = RandomNormal <shape = [3,1,8]> () w = RandomNormal <shape = [8]> ()"
           " t = Tile(q, times) a = Reshape(t, split) b = Transpose <perm = [1,0,2]> (a)"
           " u = Transpose <perm = [1,0,2]> (x) h = Reshape(u, keys)"
           " v = Transpose <perm = [1,0,2]> (h) k = Transpose <perm = [1,2,0]> (h)"
           " s = MatMul(b, k) p = Softmax(s) r = MatMul(p, v) m = Transpose <perm = [1,0,2]> (r)"
           " o = Reshape(m, joined) e = Add(o, t) f = Transpose <perm = [1,0,2]> (e)"
           " y = Mul(f, w) }";
  };
  for (const auto &[batch, heads] : {std::pair("1", "2"), {"3", "6"}}) {
    const Outcome outcome = imported(graph(batch, heads), 5);
    EXPECT_TRUE(outcome.has("(tensor<10x3x4xf32>, tensor<10x4x6xf32>) -> tensor<10x3x6xf32>"))
        << outcome.error << outcome.ir;
    EXPECT_EQ(plannedAlone(graph(batch, heads), 5), "");
  }
}

// Copies that samples are not joined with, and tensors that are not copies.
TEST(BatchLayout, CopiesThatCannotBeBoundAreNamed) {
  const auto expect = [](const std::string &graph, const std::string &text) {
    expectRefused(graph, 3, text);
    EXPECT_NE(plannedAlone(graph, 3).find(text), std::string::npos) << plannedAlone(graph, 3);
    EXPECT_EQ(imported(graph, 2).error, "");
  };
  const std::string hint =
      " of shape 2x1x8 has copies for a batch of 2, expected 3; the model may be"
      " bound to the batch it was exported with";
  expect(token("2", "e = Expand(token, shape) r = ReduceSum(e, zero) m = Mul(x, r)"
                    " all = ReduceSum(m, one)"),
         "(Expand): its result" + hint);
  expect(token("2", "e = Tile(token, times) v = RandomNormal <shape = [2,1,8]> () all = Add(e, v)"),
         "(Tile): its result" + hint);
  for (const std::int64_t batch : {2, 3})
    expectRefused(token("N", "e = Expand(token, shape) all = Neg(e)"), batch,
                  "(Expand): its result of shape 2x1x8 does not follow the batch; the model may be"
                  " bound to the batch it was exported with: export it with a dynamic batch"
                  " dimension; node that makes 'c' (Concat): ");
  expect(
      token("2", "all = RandomNormal <shape = [2,1,8]> ()"),
      "(Concat): operand of shape 3x4x8 differs from the first, 2x1x8, off axis 1; the model may");
}

// A shape that follows the batch repeats for every batch, also what has several entries.
TEST(BatchLayout, TilesThatFollowTheBatch) {
  const std::string head =
      "agraph (float[N,4,8] x) => (float[N,4,8] y) <int64[1] zero = {0}, int64[1]"
      " one = {1}> { w = RandomNormal <shape = [4,8]> () s = Shape(x)"
      " n = Slice(s, zero, one) t = Concat <axis = 0> (n, one) ";
  const Outcome outcome =
      imported(head + "all = Tile(w, t) r = Reshape(all, s) y = Add(x, r) }", 3);
  EXPECT_TRUE(outcome.has("(tensor<1x4x8xf32>) -> tensor<3x4x8xf32>"))
      << outcome.error << outcome.ir;
  expectRefused(head + "u = Concat <axis = 0> (one, one, n) all = Tile(x, u) y = Relu(all) }", 3,
                "(Tile): it would repeat samples as often as the batch has them");
}

/// An operation that says nothing of its dimensions is not taken for one without a batch.
TEST(BatchLayout, UnknownOperationIsRefused) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<nn::NNDialect>();
  mlir::OpBuilder builder(&context);
  mlir::Block block;
  const mlir::Location place = builder.getUnknownLoc();
  const auto type = mlir::RankedTensorType::get({3, 8}, builder.getF32Type());
  mlir::Value samples = block.addArgument(type, place), weights = block.addArgument(type, place);
  builder.setInsertionPointToStart(&block);
  const auto backward = [&](mlir::Value dy) -> mlir::Value {
    return builder.create<nn::DropoutBackwardOp>(place, type, dy, weights, llvm::APFloat(0.5));
  };
  BatchLayout layout(3, std::nullopt);
  layout.set(samples, BatchPlace{});
  EXPECT_EQ(layout.of(backward(weights)), std::nullopt);
  EXPECT_EQ(layout.takeFault(), "");
  EXPECT_EQ(layout.of(backward(samples)), std::nullopt);
  EXPECT_EQ(layout.takeFault(), "it is not known where its result has the batch");
}
