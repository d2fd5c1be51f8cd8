// What the CPU backend converts and what it does not: layouts are carried from operation to
// operation, and parameters live where the kernels want them.
#include "tests/conformance/StepCase.h"

#include "runtime/core/HostMemory.h"
#include "runtime/core/StepTable.h"
#include "runtime/cpu/BlockedConvolution.h"
#include "runtime/cpu/Layout.h"

#include <array>

namespace syncline::cpu {
namespace {

using namespace core;

using conformance::Array;
using conformance::randomArray;
using conformance::StepCase;

conformance::Backend cpuBackend() { return conformance::backends().front(); }

const Window same3{{}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
const Window one{{}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};

void relu(void *const *outs, const void *const *ins, std::int64_t n, void *) {
  for (std::int64_t i = 0; i < n; ++i)
    static_cast<float *>(outs[0])[i] = std::max(static_cast<const float *>(ins[0])[i], 0.0f);
}

bool hasVectorKernels() {
  return activationLayout({1, 16, 4, 4}, DataType::f32) !=
         plainLayout({1, 16, 4, 4}, DataType::f32);
}

/// conv → bn → relu → conv and back, all in arena tensors after the first.
struct Chain {
  explicit Chain(StepCase &run, std::int64_t channels) {
    const Shape shape{2, channels, 6, 6}, perChannel{channels}, kernel{channels, channels, 3, 3};
    StepBuilder &s = run.step();
    const Tensor x = run.operand(randomArray({2, 3, 6, 6}, 1));
    const auto [w1, dw1] = run.parameter("w1", randomArray({channels, 3, 3, 3}, 2));
    const auto [w2, dw2] = run.parameter("w2", randomArray(kernel, 3));
    const auto [scale, dscale] = run.parameter("scale", randomArray(perChannel, 4));
    const auto [shift, dshift] = run.parameter("shift", randomArray(perChannel, 5));
    auto image = [&] { return run.result(shape); };
    const Tensor mean = run.result(perChannel), variance = run.result(perChannel);
    const Tensor a = image(), b = image(), c = image(), d = image();
    s.conv("conv1", x, w1, none, a, same3);
    s.batchNorm("bn", a, scale, shift, none, none, b, mean, variance, none, 1e-5, 0.1);
    s.pointwise("relu", relu, std::array{b}, std::array{c}, {true, true});
    s.conv("conv2", c, w2, none, d, same3);
    s.convBackwardWeights("conv2", c, d, dw2, none, same3);
    s.convBackwardData("conv2", d, w2, b, same3);
    s.batchNormBackward("bn", a, scale, mean, variance, none, b, c, dscale, dshift, 1e-5);
    s.convBackwardWeights("conv1", x, c, dw1, none, same3);
  }
};

class ChainTest : public testing::Test {
protected:
  void SetUp() override {
    if (!hasVectorKernels())
      GTEST_SKIP() << "no vector kernels on this processor";
    Chain chain(run, 32);
    run.run();
  }
  StepCase run{cpuBackend()};
};

TEST_F(ChainTest, ConvertsNothingButTheWeightsOfBackwardData) {
  EXPECT_EQ(run.reorders(), run.reorders("convBackwardData"));
  EXPECT_LE(run.reorders("convBackwardData"), 1);
}

TEST_F(ChainTest, NoConvolutionFallsBackToASlowKernel) {
  for (const OperationInfo &operation : (*run).operations())
    if (operation.name.starts_with("conv")) {
      EXPECT_EQ(operation.implementation.find("jit"), 0u) << operation.implementation;
    }
}

// Channels become more and fewer again, as in EfficientNet. Layouts fit our kernel each time.
TEST(LayoutTest, ConvolutionsByOneElementAddUpInParts) {
  if (!hasVectors(vectorLanes() == 8 ? Vectors::avx2 : Vectors::avx512))
    GTEST_SKIP() << "no such vectors on this processor";
  StepCase run(cpuBackend());
  const Tensor x = run.operand(randomArray({2, 3, 6, 6}, 1));
  const Tensor a = run.result({2, 32, 6, 6}), b = run.result({2, 96, 6, 6});
  const Tensor c = run.result({2, 16, 6, 6});
  run.step().conv("first", x, run.state("w1", randomArray({32, 3, 3, 3}, 2)), none, a, same3);
  run.step().conv("wide", a, run.state("w2", randomArray({96, 32, 1, 1}, 3)), none, b, one);
  run.step().conv("narrow", b, run.state("w3", randomArray({16, 96, 1, 1}, 4)), none, c, one);
  run.run();
  for (const OperationInfo &operation : (*run).operations())
    if (operation.layer == "wide" || operation.layer == "narrow") {
      EXPECT_EQ(operation.implementation, "sums in parts") << operation.layer;
    }
}

TEST(LayoutTest, ConvolutionsInBf16RunOnTiles) {
  if (!hasTiles())
    GTEST_SKIP() << "no AMX on this processor";
  StepCase run(conformance::backends().back());
  Chain chain(run, 32);
  run.run();
  for (const OperationInfo &operation : (*run).operations()) {
    SCOPED_TRACE(operation.name + " of " + operation.layer);
    if (operation.name.starts_with("conv"))
      EXPECT_NE(operation.implementation.find("amx"), std::string::npos)
          << operation.implementation;
    else
      EXPECT_EQ(operation.reorders, 0);
  }
}

TEST(LayoutTest, ConvolutionsWithoutTilesStayInBf16) {
  if (!hasTiles())
    GTEST_SKIP() << "no AMX on this processor";
  StepCase run(conformance::backends().back());
  const Tensor w = run.state("w", randomArray({32, 1, 3, 3}, 1));
  const Tensor x = run.operand(randomArray({2, 32, 6, 6}, 2)), y = run.result({2, 32, 6, 6});
  Window depthwise = same3;
  depthwise.groups = 32;
  run.step().conv("conv", x, w, none, y, depthwise);
  run.run();
  EXPECT_NE((*run).operations().back().implementation.find("bf16"), std::string::npos)
      << (*run).operations().back().implementation;
}

TEST(LayoutTest, WeightsOfOneElementAreOneProductOnTiles) {
  if (!hasTiles())
    GTEST_SKIP() << "no AMX on this processor";
  StepCase run(conformance::backends().back());
  const auto [w, dw] = run.parameter("w", randomArray({64, 32, 1, 1}, 1));
  const Tensor x = run.operand(randomArray({2, 32, 6, 6}, 2)), y = run.result({2, 64, 6, 6});
  run.step().conv("conv", x, w, none, y, one);
  run.step().convBackwardWeights("conv", x, y, dw, none, one);
  run.run();
  const OperationInfo &gradient = (*run).operations().back();
  EXPECT_EQ(gradient.implementation, "brg:avx512_core_amx_bf16");
  EXPECT_EQ(gradient.reorders, 1); // x, which is an input of f32
}

TEST(LayoutTest, StackedRowsTimesOneMatrixAreOneProduct) {
  StepCase run(conformance::backends().back());
  if (run.rounding() == 0)
    GTEST_SKIP() << "no bf16 on this processor";
  const auto [w, dw] = run.parameter("w", randomArray({64, 48}, 1));
  const Tensor x = run.operand(randomArray({4, 7, 7, 48}, 2)), y = run.result({4, 7, 7, 64});
  run.step().matmul("short rows", x, false, w, true, none, y, Activation::none);
  run.run();
  const OperationInfo &product = (*run).operations().back();
  EXPECT_NE(product.implementation.find("bf16"), std::string::npos) << product.implementation;
}

TEST(LayoutTest, SlicesAndConcatsAtBlockEdgesConvertNothing) {
  StepCase run(cpuBackend(), conformance::Form::blocked);
  const Tensor a = run.operand(randomArray({1, 32, 4, 4}, 1));
  const Tensor b = run.operand(randomArray({1, 16, 4, 4}, 2));
  const Tensor both = run.result({1, 48, 4, 4}), part = run.result({1, 16, 4, 4});
  run.step().concat("concat", std::array{a, b}, both, 1);
  run.step().slice("slice", both, part, {0, 32, 0, 0}, {1, 1, 1, 1});
  const Tensor y = run.result({1, 16, 4, 4});
  run.step().conv("next", part, run.state("w", randomArray({16, 16, 1, 1}, 3)), none, y, one);
  run.run();
  EXPECT_EQ(run.reorders("concat") + run.reorders("slice"), 0);
  EXPECT_EQ((*run).operations().back().reorders, 0);
}

TEST(LayoutTest, FactorsKeepTheirLayoutOnTheWay) {
  if (!hasVectorKernels())
    GTEST_SKIP() << "no vector kernels on this processor";
  StepCase run(cpuBackend(), conformance::Form::blocked, 2);
  const auto [w, dw] = run.parameter("w", randomArray({32, 16, 3, 3}, 1));
  const Tensor x = run.operand(randomArray({2, 16, 4, 4}, 2));
  const Tensor dy = run.operand(randomArray({2, 32, 4, 4}, 3));
  const Tensor xs = run.result({4, 16, 4, 4}), dys = run.result({4, 32, 4, 4});
  run.step().bucket(conformance::bucketBy("factors", 32 * 16 * 9 * 4));
  run.step().gather(0, std::array{x, dy}, std::array{xs, dys});
  run.step().convBackwardWeights("conv", xs, dys, dw, none, same3);
  run.run();
  EXPECT_EQ(run.reorders("gather") + run.reorders("convBackwardWeights"), 0);
  for (const OperationInfo &operation : (*run).operations())
    if (operation.name == "gather") {
      EXPECT_EQ(operation.implementation, "copy");
    }
}

TEST(LayoutTest, ParametersAndGradientsShareOneLayoutThatFillsNoMoreThanPlanned) {
  StepCase run(cpuBackend());
  const auto [w, dw] = run.parameter("w", randomArray({24, 24, 3, 3}, 1));
  const auto [next, dnext] = run.parameter("next", Array({64}, 3.0));
  const Tensor x = run.operand(randomArray({1, 24, 4, 4}, 2)), y = run.result({1, 24, 4, 4});
  run.step().conv("conv", x, w, none, y, same3);
  run.step().convBackwardWeights("conv", x, y, dw, none, same3);
  run.run();
  conformance::expectNear(run, next, Array({64}, 3.0), 0); // the neighbour is untouched
  conformance::expectNear(run, dnext, Array({64}, 0.0), 0);
}

TEST(LayoutTest, LikeLayoutKeepsTheKind) {
  const Layout blocked = activationLayout({2, 32, 5, 5}, DataType::f32);
  EXPECT_EQ(*likeLayout(blocked, {2, 64, 7, 7}), activationLayout({2, 64, 7, 7}, DataType::f32));
  EXPECT_EQ(*likeLayout(plainLayout({2, 3}, DataType::f32), {4, 5}),
            plainLayout({4, 5}, DataType::f32));
  EXPECT_FALSE(likeLayout(blocked, {2, 32}).has_value());
}

TEST(LayoutTest, PlainLayoutKnowsScalarsAndEightByteTypes) {
  EXPECT_EQ(plainLayout(Shape{}, ElementType::f32).get_size(), 4u);
  EXPECT_EQ(plainLayout(Shape{3, 2}, ElementType::i64).get_size(), 48u);
  EXPECT_TRUE(isPlain(plainLayout(Shape{3, 2}, ElementType::i64)));
}

TEST(HostMemoryTest, IsZeroedAlignedAndMovable) {
  HostMemory memory(5 << 20);
  ASSERT_TRUE(memory.isValid());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % (2 << 20), 0u);
  EXPECT_EQ(memory.data()[(5 << 20) - 1], std::byte{0});
  const HostMemory moved = std::move(memory);
  EXPECT_EQ(moved.bytes(), 5 << 20);
  EXPECT_TRUE(HostMemory(0).isValid());
}

TEST(HostMemoryTest, RefusalIsReported) {
  EXPECT_FALSE(HostMemory(std::int64_t{1} << 60).isValid());
}

TEST(StepTableTest, RefusesWhatDoesNotFitOrRepeats) {
  auto messageOf = [](auto declare) {
    SpaceSizes sizes;
    sizes.parameters = sizes.gradients = 128;
    StepTable table(sizes);
    declare(table);
    return table.status().isOk() ? std::string() : table.status().message();
  };
  const TensorInfo fits{"w", Space::parameters, ElementType::f32, {4}, 64, 16};
  EXPECT_EQ(messageOf([&](StepTable &t) { t.declare(fits); }), "");
  TensorInfo unaligned = fits;
  unaligned.offset = 4;
  EXPECT_EQ(messageOf([&](StepTable &t) { t.declare(unaligned); }),
            "tensor 'w': expected an offset that is a multiple of 64, got 4");
  TensorInfo beyond = fits;
  beyond.shape = {17};
  EXPECT_EQ(messageOf([&](StepTable &t) { t.declare(beyond); }),
            "tensor 'w': ends at byte 132 of a space of 128");
  EXPECT_EQ(messageOf([&](StepTable &t) { t.declare(fits), t.declare(fits); }),
            "tensor 'w' is declared twice");
  EXPECT_EQ(messageOf([](StepTable &t) { t.declareBucket({1, 0, "ring", 64, 128}); }),
            "bucket 1: ends at byte 192 of a space of 128");
  EXPECT_EQ(
      messageOf([](StepTable &t) { t.appendBucketOperation("issue", OperationKind::issue, 5); }),
      "'issue' names bucket 5, not declared");
}

TEST(StepTableTest, PairsParametersWithTheirGradients) {
  SpaceSizes sizes;
  sizes.parameters = sizes.gradients = sizes.arena = 256;
  StepTable table(sizes);
  const Tensor w = table.declare({"w", Space::parameters, ElementType::f32, {4}, 64, 16});
  const Tensor dw = table.declare({"w", Space::gradients, ElementType::f32, {4}, 64, 16});
  const Tensor b = table.declare({"b", Space::parameters, ElementType::f32, {4}, 128, 16});
  const Tensor y = table.declare({"y", Space::arena, ElementType::f32, {4}, 64, 16});
  EXPECT_EQ(table.counterpart(w).id, dw.id);
  EXPECT_EQ(table.counterpart(dw).id, w.id);
  EXPECT_FALSE(table.counterpart(b).isValid());
  EXPECT_FALSE(table.counterpart(y).isValid());
  EXPECT_EQ(table.find(Space::gradients, "w"), dw.id);
  EXPECT_EQ(table.find(Space::arena, "w"), -1);
}

} // namespace
} // namespace syncline::cpu
