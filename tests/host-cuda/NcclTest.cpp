// NCCL on the host: what collectives compute, in streams and in graphs, and what happens where
// ranks are lost or do different things. Ranks are threads; processes where they have to die.
#include "tests/host-cuda/TestStreams.h"

#include "runtime/data/HalfFloat.h"

#include <nccl.h>

#include <cstring>
#include <functional>
#include <numeric>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace syncline::hostcuda {
namespace {

using namespace std::chrono_literals;

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
    if (comm)
      EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
    cudaStreamDestroy(stream);
  }
  void synchronize() { EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess); }
  ncclResult_t error() {
    ncclResult_t result = ncclSuccess;
    EXPECT_EQ(ncclCommGetAsyncError(comm, &result), ncclSuccess);
    return result;
  }
  /// The first error but success that the communicator says, within a while.
  ncclResult_t awaitError() {
    for (int i = 0; i < 500 && error() == ncclSuccess; ++i)
      std::this_thread::sleep_for(10ms);
    return error();
  }
  void abort() { EXPECT_EQ(ncclCommAbort(std::exchange(comm, nullptr)), ncclSuccess); }

  const int rank, ranks;
  cudaStream_t stream = nullptr;
  ncclComm_t comm = nullptr;
};

/// Every rank in a thread.
void runRanks(int ranks, const std::function<void(Rank &)> &body) {
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

TEST(NcclTest, KnowsItsRanks) {
  runRanks(3, [](Rank &rank) {
    int count = 0, number = -1, device = -1;
    EXPECT_EQ(ncclCommCount(rank.comm, &count), ncclSuccess);
    EXPECT_EQ(ncclCommUserRank(rank.comm, &number), ncclSuccess);
    EXPECT_EQ(ncclCommCuDevice(rank.comm, &device), ncclSuccess);
    EXPECT_EQ(count, 3);
    EXPECT_EQ(number, rank.rank);
    EXPECT_EQ(device, rank.rank);
  });
}

TEST(NcclTest, AllReducesInPlaceAndElsewhere) {
  runRanks(3, [](Rank &rank) {
    const float own = static_cast<float>(rank.rank + 1);
    Buffer<float> in({own, 10 * own}), out({0, 0});
    EXPECT_EQ(ncclAllReduce(in.data, out.data, 2, ncclFloat32, ncclSum, rank.comm, rank.stream),
              ncclSuccess);
    EXPECT_EQ(ncclAllReduce(in.data, in.data, 2, ncclFloat32, ncclMax, rank.comm, rank.stream),
              ncclSuccess);
    rank.synchronize();
    EXPECT_EQ(out.values(), (Floats{6, 60}));
    EXPECT_EQ(in.values(), (Floats{3, 30}));
  });
}

template <typename T> void sumsTo(Rank &rank, ncclDataType_t type, T one, T three) {
  Buffer<T> data({one, one, one});
  EXPECT_EQ(ncclAllReduce(data.data, data.data, 3, type, ncclSum, rank.comm, rank.stream),
            ncclSuccess);
  rank.synchronize();
  EXPECT_EQ(data.values(), (std::vector<T>{three, three, three}));
}

TEST(NcclTest, SumsAllTypes) {
  runRanks(3, [](Rank &rank) {
    sumsTo<double>(rank, ncclFloat64, 0.5, 1.5);
    sumsTo<std::int64_t>(rank, ncclInt64, std::int64_t{1} << 40, std::int64_t{3} << 40);
    sumsTo<std::uint8_t>(rank, ncclUint8, 2, 6);
    sumsTo<std::uint16_t>(rank, ncclFloat16, f16FromFloat(0.5f), f16FromFloat(1.5f));
    sumsTo<std::uint16_t>(rank, ncclBfloat16, bf16FromFloat(0.5f), bf16FromFloat(1.5f));
  });
}

// ((a + b) + c) of floats whose sum depends on the order.
TEST(NcclTest, SumsInTheOrderOfRanks) {
  runRanks(3, [](Rank &rank) {
    const float values[] = {1e8f, -1e8f, 1};
    Buffer<float> data({values[rank.rank]});
    EXPECT_EQ(ncclAllReduce(data.data, data.data, 1, ncclFloat32, ncclSum, rank.comm, rank.stream),
              ncclSuccess);
    rank.synchronize();
    EXPECT_EQ(data.values(), Floats{1});
  });
}

TEST(NcclTest, GathersScattersReducesAndBroadcasts) {
  runRanks(3, [](Rank &rank) {
    const float own = static_cast<float>(rank.rank);
    Buffer<float> all({-1, -1, -1}), terms({own, own + 10, own + 20}), part({-1}), sum({own});
    Buffer<float> sent({own});
    all.data[rank.rank] = own;
    EXPECT_EQ(ncclAllGather(all.data + rank.rank, all.data, 1, ncclFloat32, rank.comm, rank.stream),
              ncclSuccess);
    EXPECT_EQ(
        ncclReduceScatter(terms.data, part.data, 1, ncclFloat32, ncclSum, rank.comm, rank.stream),
        ncclSuccess);
    EXPECT_EQ(ncclReduce(sum.data, sum.data, 1, ncclFloat32, ncclSum, 1, rank.comm, rank.stream),
              ncclSuccess);
    EXPECT_EQ(ncclBroadcast(sent.data, sent.data, 1, ncclFloat32, 2, rank.comm, rank.stream),
              ncclSuccess);
    rank.synchronize();
    EXPECT_EQ(all.values(), (Floats{0, 1, 2}));
    EXPECT_EQ(part.values(), Floats{3 + 30 * own});
    EXPECT_EQ(sum.values(), Floats{rank.rank == 1 ? 3 : own});
    EXPECT_EQ(sent.values(), Floats{2});
  });
}

// More than sockets hold, around a ring, and to oneself.
TEST(NcclTest, SendsAndReceivesInGroups) {
  constexpr std::size_t count = 1 << 20;
  runRanks(3, [](Rank &rank) {
    const int next = (rank.rank + 1) % 3, previous = (rank.rank + 2) % 3;
    Buffer<float> out(Floats(count, static_cast<float>(rank.rank))), in(Floats(count, -1));
    Buffer<float> own(Floats{-1});
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_EQ(ncclSend(out.data, count, ncclFloat32, next, rank.comm, rank.stream), ncclSuccess);
    EXPECT_EQ(ncclRecv(in.data, count, ncclFloat32, previous, rank.comm, rank.stream), ncclSuccess);
    EXPECT_EQ(ncclSend(out.data, 1, ncclFloat32, rank.rank, rank.comm, rank.stream), ncclSuccess);
    EXPECT_EQ(ncclRecv(own.data, 1, ncclFloat32, rank.rank, rank.comm, rank.stream), ncclSuccess);
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
    rank.synchronize();
    EXPECT_EQ(in.values(), Floats(count, static_cast<float>(previous)));
    EXPECT_EQ(own.values(), Floats{static_cast<float>(rank.rank)});
  });
}

TEST(NcclTest, CollectivesAreCapturedAndReplayed) {
  runRanks(2, [](Rank &rank) {
    Buffer<float> data({1});
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    EXPECT_EQ(cudaStreamBeginCapture(rank.stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    EXPECT_EQ(ncclAllReduce(data.data, data.data, 1, ncclFloat32, ncclSum, rank.comm, rank.stream),
              ncclSuccess);
    EXPECT_EQ(cudaStreamEndCapture(rank.stream, &graph), cudaSuccess);
    EXPECT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
    EXPECT_EQ(data.values(), Floats{1});
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(cudaGraphLaunch(executable, rank.stream), cudaSuccess);
    rank.synchronize();
    EXPECT_EQ(data.values(), Floats{8});
    EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  });
}

// One communicator's calls keep their order over streams that do not wait for each other.
TEST(NcclTest, CallsOfTwoStreamsKeepTheirOrder) {
  const Variable delay("SYNCLINE_HOST_CUDA_DELAY", "300");
  runRanks(2, [](Rank &rank) {
    TestStream other;
    Buffer<float> data({1, 1, 1});
    for (int i = 0; i < 40; ++i)
      EXPECT_EQ(ncclAllReduce(data.data, data.data, i % 3 + 1, ncclFloat32, ncclMax, rank.comm,
                              (i + rank.rank) % 2 ? other.stream : rank.stream),
                ncclSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(rank.error(), ncclSuccess);
  });
}

TEST(NcclTest, DifferentCallsAreTold) {
  runRanks(2, [](Rank &rank) {
    Buffer<float> data({1, 2});
    const std::size_t count = rank.rank == 0 ? 1 : 2;
    EXPECT_EQ(
        ncclAllReduce(data.data, data.data, count, ncclFloat32, ncclSum, rank.comm, rank.stream),
        ncclSuccess);
    EXPECT_EQ(rank.awaitError(), ncclInvalidUsage);
    EXPECT_NE(std::string(ncclGetLastError(rank.comm)).find("as collective 1"), std::string::npos);
    EXPECT_EQ(cudaStreamQuery(rank.stream), cudaErrorNotReady);
    rank.abort();
    rank.synchronize();
  });
}

TEST(NcclTest, LostRanksAreRemoteErrorsAndAbortEndsTheWork) {
  runRanks(2, [](Rank &rank) {
    Buffer<float> data({1});
    if (rank.rank == 1)
      return rank.abort();
    EXPECT_EQ(ncclAllReduce(data.data, data.data, 1, ncclFloat32, ncclSum, rank.comm, rank.stream),
              ncclSuccess);
    EXPECT_EQ(rank.awaitError(), ncclRemoteError);
    EXPECT_EQ(cudaStreamQuery(rank.stream), cudaErrorNotReady);
    EXPECT_EQ(ncclAllReduce(data.data, data.data, 1, ncclFloat32, ncclSum, rank.comm, rank.stream),
              ncclRemoteError);
    rank.abort();
    rank.synchronize();
  });
}

// A rank that is stopped is no error: whoever waits decides for how long.
TEST(NcclTest, ProcessesMeetAndMayStopAndDie) {
  const Variable devices("SYNCLINE_HOST_CUDA_DEVICES", "2");
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  const pid_t child = fork();
  if (child == 0) {
    Rank rank(id, 1, 2);
    Buffer<float> data({2});
    ncclAllReduce(data.data, data.data, 1, ncclFloat32, ncclSum, rank.comm, rank.stream);
    rank.synchronize();
    raise(SIGSTOP);
    _exit(0);
  }
  Rank rank(id, 0, 2);
  Buffer<float> data({1});
  auto issue = [&] {
    EXPECT_EQ(ncclAllReduce(data.data, data.data, 1, ncclFloat32, ncclSum, rank.comm, rank.stream),
              ncclSuccess);
  };
  issue();
  rank.synchronize();
  EXPECT_EQ(data.values(), Floats{3});
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  issue();
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(rank.error(), ncclSuccess);
  EXPECT_EQ(cudaStreamQuery(rank.stream), cudaErrorNotReady);
  kill(child, SIGKILL);
  EXPECT_EQ(rank.awaitError(), ncclRemoteError);
  rank.abort();
  rank.synchronize();
  waitpid(child, &status, 0);
}

TEST(NcclTest, CommunicatorsThatDoNotBlockAreAsked) {
  const Variable devices("SYNCLINE_HOST_CUDA_DEVICES", "2");
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t comm = nullptr;
  ncclResult_t error = ncclSuccess;
  EXPECT_EQ(ncclCommInitRankConfig(&comm, 2, id, 0, &config), ncclInProgress);
  EXPECT_EQ(ncclCommGetAsyncError(comm, &error), ncclSuccess);
  EXPECT_EQ(error, ncclInProgress);
  TestStream stream;
  Buffer<float> data({1});
  auto issue = [&] {
    return ncclAllReduce(data.data, data.data, 1, ncclFloat32, ncclSum, comm, stream);
  };
  EXPECT_EQ(issue(), ncclInvalidArgument); // nobody else has come yet
  std::thread other([&] {
    Rank rank(id, 1, 2);
    Buffer<float> own({1});
    for (int i = 0; i < 2; ++i)
      ncclAllReduce(own.data, own.data, 1, ncclFloat32, ncclSum, rank.comm, rank.stream);
    rank.synchronize();
  });
  while (ncclCommGetAsyncError(comm, &error) == ncclSuccess && error == ncclInProgress)
    std::this_thread::sleep_for(1ms);
  EXPECT_EQ(error, ncclSuccess);
  EXPECT_EQ(issue(), ncclInProgress); // connects
  EXPECT_EQ(issue(), ncclInvalidArgument);
  EXPECT_EQ(ncclCommGetAsyncError(comm, &error), ncclSuccess);
  EXPECT_EQ(issue(), ncclSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(data.values(), Floats{4});
  other.join();
  EXPECT_EQ(ncclCommFinalize(comm), ncclInProgress);
  EXPECT_EQ(issue(), ncclInvalidUsage);
  EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

TEST(NcclTest, MakingOneIsAborted) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t comm = nullptr;
  EXPECT_EQ(ncclCommInitRankConfig(&comm, 2, id, 0, &config), ncclInProgress);
  EXPECT_EQ(ncclCommAbort(comm), ncclSuccess);
}

// One thread has several devices: communicators and calls are grouped.
TEST(NcclTest, OneThreadHasSeveralRanks) {
  const Variable devices("SYNCLINE_HOST_CUDA_DEVICES", "2");
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ncclComm_t comms[2] = {};
  cudaStream_t streams[2] = {};
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(cudaSetDevice(rank), cudaSuccess);
    EXPECT_EQ(cudaStreamCreateWithFlags(&streams[rank], cudaStreamNonBlocking), cudaSuccess);
    EXPECT_EQ(ncclCommInitRank(&comms[rank], 2, id, rank), ncclSuccess);
  }
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  Buffer<float> data({1, 2});
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  for (int rank = 0; rank < 2; ++rank)
    EXPECT_EQ(ncclAllReduce(data.data + rank, data.data + rank, 1, ncclFloat32, ncclSum,
                            comms[rank], streams[rank]),
              ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(cudaStreamSynchronize(streams[rank]), cudaSuccess);
    EXPECT_EQ(ncclCommDestroy(comms[rank]), ncclSuccess);
    EXPECT_EQ(cudaStreamDestroy(streams[rank]), cudaSuccess);
  }
  EXPECT_EQ(data.values(), (Floats{3, 3}));
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST(NcclTest, RefusesTwoRanksOnOneDevice) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  auto make = [&](int rank) {
    ncclComm_t comm = nullptr;
    EXPECT_EQ(ncclCommInitRank(&comm, 2, id, rank), ncclInvalidUsage);
    EXPECT_EQ(comm, nullptr);
    EXPECT_NE(std::string(ncclGetLastError(nullptr)).find("Duplicate GPU"), std::string::npos);
  };
  std::thread other(make, 1);
  make(0);
  other.join();
}

TEST(NcclTest, OperandsAreChecked) {
  runRanks(1, [](Rank &rank) {
    float pageable = 0;
    void *handle = nullptr;
    Buffer<float> data({1, 2});
    EXPECT_EQ(ncclAllReduce(&pageable, data.data, 1, ncclFloat32, ncclSum, rank.comm, rank.stream),
              ncclInvalidArgument);
    EXPECT_EQ(ncclAllReduce(data.data, data.data, 3, ncclFloat32, ncclSum, rank.comm, rank.stream),
              ncclInvalidArgument);
    EXPECT_EQ(ncclBroadcast(data.data, data.data, 1, ncclFloat32, 1, rank.comm, rank.stream),
              ncclInvalidArgument);
    EXPECT_EQ(ncclAllReduce(data.data, data.data, 2, ncclFloat32, ncclSum, rank.comm, nullptr),
              ncclUnhandledCudaError);
    EXPECT_EQ(ncclCommRegister(rank.comm, &pageable, sizeof pageable, &handle),
              ncclInvalidArgument);
    EXPECT_EQ(ncclCommRegister(rank.comm, data.data, 8, &handle), ncclSuccess);
    EXPECT_EQ(ncclCommDeregister(rank.comm, handle), ncclSuccess);
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  });
}

} // namespace
} // namespace syncline::hostcuda
