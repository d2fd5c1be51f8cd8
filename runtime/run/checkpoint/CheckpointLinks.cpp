// One frame a rank and checkpoint: step, bytes, SHA-256, error.
#include "runtime/run/checkpoint/CheckpointLinks.h"

#include "runtime/transport/RankConnections.h"

namespace syncline::run {

static std::string linkOf(int rank) { return "checkpoint/" + std::to_string(rank); }

static std::string describe(int rank) { return core::RankNames{}.of(rank); }

Result<CheckpointLinks> CheckpointLinks::open(transport::Group *group, double timeoutSeconds) {
  CheckpointLinks links(group, timeoutSeconds);
  if (group && group->workers() > 1)
    SYNCLINE_TRY(links.connect());
  return links;
}

Status CheckpointLinks::connect() {
  std::unique_ptr<transport::RankListener> listener;
  if (group->rank() == 0) {
    SYNCLINE_TRY_GET(opened, transport::RankListener::open(""));
    listener = std::move(*opened);
  }
  SYNCLINE_TRY_GET(told, group->gather("checkpoint/place", listener ? listener->place() : "",
                                       timeout, transport::Participants::workers));
  const transport::ConnectLimit limit{core::deadlineIn(timeout),
                                      [this] { return !group->verdict(); }};
  if (!listener) {
    Result<transport::Socket> socket =
        transport::connectToRank(group->address(), told->front(), linkOf(group->rank()), limit);
    if (!socket)
      return group->blame(0, socket.status().message());
    others[0] = std::move(*socket);
    return Status::ok();
  }
  for (int other = 1; other < group->workers(); ++other) {
    std::optional<transport::Socket> socket = listener->take(linkOf(other), limit);
    if (!socket)
      return group->blame(other, "it did not connect for checkpoints");
    others[other] = std::move(*socket);
  }
  return Status::ok();
}

Status CheckpointLinks::send(std::int64_t step, const CheckpointReport &own) {
  const transport::Frame frame{std::to_string(step), std::to_string(own.digest.bytes),
                               own.digest.sha256, own.error};
  if (transport::sendFrame(others.at(0), frame, core::deadlineIn(timeout)))
    return Status::ok();
  return Status::error(ErrorKind::peerLost, "lost " + describe(0) + " in a checkpoint");
}

Result<CheckpointReport> CheckpointLinks::receive(std::int64_t step, int other) {
  const transport::Socket &socket = others.at(other);
  while (!socket.hasInput(core::deadlineIn(0.5)))
    SYNCLINE_TRY(group->verdict());
  transport::Frame frame;
  if (!transport::receiveFrame(socket, frame, core::deadlineIn(timeout)) || frame.size() != 4)
    return Status::error(ErrorKind::peerLost, "lost " + describe(other) + " in a checkpoint");
  if (frame[0] != std::to_string(step))
    return Status::error(ErrorKind::internal, describe(other) + " writes the checkpoint of step " +
                                                  frame[0] + ", rank 0 of " + std::to_string(step));
  return CheckpointReport{{std::atoll(frame[1].c_str()), frame[2]}, frame[3]};
}

Result<std::vector<CheckpointReport>> CheckpointLinks::collect(std::int64_t step,
                                                               const CheckpointReport &own) {
  std::vector<CheckpointReport> all;
  if (group && group->rank() != 0) {
    SYNCLINE_TRY(others.empty() ? Status::ok() : send(step, own));
    return all;
  }
  all.push_back(own);
  for (const auto &[other, socket] : others) {
    SYNCLINE_TRY_GET(report, receive(step, other));
    all.push_back(std::move(*report));
  }
  return all;
}

} // namespace syncline::run
