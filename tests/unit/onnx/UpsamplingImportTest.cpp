// Operators by which networks make images larger: ConvTranspose, DepthToSpace, SpaceToDepth, Pad.
#include "TestModel.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

using namespace syncline;
using namespace syncline::test;

namespace {

#define IMAGE "tensor<2x4x8x8xf32>"

/// The attributes of a transposed convolution in the IR.
std::string window(const std::string &begins, const std::string &ends, const std::string &strides,
                   const std::string &dilations = "1, 1") {
  return "dilations = array<i64: " + dilations + ">, pads_begin = array<i64: " + begins +
         ">, pads_end = array<i64: " + ends + ">, strides = array<i64: " + strides + ">} : ";
}

/// A ConvTranspose of h [2, 4, 8, 8] with weights of this shape.
Outcome transposed(const std::string &shape, const std::string &attributes, int opset = 13) {
  return importNodes(opset, "k = RandomNormal <shape = [" + shape + "]> () y = ConvTranspose " +
                                (attributes.empty() ? "" : "<" + attributes + ">") + " (h, k)");
}

void expect(const Outcome &outcome, const std::string &text) {
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has(text)) << "expected: " << text << "\n" << outcome.ir;
}

TEST(ConvTranspose, IsAGradientOfAConvolution) {
  expect(transposed("4,6,3,3", ""),
         "nn.conv_backward_data %3, %2 {" + window("0, 0", "0, 0", "1, 1") +
             "(" IMAGE ", tensor<4x6x3x3xf32>) -> tensor<2x6x10x10xf32>");
  expect(transposed("4,3,2,3", "group = 2, strides = [2,3], pads = [0,1,1,2], dilations = [1,2]"),
         "dilations = array<i64: 1, 2>, groups = 2 : i64, pads_begin = array<i64: 0, 1>, "
         "pads_end = array<i64: 1, 2>, strides = array<i64: 2, 3>} : (" IMAGE
         ", tensor<4x3x2x3xf32>) -> tensor<2x6x15x23xf32>");
}

TEST(ConvTranspose, TakesAnyNumberOfDimensions) {
  for (const auto &[from, kernel, to] :
       {std::tuple("2,4,64", "4,3,5", "2x3x68"), {"2,4,4,4,4", "4,3,1,2,3", "2x3x4x5x6"}}) {
    const Outcome outcome =
        importNodes(13, std::string("s = Constant <value_ints = [") + from +
                            "]> () r = Reshape(h, s) k = RandomNormal <shape = [" + kernel +
                            "]> () y = ConvTranspose(r, k)");
    expect(outcome, std::string("-> tensor<") + to + "xf32>");
  }
}

TEST(ConvTranspose, BiasIsAdded) {
  const Outcome outcome =
      importNodes(13, "k = RandomNormal <shape = [4,6,1,1]> () b = RandomNormal <shape = [6]> () "
                      "y = ConvTranspose(h, k, b)");
  expect(outcome, "(tensor<6xf32>) -> tensor<6x1x1xf32>");
  expect(outcome, "nn.binary add");
  EXPECT_EQ(importNodes(13, "k = RandomNormal <shape = [4,6,1,1]> () y = ConvTranspose(h, k)")
                .count("nn.binary add"),
            0);
}

// 7 steps of 2 and a kernel of 3 are 17 positions, 18 with an output padding of 1.
TEST(ConvTranspose, OutputPaddingIsAtTheEnd) {
  expect(transposed("4,6,3,3", "strides = [2,2], pads = [1,1,1,1], output_padding = [1,0]"),
         window("1, 1", "1, 1", "2, 2") + "(" IMAGE
                                          ", tensor<4x6x3x3xf32>) -> tensor<2x6x16x15xf32>");
}

