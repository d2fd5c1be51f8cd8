// Streams work by themselves, in order, and wait for what they are told to wait for.
#include "tests/host-cuda/TestStreams.h"
#include "tests/host-cuda/cuda_runtime.h"

#include <array>

namespace syncline::hostcuda {
namespace {

using namespace std::chrono_literals;

/// Allocated while it is in use.
struct Memory {
  explicit Memory(std::size_t bytes) {
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void **>(&data), bytes), cudaSuccess);
  }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  ~Memory() { EXPECT_EQ(cudaFree(data), cudaSuccess); }
  int *data = nullptr;
};

TEST(StreamTest, CallsReturnBeforeTheirWorkIsDone) {
  TestStream stream;
  int from = 1, to = 0;
  {
    Gate gate;
    gate.holdUp(stream);
    EXPECT_EQ(cudaMemcpyAsync(&to, &from, sizeof to, cudaMemcpyDefault, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
    EXPECT_EQ(cudaGetLastError(), cudaErrorNotReady);
    EXPECT_EQ(to, 0);
  }
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(to, 1);
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(StreamTest, AnotherStreamDoesNotWaitUnlessTold) {
  TestStream first, second, third;
  TestEvent event;
  std::atomic<int> last = 0;
  Gate gate;
  gate.holdUp(first);
  EXPECT_EQ(cudaEventRecord(event, first), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(second, event, 0), cudaSuccess);
  EXPECT_EQ(enqueue(second, [&] { last = 2; }), cudaSuccess);
  EXPECT_EQ(enqueue(third, [&] { last = 3; }), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(third), cudaSuccess);
  EXPECT_EQ(last, 3);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery(second), cudaErrorNotReady);
  gate.open();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(last, 2);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
}

// A wait is for the record before it, not for a later one.
TEST(StreamTest, EventsAreWaitedForAsTheyWereRecorded) {
  TestStream first, second;
  TestEvent event;
  EXPECT_EQ(cudaStreamWaitEvent(second, event, 0), cudaSuccess); // never recorded: nothing
  EXPECT_EQ(cudaEventRecord(event, first), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(second, event, 0), cudaSuccess);
  Gate gate;
  gate.holdUp(first);
  EXPECT_EQ(cudaEventRecord(event, first), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(second), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
}

TEST(StreamTest, EventsTellTime) {
  TestStream stream;
  TestEvent start, end, untimed(cudaEventDisableTiming);
  float milliseconds = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(start, stream), cudaSuccess);
  Gate gate;
  gate.holdUp(stream);
  EXPECT_EQ(enqueue(stream, [] { std::this_thread::sleep_for(20ms); }), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(end, stream), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(untimed, stream), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorNotReady);
  gate.open();
  EXPECT_EQ(cudaEventSynchronize(end), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaSuccess);
  EXPECT_GE(milliseconds, 20);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, untimed), cudaErrorInvalidResourceHandle);
}

// The seed changes the order of works in streams that do not wait for each other. On a busy machine
// only longer delays do.
TEST(StreamTest, DelaysShowWhatIsMissing) {
  EXPECT_TRUE(test::atSomeScale([](int scale) {
    bool wasFirst = false, wasSecond = false;
    for (int seed = 1; seed <= 50 && !(wasFirst && wasSecond); ++seed) {
      Variable delay("SYNCLINE_HOST_CUDA_DELAY", std::to_string(500 * scale));
      Variable number("SYNCLINE_HOST_CUDA_SEED", std::to_string(seed));
      TestStream first, second;
      std::atomic<int> last = 0;
      EXPECT_EQ(enqueue(first, [&] { last = 1; }), cudaSuccess);
      EXPECT_EQ(enqueue(second, [&] { last = 2; }), cudaSuccess);
      EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      (last == 1 ? wasFirst : wasSecond) = true;
    }
    return wasFirst && wasSecond;
  }));
}

TEST(StreamTest, HandlesAreChecked) {
  int value = 0;
  EXPECT_EQ(cudaMemsetAsync(&value, 0, sizeof value, nullptr), cudaErrorInvalidResourceHandle);
  cudaStream_t gone = nullptr;
  EXPECT_EQ(cudaStreamCreateWithFlags(&gone, cudaStreamNonBlocking), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(gone), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(gone), cudaErrorInvalidResourceHandle);
}

__global__ void addBlockSums(const int *values, int *sums, int factor) {
  __shared__ int held[64];
  held[threadIdx.x] = values[blockIdx.x * blockDim.x + threadIdx.x] * factor;
  __syncthreads();
  for (unsigned half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half)
      held[threadIdx.x] += held[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    sums[blockIdx.x] = held[0];
}

// Blocks with barriers run on several streams at once; arguments are those of the call.
TEST(StreamTest, KernelsRunOnSeveralStreams) {
  constexpr int blocks = 100;
  std::vector<int> values(blocks * 64);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int>(i);
  std::array<TestStream, 3> streams;
  std::array<std::vector<int>, 3> sums;
  for (int s = 0; s < 3; ++s) {
    sums[s].resize(blocks);
    const int *from = values.data();
    int *to = sums[s].data(), factor = s + 1;
    void *arguments[] = {&from, &to, &factor};
    EXPECT_EQ(cudaLaunchKernel(addBlockSums, dim3(blocks), dim3(64), arguments, 0, streams[s]),
              cudaSuccess);
    factor = 0;
  }
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int s = 0; s < 3; ++s)
    for (int b = 0; b < blocks; ++b)
      EXPECT_EQ(sums[s][b], (s + 1) * (64 * 64 * b + 63 * 32));
}

TEST(StreamTest, LaunchesAreChecked) {
  TestStream stream;
  const int *from = nullptr;
  int *to = nullptr, factor = 0;
  void *arguments[] = {&from, &to, &factor};
  EXPECT_EQ(cudaLaunchKernel(addBlockSums, dim3(1), dim3(2000), arguments, 0, stream),
            cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  Variable devices("SYNCLINE_HOST_CUDA_DEVICES", "2");
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel(addBlockSums, dim3(1), dim3(64), arguments, 0, stream),
            cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST(DeviceTest, IsWhatTheEnvironmentSays) {
  int count = -1, driver = 0;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(cudaSetDevice(1), cudaErrorInvalidDevice);
  {
    Variable devices("SYNCLINE_HOST_CUDA_DEVICES", "0");
    EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorNoDevice);
  }
  Variable old("SYNCLINE_HOST_CUDA_DRIVER", "12040");
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorInsufficientDriver);
  EXPECT_EQ(cudaDriverGetVersion(&driver), cudaSuccess);
  EXPECT_EQ(driver, 12040);
}

TEST(DeviceTest, MemoryEnds) {
  Variable bytes("SYNCLINE_HOST_CUDA_MEMORY", "1000000");
  std::size_t free = 0, total = 0;
  void *more = nullptr;
  {
    Memory most(900000);
    EXPECT_EQ(cudaMalloc(&more, 200000), cudaErrorMemoryAllocation);
    EXPECT_STREQ(cudaGetErrorString(cudaGetLastError()), "out of memory");
    EXPECT_EQ(cudaMallocHost(&more, 200000), cudaSuccess); // that is the host's
    EXPECT_EQ(cudaFree(more), cudaErrorInvalidValue);
    EXPECT_EQ(cudaFreeHost(more), cudaSuccess);
    EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
    EXPECT_EQ(free, 100000u);
  }
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_EQ(free, total);
  EXPECT_EQ(total, 1000000u);
}

} // namespace
} // namespace syncline::hostcuda
