// Expands a scheme's rounds into tasks on the machines' links.
#include "passes/simulate/MessageExpansion.h"
#include "passes/simulate/Rounds.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace syncline::simulate {

namespace {

bool isServerEverywhere(const Machines &machines) {
  return !machines.dedicated && (machines.servers == 0 || machines.servers == machines.ranks);
}

/// Which rate a hop inside a node uses for its sums: the network's, or that of `inside`.
enum class Adder { network, inside };

class RoundUnfolder {
public:
  /// A transfer moves `wireShare` of its bytes.
  RoundUnfolder(const Topology &topology, double wireShare)
      : wireShare(wireShare), topology(topology), unfolding(topology.machines().ranks),
        last(ranks()) {
    std::iota(last.begin(), last.end(), 0);
  }

  double wireShare;

  std::size_t ranks() const { return static_cast<std::size_t>(topology.machines().ranks); }

  void add(const Round &round, Adder adder = Adder::network) {
    std::vector<double> latency(ranks(), 0), received(ranks(), 0);
    std::vector<std::vector<int>> arrivals(ranks()); // tasks that end at each rank
    for (const Transfer &transfer : round.transfers)
      latency[transfer.from] += topology.hop(transfer.from, transfer.to).latency;
    for (const Transfer &transfer : round.transfers) {
      const int send = unfolding.add({.delay = latency[transfer.from],
                                      .share = transfer.share * wireShare,
                                      .path = topology.hop(transfer.from, transfer.to).path});
      unfolding.order(last[transfer.from], send);
      arrivals[transfer.from].push_back(send);
      arrivals[transfer.to].push_back(send);
      received[transfer.to] += transfer.share;
    }
    for (std::size_t rank = 0; rank < ranks(); ++rank)
      if (!arrivals[rank].empty())
        join(static_cast<int>(rank), arrivals[rank],
             round.adds ? received[rank] * secondsPerByte(static_cast<int>(rank), adder) : 0);
  }

  void pause(double secondsPerByte) {
    for (std::size_t rank = 0; rank < ranks(); ++rank)
      join(static_cast<int>(rank), {}, secondsPerByte);
  }

  MessageExpansion finish() {
    unfolding.finish(last);
    return std::move(unfolding);
  }

private:
  double secondsPerByte(int rank, Adder adder) const {
    return adder == Adder::inside ? topology.machines().inside->reduceSecondsPerByte
                                  : topology.reduceSecondsPerByte(rank);
  }

  void join(int rank, const std::vector<int> &arrivals, double secondsPerByte) {
    const int task = unfolding.add({.delayPerByte = secondsPerByte});
    unfolding.order(last[rank], task);
    for (int arrival : arrivals)
      unfolding.order(arrival, task);
    last[rank] = task;
  }