// The convolution would have another position from the stride on: padding is taken back, and what
// is left is zero.
TEST(ConvTranspose, OutputPaddingMayBeAsLargeAsTheStride) {
  expect(transposed("4,6,3,3", "dilations = [3,3], pads = [0,0,1,1], output_padding = [1,2]"),
         window("0, 0", "0, 0", "1, 1", "3, 3") +
             "(" IMAGE ", tensor<4x6x3x3xf32>) -> tensor<2x6x14x14xf32>");
  expect(transposed("4,6,3,3", "dilations = [3,3], pads = [0,0,1,1], output_padding = [1,2]"),
         "nn.pad %4 {begins = array<i64: 0, 0, 0, 0>, value = 0.000000e+00 : f64} : "
         "(tensor<2x6x14x14xf32>) -> tensor<2x6x14x15xf32>");
}

TEST(ConvTranspose, OutputShapeDecidesPads) {
  const std::string asked = "strides = [2,2], output_shape = [16,14]"; // of 17
  const std::string result = "(" IMAGE ", tensor<4x6x3x3xf32>) -> tensor<2x6x16x14xf32>";
  expect(transposed("4,6,3,3", asked), window("1, 2", "0, 1", "2, 2") + result);
  expect(transposed("4,6,3,3", asked + ", auto_pad = \"SAME_UPPER\""),
         window("0, 1", "1, 2", "2, 2") + result);
  expect(transposed("4,6,3,3", asked + ", pads = [5,5,5,5]"),
         window("1, 2", "0, 1", "2, 2") + result);
}

TEST(ConvTranspose, SamePadsMultiplySizesByStrides) {
  const std::string result = "(" IMAGE ", tensor<4x6x3x3xf32>) -> tensor<2x6x16x8xf32>";
  expect(transposed("4,6,3,3", "strides = [2,1], auto_pad = \"SAME_UPPER\""),
         window("0, 1", "1, 1", "2, 1") + result);
  expect(transposed("4,6,3,3", "strides = [2,1], auto_pad = \"SAME_LOWER\""),
         window("1, 1", "0, 1", "2, 1") + result);
  expect(transposed("4,6,3,3", "auto_pad = \"VALID\", pads = [1,1,1,1]"), "tensor<2x6x10x10xf32>");
}

TEST(ConvTranspose, SamplesAreFollowed) {
  frontend::ImportOptions options = meanSquare();
  options.batch = 5;
  const auto graph = [](const char *operands) {
    return std::string("agraph (float[N,4,8,8] x) => (float[N,6,16,16] y) {"
                       " w = RandomNormal <shape = [4,6,2,2]> ()"
                       " y = ConvTranspose <strides = [2,2]> (") +
           operands + ") }";
  };
  expect(importText(13, graph("x, w"), options), "-> tensor<5x6x16x16xf32>");
  expectError(
      importText(13,
                 "agraph (float[N,4,8,8] x) => (float[N,4,8,8] y) {"
                 " w = RandomNormal <shape = [4]> () e = Mul(x, v)"
                 " s = Constant <value_ints = [4,1,1]> () v = Reshape(w, s)"
                 " t = Transpose <perm = [1,0,2,3]> (e) k = RandomNormal <shape = [5,5,1,1]>"
                 " () y = ConvTranspose(t, k) }",
                 options),
      "it would compute over dimension 1, which has the batch, and so mix samples");
}

