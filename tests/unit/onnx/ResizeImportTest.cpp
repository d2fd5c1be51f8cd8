// Resize and Upsample: what each attribute and operand becomes, and which are refused.
#include "TestModel.h"

#include "frontend/onnx/Fraction.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>

using namespace syncline;
using namespace syncline::test;

namespace {

/// Expects nn.resample with these attributes, the last dimension's coordinates among them.
void expectResample(const Outcome &outcome, const std::string &attributes,
                    const std::string &result) {
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("nn.resample %2 {" + attributes + "}")) << attributes << outcome.ir;
  EXPECT_TRUE(outcome.has("-> tensor<" + result + "xf32>")) << result << outcome.ir;
}

/// y, of h with one more attribute, resized to these sizes.
Outcome bySizes(const std::string &attributes, const std::string &sizes, int opset = 13) {
  return importNodes(opset, "s = Constant <value_ints = [" + sizes + "]> () y = Resize <" +
                                attributes + "> (h, , , s)");
}

Outcome byScales(const std::string &attributes, const std::string &scales, int opset = 13) {
  const auto count = std::to_string(1 + std::ranges::count(scales, ','));
  return importNodes(opset, "s = Constant <value = float[" + count + "] {" + scales +
                                "}> () y = Resize <" + attributes + "> (h, , s)");
}

std::string mode(const std::string &name) { return "mode = \"" + name + "\""; }
std::string coordinates(const std::string &name) {
  return ", coordinate_transformation_mode = \"" + name + "\"";
}

/// The attributes of a resample of the last dimension by these coordinates.
std::string columns(const std::string &abc, int filter) {
  return "axes = array<i64: 3>, coordinates = array<i64: " + abc +
         ">, cubic_coefficient = 0.000000e+00 : f64, filter = " + std::to_string(filter) + " : i64";
}

} // namespace