  const Topology &topology;
  MessageExpansion unfolding;
  std::vector<int> last; ///< the latest task of each rank
};

/// Visits rings that run at the same time, those of all nodes or of equal devices of all nodes:
/// equal rounds of all rings become one round.
void ringsTogether(const std::vector<std::vector<int>> &rings, double share, bool adds,
                   const RoundVisitor &visit) {
  std::vector<Round> rounds;
  for (const std::vector<int> &ring : rings) {
    std::size_t i = 0;
    ringRounds(ring, share, adds, [&](const Round &round) {
      if (i == rounds.size())
        rounds.push_back({{}, adds});
      rounds[i].transfers.insert(rounds[i].transfers.end(), round.transfers.begin(),
                                 round.transfers.end());
      ++i;
    });
  }
  for (const Round &round : rounds)
    visit(round);
}

void hierarchicalRounds(RoundUnfolder &out, const Machines &machines) {
  const int devices = machines.devicesPerNode, nodes = machines.nodes();
  std::vector<std::vector<int>> inside(nodes), between(devices);
  for (int rank = 0; rank < machines.ranks; ++rank) {
    inside[rank / devices].push_back(rank);
    between[rank % devices].push_back(rank);
  }
  ringsTogether(inside, 1, true, [&](const Round &round) { out.add(round, Adder::inside); });
  for (bool adds : {true, false})
    ringsTogether(between, 1.0 / devices, adds, [&](const Round &round) { out.add(round); });
  ringsTogether(inside, 1, false, [&](const Round &round) { out.add(round); });
}

/// Visits the rounds of servers beside the first ranks: one push to all, then one pull from all.
void serverRounds(const Machines &machines, const RoundVisitor &visit) {
  if (isServerEverywhere(machines)) {
    exchangeRounds(machines.ranks, true, visit);
    exchangeRounds(machines.ranks, false, visit);
    return;
  }
  Round push{{}, true}, pull;
  for (int server = 0; server < machines.servers; ++server)
    for (int rank = 0; rank < machines.ranks; ++rank)
      if (rank != server) {
        push.transfers.push_back({rank, server, 1.0 / machines.servers});
        pull.transfers.push_back({server, rank, 1.0 / machines.servers});
      }
  visit(push);
  visit(pull);
}

/// The pieces of a server's block, as shares of the message.
std::vector<double> pieceShares(const Message &message, const Machines &machines) {
  const double block = static_cast<double>(message.bytes) / machines.servers;
  std::vector<double> shares;
  for (double left = block; left > 0; left -= static_cast<double>(machines.serverPiece))
    shares.push_back(std::min(left, static_cast<double>(machines.serverPiece)) /
                     static_cast<double>(message.bytes));
  return shares;
}

/// Expands a message over dedicated servers. Pieces are pushed one behind the other; a piece that
/// every worker has pushed is summed, then pulled behind the piece before. Latencies are paid once.
MessageExpansion dedicatedServers(const Message &message, const Topology &topology) {
  const Machines &machines = topology.machines();
  const int ranks = machines.ranks, servers = machines.servers;
  MessageExpansion result(ranks);
  auto place = [&](int rank, int server) { return rank * servers + server; };
  std::vector<int> pushed(static_cast<std::size_t>(ranks * servers)), pulled = pushed;
  std::vector<int> summed(static_cast<std::size_t>(servers), -1);
  bool isFirst = true;
  for (double share : pieceShares(message, machines)) {
    for (int server = 0; server < servers; ++server) {
      const int endpoint = ranks + server;
      const int sum = result.add(
          {.delayPerByte = (ranks - 1) * share * machines.serverLink.reduceSecondsPerByte});
      for (int rank = 0; rank < ranks; ++rank) {
        const int push = result.add({.delay = isFirst ? servers * topology.latency(rank) : 0,
                                     .share = share * message.wireShare,
                                     .path = topology.hop(rank, endpoint).path});
        result.order(isFirst ? rank : pushed[place(rank, server)], push);
        result.order(push, sum);
        pushed[place(rank, server)] = push;
      }
      if (!isFirst)
        result.order(summed[server], sum);
      summed[server] = sum;
      for (int rank = 0; rank < ranks; ++rank) {
        const int pull = result.add({.delay = isFirst ? ranks * machines.serverLink.latency : 0,
                                     .share = share * message.wireShare,
                                     .path = topology.hop(endpoint, rank).path});
        result.order(sum, pull);
        if (!isFirst)
          result.order(pulled[place(rank, server)], pull);
        pulled[place(rank, server)] = pull;
      }
    }
    isFirst = false;
  }
  std::vector<int> exits;
  for (int rank = 0; rank < ranks; ++rank) {
    const int exit = result.add({});
    result.order(rank, exit);
    for (int server = 0; server < servers && !isFirst; ++server)
      result.order(pulled[place(rank, server)], exit);
    exits.push_back(exit);
  }
  result.finish(std::move(exits));
  return result;
}

} // namespace

bool scales(const Message &message, const Machines &machines) {
  return message.scheme != Scheme::tree &&
         (message.scheme != Scheme::parameterServer || !machines.dedicated);
}

MessageExpansion expand(const Message &message, const Topology &topology) {
  const Machines &machines = topology.machines();
  if (message.scheme == Scheme::parameterServer && machines.dedicated)
    return dedicatedServers(message, topology);
  if (message.scheme == Scheme::tree)
    return expandTree(message, topology);
  RoundUnfolder out(topology, message.wireShare);
  bool isSummed = false;
  // Runs once, between the rounds that sum and those that spread.
  auto update = [&] {
    if (std::exchange(isSummed, true))
      return;
    if (message.half != Half::second && message.shardUpdate > 0)
      out.pause(message.shardUpdate);
    if (message.scheme == Scheme::reduceScatter)
      out.wireShare = 1; // parameters
  };
  // A half has the rounds that sum, or those that spread.
  auto visit = [&](const Round &round) {
    if (!round.adds)
      update();
    if (message.half == Half::whole || round.adds == (message.half == Half::first))
      out.add(round);
  };
  if (message.scheme == Scheme::hierarchical)
    hierarchicalRounds(out, machines);
  else if (message.scheme == Scheme::parameterServer)
    serverRounds(machines, visit);
  else if (const SchemeRounds *rounds = roundsOf(message.scheme))
    rounds->visit(machines.ranks, visit);
  update();
  return out.finish();
}

double tasksOf(const Message &message, const Machines &machines) {
  const double p = machines.ranks;
  if (message.scheme == Scheme::tree)
    return treeTasksOf(message.bytes, machines.ranks);
  if (message.scheme == Scheme::hierarchical)
    return 4 * p * (machines.devicesPerNode + machines.nodes());
  if (const SchemeRounds *rounds = roundsOf(message.scheme))
    return rounds->tasksPerRank * p * rounds->count(p);
  if (isServerEverywhere(machines))
    return 4 * p * p;
  const double flows = p * machines.servers; // each change affects all other flows
  const double pieces =
      machines.dedicated
          ? std::max<double>(1, static_cast<double>(message.bytes) / machines.servers /
                                    static_cast<double>(machines.serverPiece))
          : 1;
  return 3 * flows * pieces * std::max(1.0, flows / 16);
}

} // namespace syncline::simulate