TEST(ConvTranspose, WhatDoesNotFitIsRefused) {
  for (const auto &[shape, attributes, text] : std::initializer_list<std::array<const char *, 3>>{
           {"4,6,3", "", "expected x and w of one rank of at least 3, got 2x4x8x8 and 4x6x3"},
           {"6,4,3,3", "", "expected weights of 4 channels, got 6x4x3x3"},
           {"4,6,3,3", "group = 3", "expected a group that divides 4 channels, got 3"},
           {"4,6,3,3", "group = 0", "expected a group that divides 4 channels, got 0"},
           {"4,6,3,3", "kernel_shape = [2,2]", "kernel_shape 2x2 differs from the weights' 3x3"},
           {"4,6,3,3", "strides = [2]", "strides: expected 2 entries, got 1"},
           {"4,6,3,3", "strides = [0,1]", "strides: expected at least 1, got 0"},
           {"4,6,3,3", "pads = [0,0,-1,0]", "pads: expected at least 0, got -1"},
           {"4,6,3,3", "pads = [5,0,5,0]", "pads 5 and 5 leave nothing of 10 positions"},
           {"4,6,3,3", "output_padding = [1,0]",
            "output_padding: expected less than the stride or the dilation, 1, got 1"},
           {"4,6,3,3", "output_padding = [0]", "output_padding: expected 2 entries, got 1"},
           {"4,6,3,3", "output_padding = [0,-1]", "output_padding: expected at least 0, got -1"},
           {"4,6,3,3", "output_shape = [8]", "output_shape: expected 2 entries, got 1"},
           {"4,6,3,3", "output_shape = [11,8]",
            "expected a result of 1 to 10 positions in each direction by output_shape or auto_pad, "
            "got 11"},
           {"4,6,3,3", "output_shape = [0,8]", "of 1 to 10 positions"},
           {"4,6,2,2", "strides = [4,4], auto_pad = \"SAME_UPPER\"", "of 1 to 30 positions"},
           {"4,6,3,3", "auto_pad = \"SAME\"",
            "auto_pad: expected NOTSET, SAME_UPPER, SAME_LOWER or VALID, got 'SAME'"},
           {"4,6,3,3", "strides = [2000000000,2000000000]", "too large"}})
    expectError(transposed(shape, attributes), text);
  expectError(importNodes(13, "k = RandomNormal <shape = [4,6,1,1]> () "
                              "b = RandomNormal <shape = [4]> () y = ConvTranspose(h, k, b)"),
              "expected a bias of 6 elements, got 4");
}

TEST(ConvTranspose, IsRefusedForGpus) {
  const auto imported = [](bool onCuda) {
    frontend::ImportOptions options = meanSquare();
    options.onCuda = onCuda;
    return importText(13,
                      "agraph (float[2,4,8,8] x) => (float[2,6,8,8] y) {"
                      " w = RandomNormal <shape = [4,6,1,1]> () y = ConvTranspose(x, w) }",
                      options, [](onnx::ModelProto &model) {
                        model.mutable_graph()->mutable_node(1)->set_name("/up/ConvTranspose");
                      });
  };
  expectError(imported(true),
              "node '/up/ConvTranspose' (ConvTranspose): this operator does not run on "
              "GPUs: '--backend cpu' trains it on processors, '--plan-only' plans for GPUs by its "
              "shapes");
  EXPECT_EQ(imported(false).error, "");
}

TEST(DepthToSpace, MovesChannelsIntoBlocks) {
  const char *const y = "-> tensor<2x1x16x16xf32>";
  const Outcome outer = importNodes(13, "y = DepthToSpace <blocksize = 2> (h)");
  expect(outer, "(" IMAGE ") -> tensor<2x2x2x1x8x8xf32>");
  expect(outer, "{permutation = array<i64: 0, 3, 4, 1, 5, 2>}");
  expect(outer, y);
  expect(importNodes(9, "y = DepthToSpace <blocksize = 2> (h)"),
         "{permutation = array<i64: 0, 3, 4, 1, 5, 2>}");
  const Outcome inner = importNodes(13, "y = DepthToSpace <blocksize = 2, mode = \"CRD\"> (h)");
  expect(inner, "(" IMAGE ") -> tensor<2x1x2x2x8x8xf32>");
  expect(inner, "{permutation = array<i64: 0, 1, 4, 2, 5, 3>}");
  expect(inner, y);
}

TEST(SpaceToDepth, MovesBlocksIntoChannels) {
  const Outcome outcome = importNodes(13, "y = SpaceToDepth <blocksize = 4> (h)");
  expect(outcome, "(" IMAGE ") -> tensor<2x4x2x4x2x4xf32>");
  expect(outcome, "{permutation = array<i64: 0, 3, 5, 1, 2, 4>}");
  expect(outcome, "-> tensor<2x64x2x2xf32>");
}

