// A communicator of NCCL on the host, and its operations.
#pragma once

#include "tests/host-cuda/NcclLinks.h"
#include "tests/host-cuda/NcclTuner.h"
#include "tests/host-cuda/Stream.h"

#include <nccl.h>

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace syncline::hostcuda {

enum class Action : std::int32_t {
  allReduce,
  reduce,
  broadcast,
  reduceScatter,
  allGather,
  send,
  receive
};

/// One call, with its arguments.
struct Operation {
  Action action;
  const std::byte *from = nullptr;
  std::byte *to = nullptr;
  std::size_t count = 0; ///< of elements, as NCCL counts them for the action
  ncclDataType_t type = ncclFloat32;
  ncclRedOp_t reduction = ncclSum;
  int peer = -1; ///< the root, or the other rank
  bool isByNvls = false;
};

/// What streams' works share with the communicator, and may outlive it.
struct CommunicatorState {
  int rank = 0, ranks = 1, device = 0;
  Links links;
  std::mutex running;                            ///< one work at a time uses the links
  std::uint64_t collectives = 0;                 ///< run, under `running`
  std::atomic<ncclResult_t> error = ncclSuccess; ///< ncclInProgress while it is being made
  /// Held by every captured operation, whose graph needs the communicator as long as it exists.
  std::shared_ptr<const int> capturedBy = std::make_shared<const int>(0);
  std::unique_ptr<NcclTuner> tuner; ///< null without one
  bool isCaptured() const { return capturedBy.use_count() > 1; }
};

/// All-reduces of several ranks that this process has done by NVLS, and by other algorithms.
struct SumCounts {
  std::atomic<std::int64_t> byNvls, byOthers;
};
extern SumCounts sumCounts;

std::size_t bytesOf(ncclDataType_t type);
/// Whether elements of the type exist here.
bool isType(ncclDataType_t type);

/// to[i] = from[0][i] + from[1][i] + ..., in this order, in float for the halves; likewise for the
/// other reductions.
void reduceParts(ncclDataType_t type, ncclRedOp_t reduction,
                 const std::vector<const std::byte *> &from, std::byte *to, std::size_t count);

/// What a group's operations on one communicator do, at the stream's turn: collectives in order,
/// then all sends and receives at once. Where a rank is lost or does something else it sets the
/// error, and returns when the communicator is aborted, as NCCL's kernels do.
void runOperations(CommunicatorState &state, const std::vector<Operation> &operations);

/// Keeps what went wrong for ncclGetLastError().
ncclResult_t failed(ncclResult_t result, const std::string &text);

/// Whether the calling thread has begun a group.
bool isGrouped();
/// At its end: communicators that block are made, and those that are aborted end together.
ncclResult_t finishMakings();
void finishAborts();

} // namespace syncline::hostcuda

struct ncclComm {
  std::shared_ptr<syncline::hostcuda::CommunicatorState> state;
  bool isBlocking = true;
  bool isUnasked = false; ///< ncclInProgress was returned, and nobody has heard of its end since
  bool isFinal = false;
  std::thread maker; ///< of one that does not block
  /// The group that a thread enqueues, for one that does not block.
  std::shared_future<ncclResult_t> issuing;
  cudaStream_t lastStream = nullptr;
  std::shared_ptr<syncline::hostcuda::Moment> last; ///< the end of what was issued there
};