TEST(ResizeImport, EveryModeHasItsFilter) {
  const char *const nearest[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
  for (int i = 0; i < 4; ++i)
    expectResample(bySizes(mode("nearest") + ", nearest_mode = \"" + nearest[i] + "\"", "2,4,8,6"),
                   columns("8, 1, 6", i), "2x4x8x6");
  expectResample(bySizes(mode("linear"), "2,4,8,6"), columns("8, 1, 6", 4), "2x4x8x6");
  expectResample(bySizes(mode("cubic") + ", cubic_coeff_a = -0.5, exclude_outside = 1", "2,4,8,6"),
                 "axes = array<i64: 3>, coordinates = array<i64: 8, 1, 6>, cubic_coefficient = "
                 "-5.000000e-01 : f64, exclude_outside, filter = 5 : i64",
                 "2x4x8x6");
  expectResample(bySizes(mode("cubic"), "2,4,8,6"),
                 "axes = array<i64: 3>, coordinates = array<i64: 8, 1, 6>, cubic_coefficient = "
                 "-7.500000e-01 : f64, filter = 5 : i64",
                 "2x4x8x6");
  expectResample(bySizes(mode("linear") + ", antialias = 1", "2,4,8,6", 18),
                 "antialias, " + columns("8, 1, 6", 4), "2x4x8x6");
}

TEST(ResizeImport, EveryCoordinateTransformation) {
  const auto linear = [](const char *name, const char *sizes) {
    return bySizes(mode("linear") + coordinates(name), sizes, 19);
  };
  expectResample(linear("half_pixel", "2,4,8,16"), columns("2, -1, 4", 4), "2x4x8x16");
  expectResample(linear("pytorch_half_pixel", "2,4,8,16"), columns("2, -1, 4", 4), "2x4x8x16");
  expectResample(linear("pytorch_half_pixel", "2,4,8,1"), columns("0, 0, 1", 4), "2x4x8x1");
  expectResample(linear("half_pixel", "2,4,8,1"), columns("16, 7, 2", 4), "2x4x8x1");
  expectResample(linear("asymmetric", "2,4,8,12"), columns("2, 0, 3", 4), "2x4x8x12");
  expectResample(linear("align_corners", "2,4,8,15"), columns("1, 0, 2", 4), "2x4x8x15");
  expectResample(linear("align_corners", "2,4,8,1"), columns("0, 0, 1", 4), "2x4x8x1");
  expectResample(linear("half_pixel_symmetric", "2,4,8,16"), columns("2, -1, 4", 4), "2x4x8x16");
  // floor(8 · 0.7) = 5 columns, whose centre is that of the eight.
  expectResample(byScales(mode("linear") + coordinates("half_pixel_symmetric"), "1,1,1,0.7", 19),
                 columns("20, 9, 14", 4), "2x4x8x5");
}

TEST(ResizeImport, ScalesAreFractions) {
  const auto fraction = [](float number) {
    const frontend::Fraction found = frontend::fractionOf(number);
    EXPECT_EQ(
        static_cast<float>(static_cast<double>(found.above) / static_cast<double>(found.below)),
        number);
    return std::to_string(found.above) + "/" + std::to_string(found.below);
  };
  EXPECT_EQ(fraction(2.0f), "2/1");
  EXPECT_EQ(fraction(0.5f), "1/2");
  EXPECT_EQ(fraction(0.1f), "1/10");
  EXPECT_EQ(fraction(1.3333334f), "4/3");
  EXPECT_EQ(fraction(0.6f), "3/5");
  EXPECT_EQ(fraction(2.7183f), "27183/10000");
  EXPECT_EQ(fraction(16777215.0f), "16777215/1");
  EXPECT_EQ(fraction(3e-8f).substr(0, 2), "1/");
  for (int above = 1; above < 300; ++above)
    for (int below = 1; below < 300; ++below) {
      const frontend::Fraction own = frontend::reduced({above, below});
      EXPECT_EQ(fraction(static_cast<float>(above) / static_cast<float>(below)),
                std::to_string(own.above) + "/" + std::to_string(own.below));
    }
  // 8 · 0.7 in 32 bits and in decimals; 0.7 is not 5/8.
  expectResample(byScales(mode("linear") + coordinates("asymmetric"), "1,1,1,0.7"),
                 columns("10, 0, 7", 4), "2x4x8x5");
  expectResample(byScales(mode("linear") + coordinates("asymmetric"), "1,1,1,0.625"),
                 columns("8, 0, 5", 4), "2x4x8x5");
}

TEST(ResizeImport, AxesAndPolicies) {
  const std::string linear = mode("linear") + coordinates("asymmetric");
  expectResample(bySizes(linear + ", axes = [3]", "12", 18), columns("2, 0, 3", 4), "2x4x8x12");
  expectResample(bySizes(linear + ", axes = [-1,2]", "12,16", 18),
                 "axes = array<i64: 2, 3>, coordinates = array<i64: 1, 0, 2, 2, 0, 3>, "
                 "cubic_coefficient = 0.000000e+00 : f64, filter = 4 : i64",
                 "2x4x16x12");
  expectResample(byScales(linear + ", axes = [3]", "1.5", 18), columns("2, 0, 3", 4), "2x4x8x12");
  const std::string both = "axes = array<i64: 2, 3>, coordinates = array<i64: 2, 0, 3, 2, 0, 3>, "
                           "cubic_coefficient = 0.000000e+00 : f64, filter = 4 : i64";
  expectResample(
      bySizes(linear + ", axes = [2,3], keep_aspect_ratio_policy = \"not_larger\"", "12,16", 18),
      both, "2x4x12x12");
  expectResample(
      bySizes(linear + ", axes = [2,3], keep_aspect_ratio_policy = \"not_smaller\"", "9,12", 18),
      both, "2x4x12x12");
}

TEST(ResizeImport, FormerOperatorSets) {
  expectResample(importNodes(10, "s = Constant <value = float[4] {1.0,1.0,1.0,2.0}> ()"
                                 " y = Resize(h, s)"),
                 columns("1, 0, 2", 2), "2x4x8x16");
  expectResample(importNodes(7, "y = Upsample <scales = [1.0,1.0,1.0,3.0]> (h)"),
                 columns("1, 0, 3", 2), "2x4x8x24");
  expectResample(importNodes(9, "s = Constant <value = float[4] {1.0,1.0,1.0,2.0}> ()"
                                " y = Upsample <mode = \"linear\"> (h, s)"),
                 columns("1, 0, 2", 4), "2x4x8x16");
  expectResample(importNodes(11, "s = Constant <value = int64[4] {2,4,8,16}> ()"
                                 " e = Constant <value = float[0] {}> ()"
                                 " y = Resize <mode = \"linear\"> (h, e, e, s)"),
                 columns("2, -1, 4", 4), "2x4x8x16");
  expectError(importNodes(10, "s = Constant <value = float[4] {1.0,1.0,1.0,0.5}> ()"
                              " y = Resize(h, s)"),
              "mode 'nearest' to a smaller size is not defined before opset 11");
}

TEST(ResizeImport, WhatStaysIsNoOperation) {
  for (const char *sizes : {"2,4,8,8"})
    EXPECT_EQ(importNodes(13, std::string("s = Constant <value_ints = [") + sizes +
                                  "]> () r = Resize(h, , , s) y = Relu(r)")
                  .count("nn.resample"),
              0);
}

TEST(ResizeImport, SizesFollowTheBatchAsExportersWriteThem) {
  const char *const graph =
      "agraph (float[N,4,8,8] x) => (float[N,4,16,16] y) {"
      " w = RandomNormal <shape = [4,1,1]> () h = Mul(x, w) all = Shape(h)"
      " zero = Constant <value_ints = [0]> () two = Constant <value_ints = [2]> ()"
      " first = Slice(all, zero, two) image = Constant <value_ints = [16,16]> ()"
      " sizes = Concat <axis = 0> (first, image)"
      " y = Resize <mode = \"linear\"> (h, , , sizes) }";
  frontend::ImportOptions options = meanSquare();
  for (const std::int64_t batch : {1, 3}) {
    options.batch = batch;
    const Outcome outcome = importText(13, graph, options);
    EXPECT_EQ(outcome.error, "");
    EXPECT_TRUE(outcome.has("-> tensor<" + std::to_string(batch) + "x4x16x16xf32>"));
  }
}

TEST(ResizeImport, SizesOfTheExportedBatchAreBound) {
  const auto graph = [](const std::string &sizes) {
    return "agraph (float[2,4,8,8] x) => (float[2,4,16,16] y) {"
           " w = RandomNormal <shape = [4,1,1]> () h = Mul(x, w)"
           " sizes = Constant <value_ints = [" +
           sizes + "]> () y = Resize <mode = \"linear\"> (h, , , sizes) }";
  };
  frontend::ImportOptions options = meanSquare();
  options.batch = 6;
  const Outcome outcome = importText(13, graph("2,4,16,16"), options);
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("-> tensor<6x4x16x16xf32>")) << outcome.ir;
  expectError(importText(13, graph("3,4,16,16"), options),
              "(Resize): it would compute over dimension 0, which has the batch");
}