TEST(Blocks, OfOneAreTheImage) {
  for (const char *op : {"DepthToSpace", "SpaceToDepth"}) {
    const Outcome outcome = importNodes(13, std::string("y = ") + op + " <blocksize = 1> (h)");
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.count("nn.transpose"), 0) << outcome.ir;
  }
}

TEST(Blocks, SamplesAreFollowed) {
  frontend::ImportOptions options = meanSquare();
  options.batch = 6;
  for (const char *node : {"DepthToSpace <blocksize = 2>", "SpaceToDepth <blocksize = 2>",
                           "DepthToSpace <blocksize = 2, mode = \"CRD\">"})
    expect(importText(13,
                      std::string("agraph (float[N,4,8,8] x) => (float[N,1,16,16] y) {"
                                  " w = RandomNormal <shape = [8]> () h = Mul(x, w) y = ") +
                          node + " (h) }",
                      options),
           "nn.output");
}

TEST(Blocks, ThatDoNotFitAreRefused) {
  for (const auto &[node, text] : std::initializer_list<std::array<const char *, 2>>{
           {"DepthToSpace (h)", "expected a blocksize"},
           {"DepthToSpace <blocksize = 0> (h)", "expected a blocksize of at least 1, got 0"},
           {"SpaceToDepth <blocksize = -2> (h)", "expected a blocksize of at least 1, got -2"},
           {"DepthToSpace <blocksize = 4> (h)", "expected channels in blocks of 4x4, got 4"},
           {"DepthToSpace <blocksize = 4611686018427387904> (h)", "expected channels in blocks of"},
           {"SpaceToDepth <blocksize = 3> (h)",
            "expected height and width in blocks of 3, got 8 and 8"},
           {"SpaceToDepth <blocksize = 9223372036854775807> (h)", "expected height and width"},
           {"DepthToSpace <blocksize = 2, mode = \"RCD\"> (h)",
            "mode: expected DCR or CRD, got 'RCD'"}})
    expectError(importNodes(13, std::string("y = ") + node), text);
  for (const char *op : {"DepthToSpace", "SpaceToDepth"})
    expectError(importNodes(13, std::string("f = Flatten(h) y = ") + op + " <blocksize = 2> (f)"),
                "expected x of rank 4, got 2x256");
}

TEST(Pad, ThatDoesNotFitIsRefused) {
  for (const auto &[attributes, text] : std::initializer_list<std::array<const char *, 2>>{
           {"mode = \"mirror\", pads = [0,0,1,0,0,0,0,0]",
            "expected mode 'constant', 'reflect', 'edge' or 'wrap', got 'mirror'"},
           {"mode = \"mirror\", pads = [0,0,0,0,0,0,0,0]", "got 'mirror'"},
           {"mode = \"reflect\", pads = [0,0,0,8,0,0,0,0]",
            "mode 'reflect' adds at most 7 entries to dimension 3 of 2x4x8x8, got 8"},
           {"mode = \"wrap\", pads = [0,0,0,0,0,0,9,0]",
            "mode 'wrap' adds at most 8 entries to dimension 2 of 2x4x8x8, got 9"},
           {"mode = \"edge\", pads = [0,0,2147483647,2147483647,0,0,0,0]", "too large"},
           {"mode = \"edge\", pads = [1,0,0,0,0,0,0,0]",
            "of shape 3x4x8x8: expected the batch, 2, as first dimension"},
           {"mode = \"reflect\", pads = [0,0,1]", "expected two pads for each of 4 dimensions"},
           {"pads = [0,0,-4,0,0,0,-4,0]", "pads crop all of dimension 2"}})
    expectError(importNodes(10, std::string("y = Pad <") + attributes + "> (h)"), text);
}

} // namespace
