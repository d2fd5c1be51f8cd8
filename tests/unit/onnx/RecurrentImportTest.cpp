// LSTM, GRU and RNN become products of the inputs and a recurrent layer, or say what does not fit.
#include "TestModel.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

using namespace syncline;
using namespace syncline::frontend;
using namespace syncline::test;

namespace {

/// Operands called `_` are absent.
void leaveOut(onnx::ModelProto &model) {
  for (onnx::NodeProto &node : *model.mutable_graph()->mutable_node())
    for (std::string &input : *node.mutable_input())
      if (input == "_")
        input.clear();
}

std::string normal(const std::string &name, const std::string &shape) {
  return " " + name + " = RandomNormal <shape = [" + shape + "]> ()";
}

struct Cell {
  const char *op;
  int gates;
};

/// A layer over t [5 steps, 2 samples, 3], with three elements a state; w, r, b, h and c are its
/// weights and states.
std::string layerGraph(const Cell &cell, int directions, const std::string &attributes,
                       const std::string &operands, const std::string &nodes = "") {
  const std::string d = std::to_string(directions), rows = std::to_string(3 * cell.gates);
  return "agraph (float[2,5,3] x) => (float[2] y) { t = Transpose <perm = [1,0,2]> (x)" +
         normal("w", d + "," + rows + ",3") + normal("r", d + "," + rows + ",3") +
         normal("b", d + "," + std::to_string(6 * cell.gates)) + normal("h", d + ",2,3") +
         normal("c", d + ",2,3") + nodes + " s, n, m = " + cell.op + " <" + attributes + "> (" +
         operands + ") y = Transpose <perm = [2,0,1,3]> (s) }";
}

Outcome imported(const std::string &graph, int opset = 14) {
  ImportOptions options = meanSquare();
  return importText(opset, graph, options, leaveOut);
}

constexpr Cell lstm{"LSTM", 4}, gru{"GRU", 3}, rnn{"RNN", 1};

void expectLayer(const std::string &graph, const std::string &text, int opset = 14) {
  // GRU and RNN have two results.
  std::string two = graph;
  const std::size_t three = graph.find("s, n, m");
  if (three != std::string::npos && graph.find("LSTM") == std::string::npos)
    two.replace(three, 7, "s, n");
  const Outcome outcome = imported(two, opset);
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has(text)) << "expected: " << text << "\n" << outcome.ir;
}

} // namespace

TEST(RecurrentImport, InputsAreOneProduct) {
  const std::string graph = layerGraph(lstm, 1, "hidden_size = 3", "t, w, r, b, _, h, c");
  for (const int opset : {7, 13, 14}) {
    expectLayer(graph, "(tensor<5x2x3xf32>, tensor<12x3xf32>) -> tensor<5x2x12xf32>", opset);
    expectLayer(graph,
                "{cell = 0 : i64} : (tensor<5x2x12xf32>, tensor<1x12x3xf32>, tensor<1x24xf32>, "
                "tensor<2x1x2x3xf32>) -> (tensor<5x2x3xf32>, tensor<2x1x2x3xf32>, "
                "tensor<1x5x2x18xf32>)",
                opset);
  }
}

TEST(RecurrentImport, DirectionsAndCellsHaveTheirNumbers) {
  expectLayer(layerGraph(lstm, 1, "direction = \"reverse\"", "t, w, r"),
              "{cell = 0 : i64, reverse}");
  expectLayer(layerGraph(lstm, 2, "direction = \"bidirectional\"", "t, w, r"),
              "-> tensor<5x2x24xf32>");
  expectLayer(layerGraph(gru, 1, "hidden_size = 3", "t, w, r, b"), "{cell = 1 : i64}");
  expectLayer(layerGraph(gru, 1, "linear_before_reset = 1", "t, w, r, b"), "{cell = 2 : i64}");
  expectLayer(layerGraph(rnn, 1, "hidden_size = 3", "t, w, r, b"), "{cell = 3 : i64}");
  expectLayer(layerGraph(rnn, 2,
                         "direction = \"bidirectional\", activations = [\"Relu\", \"Relu\"]",
                         "t, w, r, b"),
              "{cell = 4 : i64}");
}

