// Shapes of operators that the ONNX library does not know, as ONNX's own tests of nodes state them.
#include "TestModel.h"

#include "frontend/onnx/ImportLayers.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <fstream>

using namespace syncline;
using namespace syncline::frontend;
using namespace syncline::test;

namespace {

struct Case {
  int opset;
  std::string inputs; ///< the graph's, without the batch's x that follows
  std::string nodes;  ///< define r
  std::string shape;  ///< of r
};

/// Plans a model that joins r with a parameter, which only fits if r has the shape.
Status planned(const Case &one) {
  const std::string graph = "agraph (" + one.inputs + ") => (float[n] y) { " + one.nodes +
                            " p = RandomNormal <shape = [1" +
                            (one.shape.empty() ? "" : ", " + one.shape) +
                            "]> () zero = Constant <value = int64[1] {0}> ()"
                            " f = Cast <to = 1> (r) u = Unsqueeze (f, zero)"
                            " y = Concat <axis = 0> (u, p) }";
  const onnx::ModelProto model = parseModel(one.opset, graph);
  const std::string path = scratchPath("later.onnx");
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
  static mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  return importLayers(path, {}, context).status();
}

const Case cases[] = {
    {20, "float[2,2,3] t", "s = Constant <value = int64[4] {2, 3, 5, 6}> () r = AffineGrid (t, s)",
     "2, 5, 6, 2"},
    {23, "float[2,4,24] q, float[2,6,24] k, float[2,6,30] v",
     "r = Attention <q_num_heads = 3, kv_num_heads = 3> (q, k, v)", "2, 4, 30"},
    {23,
     "float[2,3,4,8] q, float[2,3,6,8] k, float[2,3,6,8] v, float[2,3,12,8] a, "
     "float[2,3,12,8] b",
     "y0, r = Attention (q, k, v, , a, b)", "2, 3, 18, 8"},
    {18, "int32[2,4] a, int32[3,1,4] b", "r = BitwiseXor (a, b)", "3, 2, 4"},
    {18, "float[2,10,3] x",
     "s = Constant <value = int64[2] {10, 9}> () r = CenterCropPad <axes = [1, 2]> (x, s)",
     "2, 10, 9"},
    {18, "float[2,5,5] x",
     "s = Constant <value = int64[2] {5, 5}> () b = Constant <value = int64[2] {1, 5}> ()"
     " r = Col2Im (x, s, b)",
     "2, 1, 5, 5"},
    {20, "float[2,10,1] x",
     "none = Constant <value = int64 {10}> () a = Constant <value = int64 {1}> ()"
     " r = DFT <onesided = 1> (x, none, a)",
     "2, 6, 2"},
    {19, "float[2,10,2] x", "r = DFT <axis = 1> (x)", "2, 10, 2"},
    {19, "float[2,2,4,4] x, float[2,8,3,3] o",
     "w = RandomNormal <shape = [3,2,2,2]> () r = DeformConv (x, w, o)", "2, 3, 3, 3"},
    {21, "int8[2,8] x, float[2,4] s", "r = DequantizeLinear <axis = 1, block_size = 2> (x, s)",
     "2, 8"},
    {20, "float[2,1,3,4,5] x, float[2,2,4,3,3] g", "r = GridSample (x, g)", "2, 1, 2, 4, 3"},
    {18, "float[2,3,6,6] x",
     "r = LpPool <kernel_shape = [3, 3], dilations = [2, 2], strides = [1, 1]> (x)", "2, 3, 2, 2"},
    {13, "int64[2,3] x",
     "d = Constant <value = int64 {7}> () v = Constant <value = float[2] {0, 1}> ()"
     " r = OneHot <axis = 1> (x, d, v)",
     "2, 7, 3"},
    {18, "bool[2,3,4] x",
     "a = Constant <value = int64[1] {1}> () r = ReduceMax <keepdims = 0> (x, a)", "2, 4"},
    {17, "float[2,128,1] x",
     "s = Constant <value = int64 {8}> () n = Constant <value = int64 {16}> ()"
     " r = STFT (x, s, , n)",
     "2, 15, 9, 2"},
    {24, "float[2,4,8,3] x, float[2,4,1,3] v, int64[2] i", "r = TensorScatter (x, v, i)",
     "2, 4, 8, 3"},
};

TEST(LaterShapes, AreThoseOfOnnx) {
  for (const Case &one : cases) {
    const Status status = planned(one);
    EXPECT_TRUE(bool(status)) << one.nodes << ": " << status.message();
  }
}

// Each with the word that tells what does not fit.
TEST(LaterShapes, OperandsThatDoNotFitAreNamed) {
  const std::pair<Case, std::string> bad[] = {
      {{20, "float[2,4,3] t",
        "s = Constant <value = int64[4] {2, 3, 5, 6}> () r = AffineGrid (t, s)", "2"},
       "expected theta"},
      {{20, "float[2,2,3] t", "s = Constant <value = int64[3] {2, 3, 5}> () r = AffineGrid (t, s)",
        "2"},
       "expected 4 constant integers as operand 2"},
      {{18, "int32[2,4] a, int32[3] b", "r = BitwiseAnd (a, b)", "2"}, "broadcast"},
      {{18, "float[2,10,3] x",
        "s = Constant <value = int64[1] {10}> () r = CenterCropPad <axes = [3]> (x, s)", "2"},
       "axis 3 is not within rank 3"},
      {{18, "float[2,5,5] x",
        "s = Constant <value = int64[2] {5, 5}> () b = Constant <value = int64[2] {1, 3}> ()"
        " r = Col2Im (x, s, b)",
        "2"},
       "block 1x3 does not divide"},
      {{18, "float[2,5,5] x",
        "s = Constant <value = int64[2] {5, 5}> ()"
        " b = Constant <value = int64[2] {4294967296, 4294967296}> () r = Col2Im (x, s, b)",
        "2"},
       "does not divide"},
      {{13, "int64[2,3] x",
        "d = Constant <value = float {1e30}> () v = Constant <value = float[2] {0, 1}> ()"
        " r = OneHot <axis = 1> (x, d, v)",
        "2"},
       "expected a depth"},
      {{23, "float[2,4,24] q, float[2,6,24] k, float[2,6,30] v",
        "o, r = Attention <q_num_heads = 5, kv_num_heads = 3> (q, k, v)", "2"},
       "(Attention)"},
      {{20, "float[2,1,4,5] x, float[2,4,3,3] g", "r = GridSample (x, g)", "2"},
       "grid 2x4x3x3 does not fit"},
      {{17, "float[2,128,1] x",
        "s = Constant <value = int64 {8}> () n = Constant <value = int64 {160}> ()"
        " r = STFT (x, s, , n)",
        "2"},
       "from 1 to 128"},
      {{18, "float[2,10,3] x",
        "s = Constant <value = int64[1] {1099511627776}> ()"
        " r = CenterCropPad <axes = [1]> (x, s)",
        "2"},
       "'r' is not known"},
  };
  for (const auto &[one, text] : bad) {
    const Status status = planned(one);
    EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
    EXPECT_EQ(status.exitCode(), 1);
  }
}

} // namespace
