// Captures note work and what it waits for; replays do it; what CUDA forbids meanwhile is an error.
#include "tests/host-cuda/TestStreams.h"

#include <algorithm>

namespace syncline::hostcuda {
namespace {

constexpr auto relaxed = cudaStreamCaptureModeRelaxed, ownThread = cudaStreamCaptureModeThreadLocal,
               global = cudaStreamCaptureModeGlobal;

class CaptureTest : public testing::Test {
protected:
  ~CaptureTest() override {
    if (executable)
      cudaGraphExecDestroy(executable);
    cudaGetLastError();
  }

  void begin(cudaStreamCaptureMode mode = ownThread) {
    EXPECT_EQ(cudaStreamBeginCapture(main, mode), cudaSuccess);
  }
  void end(cudaError_t expected = cudaSuccess) {
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(main, &graph), expected);
    EXPECT_EQ(graph != nullptr, expected == cudaSuccess);
    if (!graph)
      return;
    EXPECT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  }
  void replay() {
    EXPECT_EQ(cudaGraphLaunch(executable, main), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(main), cudaSuccess);
  }
  void note(cudaStream_t stream, int number) {
    EXPECT_EQ(enqueue(stream, [this, number] { done.push_back(number); }), cudaSuccess);
  }
  void fork(cudaStream_t from, cudaStream_t to) {
    TestEvent event(cudaEventDisableTiming);
    EXPECT_EQ(cudaEventRecord(event, from), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(to, event, 0), cudaSuccess);
  }
  cudaStreamCaptureStatus statusOf(cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    EXPECT_EQ(cudaStreamIsCapturing(stream, &status), cudaSuccess);
    return status;
  }

  TestStream main, side;
  std::vector<int> done; ///< by replays
  cudaGraphExec_t executable = nullptr;
};

TEST_F(CaptureTest, NotesAndReplays) {
  int from = 1, to = 0;
  begin();
  EXPECT_EQ(cudaMemcpyAsync(&to, &from, sizeof to, cudaMemcpyDefault, main), cudaSuccess);
  note(main, 7);
  EXPECT_EQ(statusOf(main), cudaStreamCaptureStatusActive);
  end();
  EXPECT_EQ(statusOf(main), cudaStreamCaptureStatusNone);
  EXPECT_EQ(cudaStreamSynchronize(main), cudaSuccess);
  EXPECT_EQ(to, 0);
  EXPECT_TRUE(done.empty());
  EXPECT_EQ(cudaGraphUpload(executable, main), cudaSuccess);
  replay();
  EXPECT_EQ(to, 1);
  from = 2;
  replay();
  EXPECT_EQ(to, 2);
  EXPECT_EQ(done, (std::vector{7, 7}));
}

TEST_F(CaptureTest, OtherStreamsJoinByEvents) {
  begin();
  note(main, 1);
  EXPECT_EQ(statusOf(side), cudaStreamCaptureStatusNone);
  fork(main, side);
  EXPECT_EQ(statusOf(side), cudaStreamCaptureStatusActive);
  note(side, 2);
  fork(side, main);
  note(main, 3);
  end();
  EXPECT_EQ(statusOf(side), cudaStreamCaptureStatusNone);
  Variable delay("SYNCLINE_HOST_CUDA_DELAY", "10");
  for (int i = 0; i < 20; ++i) {
    done.clear();
    replay();
    EXPECT_EQ(done, (std::vector{1, 2, 3}));
  }
}

// What is not ordered in the capture is not in its replays; collectives are.
TEST_F(CaptureTest, DelaysReorderWhatIsFree) {
  begin();
  fork(main, side);
  for (int i = 1; i <= 2; ++i)
    EXPECT_EQ(enqueue(
                  i == 1 ? main : side, [this, i] { done.push_back(i); }, Order::collective),
              cudaSuccess);
  note(main, 3);
  note(side, 4);
  fork(side, main);
  end();
  bool wasThreeFirst = false, wasFourFirst = false;
  Variable delay("SYNCLINE_HOST_CUDA_DELAY", "10");
  for (int i = 0; i < 100; ++i) {
    done.clear();
    replay();
    EXPECT_EQ(done.size(), 4u);
    auto place = [&](int number) { return std::ranges::find(done, number); };
    EXPECT_LT(place(1), place(2));
    EXPECT_LT(place(1), place(3));
    EXPECT_LT(place(2), place(4));
    (place(3) < place(4) ? wasThreeFirst : wasFourFirst) = true;
  }
  EXPECT_TRUE(wasThreeFirst && wasFourFirst);
}

TEST_F(CaptureTest, WorkOfAnotherStreamMustComeBack) {
  begin();
  fork(main, side);
  note(side, 1);
  end(cudaErrorStreamCaptureUnjoined);
  note(side, 2); // it is free again
  EXPECT_EQ(cudaStreamSynchronize(side), cudaSuccess);
  EXPECT_EQ(done, std::vector{2});
}

TEST_F(CaptureTest, ExternalEventsAreRecordedByEveryReplay) {
  TestEvent start, finish, inside;
  begin();
  EXPECT_EQ(cudaEventRecordWithFlags(start, main, cudaEventRecordExternal), cudaSuccess);
  EXPECT_EQ(enqueue(main, [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }),
            cudaSuccess);
  EXPECT_EQ(cudaEventRecordWithFlags(finish, main, cudaEventRecordExternal), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(inside, main), cudaSuccess);
  end();
  float milliseconds = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, finish), cudaErrorInvalidResourceHandle);
  for (int i = 0; i < 2; ++i) {
    replay();
    EXPECT_EQ(cudaEventQuery(finish), cudaSuccess);
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, finish), cudaSuccess);
    EXPECT_GE(milliseconds, 20);
  }
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, inside), cudaErrorCapturedEvent);
  EXPECT_EQ(cudaEventRecordWithFlags(start, main, cudaEventRecordExternal), cudaErrorIllegalState);
}

