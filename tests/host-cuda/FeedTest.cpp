// Samples that reach the device while a step runs.
#include "tests/host-cuda/ImpatientWatch.h"
#include "tests/host-cuda/TestStreams.h"

#include "runtime/cuda/CudaExecutable.h"

#include <cstring>

namespace syncline::cuda {
namespace {

// The first copy ends while the step before stands still: only then has the third call a buffer.
TEST(FeedTest, SamplesTravelBesideTheStep) {
  constexpr std::int64_t bytes = 64;
  core::SpaceSizes sizes;
  sizes.input = bytes;
  CudaExecutable executable({.sizes = sizes});
  const Tensor input =
      executable.builder().tensor({"x", Space::input, ElementType::f32, {16}, 0, bytes});
  ASSERT_TRUE(executable.finish().isOk());
  executable.hostWait().add(impatient());
  const auto samples = [](int number) {
    std::vector<std::byte> all(bytes);
    std::memset(all.data(), number, bytes);
    return all;
  };
  hostcuda::Gate gate;
  gate.holdUp(executable.device().compute);
  std::vector<std::byte> seen[3];
  for (int number = 0; number < 3; ++number) {
    std::vector<std::byte> own = samples(number);
    const Status fed = executable.feed(input.id, own);
    ASSERT_TRUE(fed.isOk()) << fed.message();
    std::memset(own.data(), 99, bytes); // they are the caller's again
    const cudaError_t looked = hostcuda::enqueue(
        executable.device().compute,
        [&to = seen[number], from = static_cast<std::byte *>(executable.space(Space::input).data)] {
          to.assign(from, from + bytes);
        });
    EXPECT_EQ(looked, cudaSuccess);
  }
  gate.open();
  executable.beginStep(0);
  ASSERT_TRUE(executable.synchronize().isOk());
  for (int number = 0; number < 3; ++number)
    EXPECT_EQ(seen[number], samples(number)) << number;
}

TEST(FeedTest, SamplesOfAnotherSizeAreRefused) {
  core::SpaceSizes sizes;
  sizes.input = 64;
  CudaExecutable executable({.sizes = sizes});
  const Tensor input =
      executable.builder().tensor({"x", Space::input, ElementType::f32, {16}, 0, 64});
  ASSERT_TRUE(executable.finish().isOk());
  EXPECT_EQ(executable.feed(input.id, std::vector<std::byte>(63)).message(),
            "tensor 'x': expected 64 bytes, got 63");
  EXPECT_EQ(executable.feed(7, std::vector<std::byte>(64)).message(), "no such tensor");
}

} // namespace
} // namespace syncline::cuda
