// What one rank sends and receives for each message, as a program that SimGrid runs. It belongs to
// the judge that shares no line with passes/simulate.
#pragma once

#include "passes/simulate/Scenario.h"
#include "tests/unit/simulate/SimGridTrees.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace syncline::simulate {

/// One rank's channel: sends and receives for one message after another.
class Channel {
public:
  Channel(const Scenario &scenario, int rank) : scenario(scenario), rank(rank) {}

  /// Carries message `index` of a step; no other message of the run has its `number`.
  void run(int index, int number) {
    message = number;
    const Message &what = scenario.messages[index];
    const int ranks = scenario.machines.ranks;
    const double bytes = static_cast<double>(what.bytes);
    switch (what.scheme) {
    case Scheme::ring:
      if (what.half != Half::second)
        ring(bytes / ranks, true);
      if (what.half != Half::first)
        ring(bytes / ranks, false);
      break;
    case Scheme::factors:
    case Scheme::sparse:
      ring(bytes, false);
      break;
    case Scheme::recursiveDoubling:
      for (int distance = 1; distance < ranks; distance *= 2) {
        auto sent = send(rank ^ distance, bytes);
        receive(rank ^ distance);
        sent->join();
        add(bytes);
      }
      break;
    case Scheme::tree:
      trees(what.bytes);
      break;
    case Scheme::parameterServer:
      servers(bytes / scenario.machines.servers);
      break;
    case Scheme::halvingDoubling: // not among the random plans
    case Scheme::reduceScatter:
    case Scheme::hierarchical:
    case Scheme::library:
      std::abort();
    }
  }

private:
  sg4::Mailbox *box(int from, int to) const {
    return sg4::Mailbox::by_name(std::to_string(message) + ":" + std::to_string(from) + ":" +
                                 std::to_string(to));
  }
  /// All latency is slept: flows of different latency would share links unevenly.
  sg4::ActorPtr send(int to, double bytes) const {
    const double latency = scenario.machines.networkOf(rank).latency;
    return sg4::Actor::create("send", sg4::this_actor::get_host(),
                              [latency, bytes, to = box(rank, to)] {
                                static int payload = 0;
                                sg4::this_actor::sleep_for(latency);
                                to->put(&payload, static_cast<std::uint64_t>(bytes));
                              });
  }
  void receive(int from) { box(from, rank)->get<int>(); }
  void add(double bytes) const {
    sg4::this_actor::sleep_for(bytes * scenario.machines.networkOf(rank).reduceSecondsPerByte);
  }

  void ring(double bytes, bool adds) {
    const int ranks = scenario.machines.ranks;
    for (int i = 1; i < ranks; ++i) {
      auto sent = send((rank + 1) % ranks, bytes);
      receive((rank + ranks - 1) % ranks);
      sent->join();
      if (adds)
        add(bytes);
    }
  }

  void trees(std::int64_t bytes) {
    const TwoTrees all(scenario.machines.ranks, bytes);
    std::map<std::pair<int, int>, std::unique_ptr<Wire>> wires; // by peer and tree
    auto segment = [&](int tree, int from, int to, int number) {
      return sg4::Mailbox::by_name(TwoTrees::box(message, tree, from, to, number));
    };
    auto send = [&](int tree, int to, int number, int before) {
      auto &wire = wires[{to, tree}];
      if (!wire)
        wire = std::make_unique<Wire>((1 + before) * scenario.machines.networkOf(rank).latency,
                                      all.segments);
      wire->push(segment(tree, rank, to, number), all.segmentBytes);
    };
    for (int beat = 0; beat < all.segments + 2 * all.height; ++beat)
      for (int tree = 0; tree < all.count; ++tree) {
        const TwoTrees::Place &place = all.places[tree][rank];
        if (const int up = beat - all.height + place.depth; up >= 0 && up < all.segments) {
          for (int child : place.children) {
            segment(tree, child, rank, up)->get<int>();
            add(all.segmentBytes);
          }
          if (place.parent >= 0)
            send(tree, place.parent, up, 0);
        }
        if (const int down = beat - all.height - place.depth; down >= 0 && down < all.segments) {
          if (place.parent >= 0)
            segment(tree, place.parent, rank, down)->get<int>();
          for (int before = 0; int child : place.children)
            send(tree, child, down, before++);
        }
      }
    for (auto &[peer, wire] : wires)
      wire->finish();
  }

  void servers(double block) {
    const int ranks = scenario.machines.ranks, count = scenario.machines.servers;
    auto toServers = [&](auto visit) {
      for (int server = 0; server < count; ++server)
        if (server != rank)
          visit(server);
    };
    auto toRanks = [&](auto visit) {
      for (int other = 0; other < ranks && rank < count; ++other)
        if (other != rank)
          visit(other);
    };
    std::vector<sg4::ActorPtr> sent;
    toServers([&](int server) { sent.push_back(send(server, block)); });
    toRanks([&](int other) { receive(other); });
    for (const auto &comm : sent)
      comm->join();
    sent.clear();
    toRanks([&](int) { add(block); });
    toRanks([&](int other) { sent.push_back(send(other, block)); });
    toServers([&](int server) { receive(server); });
    for (const auto &comm : sent)
      comm->join();
  }

  const Scenario &scenario;
  int rank, message = 0;
};

} // namespace syncline::simulate