// Who asks between a launch and the node's turn hears of the record before; who waits, waits.
TEST_F(CaptureTest, EventsOfAGraphChangeWhenTheirNodesRun) {
  TestEvent start, event;
  begin();
  EXPECT_EQ(cudaEventRecordWithFlags(event, main, cudaEventRecordExternal), cudaSuccess);
  end();
  EXPECT_EQ(cudaEventRecord(start, main), cudaSuccess);
  replay();
  float before = 0, now = 0;
  EXPECT_EQ(cudaEventElapsedTime(&before, start, event), cudaSuccess);
  {
    Gate gate;
    gate.holdUp(main);
    EXPECT_EQ(cudaGraphLaunch(executable, main), cudaSuccess);
    EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
    EXPECT_EQ(cudaEventElapsedTime(&now, start, event), cudaSuccess);
    EXPECT_EQ(now, before);
    EXPECT_EQ(cudaStreamWaitEvent(side, event, 0), cudaSuccess);
    note(side, 1);
    EXPECT_EQ(cudaStreamQuery(side), cudaErrorNotReady);
  }
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&now, start, event), cudaSuccess);
  EXPECT_GT(now, before);
}

TEST_F(CaptureTest, ExternalEventsAreAwaitedByEveryReplay) {
  TestEvent event;
  begin();
  EXPECT_EQ(cudaStreamWaitEvent(main, event, cudaEventWaitExternal), cudaSuccess);
  note(main, 1);
  end();
  Gate gate;
  gate.holdUp(side);
  EXPECT_EQ(cudaEventRecord(event, side), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, main), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(main), cudaErrorNotReady);
  gate.open();
  EXPECT_EQ(cudaStreamSynchronize(main), cudaSuccess);
  EXPECT_EQ(done, std::vector{1});
}

// A replay waits for what was recorded before its launch, so that graphs cannot wait for each other
// in turn.
TEST_F(CaptureTest, ReplaysDoNotAwaitWhatIsRecordedLater) {
  TestEvent event;
  begin();
  EXPECT_EQ(cudaStreamWaitEvent(main, event, cudaEventWaitExternal), cudaSuccess);
  note(main, 1);
  end();
  Gate before, gate;
  before.holdUp(main);
  gate.holdUp(side);
  EXPECT_EQ(cudaGraphLaunch(executable, main), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(event, side), cudaSuccess);
  before.open();
  EXPECT_EQ(cudaStreamSynchronize(main), cudaSuccess);
  EXPECT_EQ(done, std::vector{1});
  gate.open();
}

