// NCCL's operations on the host: everyone sends what the others need, straight to them.
#include "tests/host-cuda/NcclCommunicator.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace syncline::hostcuda {

namespace {

/// Goes before every message, so that ranks that do different things find out.
struct Header {
  std::uint64_t number; ///< of the collective; 0 of a message to one rank
  std::uint64_t count;
  std::int32_t action, type, reduction, root;
  bool operator==(const Header &) const = default;
};

const char *nameOf(std::int32_t action) {
  constexpr const char *names[] = {"all-reduce",     "reduce",     "broadcast",
                                   "reduce-scatter", "all-gather", "message"};
  return action >= 0 && action < 6 ? names[action] : "something unknown";
}

std::string textOf(const Header &header, int rank) {
  std::string text = "rank " + std::to_string(rank) + " issued " + nameOf(header.action) + " of " +
                     std::to_string(header.count) + " elements of type " +
                     std::to_string(header.type);
  if (header.number)
    text += " as collective " + std::to_string(header.number);
  if (header.root >= 0)
    text += ", root " + std::to_string(header.root);
  return text;
}

/// Thrown to end a work: the outcome of an exchange, or ranks that do different things.
struct Stop {
  Outcome outcome;
};

class Runner {
public:
  explicit Runner(CommunicatorState &state)
      : state(state), ranks(static_cast<std::size_t>(state.ranks)),
        own(static_cast<std::size_t>(state.rank)) {}

  void collective(const Operation &operation);
  void messages(const std::vector<Operation> &operations);

private:
  void exchange(std::vector<Traffic> traffic) {
    const Outcome outcome = state.links.exchange(std::move(traffic));
    if (outcome == Outcome::lost)
      state.error =
          failed(ncclRemoteError, "rank " + std::to_string(state.links.lostRank) + " is lost");
    if (outcome != Outcome::done)
      throw Stop{outcome};
  }
  void compare(const Header &mine, const Header &theirs, std::size_t rank) {
    if (mine == theirs)
      return;
    state.error = failed(ncclInvalidUsage,
                         textOf(mine, state.rank) + ", " + textOf(theirs, static_cast<int>(rank)));
    throw Stop{Outcome::lost};
  }
  void agree(const Operation &operation);
  void takeTime(const Operation &operation) const;
  /// Sends partFor(rank) to every rank, unless it is null; a receiver reduces what all sent to it.
  template <typename PartFor>
  void gatherAndReduce(const Operation &operation, std::size_t count, bool isReceiver,
                       const PartFor &partFor);
  void broadcast(const Operation &operation);
  void allGather(const Operation &operation);

