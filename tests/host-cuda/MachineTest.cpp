// What the CUDA backend says of machines that cannot run it or a plan.
#include "tests/conformance/StepCase.h"
#include "tests/host-cuda/HostKernels.h"
#include "tests/host-cuda/TestStreams.h"

#include "runtime/core/BackendModule.h"
#include "runtime/cuda/Device.h"

extern "C" const syncline::core::Backend *synclineBackend(int interface);

namespace syncline::conformance {
namespace {

using namespace core;

using hostcuda::Variable;

Result<std::unique_ptr<Executable>> create(const ExecutableOptions &options) {
  return synclineBackend(backendInterface)->createExecutable(options);
}

/// Bad input, with this message.
std::string refusal(const ExecutableOptions &options = {}) {
  const Result<std::unique_ptr<Executable>> made = create(options);
  EXPECT_EQ(made.status().exitCode(), 1);
  return made.isOk() ? "" : made.status().message();
}

TEST(MachineTest, WithoutAUsableDriverIsRefused) {
  {
    Variable driver("SYNCLINE_HOST_CUDA_DRIVER", "0");
    EXPECT_EQ(refusal(), "no NVIDIA driver is installed on this machine");
  }
  Variable driver("SYNCLINE_HOST_CUDA_DRIVER", "11080");
  const std::string message = refusal();
  EXPECT_EQ(message.rfind("expected an NVIDIA driver for CUDA ", 0), 0u) << message;
  EXPECT_NE(message.find(" or later, got one for CUDA 11.8"), std::string::npos) << message;
}

TEST(MachineTest, WithoutTheDeviceIsRefused) {
  {
    Variable devices("SYNCLINE_HOST_CUDA_DEVICES", "0");
    EXPECT_EQ(refusal(), "no CUDA device is visible on this machine");
    EXPECT_EQ(synclineBackend(backendInterface)->devices(), 0);
  }
  Variable devices("SYNCLINE_HOST_CUDA_DEVICES", "2");
  EXPECT_EQ(synclineBackend(backendInterface)->devices(), 2);
  ExecutableOptions options;
  options.device = 2;
  EXPECT_EQ(refusal(options), "no CUDA device 2: this machine shows 2");
  options.device = 1;
  EXPECT_TRUE(create(options).isOk());
}

TEST(MachineTest, AnOlderCudnnThanTheHeadersIsTold) {
  const auto description = [] { return synclineBackend(backendInterface)->description(); };
  EXPECT_EQ(description().find("compiled with"), std::string::npos) << description();
  Variable older("SYNCLINE_HOST_CUDNN_VERSION", "90100");
  EXPECT_NE(description().find(", cuDNN 9.1.0 (compiled with 9."), std::string::npos)
      << description();
}

// Buckets then lie in memory of CUDA's own.
TEST(MachineTest, WithoutMemoryOfNcclsRanksRun) {
  Variable none("SYNCLINE_HOST_NCCL_MEMORY", "0");
  ExecutableOptions options;
  options.ranks = 2;
  options.sizes.gradients = options.sizes.parameters = 256;
  const auto made = create(options);
  ASSERT_TRUE(made.isOk()) << made.status().message();
  (*made)->builder();
  EXPECT_TRUE((*made)->finish().isOk());
  EXPECT_NE((*made)->space(Space::gradients).data, nullptr);
}

// The variable that keeps NCCL from its probe is set before NCCL's first call; the user's stands.
TEST(MachineTest, BrokenMemoryOfTheHostIsNotProbed) {
  Variable broken("SYNCLINE_HOST_NCCL_PROBE", "0");
  ExecutableOptions options;
  options.ranks = 2;
  options.sizes.gradients = 256;
  const auto finishes = [&] {
    const auto made = create(options);
    if (!made.isOk())
      return false;
    (*made)->builder();
    return (*made)->finish().isOk();
  };
  {
    Variable wanted("NCCL_CUMEM_HOST_ENABLE", "1");
    EXPECT_FALSE(finishes());
  }
  EXPECT_TRUE(finishes());
}

// There is no code for them.
TEST(MachineTest, OldDevicesAreRefused) {
  {
    Variable capability("SYNCLINE_HOST_CUDA_CAPABILITY", "75");
    EXPECT_EQ(refusal(), "device 0 (host): expected compute capability 8.0 or later, got 7.5");
  }
  Variable capability("SYNCLINE_HOST_CUDA_CAPABILITY", "80");
  EXPECT_TRUE(create({}).isOk());
}

const conformance::Backend backend() { return {"cuda", create, streamCopy, streamKernels()}; }

/// A product that wants its operand padded: in the arena, and in scratch.
std::string saidOfMemory() {
  StepCase run(backend());
  const Tensor x = run.result({64, 64, 32, 32});
  run.step().pad("pad", run.state("small", Array({64, 64, 30, 30})), x, {0, 0, 1, 1}, 0);
  run.step().conv("conv", x, run.state("kernel", Array({8, 64, 2, 2})), none,
                  run.result({64, 8, 32, 32}), {{}, {1, 1}, {1, 1}, {0, 0}, {1, 1}});
  const Status done = (*run).finish();
  EXPECT_EQ(done.exitCode(), done.isOk() ? 0 : 1);
  return done.isOk() ? "" : done.message();
}

// Once, when the tensors are known; nothing of the step is prepared without memory.
TEST(MachineTest, PlansThatDoNotFitAreToldWithTheirLargestTensors) {
  Variable memory("SYNCLINE_HOST_CUDA_MEMORY", std::to_string(128 << 20));
  EXPECT_EQ(saidOfMemory(),
            "not enough memory on device 0 (host): the plan needs 384 MiB (arena 64.0 MiB, "
            "parameters 64.0 MiB, gradients 64.0 MiB, state 64.0 MiB, input 64.0 MiB, target 64.0 "
            "MiB) and libraries 1.00 GiB, 128 MiB are free; the largest tensors: 'out0' (arena, "
            "16.0 MiB), 'small' "
            "(state, 14.1 MiB), 'out1' (arena, 4.00 MiB), 'kernel' (state, 8.00 KiB); a smaller "
            "batch needs less");
}

TEST(MachineTest, ScratchThatDoesNotFitIsToldWithThem) {
  Variable memory("SYNCLINE_HOST_CUDA_MEMORY", std::to_string((390 + 1024) << 20));
  const std::string message = saidOfMemory();
  EXPECT_EQ(message.rfind("not enough memory on device 0 (host): the plan needs 4", 0), 0u)
      << message;
  EXPECT_NE(message.find(", scratch "), std::string::npos) << message;
  EXPECT_NE(message.find(") and libraries 1.00 GiB, 1.38 GiB are free; the largest tensors: "
                         "'out0' (arena, 16.0 MiB)"),
            std::string::npos)
      << message;
}

// It is known once the optimizer is, which may be before and after the step is complete.
TEST(MachineTest, StateThatDoesNotFitIsTold) {
  Variable memory("SYNCLINE_HOST_CUDA_MEMORY", std::to_string((400 + 1024) << 20));
  const std::string expected = "not enough memory on device 0 (host): the optimizer's state needs "
                               "64.0 MiB and libraries 1.00 GiB, 1.02 GiB are free beside the "
                               "plan";
  for (const bool late : {false, true}) {
    StepCase run(backend());
    run.parameter("w", Array({4}));
    run.step().bucket({0, 0, "ring", 0, 64});
    run.step().update(0);
    const OptimizerOptions plain{}, momentum{0.1, 0.9, 0, false};
    EXPECT_TRUE((*run).setOptimizer(late ? plain : momentum).isOk());
    const Status finished = (*run).finish();
    const Status said = late && finished ? (*run).setOptimizer(momentum) : finished;
    EXPECT_EQ(said.isOk() ? "" : said.message(), expected);
    EXPECT_EQ(said.exitCode(), 1);
  }
}

} // namespace
} // namespace syncline::conformance
