// Creating and leaving communicators.
#include "runtime/cuda/nccl/NcclCommunicator.h"

#include "runtime/core/Deadline.h"

#include <cstring>
#include <thread>

namespace syncline::cuda {

namespace {

std::string idText(const ncclUniqueId &id) { return {id.internal, sizeof id.internal}; }

} // namespace

NcclCommunicator::NcclCommunicator(core::Peers &peers, const std::string &key) : peers(peers) {
  try {
    join(key);
  } catch (...) {
    abort();
    throw;
  }
}

void NcclCommunicator::join(const std::string &key) {
  ncclUniqueId id{};
  if (rank() == 0)
    SYNCLINE_CHECK(ncclGetUniqueId(&id));
  const auto ids = peers.exchange(key, rank() == 0 ? idText(id) : "");
  check(ids.status());
  if (ids->front().size() != sizeof id.internal)
    throw Failure{ErrorKind::internal, "rank 0 gave no id of a communicator"};
  std::memcpy(id.internal, ids->front().data(), sizeof id.internal);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  settle(ncclCommInitRankConfig(&comm, size(), id, rank(), &config), "ncclCommInitRankConfig");
}

Failure NcclCommunicator::judge(const NcclFailure &failure) const {
  using namespace std::chrono_literals;
  switch (failure.status) {
  case ncclRemoteError: {
    const Status lost = peers.blame(previous(), failure.message);
    return {lost.kind(), lost.message()};
  }
  case ncclUnhandledCudaError:
  case ncclInvalidArgument:
  case ncclInvalidUsage:
    return failure;
  case ncclSystemError: // possibly the connection to a rank that has just ended
  case ncclInternalError:
  default: // newer releases of NCCL have more results, 2.30 that of a timeout
    for (const auto start = core::Clock::now(); core::secondsSince(start) < 1;) {
      if (const Status known = peers.verdict(); !known)
        return {known.kind(), known.message()};
      std::this_thread::sleep_for(10ms);
    }
    return failure;
  }
}

void NcclCommunicator::settle(ncclResult_t status, const char *call) {
  using namespace std::chrono_literals;
  if (status != ncclSuccess && status != ncclInProgress)
    throw judge(failureOf(status, call, comm));
  const auto start = core::Clock::now();
  std::shared_ptr<void> waiting;
  for (;;) {
    const ncclResult_t state = error();
    if (state == ncclSuccess)
      return;
    if (state != ncclInProgress)
      throw judge(failureOf(state, call, comm));
    check(peers.verdict());
    const double seconds = core::secondsSince(start);
    if (seconds > peers.timeoutSeconds())
      check(peers.blame(previous(), "it did not connect in time"));
    if (seconds < 1e-3)
      continue;
    if (!waiting)
      waiting = peers.waitingFor(previous());
    std::this_thread::sleep_for(100us);
  }
}

void NcclCommunicator::keep(const core::Interval &memory) {
  if (memory.bytes == 0)
    return;
  void *handle = nullptr;
  SYNCLINE_CHECK_ON(
      comm, ncclCommRegister(comm, memory.data, static_cast<std::size_t>(memory.bytes), &handle));
  if (handle)
    kept.push_back(handle);
}

ncclResult_t NcclCommunicator::error() const {
  ncclResult_t state = ncclSuccess;
  const ncclResult_t asked = ncclCommGetAsyncError(comm, &state);
  return asked == ncclSuccess ? state : asked;
}

void NcclCommunicator::abort() {
  if (comm)
    ncclCommAbort(comm);
  comm = nullptr;
  kept.clear();
}

/// Leaving needs all ranks, whose last messages may still be under way, so it has a time limit.
void NcclCommunicator::close() {
  for (void *handle : kept)
    SYNCLINE_CHECK_ON(comm, ncclCommDeregister(comm, handle));
  kept.clear();
  settle(ncclCommFinalize(comm), "ncclCommFinalize");
  SYNCLINE_CHECK(ncclCommDestroy(comm));
  comm = nullptr;
}

void NcclCommunicator::leave() {
  if (comm && !statusOf("", [this] { close(); }))
    abort();
}

} // namespace syncline::cuda