  CommunicatorState &state;
  const std::size_t ranks, own;
};

/// All tell all what they are about to do.
void Runner::agree(const Operation &operation) {
  const bool isReduction = operation.action == Action::allReduce ||
                           operation.action == Action::reduce ||
                           operation.action == Action::reduceScatter;
  const Header mine{++state.collectives,
                    operation.count,
                    static_cast<std::int32_t>(operation.action),
                    operation.type,
                    isReduction ? operation.reduction : -1,
                    operation.peer};
  std::vector<Header> theirs(ranks);
  std::vector<Traffic> traffic(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    if (rank != own) {
      traffic[rank].out = {std::as_bytes(std::span(&mine, 1))};
      traffic[rank].in = {{std::as_writable_bytes(std::span(&theirs[rank], 1)),
                           [&, rank] { compare(mine, theirs[rank], rank); }}};
    }
  exchange(std::move(traffic));
}

/// Where there is NVLS, other algorithms take longer.
void Runner::takeTime(const Operation &operation) const {
  if (ranks == 1)
    return;
  ++(operation.isByNvls ? sumCounts.byNvls : sumCounts.byOthers);
  if (!operation.isByNvls)
    std::this_thread::sleep_for(std::chrono::microseconds(nvlsGain()));
}

template <typename PartFor>
void Runner::gatherAndReduce(const Operation &operation, std::size_t count, bool isReceiver,
                             const PartFor &partFor) {
  const std::size_t bytes = count * bytesOf(operation.type);
  std::vector<std::vector<std::byte>> received(ranks);
  std::vector<const std::byte *> parts(ranks);
  std::vector<Traffic> traffic(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    parts[rank] = partFor(own);
    if (rank == own)
      continue;
    if (const std::byte *sent = partFor(rank))
      traffic[rank].out = {{sent, bytes}};
    if (isReceiver) {
      received[rank].resize(bytes);
      traffic[rank].in = {{received[rank]}};
      parts[rank] = received[rank].data();
    }
  }
  exchange(std::move(traffic));
  if (isReceiver)
    reduceParts(operation.type, operation.reduction, parts, operation.to, count);
}

void Runner::broadcast(const Operation &operation) {
  const std::size_t bytes = operation.count * bytesOf(operation.type);
  std::vector<Traffic> traffic(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    if (rank != own && operation.peer == state.rank)
      traffic[rank].out = {{operation.from, bytes}};
    else if (rank != own && operation.peer == static_cast<int>(rank))
      traffic[rank].in = {{{operation.to, bytes}}};
  exchange(std::move(traffic));
  if (operation.peer == state.rank)
    std::memmove(operation.to, operation.from, bytes);
}

void Runner::allGather(const Operation &operation) {
  const std::size_t bytes = operation.count * bytesOf(operation.type);
  std::vector<Traffic> traffic(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    if (rank != own) {
      traffic[rank].out = {{operation.from, bytes}};
      traffic[rank].in = {{{operation.to + rank * bytes, bytes}}};
    }
  exchange(std::move(traffic));
  std::memmove(operation.to + own * bytes, operation.from, bytes);
}

void Runner::collective(const Operation &operation) {
  agree(operation);
  const bool isRoot = operation.peer == state.rank;
  switch (operation.action) {
  case Action::allReduce:
    takeTime(operation);
    return gatherAndReduce(operation, operation.count, true,
                           [&](std::size_t) { return operation.from; });
  case Action::reduce:
    return gatherAndReduce(operation, operation.count, isRoot, [&](std::size_t rank) {
      const bool isSent = isRoot ? rank == own : static_cast<int>(rank) == operation.peer;
      return isSent ? operation.from : nullptr;
    });
  case Action::reduceScatter:
    return gatherAndReduce(operation, operation.count, true, [&](std::size_t rank) {
      return operation.from + rank * operation.count * bytesOf(operation.type);
    });
  case Action::broadcast:
    return broadcast(operation);
  case Action::allGather:
    return allGather(operation);
  case Action::send:
  case Action::receive:
    break;
  }
}

/// To itself a rank's sends and receives are copies, in order.
void Runner::messages(const std::vector<Operation> &operations) {
  std::vector<Header> mine(operations.size()), theirs(operations.size());
  std::vector<Traffic> traffic(ranks);
  std::vector<const Operation *> sends, receives;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Operation &operation = operations[i];
    const auto peer = static_cast<std::size_t>(operation.peer);
    const std::size_t bytes = operation.count * bytesOf(operation.type);
    mine[i] = {0, operation.count, static_cast<std::int32_t>(Action::send), operation.type, -1, -1};
    const bool isSent = operation.action == Action::send;
    if (peer == own) {
      (isSent ? sends : receives).push_back(&operation);
    } else if (isSent) {
      traffic[peer].out.push_back(std::as_bytes(std::span(&mine[i], 1)));
      traffic[peer].out.push_back({operation.from, bytes});
    } else {
      traffic[peer].in.push_back({std::as_writable_bytes(std::span(&theirs[i], 1)),
                                  [&, i, peer] { compare(mine[i], theirs[i], peer); }});
      traffic[peer].in.push_back({{operation.to, bytes}});
    }
  }
  for (std::size_t i = 0; i < std::min(sends.size(), receives.size()); ++i)
    std::memmove(receives[i]->to, sends[i]->from, sends[i]->count * bytesOf(sends[i]->type));
  exchange(std::move(traffic));
}

void runAll(CommunicatorState &state, const std::vector<Operation> &operations) {
  Runner runner(state);
  std::vector<Operation> messages;
  for (const Operation &operation : operations)
    if (operation.action == Action::send || operation.action == Action::receive)
      messages.push_back(operation);
    else
      runner.collective(operation);
  if (!messages.empty())
    runner.messages(messages);
}

} // namespace

SumCounts sumCounts{};

void runOperations(CommunicatorState &state, const std::vector<Operation> &operations) {
  std::lock_guard hold(state.running);
  try {
    if (!state.links.aborted && state.error == ncclSuccess)
      runAll(state, operations);
    else if (!state.links.aborted)
      throw Stop{Outcome::lost};
  } catch (const Stop &) {
    while (!state.links.aborted)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

} // namespace syncline::hostcuda