TEST(ResizeImport, RefusesWhatItDoesNotKnow) {
  const std::string linear = mode("linear");
  const char *const sizes = "2,4,8,16";
  expectError(bySizes(mode("bilinear"), sizes),
              "(Resize): expected mode 'nearest', 'linear' or 'cubic', got 'bilinear'");
  expectError(bySizes(mode("nearest") + ", nearest_mode = \"up\"", sizes),
              "expected nearest_mode 'round_prefer_floor', 'round_prefer_ceil', 'floor' or 'ceil', "
              "got 'up'");
  expectError(bySizes(linear + coordinates("centre"), sizes),
              "expected coordinate_transformation_mode 'half_pixel', ");
  expectError(bySizes(linear + coordinates("tf_crop_and_resize"), sizes),
              "coordinate_transformation_mode 'tf_crop_and_resize' is not supported");
  expectError(bySizes(linear + ", keep_aspect_ratio_policy = \"fit\"", sizes, 18),
              "expected keep_aspect_ratio_policy 'stretch', 'not_larger' or 'not_smaller', got "
              "'fit'");
  expectError(bySizes(mode("nearest") + ", antialias = 1", sizes, 18),
              "antialias is not supported with mode 'nearest'");
  expectError(bySizes(linear + coordinates("align_corners") + ", antialias = 1", sizes, 18),
              "antialias is not supported with 'align_corners'");
  expectError(importNodes(9, "s = Constant <value = float[4] {1.0,1.0,1.0,2.0}> ()"
                             " y = Upsample <mode = \"cubic\"> (h, s)"),
              "expected mode 'nearest' or 'linear', got 'cubic'");
}

TEST(ResizeImport, RefusesBadSizesAndScales) {
  const std::string linear = mode("linear");
  expectError(bySizes(linear, "2,4,8"), "expected a size for each of 4 dimensions, got 3");
  expectError(byScales(linear, "1,1,2"), "expected a scale for each of 4 dimensions, got 3");
  expectError(bySizes(linear + ", axes = [2,3]", "16", 18),
              "expected a size for each of 2 dimensions, got 1");
  expectError(bySizes(linear + ", axes = [2,2]", "16,16", 18), "axis 2 is named twice");
  expectError(bySizes(linear + ", axes = [4]", "16", 18), "axis 4 is not within rank 4");
  expectError(bySizes(linear, "2,4,8,0"), "dimension 3 would have 0 elements, expected 1 to ");
  expectError(bySizes(linear, "2,4,8,-5"), "dimension 3 would have -5 elements, expected 1 to ");
  expectError(bySizes(linear, "2,4,8,1099511627776"), "sizes: 1099511627776 is out of range");
  expectError(bySizes(linear, "2,4,8,1073741824"), "dimension 3 would have 1073741824 elements");
  expectError(bySizes(linear, "2,4,16777216,16777216"), "is empty or too large");
  expectError(byScales(linear, "1,1,2,1099511627776.0"),
              "dimension 3 would have 8796093022208 elements");
  expectError(byScales(linear, "1,1,2,0.0"), "expected scales above 0, got 0");
  expectError(byScales(linear, "1,1,2,-1.0"), "expected scales above 0, got -1");
  expectError(byScales(linear, "1,1,2,0.01"), "dimension 3 would have 0 elements");
  expectError(byScales(linear, "1,1,2,1e-30"), "dimension 3 would have 0 elements");
  expectError(importNodes(13, "y = Resize(h)"), "expected scales or sizes, got none");
  expectError(importNodes(13, "s = Constant <value_floats = [1.0,1.0,2.0,2.0]> ()"
                              " t = Constant <value_ints = [2,4,16,16]> () y = Resize(h, , s, t)"),
              "expected scales or sizes, got both");
  expectError(importNodes(13, "s = Constant <value_float = 2.0> () y = Resize(h, , s)"),
              "expected a list of constant numbers as scales, got 's'");
  expectError(importNodes(13, "y = Resize(h, , x)"),
              "expected a list of constant numbers as scales, got 'x'");
  expectError(importNodes(9, "y = Upsample(h)"), "expected scales, got none");
  expectError(bySizes(linear, "4,5,6,7"), "expected at most 3 resized dimensions, got 4");
}
