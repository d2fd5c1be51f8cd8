// What the CUDA backend converts: layouts are carried from operation to operation, and copies of
// weights are made once and when weights change. Numbers do not depend on layouts.
#include "runtime/core/HalfFloat.h"
#include "runtime/cuda/kernels/Kernels.h"
#include "tests/conformance/References.h"
#include "tests/conformance/StepCase.h"
#include "tests/host-cuda/HostDnn.h"
#include "tests/host-cuda/TestStreams.h"

#include <cuda_runtime_api.h>

#include <array>

namespace syncline::cuda {
namespace {

using namespace conformance;

const conformance::Backend fp32 = backends()[0], tf32 = backends()[1], bf16 = backends()[2];
const Window same3{{}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};

/// conv → bn and relu → twice → conv → pool and back, all in the arena after the first.
void buildChain(StepCase &run, const conformance::Backend &backend) {
  const std::int64_t channels = 16;
  const Shape shape{2, channels, 6, 6}, pooled{2, channels, 3, 3}, perChannel{channels};
  StepBuilder &s = run.step();
  const Window halves{{2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}};
  const Tensor x = run.operand(randomArray({2, 3, 6, 6}, 1));
  const auto [w1, dw1] = run.parameter("w1", randomArray({channels, 3, 3, 3}, 2));
  const auto [w2, dw2] = run.parameter("w2", randomArray({channels, channels, 3, 3}, 3));
  const auto [scale, dscale] = run.parameter("scale", randomArray(perChannel, 4));
  const auto [shift, dshift] = run.parameter("shift", randomArray(perChannel, 5));
  auto image = [&] { return run.result(shape); };
  const Tensor mean = run.result(perChannel), variance = run.result(perChannel);
  const Tensor mask = run.result(shape, ElementType::u8);
  const Tensor taps = run.result(pooled, ElementType::u8);
  const Tensor a = image(), b = image(), c = image(), d = image(), e = run.result(pooled);
  s.conv("conv1", x, w1, none, a, same3);
  s.batchNorm("bn", a, scale, shift, none, none, b, mean, variance, mask, 1e-5, 0.1,
              Activation::relu);
  backend.kernels.twice.append(s, "twice", std::array{b}, std::array{c}, true);
  s.conv("conv2", c, w2, none, d, same3);
  s.maxPool("pool", d, e, taps, halves);
  s.maxPoolBackward("pool", e, taps, d, halves);
  s.convBackwardWeights("conv2", c, d, dw2, none, same3);
  s.convBackwardData("conv2", d, w2, b, same3);
  s.batchNormBackward("bn", a, scale, mean, variance, mask, b, c, dscale, dshift, 1e-5,
                      Activation::relu);
  s.convBackwardWeights("conv1", x, c, dw1, none, same3);
}

/// Conversions by operation: "conv 1, pointwise 2".
std::string conversions(const conformance::Backend &backend) {
  StepCase run(backend);
  buildChain(run, backend);
  run.run();
  std::string text;
  for (const char *name : {"conv", "batchNorm", "pointwise", "maxPool", "maxPoolBackward",
                           "convBackwardWeights", "convBackwardData", "batchNormBackward"})
    if (const int count = run.reorders(name))
      text += (text.empty() ? "" : ", ") + std::string(name) + " " + std::to_string(count);
  return text;
}

TEST(LayoutTest, WithAllBitsNothingIsConverted) { EXPECT_EQ(conversions(fp32), ""); }

// The samples, once, for both operations that read them.
TEST(LayoutTest, ChannelsLastSamplesAreAllThatIsConverted) {
  EXPECT_EQ(conversions(tf32), "conv 1");
}

// Samples once, gradients of weights. Copies of weights are there when the step begins, and the
// generated loop takes what is rounded.
TEST(LayoutTest, RoundedTensorsAreConvertedWhereKernelsWantFloats) {
  EXPECT_EQ(conversions(bf16), "conv 1, convBackwardWeights 2");
}

TEST(LayoutTest, ConvolutionsSayWhatTheyAreComputedIn) {
  const std::string other = "eng7_k2=3_k13=1";
  const std::pair<conformance::Backend, std::string> cases[] = {
      {fp32, "eng11"}, {tf32, other + " f32 channels-last"}, {bf16, other + " bf16 channels-last"}};
  for (const auto &[backend, expected] : cases) {
    StepCase run(backend);
    buildChain(run, backend);
    run.run();
    for (const core::OperationInfo &operation : (*run).operations())
      if (operation.name.starts_with("conv")) {
        EXPECT_EQ(operation.implementation, "cudnn:" + expected);
      }
  }
}

// An error that a library left behind a call that succeeded is not the generated kernel's.
TEST(LayoutTest, ErrorsLeftBehindAreNotTheNextKernels) {
  const Array a = randomArray({4, 4}, 1);
  StepCase run(fp32);
  const Tensor y = run.result(a.shape);
  fp32.kernels.twice.append(run.step(), "twice", std::array{run.operand(a)}, std::array{y}, true);
  EXPECT_NE(cudaSetDevice(999), cudaSuccess);
  run.run();
  EXPECT_EQ(run.values(y).values.size(), 16u);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

// These libraries list an algorithm of large tiles first and refuse to run it: it is not taken
// where no bit may be lost, and makes way for the next elsewhere.
TEST(LayoutTest, ConvolutionsTakeTheNextAlgorithmWhenOneDoesNotRun) {
  const hostcuda::WithoutGraphs older;
  for (const auto &[backend, listed] :
       {std::pair(fp32, "cudnn:1"), std::pair(tf32, "cudnn:7 f32 channels-last")}) {
    StepCase run(backend);
    run.step().conv("conv", run.operand(Array({1, 4, 5, 5})), run.state("w", Array({4, 4, 3, 3})),
                    none, run.result({1, 4, 5, 5}), same3);
    EXPECT_EQ((*run).operations()[0].implementation, listed);
    run.run();
    EXPECT_EQ((*run).operations()[0].implementation.substr(0, 7), "cudnn:1");
  }
}

/// relu(a + b), rounded once; a is rounded before.
Array roundedSum(const Array &a, const Array &b) {
  Array sum = a;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const float rounded = core::floatFromBf16(core::bf16FromFloat(static_cast<float>(a.values[i])));
    const float value = std::max(rounded + static_cast<float>(b.values[i]), 0.0f);
    sum.values[i] = core::floatFromBf16(core::bf16FromFloat(value));
  }
  return sum;
}

// One position: both orders are one, and operands differ by their types only.
const Shape onePosition{64, 32, 1, 1};

TEST(LayoutTest, LoopsTakeFloatsBesideRoundedOperands) {
  const Array a = randomArray(onePosition, 1), b = randomArray(onePosition, 2);
  StepCase run(bf16, Form::blocked);
  const Tensor y = run.result(a.shape), mask = run.result(a.shape, ElementType::u8);
  bf16.kernels.addRelu.append(run.step(), "add", std::array{run.operand(a), run.plainOperand(b)},
                              std::array{y, mask}, true);
  run.run();
  EXPECT_EQ(run.reorders("pointwise"), 0);
  EXPECT_EQ(run.values(y).values, roundedSum(a, b).values);
}

// A rounded result in the place of floats lies over those that are still to be read: it is computed
// beside them.
TEST(LayoutTest, RoundedResultInTheFloatsPlaceIsComputedElsewhere) {
  const Array a = randomArray(onePosition, 1), b = randomArray(onePosition, 2);
  StepCase run(bf16, Form::blocked);
  const std::int64_t bytes = core::elementCount(a.shape) * 4, offset = 32 << 20;
  auto inOnePlace = [&](const char *name) {
    return run.step().tensor({name, Space::arena, ElementType::f32, a.shape, offset, bytes});
  };
  const Tensor floats = inOnePlace("floats"), y = inOnePlace("y");
  const Tensor mask = run.result(a.shape, ElementType::u8);
  run.step().reshape("copy", run.plainOperand(b), floats);
  bf16.kernels.addRelu.append(run.step(), "add", std::array{run.operand(a), floats},
                              std::array{y, mask}, true);
  run.run();
  EXPECT_EQ(run.reorders("pointwise"), 1);
  EXPECT_EQ(run.values(y).values, roundedSum(a, b).values);
}

// These libraries have no kernel for dilated windows channels last.
TEST(LayoutTest, ConvolutionsTakeTheNextLayoutThatTheLibraryKnows) {
  for (const conformance::Backend &backend : {tf32, bf16}) {
    StepCase run(backend);
    run.step().conv("conv", run.operand(Array({1, 4, 5, 5})), run.state("w", Array({4, 4, 3, 3})),
                    none, run.result({1, 4, 5, 5}), {{}, {1, 1}, {2, 2}, {2, 2}, {2, 2}});
    run.run();
    EXPECT_EQ((*run).operations()[0].implementation, "cudnn:1");
  }
}

// Updates within a step write the copies that later operations read.
TEST(LayoutTest, CopiesOfWeightsFollowUpdates) {
  const Array x = randomArray({2, 16, 5, 5}, 1), dy = randomArray(x.shape, 2);
  const Array w = randomArray({16, 16, 3, 3}, 3);
  StepCase run(bf16);
  const auto [weight, dw] = run.parameter("w", w);
  const Tensor input = run.operand(x), before = run.result(x.shape), after = run.result(x.shape);
  run.step().bucket({0, 0, "ring", 0, 16 * 16 * 9 * 4});
  run.step().conv("before", input, weight, none, before, same3);
  run.step().convBackwardWeights("before", input, run.operand(dy), dw, none, same3);
  run.step().update(0);
  run.step().conv("after", input, weight, none, after, same3);
  ASSERT_TRUE((*run).setOptimizer({0.5, 0, 0, false}).isOk());
  run.run();
  const Array updated = run.values(weight);
  EXPECT_GT(relativeError(updated, w), 0.1);
  expectNear(run, before, referenceConv(x, w, {}, same3, x.shape));
  expectNear(run, after, referenceConv(x, updated, {}, same3, x.shape));
  run.runOperations(0, 1); // the next step begins with this one's weights
  expectNear(run, before, referenceConv(x, updated, {}, same3, x.shape));
  EXPECT_EQ(run.reorders("conv"), 1); // samples
}

// More arrays than one launch takes, with ends that fill no pack.
TEST(LayoutTest, ArraysAreRoundedEachToItsPlace) {
  constexpr std::size_t count = maxRoundedArrays + 3, room = 1024;
  std::vector<float> from(count * room, 1 + 0x1p-9f);
  std::vector<BFloat16> to(count * room, BFloat16(0));
  std::vector<RoundedArray> arrays;
  for (std::size_t i = 0; i < count; ++i)
    arrays.push_back({from.data() + i * room, to.data() + i * room, static_cast<int>(5 * i)});
  for (std::size_t i = 0; i < from.size(); ++i)
    from[i] += static_cast<float>(i % 61);
  hostcuda::TestStream stream;
  ASSERT_EQ(roundArrays(stream, arrays), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  for (std::size_t i = 0; i < to.size(); ++i)
    EXPECT_EQ(to[i].bits, i % room < 5 * (i / room) ? core::bf16FromFloat(from[i]) : 0) << i;
}

// Orders change by tiles where there are many channels and positions: more than one tile, and
// edges; elements of each type, both ways.
TEST(LayoutTest, ManyChannelsAndPositionsAreTurnedByTiles) {
  const Array x = randomArray({2, 35, 7, 9}, 1);
  Array flat = x, sum = x, positive = x;
  flat.shape = {2, 35 * 63};
  for (double &value : sum.values)
    value = std::max(2 * value, 0.0);
  for (double &value : positive.values)
    value = std::max(value, 0.0);
  for (const conformance::Backend &backend : {tf32, bf16}) {
    StepCase run(backend, Form::blocked);
    const Tensor last = run.operand(x), plain = run.result(flat.shape),
                 dropped = run.result(x.shape);
    const Tensor all = run.result(x.shape, ElementType::u8), y = run.result(x.shape);
    const Tensor isPositive = run.result(x.shape, ElementType::u8), back = run.result(x.shape);
    run.step().reshape("flatten", last, plain);
    run.step().dropout("drop", last, dropped, all, 0);
    backend.kernels.addRelu.append(run.step(), "add", std::array{last, dropped},
                                   std::array{y, isPositive}, true);
    run.step().dropoutBackward("drop", last, isPositive, back, 0);
    run.run();
    EXPECT_EQ(run.reorders("pointwise"), 1); // the dropout's, which is dense
    EXPECT_EQ(run.reorders("dropoutBackward"), 2);
    expectNear(run, plain, flat, 1e-7);
    expectNear(run, dropped, x, 1e-7);
    expectNear(run, y, sum, 1e-6);
    expectNear(run, back, positive, 1e-7);
  }
}

TEST(LayoutTest, RanksOfAnotherOrderDoNotFit) {
  auto fingerprint = [](const conformance::Backend &backend) {
    StepCase run(backend);
    buildChain(run, backend);
    EXPECT_EQ(run.failure(), "");
    return (*run).layoutFingerprint();
  };
  EXPECT_NE(fingerprint(fp32), fingerprint(tf32));
  EXPECT_EQ(fingerprint(tf32), fingerprint(bf16)); // weights and gradients are f32 in both
}

// An element's number is its number in row-major order, wherever it lies.
TEST(LayoutTest, DropoutKeepsTheSameElementsInEveryLayout) {
  auto kept = [](const conformance::Backend &backend, Form form) {
    const Array x(Shape{2, 5, 3, 3}, 1.0);
    StepCase run(backend, form);
    const Tensor y = run.result(x.shape), mask = run.result(x.shape, ElementType::u8);
    run.step().dropout("drop", run.operand(x), y, mask, 0.5);
    run.run();
    EXPECT_EQ(run.values(y).values, [&] {
      Array scaled = run.values(mask);
      for (double &value : scaled.values)
        value *= 2;
      return scaled.values;
    }());
    return run.values(mask).values;
  };
  const std::vector<double> plain = kept(fp32, Form::plain);
  EXPECT_EQ(kept(tf32, Form::blocked), plain);
  EXPECT_EQ(kept(bf16, Form::blocked), plain);
}

} // namespace
} // namespace syncline::cuda
