// What NCCL's calls compute on the host, in streams and in graphs.
#include "tests/host-cuda/NcclRanks.h"

#include "runtime/core/HalfFloat.h"

namespace syncline::hostcuda {
namespace {

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
    sumsTo<std::uint16_t>(rank, ncclFloat16, core::f16FromFloat(0.5f), core::f16FromFloat(1.5f));
    sumsTo<std::uint16_t>(rank, ncclBfloat16, core::bf16FromFloat(0.5f), core::bf16FromFloat(1.5f));
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

// A graph holds the communicators of its operations: leaving one of them waits for the graph's end.
TEST(NcclTest, CommunicatorsWaitForTheGraphsThatHoldThem) {
  runRanks(1, [](Rank &rank) {
    Buffer<float> data({1});
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamBeginCapture(rank.stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    EXPECT_EQ(ncclAllReduce(data.data, data.data, 1, ncclFloat32, ncclSum, rank.comm, rank.stream),
              ncclSuccess);
    EXPECT_EQ(cudaStreamEndCapture(rank.stream, &graph), cudaSuccess);
    std::atomic<bool> isGone = false;
    std::thread leaving([&] {
      rank.abort();
      isGone = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(isGone);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    leaving.join();
    EXPECT_TRUE(isGone);
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

} // namespace
} // namespace syncline::hostcuda
