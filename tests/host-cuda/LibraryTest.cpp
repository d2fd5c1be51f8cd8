// What the CUDA backend makes of its libraries' answers, and what it asks them for, beyond what the
// suite sees of every backend.
#include "tests/conformance/StepCase.h"
#include "tests/host-cuda/HostDnn.h"
#include "tests/host-cuda/HostKernels.h"

#include "runtime/cuda/CudaExecutable.h"

namespace syncline::conformance {
namespace {

using namespace core;

const Window plain{{}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};

template <Precision precision>
Result<std::unique_ptr<Executable>> createWith(const ExecutableOptions &given) {
  ExecutableOptions options = given;
  options.precision = precision;
  return std::unique_ptr<Executable>(std::make_unique<cuda::CudaExecutable>(options));
}

/// What a step with a product or a convolution says at its end, by libraries that accept one
/// precision only.
template <Precision precision> std::string said(Precision accept, bool isConvolution) {
  hostcuda::accepted = accept;
  StepCase run({"cuda", createWith<precision>, streamCopy, streamKernels()});
  if (isConvolution)
    run.step().conv("l", run.state("x", Array({1, 2, 3, 3})), run.state("w", Array({2, 2, 1, 1})),
                    none, run.result({1, 2, 3, 3}), plain);
  else
    run.step().matmul("l", run.state("a", Array({2, 3})), false, run.state("b", Array({3, 4})),
                      false, none, run.result({2, 4}));
  const Status done = (*run).finish();
  hostcuda::accepted.reset();
  return done.isOk() ? "" : done.message();
}

TEST(LibraryTest, AreAskedForThePrecisionOfTheOptions) {
  for (bool isConvolution : {false, true})
    for (Precision accept : {Precision::fp32, Precision::tf32, Precision::bf16}) {
      EXPECT_EQ(said<Precision::fp32>(accept, isConvolution).empty(), accept == Precision::fp32);
      EXPECT_EQ(said<Precision::tf32>(accept, isConvolution).empty(), accept == Precision::tf32);
      EXPECT_EQ(said<Precision::bf16>(accept, isConvolution).empty(), accept == Precision::bf16);
    }
}

// Memory that is not there is the user's to find, on the host as on the device.
TEST(LibraryTest, MissingMemoryIsBadInput) {
  auto kindOf = [](auto status) {
    return cuda::statusOf("", [&] { cuda::check(status, "call"); }).kind();
  };
  EXPECT_EQ(kindOf(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED), ErrorKind::badInput);
  EXPECT_EQ(kindOf(CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED), ErrorKind::badInput);
  EXPECT_EQ(kindOf(CUDNN_STATUS_NOT_SUPPORTED_SHAPE), ErrorKind::badInput);
  EXPECT_EQ(kindOf(CUBLAS_STATUS_ALLOC_FAILED), ErrorKind::badInput);
  EXPECT_EQ(kindOf(cudaErrorMemoryAllocation), ErrorKind::badInput);
  EXPECT_EQ(kindOf(CUDNN_STATUS_INTERNAL_ERROR), ErrorKind::internal);
  EXPECT_EQ(kindOf(CUBLAS_STATUS_INTERNAL_ERROR), ErrorKind::internal);
}

// An exception that is not ours becomes the step's error too.
TEST(LibraryTest, ExceptionsWhilePreparingAreTheStepsError) {
  StepCase run({"cuda", createWith<Precision::fp32>, streamCopy, streamKernels()});
  const Tensor x = run.state("x", Array({2, 3})), y = run.result({2, 3});
  hostcuda::isMemoryGone = true;
  EXPECT_NO_THROW(run.step().softmax("l", x, y, 1, false));
  hostcuda::isMemoryGone = false;
  EXPECT_EQ(run.failure(), "layer 'l': softmax: not enough memory on the host");
}

// Operands are counted before cuDNN is told of them, in its ints; padded ones too.
TEST(LibraryTest, OperandsAreCountedBeforeTheyAreDescribed) {
  StepCase run({"cuda", createWith<Precision::fp32>, streamCopy, streamKernels()});
  run.step().conv("l", run.state("x", Array({1, 1, 1, 1})), run.state("w", Array({1, 1, 1, 1})),
                  none, run.result({1, 1, 2, 2}),
                  {{}, {50000, 50000}, {1, 1}, {50000, 50000}, {0, 0}});
  EXPECT_EQ(run.failure(), "layer 'l': conv: 'x' with its padding: expected at most 2147483647 "
                           "elements, got shape [1, 1, 50001, 50001]");

  ExecutableOptions options;
  constexpr std::int64_t bytes = std::int64_t{1} << 33;
  options.sizes.input = options.sizes.arena = bytes;
  cuda::CudaExecutable large(options);
  StepBuilder &step = large.builder();
  const Shape shape{2, 1 << 30};
  const Tensor x = step.tensor({"x", Space::input, ElementType::f32, shape, 0, bytes});
  const Tensor y = step.tensor({"y", Space::arena, ElementType::f32, shape, 0, bytes});
  step.softmax("l", x, y, 1, false);
  EXPECT_EQ(large.finish().message(), "layer 'l': softmax: 'x': expected at most 2147483647 "
                                      "elements, got shape [2, 1073741824]");
}

} // namespace
} // namespace syncline::conformance
