// What a device does not forgive: misaligned accesses, blocks in an expected order, memory that
// nobody wrote, and more launches than its queue takes.
#include "tests/host-cuda/TestStreams.h"
#include "tests/host-cuda/cuda_runtime.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace syncline::hostcuda {
namespace {

struct alignas(8) Pair {
  float first, second;
};

__global__ void copyPair(const Pair *from, Pair *to) { *to = *from; }

// This file is compiled as kernels are.
TEST(LaunchTest, MisalignedAccessesBreakTheDevice) {
  TestStream stream;
  Pair from[2] = {{1, 2}, {3, 4}}, to{};
  for (const bool isMisaligned : {false, true}) {
    const auto *at =
        reinterpret_cast<const Pair *>(isMisaligned ? &from[0].second : &from[0].first);
    Pair *result = &to;
    void *arguments[] = {&at, &result};
    EXPECT_EQ(cudaLaunchKernel(copyPair, dim3(1), dim3(1), arguments, 0, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream),
              isMisaligned ? cudaErrorMisalignedAddress : cudaSuccess);
  }
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorMisalignedAddress); // from then on
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
}

__global__ void noteTurn(std::vector<unsigned> *turns) {
  turns->push_back((blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x);
}

// Blocks and threads start in any order, another one in each launch, and each once.
TEST(LaunchTest, BlocksAndThreadsHaveNoOrder) {
  TestStream stream;
  std::array<std::vector<unsigned>, 2> turns;
  for (std::vector<unsigned> &each : turns) {
    auto *to = &each;
    void *arguments[] = {&to};
    EXPECT_EQ(cudaLaunchKernel(noteTurn, dim3(6, 5), dim3(64), arguments, 0, stream), cudaSuccess);
  }
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_NE(turns[0], turns[1]);
  for (std::vector<unsigned> &each : turns) {
    EXPECT_FALSE(std::ranges::is_sorted(each));
    std::ranges::sort(each);
    ASSERT_EQ(each.size(), 30u * 64);
    for (unsigned i = 0; i < each.size(); ++i)
      EXPECT_EQ(each[i], i);
  }
}

TEST(LaunchTest, LargeMemoryHoldsNoNumbersUntilWritten) {
  constexpr std::size_t count = (std::size_t{40} << 20) / sizeof(float) + 3;
  float *data = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void **>(&data), count * sizeof(float)), cudaSuccess);
  const std::array<std::size_t, 4> places{0, count / 2, count - 4096, count - 1};
  for (std::size_t place : places)
    EXPECT_TRUE(std::isnan(data[place]));
  data[count / 2] = 1;
  EXPECT_EQ(data[count / 2], 1);
  EXPECT_TRUE(std::isnan(data[count / 2 + 1]));
  TestStream stream;
  EXPECT_EQ(cudaMemsetAsync(data, 0, count * sizeof(float), stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  for (std::size_t place : places)
    EXPECT_EQ(data[place], 0);
  EXPECT_EQ(cudaFree(data), cudaSuccess);
}

// A stream takes about a thousand launches; a further one stops the host until one is done.
TEST(LaunchTest, FullStreamsStopTheHost) {
  constexpr int wanted = 3000;
  TestStream stream;
  Gate gate;
  gate.holdUp(stream);
  std::atomic<int> launched = 0, done = 0;
  std::thread host([&] {
    for (int i = 0; i < wanted; ++i, ++launched)
      EXPECT_EQ(enqueue(stream, [&] { ++done; }), cudaSuccess);
  });
  // The gate is one of the works that wait until the stream begins it.
  const int fewest = static_cast<int>(Queue::limit) - 1;
  EXPECT_TRUE(test::eventually([&] { return launched >= fewest; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(200)); // further ones would show here
  EXPECT_LE(launched, fewest + 1);
  EXPECT_EQ(done, 0);
  gate.open();
  host.join();
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(done, wanted);
}

} // namespace
} // namespace syncline::hostcuda
