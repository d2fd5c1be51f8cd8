// NCCL on the host where ranks are lost, stopped or do different things, and where a communicator
// does not block. Ranks are threads; processes where they have to die.
#include "tests/host-cuda/NcclRanks.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace syncline::hostcuda {
namespace {

using namespace std::chrono_literals;

TEST(NcclFailureTest, DifferentCallsAreTold) {
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

TEST(NcclFailureTest, LostRanksAreRemoteErrorsAndAbortEndsTheWork) {
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
TEST(NcclFailureTest, ProcessesMeetAndMayStopAndDie) {
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

TEST(NcclFailureTest, CommunicatorsThatDoNotBlockAreAsked) {
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
  const auto await = [&] {
    while (ncclCommGetAsyncError(comm, &error) == ncclSuccess && error == ncclInProgress)
      std::this_thread::sleep_for(1ms);
    EXPECT_EQ(error, ncclSuccess);
  };
  await();
  for (int i = 0; i < 2; ++i) { // each group is enqueued by a thread of NCCL's
    EXPECT_EQ(issue(), ncclInProgress);
    EXPECT_EQ(issue(), ncclInvalidArgument);
    await();
  }
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(data.values(), Floats{4});
  other.join();
  EXPECT_EQ(ncclCommFinalize(comm), ncclInProgress);
  EXPECT_EQ(issue(), ncclInvalidUsage);
  EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

TEST(NcclFailureTest, MakingOneIsAborted) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t comm = nullptr;
  EXPECT_EQ(ncclCommInitRankConfig(&comm, 2, id, 0, &config), ncclInProgress);
  EXPECT_EQ(ncclCommAbort(comm), ncclSuccess);
}

// One thread has several devices: communicators and calls are grouped.
TEST(NcclFailureTest, OneThreadHasSeveralRanks) {
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

TEST(NcclFailureTest, RefusesTwoRanksOnOneDevice) {
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

TEST(NcclFailureTest, OperandsAreChecked) {
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
