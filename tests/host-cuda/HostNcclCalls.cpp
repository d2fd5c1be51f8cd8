// NCCL's collectives and messages on the host: checked, grouped, and given to their streams.
#include "tests/host-cuda/NcclCommunicator.h"

#include <algorithm>

using namespace syncline::hostcuda;

namespace {

struct Call {
  ncclComm_t comm;
  cudaStream_t stream;
  Operation operation;
};

struct Group {
  int depth = 0;
  std::vector<Call> calls;
  ncclResult_t error = ncclSuccess; ///< of a call in it
};
thread_local Group group;

/// Whether memory and numbers are as the operation wants them.
bool isSound(const Operation &o, const CommunicatorState &state) {
  const auto ranks = static_cast<std::size_t>(state.ranks);
  const bool needsPeer = o.action == Action::reduce || o.action == Action::broadcast ||
                         o.action == Action::send || o.action == Action::receive;
  if (!isType(o.type) || o.reduction < ncclSum || o.reduction >= ncclNumOps ||
      (needsPeer && (o.peer < 0 || o.peer >= state.ranks)))
    return false;
  const bool isRoot = o.peer == state.rank;
  const std::size_t bytes = o.count * bytesOf(o.type);
  const bool isRead = o.action != Action::receive && (o.action != Action::broadcast || isRoot);
  const bool isWritten = o.action != Action::send && (o.action != Action::reduce || isRoot);
  return bytes == 0 ||
         ((!isRead ||
           isAllocated(o.from, bytes * (o.action == Action::reduceScatter ? ranks : 1))) &&
          (!isWritten || isAllocated(o.to, bytes * (o.action == Action::allGather ? ranks : 1))));
}

ncclResult_t checked(const Call &call) {
  if (!call.comm)
    return failed(ncclInvalidArgument, "no communicator");
  const CommunicatorState &state = *call.comm->state;
  if (const ncclResult_t error = state.error; error == ncclInProgress)
    return failed(ncclInvalidArgument, "the communicator is being made");
  else if (error != ncclSuccess)
    return error;
  if (call.comm->isUnasked)
    return failed(ncclInvalidArgument,
                  "attempt to use communicator before the previous operation returned ncclSuccess");
  if (call.comm->isFinal)
    return failed(ncclInvalidUsage, "the communicator is finalized");
  if (!isSound(call.operation, state))
    return failed(ncclInvalidArgument,
                  "operands: expected memory of the device, a rank, a type and a reduction");
  return ncclSuccess;
}

bool isCapturing(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(stream, &status) == cudaSuccess &&
         status != cudaStreamCaptureStatusNone;
}

/// Chooses the algorithm, as NCCL does before it enqueues a collective of several ranks.
void chooseAlgorithm(const CommunicatorState &state, Operation &operation) {
  const auto ranks = static_cast<std::size_t>(state.ranks);
  const std::size_t bytes = operation.count * bytesOf(operation.type);
  if (ranks == 1)
    return;
  const auto choose = [&](int collective, std::size_t all) {
    return state.tuner ? state.tuner->ask(collective, all) : ownChoice(collective);
  };
  switch (operation.action) {
  case Action::allGather:
    choose(2, ranks * bytes);
    return;
  case Action::reduceScatter:
    choose(3, ranks * bytes);
    return;
  case Action::allReduce:
    operation.isByNvls = choose(allReduceNumber, bytes) == nvlsNumber;
    return;
  case Action::reduce:
  case Action::broadcast:
  case Action::send:
  case Action::receive:
    return;
  }
}

/// A communicator's calls are done in the order of issue, whatever their streams.
ncclResult_t issue(ncclComm_t comm, cudaStream_t stream, std::vector<Operation> operations) {
  std::shared_ptr<Moment> before;
  std::shared_ptr<const int> captured;
  auto end = std::make_shared<Moment>();
  for (Operation &operation : operations)
    chooseAlgorithm(*comm->state, operation);
  if (isCapturing(stream)) {
    captured = comm->state->capturedBy;
  } else {
    if (comm->lastStream != stream)
      before = comm->last;
    comm->last = end;
    comm->lastStream = stream;
  }
  const cudaError_t error = enqueue(
      stream,
      [state = comm->state, operations = std::move(operations), before, end, captured] {
        if (before)
          before->wait();
        runOperations(*state, operations);
        end->pass();
      },
      Order::collective);
  if (error) {
    end->pass();
    return failed(ncclUnhandledCudaError, cudaGetErrorString(error));
  }
  return ncclSuccess;
}

ncclResult_t issueAll(std::vector<Call> calls) {
  ncclResult_t result = ncclSuccess;
  while (!calls.empty()) {
    const ncclComm_t comm = calls.front().comm;
    const cudaStream_t stream = calls.front().stream;
    std::vector<Operation> operations;
    for (const Call &call : calls)
      if (call.comm == comm) {
        if (call.stream != stream)
          return failed(ncclInvalidUsage, "a group with two streams of one communicator");
        operations.push_back(call.operation);
      }
    std::erase_if(calls, [&](const Call &call) { return call.comm == comm; });
    if (ncclResult_t issued = issue(comm, stream, std::move(operations)); issued != ncclSuccess)
      result = issued;
  }
  return result;
}

/// Where communicators do not block, a thread of NCCL's enqueues, into captures too.
ncclResult_t issueGroup(std::vector<Call> calls) {
  if (std::ranges::all_of(calls, [](const Call &call) { return call.comm->isBlocking; }))
    return issueAll(std::move(calls));
  const auto enqueueAll = [calls, device = currentDevice()] {
    cudaSetDevice(device);
    std::this_thread::sleep_for(std::chrono::microseconds(50)); // the caller has long returned
    return issueAll(calls);
  };
  const std::shared_future<ncclResult_t> issuing = std::async(std::launch::async, enqueueAll);
  for (const Call &call : calls) {
    call.comm->issuing = issuing;
    call.comm->isUnasked = true;
  }
  return ncclInProgress;
}

ncclResult_t take(Call call) {
  const ncclResult_t result = checked(call);
  if (group.depth > 0) {
    if (result == ncclSuccess)
      group.calls.push_back(std::move(call));
    else
      group.error = result;
    return result;
  }
  return result == ncclSuccess ? issueGroup({std::move(call)}) : result;
}

const std::byte *from(const void *data) { return static_cast<const std::byte *>(data); }
std::byte *to(void *data) { return static_cast<std::byte *>(data); }

} // namespace