// A classifier reads the last state alone.
TEST(RecurrentImport, LastStatesAreResults) {
  expectLayer("agraph (float[2,5,3] x) => (float[2] y) { t = Transpose <perm = [1,0,2]> (x)" +
                  normal("w", "2,3,3") + normal("r", "2,3,3") +
                  " s, n = RNN <direction = \"bidirectional\"> (t, w, r)"
                  " y = Transpose <perm = [1,0,2]> (n) }",
              "(tensor<2x2x3xf32>) -> tensor<2x2x3xf32>");
}

TEST(RecurrentImport, BatchMayStandFirst) {
  expectLayer("agraph (float[5,2,3] x) => (float[5] y) {" + normal("w", "1,12,3") +
                  normal("r", "1,12,3") + normal("h", "5,1,3") +
                  " y, n, m = LSTM <layout = 1> (x, w, r, _, _, h) }",
              "(tensor<2x5x3xf32>, tensor<2x1x5x3xf32>, tensor<1x2x5x18xf32>)");
}

TEST(RecurrentImport, LengthsAreKeptWhereSamplesAreShort) {
  const auto graph = [](const std::string &lengths) {
    return layerGraph(lstm, 1, "hidden_size = 3", "t, w, r, b, l",
                      " l = Constant <value = int32[2] {" + lengths + "}> ()");
  };
  expectLayer(graph("5, 3"), "dense<[5, 3]> : tensor<2xi64>");
  expectLayer(graph("0, 3"), " lengths %");
  EXPECT_FALSE(imported(graph("5, 5")).has(" lengths %"));
  expectError(imported(graph("6, 3")), "expected sequence_lens of 0 to 5 steps, got 6");
  expectError(imported(graph("-1, 3")), "expected sequence_lens of 0 to 5 steps, got -1");
  expectError(imported(layerGraph(lstm, 1, "hidden_size = 3", "t, w, r, b, l",
                                  " l = Constant <value = int32[3] {1, 1, 1}> ()")),
              "expected 2 integers as sequence_lens, got 3");
}

TEST(RecurrentImport, LengthsMayBeAnInput) {
  const Outcome outcome = imported(
      "agraph (float[2,5,3] x, int64[2] k) => (float[2] y) {" + normal("w", "1,12,3") +
      normal("r", "1,12,3") +
      " t = Transpose <perm = [1,0,2]> (x) l = Cast <to = 6> (k)"
      " s, n, m = LSTM <hidden_size = 3> (t, w, r, _, l) y = Transpose <perm = [1,0,2]> (n) }");
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has(" lengths %")) << outcome.ir;
}

// The first state of an exported model has the batch's shape.
TEST(RecurrentImport, StatesFollowTheBatch) {
  for (const std::string batch : {"1", "2", "N"}) {
    const std::string graph =
        "agraph (float[" + batch + ",5,3] x) => (float[" + batch +
        "] y) <int64[1] zero = {0}, int64[1] one = {1}, int64[1] three = {3}> {" +
        normal("w", "1,12,3") + normal("r", "1,12,3") +
        " f = Shape(x) i = Gather <axis = 0> (f, zero) d = Concat <axis = 0> (one, i, three)"
        " h = ConstantOfShape <value = float[1] {0}> (d)"
        " t = Transpose <perm = [1,0,2]> (x)"
        " s, n, m = LSTM <hidden_size = 3> (t, w, r, _, _, h, h)"
        " y = Squeeze(n, zero) }";
    ImportOptions options = meanSquare();
    options.batch = 4;
    const Outcome outcome = importText(14, graph, options, leaveOut);
    EXPECT_EQ(outcome.error, "") << batch;
    EXPECT_TRUE(outcome.has("tensor<2x1x4x3xf32>")) << outcome.ir;
  }
}

// Zeros for the example's batch are zeros for another one; other states are not.
TEST(RecurrentImport, ZerosOfTheExampleSuffice) {
  const auto graph = [](const std::string &value) {
    return "agraph (float[N,5,3] x) => (float[N] y) {" + normal("w", "1,12,3") +
           normal("r", "1,12,3") + " h = Constant <value = float[1,2,3] {" + value +
           ",0,0,0,0,0}> () t = Transpose <perm = [1,0,2]> (x)"
           " s, n, m = LSTM <hidden_size = 3> (t, w, r, _, _, h, h) y = Transpose <perm = [1,0,2]> "
           "(n) }";
  };
  ImportOptions options = meanSquare();
  options.batchDimensions["x"] = 0;
  options.batch = 4;
  EXPECT_TRUE(importText(14, graph("0"), options, leaveOut).has("tensor<2x1x4x3xf32>"));
  expectError(importText(14, graph("1"), options, leaveOut),
              "expected initial_h of shape 1x4x3 and X's elements, got 1x2x3");
}

