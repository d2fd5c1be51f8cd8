// Watching messages, and aborting them.
#include "runtime/cuda/nccl/NcclLinks.h"

#include "runtime/core/RankNames.h"

namespace syncline::cuda {

NcclLinks::NcclLinks(CudaExecutable &executable, core::Peers &peers)
    : executable(executable), peers(peers),
      number(executable.hostWait().add([this] { return look(); })) {}

NcclLinks::~NcclLinks() { executable.hostWait().remove(number); }

void NcclLinks::rest() {
  isWaiting = false;
  waiting.reset();
}

const MessageName *NcclLinks::firstUnderWay(std::size_t &count) const {
  const MessageName *first = nullptr;
  count = 0;
  for (const Member *member : members) {
    const MessageName *underWay = nullptr;
    count += member->finishedMessages(underWay);
    if (underWay && (!first || underWay->turn() < first->turn()))
      first = underWay;
  }
  return first;
}

Status NcclLinks::look() {
  if (!failed)
    return failed;
  const MessageName *underWay = nullptr;
  Status s = Status::ok();
  const Status asked = statusOf("", [&] { s = judge(); });
  if (asked && s)
    return Status::ok();
  std::size_t count = 0;
  (void)statusOf("", [&] { underWay = firstUnderWay(count); });
  return fail(asked ? s : asked, underWay);
}

Status NcclLinks::judge() {
  for (Member *member : members) {
    const NcclCommunicator &communicator = member->communicator();
    const ncclResult_t state = communicator.error();
    if (state == ncclSuccess || state == ncclInProgress)
      continue;
    const Failure failure = communicator.judge(failureOf(state, "NCCL", communicator.handle()));
    return Status::error(failure.kind, failure.message);
  }
  SYNCLINE_TRY(peers.verdict());
  const auto now = core::Clock::now();
  if (isWaiting && now - counted < std::chrono::milliseconds(20))
    return Status::ok();
  counted = now;
  std::size_t count = 0;
  if (!firstUnderWay(count)) {
    rest();
    return Status::ok();
  }
  if (!isWaiting || count != finished)
    moved = now;
  isWaiting = true;
  finished = count;
  const int previous = members.front()->communicator().previous();
  if (!waiting)
    waiting = peers.waitingFor(previous);
  if (core::secondsSince(moved) < peers.timeoutSeconds())
    return Status::ok();
  return peers.blame(previous, "it did not come in time");
}

Status NcclLinks::fail(const Status &status, const MessageName *message) {
  if (!failed)
    return failed;
  std::string text = status.message(), place;
  if (message)
    place = std::string(message->collective) + " of " + core::messageName(message->bucket);
  if (status.kind() == ErrorKind::peerLost) {
    text = "rank " + std::to_string(peers.rank()) + ": " + text;
    if (message)
      text += " in the " + place;
    const std::int64_t step = message ? message->step : present;
    if (step >= 0)
      text += " in step " + std::to_string(step) + "; " + core::lastCompletedStep(step);
  } else if (message) {
    text = "the " + place + ": " + text;
  }
  failed = Status::error(status.kind(), text);
  rest();
  if (!executable.isCapturing())
    abandon();
  return failed;
}

/// Aborts all communicators in one group, because each abort waits for the device, which can finish
/// only when all are aborted. A captured step also holds them.
void NcclLinks::abandon() {
  executable.dropCapture();
  ncclGroupStart();
  for (Member *member : members)
    member->communicator().abort();
  ncclGroupEnd();
}

} // namespace syncline::cuda