namespace syncline::hostcuda {

bool isGrouped() { return group.depth > 0; }

} // namespace syncline::hostcuda

ncclResult_t ncclGroupStart() {
  ++group.depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (group.depth == 0)
    return failed(ncclInvalidUsage, "ncclGroupEnd without ncclGroupStart");
  if (--group.depth > 0)
    return ncclSuccess;
  const Group ended = std::exchange(group, {});
  finishAborts();
  const ncclResult_t made = finishMakings();
  if (made != ncclSuccess)
    return made;
  return ended.error != ncclSuccess ? ended.error : issueGroup(ended.calls);
}

ncclResult_t ncclAllReduce(const void *sent, void *received, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t reduction, ncclComm_t comm, cudaStream_t stream) {
  return take(
      {comm, stream, {Action::allReduce, from(sent), to(received), count, type, reduction, -1}});
}

ncclResult_t ncclReduce(const void *sent, void *received, std::size_t count, ncclDataType_t type,
                        ncclRedOp_t reduction, int root, ncclComm_t comm, cudaStream_t stream) {
  return take(
      {comm, stream, {Action::reduce, from(sent), to(received), count, type, reduction, root}});
}

ncclResult_t ncclBroadcast(const void *sent, void *received, std::size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream) {
  return take(
      {comm, stream, {Action::broadcast, from(sent), to(received), count, type, ncclSum, root}});
}

ncclResult_t ncclReduceScatter(const void *sent, void *received, std::size_t count,
                               ncclDataType_t type, ncclRedOp_t reduction, ncclComm_t comm,
                               cudaStream_t stream) {
  return take({comm,
               stream,
               {Action::reduceScatter, from(sent), to(received), count, type, reduction, -1}});
}

ncclResult_t ncclAllGather(const void *sent, void *received, std::size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
  return take(
      {comm, stream, {Action::allGather, from(sent), to(received), count, type, ncclSum, -1}});
}

ncclResult_t ncclSend(const void *sent, std::size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  return take({comm, stream, {Action::send, from(sent), nullptr, count, type, ncclSum, peer}});
}

ncclResult_t ncclRecv(void *received, std::size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  return take({comm, stream, {Action::receive, nullptr, to(received), count, type, ncclSum, peer}});
}
