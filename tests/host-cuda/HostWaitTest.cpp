// Waiting for a device that may never be done.
#include "tests/host-cuda/TestStreams.h"

#include "runtime/core/Deadline.h"
#include "runtime/cuda/CudaExecutable.h"

namespace syncline::cuda {
namespace {

const Status lost = Status::error(ErrorKind::peerLost, "lost rank 1");

TEST(HostWaitTest, EndsWithTheFirstWatchesError) {
  HostWait wait;
  int asked = 0;
  wait.add([&] { return ++asked, Status::ok(); });
  wait.add([&] { return asked < 3 ? Status::ok() : lost; });
  const Status s = wait.until([] { return false; });
  EXPECT_EQ(s.kind(), ErrorKind::peerLost);
  EXPECT_EQ(s.message(), "lost rank 1");
  EXPECT_EQ(asked, 3);
}

// What is done needs nobody's opinion; what a watch that was removed thinks is nobody's concern.
TEST(HostWaitTest, EndsWhenItIsDone) {
  HostWait wait;
  const int number = wait.add([] { return lost; });
  EXPECT_TRUE(wait.until([] { return true; }).isOk());
  wait.remove(number);
  const auto start = core::Clock::now();
  EXPECT_TRUE(wait.until([&] { return core::secondsSince(start) > 0.01; }).isOk());
}

TEST(HostWaitTest, EndsWhenTheDeviceBreaks) {
  HostWait wait;
  const Status s = wait.until([]() -> bool { throw Failure{ErrorKind::internal, "broken"}; });
  EXPECT_EQ(s.message(), "broken");
}

// A message that stands still holds the step's stream up: the step ends with the channel's error.
TEST(HostWaitTest, StepsEndWithAChannelsError) {
  CudaExecutable executable({});
  ASSERT_TRUE(executable.finish().isOk());
  hostcuda::Gate gate;
  gate.holdUp(executable.device().compute);
  const int number = executable.hostWait().add([] { return lost; });
  executable.beginStep(0);
  EXPECT_EQ(executable.synchronize().message(), "lost rank 1");
  const Event reached(EventUse::order);
  reached.record(executable.device().compute);
  EXPECT_EQ(executable.waitFor(reached).message(), "lost rank 1");
  EXPECT_FALSE(reached.isReached());
  executable.hostWait().remove(number);
  gate.open();
  EXPECT_TRUE(executable.waitFor(reached).isOk());
  EXPECT_TRUE(executable.synchronize().isOk());
}

// Launches never stop the host, since a host that stands calls no watch.
TEST(HostWaitTest, HostEndsBeforeTheStreamIsFull) {
  core::ExecutableOptions options;
  options.sizes = {4096, 4096, 4096, 4096, 4096, 4096};
  CudaExecutable executable(options);
  const auto declare = [&](const char *name, Space space) {
    return executable.builder().tensor({name, space, ElementType::f32, {16}, 0, 64});
  };
  executable.builder().reshape("copy", declare("x", Space::input), declare("y", Space::arena));
  ASSERT_TRUE(executable.finish().isOk());
  hostcuda::Gate gate;
  gate.holdUp(executable.device().compute);
  std::atomic<bool> isTold = false;
  std::thread saviour([&] { // of a host that stands
    test::eventually([&] { return isTold.load(); });
    gate.open();
  });
  const int number = executable.hostWait().add([] { return lost; });
  executable.beginStep(0);
  Status s;
  for (int i = 0; i < 3000 && s; ++i)
    s = executable.run(0);
  EXPECT_EQ(s.message(), "lost rank 1");
  isTold = true;
  saviour.join();
  executable.hostWait().remove(number);
}

} // namespace
} // namespace syncline::cuda
