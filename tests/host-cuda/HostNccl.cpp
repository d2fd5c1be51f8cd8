// NCCL's communicators on the host: made, asked, aborted, destroyed.
#include "tests/host-cuda/NcclCommunicator.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <unistd.h>

using namespace syncline::hostcuda;

namespace {

/// Lives as long as the process.
struct LastError {
  std::mutex mutex;
  std::string text;
};
LastError &lastError() {
  static auto *instance = new LastError;
  return *instance;
}

/// Names a device among all machines: NCCL_HOSTID says which machine is played.
std::string deviceName(int device) {
  char host[48] = "";
  gethostname(host, sizeof host - 1);
  const char *named = std::getenv("NCCL_HOSTID");
  return std::to_string(device) + " of " + (named && *named ? named : host);
}

void connect(const std::shared_ptr<CommunicatorState> &state, const Meeting &meeting) {
  ncclResult_t result = ncclSuccess;
  try {
    state->links.connect(meeting, state->rank, state->ranks, deviceName(state->device));
    state->tuner = NcclTuner::load(static_cast<std::size_t>(state->ranks));
  } catch (const std::exception &error) {
    result = failed(ncclInvalidUsage, error.what());
  }
  state->error = result;
}

ncclResult_t make(ncclComm_t *comm, int ranks, const ncclUniqueId &id, int rank, bool isBlocking) {
  if (!comm || ranks < 1 || rank < 0 || rank >= ranks)
    return failed(ncclInvalidArgument,
                  "rank " + std::to_string(rank) + " of " + std::to_string(ranks));
  Meeting meeting;
  std::memcpy(&meeting, id.internal, sizeof meeting);
  *comm = new ncclComm;
  (*comm)->state = std::make_shared<CommunicatorState>();
  (*comm)->isBlocking = isBlocking;
  CommunicatorState &state = *(*comm)->state;
  state.rank = rank, state.ranks = ranks, state.device = currentDevice();
  state.error = ncclInProgress;
  (*comm)->maker = std::thread(connect, (*comm)->state, meeting);
  return ncclInProgress;
}

/// Ends the making of a communicator that blocks: it is made, or null.
ncclResult_t finishMaking(ncclComm_t *comm) {
  (*comm)->maker.join();
  const ncclResult_t result = (*comm)->state->error;
  if (result != ncclSuccess)
    delete std::exchange(*comm, nullptr);
  return result;
}

/// What was issued is done, or ends by an abort.
void drain(ncclComm_t comm) {
  if (comm->issuing.valid())
    comm->issuing.wait();
  if (comm->last)
    comm->last->wait();
}

/// Graphs with operations of the communicator must go first, as with NCCL, which waits for them
/// without end. Their replays have ended by then.
void awaitGraphs(const CommunicatorState &state) {
  const auto start = std::chrono::steady_clock::now();
  for (bool isSaid = false; state.isCaptured();) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (isSaid || std::chrono::steady_clock::now() - start < std::chrono::seconds(1))
      continue;
    isSaid = true;
    std::fprintf(stderr, "host-nccl: rank %d waits for a graph that has its operations\n",
                 state.rank);
  }
}

void destroy(ncclComm_t comm) {
  if (comm->maker.joinable())
    comm->maker.join();
  if (comm->issuing.valid())
    comm->issuing.wait();
  awaitGraphs(*comm->state);
  comm->state->tuner.reset();
  {
    std::lock_guard hold(comm->state->running);
    comm->state->links.aborted = true; // replays that are still to come end at once
    comm->state->links.close();
  }
  delete comm;
}

/// What ncclCommRegister() was told.
struct Registered {
  const void *data;
  std::size_t bytes;
};

/// In a group, communicators are made at its end.
struct Making {
  ncclComm_t *comm;
  bool isBlocking;
};
thread_local std::vector<Making> makings;
thread_local std::vector<ncclComm_t> aborts; ///< of a group

} // namespace

namespace syncline::hostcuda {

ncclResult_t failed(ncclResult_t result, const std::string &text) {
  LastError &last = lastError();
  std::lock_guard hold(last.mutex);
  last.text = text;
  return result;
}

ncclResult_t finishMakings() {
  ncclResult_t result = ncclSuccess;
  for (const Making &making : std::exchange(makings, {})) {
    const ncclResult_t made = making.isBlocking ? finishMaking(making.comm) : ncclInProgress;
    if (made != ncclSuccess && (result == ncclSuccess || result == ncclInProgress))
      result = made;
  }
  return result;
}

void finishAborts() {
  for (ncclComm_t comm : std::exchange(aborts, {}))
    destroy(comm);
}

} // namespace syncline::hostcuda

