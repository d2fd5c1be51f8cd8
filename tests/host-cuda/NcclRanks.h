// Ranks with a device, a stream and a communicator each, for the tests of NCCL on the host.
#pragma once

#include "tests/host-cuda/TestStreams.h"

#include <nccl.h>

#include <cstring>
#include <functional>
#include <utility>
#include <vector>

namespace syncline::hostcuda {

/// Memory of the device, of T.
template <typename T> struct Buffer {
  explicit Buffer(std::vector<T> values) : count(values.size()) {
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void **>(&data), count * sizeof(T)), cudaSuccess);
    std::memcpy(data, values.data(), count * sizeof(T));
  }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  ~Buffer() { EXPECT_EQ(cudaFree(data), cudaSuccess); }
  std::vector<T> values() const { return {data, data + count}; }
  T *data = nullptr;
  std::size_t count;
};

using Floats = std::vector<float>;

/// One rank of a test: a device, a stream and a communicator of its own.
struct Rank {
  Rank(const ncclUniqueId &id, int rank, int ranks) : rank(rank), ranks(ranks) {
    EXPECT_EQ(cudaSetDevice(rank), cudaSuccess);
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_EQ(ncclCommInitRank(&comm, ranks, id, rank), ncclSuccess);
  }
  Rank(const Rank &) = delete;
  Rank &operator=(const Rank &) = delete;
  ~Rank() {
    if (comm) {
      EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
    }
    cudaStreamDestroy(stream);
  }
  void synchronize() { EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess); }
  ncclResult_t error() {
    ncclResult_t result = ncclSuccess;
    EXPECT_EQ(ncclCommGetAsyncError(comm, &result), ncclSuccess);
    return result;
  }
  /// The first error but success that the communicator says.
  ncclResult_t awaitError() {
    test::eventually([this] { return error() != ncclSuccess; });
    return error();
  }
  void abort() { EXPECT_EQ(ncclCommAbort(std::exchange(comm, nullptr)), ncclSuccess); }

  const int rank, ranks;
  cudaStream_t stream = nullptr;
  ncclComm_t comm = nullptr;
};

/// Every rank in a thread.
inline void runRanks(int ranks, const std::function<void(Rank &)> &body) {
  const Variable devices("SYNCLINE_HOST_CUDA_DEVICES", std::to_string(ranks));
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      Rank own(id, rank, ranks);
      body(own);
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace syncline::hostcuda
