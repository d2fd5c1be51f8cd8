// Operation and byte counts against hand calculation.
#include "passes/cost/Counts.h"
#include "tests/unit/cost/Parsed.h"

#include <gtest/gtest.h>

namespace syncline::cost {
namespace {

/// Counts of the operation called `name` in a step of `body`.
std::optional<Counts> counts(llvm::StringRef body, llvm::StringRef name) {
  Parsed parsed(("nn.step @s batch 4 {\n" + body + "\n}").str());
  EXPECT_TRUE(parsed.module) << parsed.error;
  if (!parsed.module)
    return std::nullopt;
  for (mlir::Operation &op : parsed.step().getBody().front())
    if (op.getName().getStringRef() == name)
      return countsOf(&op);
  ADD_FAILURE() << "no " << name.str();
  return std::nullopt;
}

constexpr llvm::StringLiteral window =
    "groups = 2 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, "
    "pads_begin = array<i64: 1, 1>, pads_end = array<i64: 1, 1>";

// A grouped 3x3 convolution of 8 to 16 channels on 10x10: 2·4·16·100·4·9 operations in each of its
// three directions.
TEST(Counts, Convolution) {
  const std::string body = R"(
    %x = nn.input "x" : tensor<4x8x10x10xf32>
    %w = nn.parameter "w" at 0 : tensor<16x4x3x3xf32>
    %y = nn.conv %x, %w {)" +
                           window.str() + R"(}
      : (tensor<4x8x10x10xf32>, tensor<16x4x3x3xf32>) -> tensor<4x16x10x10xf32>
    %dw = nn.conv_backward_weights %x, %y {)" +
                           window.str() + R"(}
      : (tensor<4x8x10x10xf32>, tensor<4x16x10x10xf32>) -> tensor<16x4x3x3xf32>
    %dx = nn.conv_backward_data %y, %w {)" +
                           window.str() + R"(}
      : (tensor<4x16x10x10xf32>, tensor<16x4x3x3xf32>) -> tensor<4x8x10x10xf32>)";
  constexpr double flops = 2.0 * 4 * 16 * 100 * 4 * 9;
  constexpr double bytes = 4.0 * (4 * 8 * 100 + 16 * 4 * 9 + 4 * 16 * 100);
  for (const char *name : {"nn.conv", "nn.conv_backward_weights", "nn.conv_backward_data"}) {
    const auto got = counts(body, name);
    ASSERT_TRUE(got) << name;
    EXPECT_EQ(got->flops, flops) << name;
    EXPECT_EQ(got->bytes, bytes) << name;
  }
}

// A matrix product with bias: 2·rows·columns·inner and one add an element, transposed or not.
TEST(Counts, Matmul) {
  const auto got = counts(R"(
    %x = nn.input "x" : tensor<4x8xf32>
    %w = nn.parameter "w" at 0 : tensor<3x8xf32>
    %b = nn.parameter "b" at 0 : tensor<3xf32>
    %y = nn.matmul %x, %w bias %b {transpose_b}
      : (tensor<4x8xf32>, tensor<3x8xf32>, tensor<3xf32>) -> tensor<4x3xf32>)",
                          "nn.matmul");
  ASSERT_TRUE(got);
  EXPECT_EQ(got->flops, 2 * 4 * 3 * 8 + 12);
  EXPECT_EQ(got->bytes, 4 * (32 + 24 + 3 + 12));
  const auto transposed = counts(R"(
    %a = nn.input "a" : tensor<4x3xf32>
    %x = nn.target "x" : tensor<4x8xf32>
    %y = nn.matmul %a, %x {transpose_a} : (tensor<4x3xf32>, tensor<4x8xf32>) -> tensor<3x8xf32>)",
                                 "nn.matmul");
  ASSERT_TRUE(transposed);
  EXPECT_EQ(transposed->flops, 2 * 3 * 8 * 4);
}

// A resample to half the columns: one operation a result for the nearest, 4 for a linear filter, 8
// for a cubic one; antialiasing reads all 4·8 elements.
TEST(Counts, Resample) {
  const auto got = [](const std::string &filter, bool isBackward) {
    const std::string attributes = "{axes = array<i64: 1>, coordinates = array<i64: 4, 1, 2>, "
                                   "cubic_coefficient = -0.75 : f64, filter = " +
                                   filter + "}";
    return *counts("%x = nn.input \"x\" : tensor<4x8xf32>\n%y = nn.resample %x " + attributes +
                       " : (tensor<4x8xf32>) -> tensor<4x4xf32>\n%dx = nn.resample_backward %y " +
                       attributes + " : (tensor<4x4xf32>) -> tensor<4x8xf32>",
                   isBackward ? "nn.resample_backward" : "nn.resample");
  };
  for (const bool isBackward : {false, true}) {
    EXPECT_EQ(got("2 : i64", isBackward).flops, 16);
    EXPECT_EQ(got("4 : i64", isBackward).flops, 4 * 16);
    EXPECT_EQ(got("5 : i64", isBackward).flops, 8 * 16);
    EXPECT_EQ(got("4 : i64, antialias", isBackward).flops, 4 * 32);
    EXPECT_EQ(got("2 : i64", isBackward).bytes, 4 * (32 + 16));
  }
}