ncclResult_t ncclGetVersion(int *version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result) {
  switch (result) {
  case ncclSuccess:
    return "no error";
  case ncclUnhandledCudaError:
    return "unhandled cuda error";
  case ncclSystemError:
    return "unhandled system error";
  case ncclInternalError:
    return "internal error";
  case ncclInvalidArgument:
    return "invalid argument";
  case ncclInvalidUsage:
    return "invalid usage";
  case ncclRemoteError:
    return "remote process exited or there was a network error";
  case ncclInProgress:
    return "NCCL operation in progress";
  default: // newer releases have more
    return "unknown result code";
  }
}

/// Returns the last error of any communicator, as NCCL's function does.
const char *ncclGetLastError(ncclComm_t) {
  thread_local std::string text;
  LastError &last = lastError();
  std::lock_guard hold(last.mutex);
  text = last.text;
  return text.c_str();
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  try {
    const Meeting meeting = openMeeting();
    *id = {};
    std::memcpy(id->internal, &meeting, sizeof meeting);
  } catch (const std::exception &error) {
    return failed(ncclSystemError, error.what());
  }
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t *config) {
  constexpr unsigned magic = 0xcafebeef; // of NCCL_CONFIG_INITIALIZER
  if (config && (config->magic != magic || config->size != sizeof *config))
    return failed(ncclInvalidArgument, "ncclConfig_t was not initialized");
  const bool isBlocking = !config || config->blocking != 0;
  const ncclResult_t made = make(comm, ranks, id, rank, isBlocking);
  if (made != ncclInProgress)
    return made;
  if (isGrouped()) {
    makings.push_back({comm, isBlocking});
    return isBlocking ? ncclSuccess : ncclInProgress;
  }
  return isBlocking ? finishMaking(comm) : ncclInProgress;
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank) {
  return ncclCommInitRankConfig(comm, ranks, id, rank, nullptr);
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  if (!comm || comm->isFinal)
    return failed(ncclInvalidArgument, "ncclCommFinalize: no communicator");
  comm->isFinal = true;
  if (!comm->isBlocking)
    return ncclInProgress;
  awaitGraphs(*comm->state);
  drain(comm);
  return comm->state->error;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (!comm)
    return ncclSuccess;
  drain(comm);
  destroy(comm);
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  if (!comm)
    return ncclSuccess;
  comm->state->links.aborted = true;
  if (isGrouped())
    aborts.push_back(comm); // each may wait for what the others carry out
  else
    destroy(comm);
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error) {
  if (!comm || !error)
    return failed(ncclInvalidArgument, "ncclCommGetAsyncError: no communicator");
  *error = comm->state->error;
  if (*error == ncclSuccess && comm->issuing.valid()) {
    const bool isIssued =
        comm->issuing.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    *error = isIssued ? comm->issuing.get() : ncclInProgress;
  }
  comm->isUnasked = comm->isUnasked && *error == ncclInProgress;
  if (*error == ncclSuccess && comm->isFinal &&
      (comm->state->isCaptured() || (comm->last && !comm->last->passed())))
    *error = ncclInProgress;
  return ncclSuccess;
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int *count) {
  *count = comm->state->ranks;
  return ncclSuccess;
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank) {
  *rank = comm->state->rank;
  return ncclSuccess;
}

ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int *device) {
  *device = comm->state->device;
  return ncclSuccess;
}

ncclResult_t ncclMemAlloc(void **data, std::size_t bytes) {
  // As where NCCL's probe of the host's memory breaks, unless it is told to leave that out.
  if (setting("SYNCLINE_HOST_NCCL_PROBE", 1) == 0 && setting("NCCL_CUMEM_HOST_ENABLE", 1) != 0)
    return failed(ncclSystemError, "the probe of the host's memory broke");
  if (setting("SYNCLINE_HOST_NCCL_MEMORY", 1) == 0) // as where handles cannot be shared
    return failed(ncclUnhandledCudaError, "no such handles");
  return cudaMalloc(data, bytes) ? failed(ncclUnhandledCudaError, "out of memory") : ncclSuccess;
}

ncclResult_t ncclMemFree(void *data) {
  return cudaFree(data) ? failed(ncclUnhandledCudaError, "not from ncclMemAlloc") : ncclSuccess;
}

ncclResult_t ncclCommRegister(const ncclComm_t comm, void *data, std::size_t bytes, void **handle) {
  if (!comm || !handle || bytes == 0 || !isAllocated(data, bytes))
    return failed(ncclInvalidArgument, "ncclCommRegister: not memory of a device");
  *handle = new Registered{data, bytes};
  return ncclSuccess;
}

ncclResult_t ncclCommDeregister(const ncclComm_t comm, void *handle) {
  if (!comm || !handle)
    return failed(ncclInvalidArgument, "ncclCommDeregister: no handle");
  const std::unique_ptr<Registered> memory(static_cast<Registered *>(handle));
  if (!isAllocated(memory->data, memory->bytes))
    breakDevice(cudaErrorIllegalAddress, "ncclCommDeregister, of memory that is gone");
  return ncclSuccess;
}