TEST_F(CaptureTest, WaitingForACapturedStreamEndsTheCapture) {
  for (auto wait : {cudaStreamSynchronize, cudaStreamQuery}) {
    begin(relaxed);
    EXPECT_EQ(wait(main), cudaErrorStreamCaptureUnsupported);
    EXPECT_EQ(statusOf(main), cudaStreamCaptureStatusInvalidated);
    EXPECT_EQ(enqueue(main, [] {}), cudaErrorStreamCaptureInvalidated);
    end(cudaErrorStreamCaptureInvalidated);
  }
  begin(relaxed);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
  end(cudaErrorStreamCaptureInvalidated);
}

TEST_F(CaptureTest, CapturedEventsCannotBeAsked) {
  TestEvent event;
  begin(relaxed);
  EXPECT_EQ(cudaEventRecord(event, main), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorCapturedEvent);
  end(cudaErrorStreamCaptureInvalidated);
}

TEST_F(CaptureTest, ForeignWorkCannotBeWaitedFor) {
  TestEvent event;
  EXPECT_EQ(cudaEventRecord(event, side), cudaSuccess);
  begin();
  EXPECT_EQ(cudaStreamWaitEvent(main, event, 0), cudaErrorStreamCaptureIsolation);
  end(cudaErrorStreamCaptureInvalidated);
}

TEST_F(CaptureTest, CapturesCannotMerge) {
  TestEvent event;
  cudaGraph_t graph = nullptr;
  begin();
  EXPECT_EQ(cudaStreamBeginCapture(side, ownThread), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(event, side), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(main, event, 0), cudaErrorStreamCaptureMerge);
  EXPECT_EQ(cudaStreamEndCapture(side, &graph), cudaErrorStreamCaptureInvalidated);
  end(cudaErrorStreamCaptureInvalidated);
}

/// What cudaMalloc and cudaFree say, here or in another thread.
cudaError_t allocationSays() {
  void *data = nullptr;
  const cudaError_t error = cudaMalloc(&data, 64);
  return error == cudaSuccess ? cudaFree(data) : error;
}
cudaError_t allocationElsewhereSays() {
  cudaError_t error = cudaSuccess;
  std::thread([&] { error = allocationSays(); }).join();
  return error;
}

TEST_F(CaptureTest, ModesSayWhoMayAllocate) {
  cudaStreamCaptureMode mode = relaxed;
  begin(global);
  EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
  EXPECT_EQ(allocationSays(), cudaSuccess);
  EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
  EXPECT_EQ(mode, relaxed);
  end();
  cudaGraphExecDestroy(executable);
  begin(relaxed);
  EXPECT_EQ(allocationSays(), cudaSuccess);
  EXPECT_EQ(allocationElsewhereSays(), cudaSuccess);
  end();
  cudaGraphExecDestroy(executable);
  begin(ownThread);
  EXPECT_EQ(allocationElsewhereSays(), cudaSuccess);
  EXPECT_EQ(allocationSays(), cudaErrorStreamCaptureUnsupported);
  end(cudaErrorStreamCaptureInvalidated);
  begin(global);
  EXPECT_EQ(allocationElsewhereSays(), cudaErrorStreamCaptureUnsupported);
  end(cudaErrorStreamCaptureInvalidated);
  executable = nullptr;
}

TEST_F(CaptureTest, EndsWhereAndByWhomItWasBegun) {
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(main, &graph), cudaErrorIllegalState);
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, ownThread), cudaErrorStreamCaptureUnsupported);
  begin();
  EXPECT_EQ(cudaStreamBeginCapture(main, ownThread), cudaErrorIllegalState);
  fork(main, side);
  EXPECT_EQ(cudaStreamEndCapture(side, &graph), cudaErrorStreamCaptureUnmatched);
  end(cudaErrorStreamCaptureInvalidated);
  begin();
  cudaError_t elsewhere = cudaSuccess;
  std::thread([&] { elsewhere = cudaStreamEndCapture(main, &graph); }).join();
  EXPECT_EQ(elsewhere, cudaErrorStreamCaptureWrongThread);
  end(cudaErrorStreamCaptureInvalidated);
}

} // namespace
} // namespace syncline::hostcuda