// Layer normalization counts as batch normalization does; an embedding reads no other rows.
TEST(Counts, LayerNormAndEmbedding) {
  const std::string body = R"(
    %x = nn.input "x" : tensor<4x8xf32>
    %s = nn.parameter "s" at 0 : tensor<8xf32>
    %y = nn.layer_norm %x, %s {epsilon = 1.0 : f64} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    %dx, %ds, %db = nn.layer_norm_backward %x, %s, %y {epsilon = 1.0 : f64}
      : (tensor<4x8xf32>, tensor<8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>))";
  EXPECT_EQ(counts(body, "nn.layer_norm")->flops, 8 * 32);
  EXPECT_EQ(counts(body, "nn.layer_norm")->bytes, 4 * (2 * 32 + 8));
  EXPECT_EQ(counts(body, "nn.layer_norm_backward")->flops, 12 * 32);
  EXPECT_EQ(counts(body, "nn.layer_norm_backward")->bytes, 4 * (3 * 32 + 3 * 8));
  const auto rows = counts(R"(
    %i = nn.input "i" : tensor<4xi64>
    %t = nn.parameter "t" at 0 : tensor<100x8xf32>
    %y = nn.embedding %i, %t : (tensor<4xi64>, tensor<100x8xf32>) -> tensor<4x8xf32>)",
                           "nn.embedding");
  EXPECT_EQ(rows->bytes, 4 * 8 + 2 * 4 * 32);
}

// A gather reads no other entries; a scatter writes all, and computes with every update.
TEST(Counts, GatherAndScatter) {
  const std::string body = R"(
    %x = nn.input "x" : tensor<4x50xf32>
    %i = nn.input "i" : tensor<4x3xi64>
    %y = nn.gather_rows %x, %i {axis = 1 : i64, shared = 1 : i64}
      : (tensor<4x50xf32>, tensor<4x3xi64>) -> tensor<4x3xf32>
    %z = nn.scatter_rows %y, %i {axis = 1 : i64, kind = 0 : i64, shared = 1 : i64}
      : (tensor<4x3xf32>, tensor<4x3xi64>) -> tensor<4x50xf32>)";
  EXPECT_EQ(counts(body, "nn.gather_rows")->bytes, 12 * 8 + 2 * 12 * 4);
  EXPECT_EQ(counts(body, "nn.scatter_rows")->flops, 12);
  EXPECT_EQ(counts(body, "nn.scatter_rows")->bytes, 12 * 4 + 12 * 8 + 200 * 4);
}

// Bytes follow the element type.
TEST(Counts, ElementTypes) {
  const std::string half = "%x = nn.input \"x\" : tensor<4x8xf16>\n"
                           "%y = nn.unary relu %x : tensor<4x8xf16>";
  EXPECT_EQ(counts(half, "nn.unary")->bytes, 2 * 2 * 32);
  EXPECT_EQ(counts(half, "nn.unary")->flops, 32);
}

// What holds or names data takes no time; a reshape moves nothing; an update moves five tensors.
TEST(Counts, Structure) {
  const std::string body = R"(
    %x = nn.input "x" : tensor<4x2xf32>
    %r = nn.reshape %x : (tensor<4x2xf32>) -> tensor<8xf32>
    %w = nn.parameter "w" at 0 : tensor<8xf32>
    nn.output %r "y" : tensor<8xf32>
    nn.update %w, %r : tensor<8xf32>, tensor<8xf32>)";
  for (const char *name : {"nn.input", "nn.parameter", "nn.output"})
    EXPECT_FALSE(counts(body, name)) << name;
  ASSERT_TRUE(counts(body, "nn.reshape"));
  EXPECT_EQ(counts(body, "nn.reshape")->bytes, 0);
  ASSERT_TRUE(counts(body, "nn.update"));
  EXPECT_EQ(counts(body, "nn.update")->bytes, 5 * 32);
}

// Rows that are added onto another gradient in its place: 12 numbers, and rows of 2 floats that are
// read twice and written once. Where that gradient has another reader, it is copied first.
TEST(Counts, RowsInPlace) {
  const std::string body = R"(
    %ids = nn.input "ids" : tensor<4x3xi64>
    %dy = nn.input "dy" : tensor<4x3x2xf32>
    %onto = nn.input "onto" : tensor<50x2xf32>
    %dt = nn.embedding_backward %ids, %dy onto %onto
      : (tensor<4x3xi64>, tensor<4x3x2xf32>, tensor<50x2xf32>) -> tensor<50x2xf32>)";
  const auto inPlace = counts(body, "nn.embedding_backward");
  const auto copied = counts(body + R"(
    nn.output %onto "onto" : tensor<50x2xf32>)",
                             "nn.embedding_backward");
  ASSERT_TRUE(inPlace && copied);
  EXPECT_EQ(inPlace->flops, 12 * 2);
  EXPECT_EQ(inPlace->bytes, 12 * 8 + 3 * 12 * 2 * 4);
  EXPECT_EQ(copied->bytes, inPlace->bytes + 2 * 50 * 2 * 4);
}

} // namespace
} // namespace syncline::cost