TEST(RecurrentImport, SamplesAreNotMixed) {
  ImportOptions options = meanSquare();
  options.batch = 4;
  const std::string graph = "agraph (float[N,4,3] x) => (float[N] y) {" + normal("w", "1,12,3") +
                            normal("r", "1,12,3") + " y, n, m = LSTM <hidden_size = 3> (x, w, r) }";
  expectError(importText(14, graph, options, leaveOut),
              "it would compute over dimension 0, which has the batch");
  options.batchDimensions["x"] = 1;
  options.dimensions["N"] = 5;
  EXPECT_EQ(importText(14, graph, options, leaveOut).error, "");
}

TEST(RecurrentImport, WhatDoesNotFitIsNamed) {
  const struct {
    std::string graph, text;
  } rows[] = {
      {layerGraph(lstm, 1, "hidden_size = 4", "t, w, r"),
       "expected R of shape 1x16x4 for hidden_size 4, got 1x12x3"},
      {layerGraph(lstm, 1, "hidden_size = 4611686018427387904", "t, w, r"),
       "expected a hidden_size from 1 to 2147483648, got 4611686018427387904"},
      {layerGraph(lstm, 1, "hidden_size = 0", "t, w, r"),
       "expected a hidden_size from 1 to 2147483648, got 0"},
      {layerGraph(lstm, 1, "hidden_size = 3", "t, b, r"), "expected W of shape 1x12x3, got 1x24"},
      {layerGraph(lstm, 1, "hidden_size = 3", "t, w, b"), "expected R of rank 3, got 1x24"},
      {layerGraph(lstm, 1, "hidden_size = 3", "b, w, r"), "expected X of rank 3, got 1x24"},
      {layerGraph(lstm, 1, "hidden_size = 3", "t, w, r, h"), "expected B of shape 1x24, got 1x2x3"},
      {layerGraph(lstm, 1, "hidden_size = 3", "t, w, r, b, _, w"),
       "expected initial_h of shape 1x2x3 and X's elements, got 1x12x3"},
      {layerGraph(lstm, 1, "hidden_size = 3", "t, w, r, b, _, h, b"),
       "expected initial_c of shape 1x2x3 and X's elements, got 1x24"},
      {layerGraph(lstm, 1, "direction = \"sideways\"", "t, w, r"),
       "expected direction 'forward', 'reverse' or 'bidirectional', got 'sideways'"},
      {layerGraph(lstm, 1, "direction = \"bidirectional\"", "t, w, r"),
       "expected R of shape 2x12x3 for hidden_size 3, got 1x12x3"},
      {layerGraph(lstm, 1, "activations = [\"Sigmoid\", \"Tanh\"]", "t, w, r"),
       "expected 3 activations, got 2"},
      {layerGraph(lstm, 1, "activations = [\"Sigmoid\", \"Relu\", \"Tanh\"]", "t, w, r"),
       "activation 'Relu' is not supported here, only the default ones"},
      {layerGraph(lstm, 1, "clip = 1.0", "t, w, r"), "clip is not supported"},
      {layerGraph(lstm, 1, "input_forget = 1", "t, w, r"), "input_forget is not supported"},
      {layerGraph(lstm, 1, "hidden_size = 3", "t, w, r, b, _, h, c, b"),
       "peephole weights are not supported"},
      {layerGraph(lstm, 1, "layout = 2", "t, w, r"), "expected layout 0 or 1, got 2"},
  };
  for (const auto &[graph, text] : rows)
    expectError(imported(graph), text);
  std::string mixed = layerGraph(
      rnn, 2, "direction = \"bidirectional\", activations = [\"Tanh\", \"Relu\"]", "t, w, r");
  mixed.replace(mixed.find("s, n, m"), 7, "s, n");
  expectError(imported(mixed),
              "activation 'Relu' is not supported here, only Tanh, or Relu in all directions");
}

TEST(RecurrentImport, IsRefusedForCuda) {
  ImportOptions options = meanSquare();
  options.onCuda = true;
  expectError(importText(14, layerGraph(lstm, 1, "hidden_size = 3", "t, w, r"), options, leaveOut),
              "(LSTM): this operator does not run on GPUs");
}
