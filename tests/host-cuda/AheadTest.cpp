// What the device has to do while the host learns of the step before.
#include "tests/host-cuda/ImpatientWatch.h"
#include "tests/host-cuda/TestStreams.h"

#include "runtime/cuda/CudaExecutable.h"

namespace syncline::cuda {
namespace {

TEST(AheadTest, DeviceHasTheNextStepWhenTheHostLearnsOfOne) {
  CudaExecutable executable({});
  ASSERT_TRUE(executable.finish().isOk());
  executable.hostWait().add(impatient());
  executable.runAhead();
  executable.beginStep(0);
  ASSERT_TRUE(executable.endStep().isOk());
  executable.beginStep(1);
  hostcuda::Gate gate;
  gate.holdUp(executable.device().compute);
  ASSERT_TRUE(executable.endStep().isOk());
  const Result<core::StepOutcome> first = executable.outcome(0);
  EXPECT_TRUE(first.isOk()) << first.status().message();
  EXPECT_TRUE(executable.looksBack());
  EXPECT_EQ(cudaStreamQuery(executable.device().compute), cudaErrorNotReady);
  cudaGetLastError();
  gate.open();
  EXPECT_TRUE(executable.outcome(1).isOk());
  EXPECT_FALSE(executable.looksBack());
}

} // namespace
} // namespace syncline::cuda
