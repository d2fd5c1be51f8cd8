// Large constants are values beside the weights.
#include "TestModel.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <cstring>

using namespace syncline;
using namespace syncline::frontend;
using namespace syncline::test;

namespace {

/// y = `node`(x, c), c the numbers from 0 to `count` - 1, once for each sample.
Outcome importRange(int count, std::int64_t batch, const std::string &nodes,
                    const std::string &y = "[2]") {
  ImportOptions options = meanSquare();
  options.batch = batch;
  return importText(17,
                    "agraph (float[2," + std::to_string(count) + "] x) => (float" + y +
                        " y) {"
                        " from = Constant <value = float {0}> ()"
                        " to = Constant <value = float {" +
                        std::to_string(count) +
                        "}> ()"
                        " step = Constant <value = float {1}> ()"
                        " zero = Constant <value = int64[1] {0}> ()"
                        " w = RandomNormal <shape = [1]> ()"
                        " shape = Shape(x)"
                        " row = Range(from, to, step)"
                        " rows = Unsqueeze(row, zero)"
                        " c = Expand(rows, shape)" +
                        nodes + "}",
                    options);
}

const char *const scaled = " s = Add(x, c) y = Mul(s, w)";

float numberAt(const Outcome &outcome, std::size_t index) {
  float number = 0;
  std::memcpy(&number, outcome.weights.data() + index * sizeof(float), sizeof(float));
  return number;
}

} // namespace

// Up to 1,024 elements are in the IR.
TEST(StoreConstants, SmallOnesStay) {
  const Outcome outcome = importRange(512, 2, scaled);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.count("nn.constant"), 1);
  EXPECT_FALSE(outcome.has("{fixed}"));
  EXPECT_EQ(outcome.weights, "");
}

// What is alike for all samples is there once, whatever the batch.
TEST(StoreConstants, AreStoredOnceForAllSamples) {
  for (const std::int64_t batch : {1, 2, 600}) {
    const Outcome outcome = importRange(2000, batch, scaled);
    EXPECT_EQ(outcome.error, "");
    EXPECT_TRUE(outcome.has("nn.state \"constant/0\" at 0 {fixed} : tensor<1x2000xf32>"))
        << outcome.ir;
    EXPECT_FALSE(outcome.has("nn.constant"));
    EXPECT_FALSE(outcome.has("nn.broadcast"));
    ASSERT_EQ(outcome.weights.size(), 2000 * sizeof(float));
    EXPECT_EQ(numberAt(outcome, 0), 0);
    EXPECT_EQ(numberAt(outcome, 1999), 1999);
    EXPECT_EQ(outcome.skeleton.find("constant/0"), std::string::npos);
  }
}

// More elements than are computed with at import are, where they repeat. The batch is 2400.
TEST(StoreConstants, AreComputedOnceForAllSamples) {
  const Outcome outcome =
      importRange(2000, 2400,
                  " half = Constant <value = float {1000}> () less = Less(c, half)"
                  " other = Not(less) m = Where(other, step, half) s = Add(x, m) y = Mul(s, w)");
  EXPECT_EQ(outcome.error, "");
  EXPECT_FALSE(outcome.has("nn.broadcast"));
  ASSERT_EQ(outcome.weights.size(), 2000 * sizeof(float));
  EXPECT_EQ(numberAt(outcome, 999), 1000);
  EXPECT_EQ(numberAt(outcome, 1000), 1);
}

// What operators that are not computed so make of them is a tensor of the step.
TEST(StoreConstants, AreTensorsForOtherOperators) {
  const Outcome outcome =
      importRange(2000, 2400,
                  " half = Constant <value = float {1000}> () less = Less(c, half)"
                  " end = Constant <value = int64[1] {1999}> ()"
                  " axis = Constant <value = int64[1] {1}> ()"
                  " part = Slice(less, zero, end, axis) real = Cast <to = 1> (part)"
                  " rest = Slice(x, zero, end, axis) s = Add(rest, real) y = Mul(s, w)");
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("{fixed} : tensor<1x2000xf32>"));
  EXPECT_TRUE(outcome.has(" : (tensor<1x2000xf32>) -> tensor<2400x2000xf32>")) << outcome.ir;
  EXPECT_EQ(numberAt(outcome, 999), 1);
  EXPECT_EQ(numberAt(outcome, 1000), 0);
}

// A mask that leaves every row a place hides none, whether it has all elements or repeats.
TEST(StoreConstants, MasksLeaveRows) {
  for (const std::int64_t batch : {2, 600, 2400}) {
    const Outcome outcome = importRange(
        2000, batch,
        " none = Constant <value = float {0}> () big = Constant <value = float {1000}> ()"
        " e = Exp(big) least = Neg(e) less = Less(c, big) mask = Where(less, none, least)"
        " h = Mul(x, w) scores = Add(h, mask) p = Softmax(scores) n = IsNaN(p)"
        " y = Where(n, none, p)");
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.count("nn.reduce"), 0);
    EXPECT_EQ(outcome.count("nn.softmax"), 1);
  }
}

// The mask of a causal model for 2,048 tokens is one of them: row 0 sees the first token.
TEST(StoreConstants, AreAsLargeAsMasks) {
  const Outcome outcome =
      importRange(2048, 2,
                  " one = Constant <value = int64[1] {1}> () column = Unsqueeze(row, one)"
                  " seen = LessOrEqual(rows, column) no = Constant <value = float {-5}> ()"
                  " mask = Where(seen, step, no) s = MatMul(x, mask) y = Mul(s, w)");
  EXPECT_EQ(outcome.error, "");
  ASSERT_EQ(outcome.weights.size(), 2048 * 2048 * sizeof(float));
  EXPECT_EQ(numberAt(outcome, 0), 1);
  EXPECT_EQ(numberAt(outcome, 1), -5);
}

// Who needs the values of each sample gets them.
TEST(StoreConstants, AreRepeatedForOthers) {
  const Outcome outcome =
      importRange(2000, 3, " j = Concat <axis = 1> (x, c) y = Mul(j, w)", "[2,4000]");
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("{fixed} : tensor<1x2000xf32>"));
  EXPECT_EQ(outcome.count("nn.broadcast"), 1);
  EXPECT_TRUE(outcome.has(" : (tensor<1x2000xf32>) -> tensor<3x2000xf32>")) << outcome.ir;
}

// Constants of equal values are one; the model's names stay what they are.
TEST(StoreConstants, EqualOnesAreOne) {
  const Outcome outcome = importRange(
      2000, 2, " d = Add(c, step) e = Add(c, step) s = Add(x, d) t = Mul(s, e) y = Mul(t, w)");
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.count("{fixed}"), 1);
  EXPECT_EQ(outcome.weights.size(), 2000 * sizeof(float));
}

// Elements that are all equal need no file.
TEST(StoreConstants, EqualElementsAreOneNumber) {
  const Outcome outcome =
      importRange(2000, 2, " z = Sub(c, c) o = Add(z, step) s = Add(x, o) y = Mul(s, w)");
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("nn.constant dense<1.000000e+00> : tensor<2x2000xf32>"));
  EXPECT_EQ(outcome.weights, "");
}
