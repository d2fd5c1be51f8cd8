// A judge that shares no line with us: the same schemes written as programs that send and receive,
// run by SimGrid. Skipped where SimGrid is not installed.
#include "tests/unit/simulate/Scenes.h"

#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::simulate;

#ifndef SYNCLINE_SIMGRID

TEST(SimGridTest, AgreesOnRandomClustersAndPlans) {
  GTEST_SKIP() << "SimGrid (libsimgrid-dev) is not installed";
}

#else

#include "tests/unit/simulate/SimGridTrees.h"

#include <map>
#include <memory>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

namespace {

/// One rank's channel: sends and receives for one message after another.
class Channel {
public:
  Channel(const Scenario &scenario, int rank) : scenario(scenario), rank(rank) {}

  void run(int number) {
    message = number;
    const Message &what = scenario.messages[number];
    const int ranks = scenario.machines.ranks;
    const double bytes = static_cast<double>(what.bytes);
    switch (what.scheme) {
    case Scheme::ring:
      ring(bytes / ranks, true);
      ring(bytes / ranks, false);
      break;
    case Scheme::factors:
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

constexpr double speed = 1e9;

/// A host a rank, an outgoing link and an incoming one each; it computes at one speed alone, at
/// another beside messages.
void buildPlatform(const Machines &machines) {
  sg4::NetZone *zone = sg4::create_full_zone("all");
  std::vector<sg4::Host *> hosts;
  std::vector<sg4::Link *> out, in;
  for (int rank = 0; rank < machines.ranks; ++rank) {
    const problem::LinkRates &rates = machines.networkOf(rank);
    const std::string name = std::to_string(rank);
    hosts.push_back(
        zone->create_host(name, std::vector<double>{speed, speed / machines.interference})->seal());
    out.push_back(
        zone->create_link("out" + name, 1 / rates.secondsPerByte)->set_latency(0)->seal());
    in.push_back(zone->create_link("in" + name, 1 / rates.secondsPerByte)->set_latency(0)->seal());
  }
  for (int from = 0; from < machines.ranks; ++from)
    for (int to = 0; to < machines.ranks; ++to)
      if (from != to)
        zone->add_route(hosts[from]->get_netpoint(), hosts[to]->get_netpoint(), nullptr, nullptr,
                        {sg4::LinkInRoute(out[from]), sg4::LinkInRoute(in[to])}, false);
  zone->seal();
}

class Judge {
public:
  explicit Judge(const Scenario &scenario) : scenario(scenario) {}

  /// When each message is over everywhere, then when the step is.
  std::vector<double> run() {
    char name[] = "judge";
    char quiet[] = "--log=root.thres:error";
    char *arguments[] = {name, quiet, nullptr};
    int count = 2;
    sg4::Engine engine(&count, arguments);
    // Lazily shared, as is its default, version 3.32 forgets the incoming links of flows that one
    // host begins together.
    for (const char *setting :
         {"network/model:CM02", "network/bandwidth-factor:1", "network/latency-factor:1",
          "network/TCP-gamma:0", "network/weight-S:0", "network/crosstraffic:0",
          "network/optim:Full", "surf/precision:1e-9", "maxmin/precision:1e-9"})
      sg4::Engine::set_config(setting);
    buildPlatform(scenario.machines);
    ends.assign(scenario.messages.size() + 1, 0);
    for (int rank = 0; rank < scenario.machines.ranks; ++rank)
      startRank(engine, rank);
    engine.run();
    return ends;
  }

private:
  struct Handover {
    std::vector<sg4::SemaphorePtr> issued, arrived; ///< by message
    int underWay = 0;
  };

  void startRank(sg4::Engine &engine, int rank) {
    auto handover = std::make_shared<Handover>();
    int channels = 0;
    for (const Message &message : scenario.messages) {
      handover->issued.push_back(sg4::Semaphore::create(0));
      handover->arrived.push_back(sg4::Semaphore::create(0));
      channels = std::max(channels, message.channel + 1);
    }
    sg4::Host *host = engine.host_by_name(std::to_string(rank));
    for (int channel = 0; channel < channels; ++channel)
      sg4::Actor::create("channel", host, [=, this] { talk(rank, channel, *handover); });
    sg4::Actor::create("compute", host, [=, this] { compute(rank, *handover); });
  }

  void talk(int rank, int channel, Handover &handover) {
    const int messages = static_cast<int>(scenario.messages.size());
    // Data travels once it is sent, whether or not it is requested yet.
    auto receive = [](const std::string &box) {
      sg4::Mailbox::by_name(box)->set_receiver(sg4::Actor::self());
    };
    for (int i = 0; i < messages; ++i)
      for (int from = 0; from < scenario.machines.ranks; ++from) {
        if (scenario.messages[i].channel != channel)
          continue;
        receive(std::to_string(i) + ":" + std::to_string(from) + ":" + std::to_string(rank));
        const TwoTrees all(scenario.machines.ranks, scenario.messages[i].bytes);
        for (int tree = 0; tree < all.count; ++tree)
          for (int segment = 0; segment < all.segments; ++segment)
            receive(TwoTrees::box(i, tree, from, rank, segment));
      }
    Channel wire(scenario, rank);
    for (int i = 0; i < messages; ++i) {
      if (scenario.messages[i].channel != channel)
        continue;
      handover.issued[i]->acquire();
      sg4::this_actor::get_host()->set_pstate(++handover.underWay > 0);
      wire.run(i);
      sg4::this_actor::get_host()->set_pstate(--handover.underWay > 0);
      ends[i] = std::max(ends[i], sg4::Engine::get_clock());
      handover.arrived[i]->release();
    }
  }

  void compute(int rank, Handover &handover) {
    for (const Operation &op : scenario.operations)
      switch (op.kind) {
      case Operation::Kind::compute:
      case Operation::Kind::update:
        sg4::this_actor::execute(op.seconds * scenario.machines.slowdownOf(rank) * speed);
        break;
      case Operation::Kind::issue:
        handover.issued[op.message]->release();
        break;
      case Operation::Kind::wait:
        handover.arrived[op.message]->acquire();
        break;
      }
    ends.back() = std::max(ends.back(), sg4::Engine::get_clock());
  }

  const Scenario &scenario;
  std::vector<double> ends;
};

/// A process has one SimGrid: each case runs in one of its own.
std::vector<double> judged(const Scenario &scenario) {
  int ends[2];
  if (pipe(ends) != 0)
    return {};
  const pid_t child = fork();
  if (child == 0) {
    const std::vector<double> times = Judge(scenario).run();
    const auto size = static_cast<ssize_t>(times.size() * sizeof(double));
    _exit(write(ends[1], times.data(), static_cast<std::size_t>(size)) == size ? 0 : 1);
  }
  close(ends[1]);
  std::vector<double> times(scenario.messages.size() + 1);
  const auto size = static_cast<ssize_t>(times.size() * sizeof(double));
  const bool isRead = read(ends[0], times.data(), static_cast<std::size_t>(size)) == size;
  close(ends[0]);
  int status = 1;
  waitpid(child, &status, 0);
  return isRead && status == 0 ? times : std::vector<double>();
}

/// Two to eight ranks with unequal links and speeds; messages by all kinds of schemes, on one or
/// two channels that share the links.
Scenario randomScenario(std::mt19937 &random) {
  auto between = [&](double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(random);
  };
  Scenario scenario;
  Machines &machines = scenario.machines;
  machines.ranks = 2 + static_cast<int>(random() % 7);
  machines.network = problem::LinkRates{between(1e-5, 1e-4), between(1e-9, 1e-8), between(0, 2e-9)};
  machines.servers = 1 + static_cast<int>(random() % 2);
  machines.interference = random() % 3 == 0 ? 1 : between(1, 2);
  for (int rank = 0; rank < machines.ranks; ++rank) {
    machines.slowdown.push_back(between(1, 1.5));
    if (random() % 3 == 0) {
      machines.nodeNetwork[rank] = *machines.network;
      machines.nodeNetwork[rank].secondsPerByte *= between(0.5, 3);
    }
  }
  const bool isPower = (machines.ranks & (machines.ranks - 1)) == 0;
  const int messages = 1 + static_cast<int>(random() % 5);
  const int channels = 1 + static_cast<int>(random() % 2);
  scenario.operations.push_back({.layer = "forward", .seconds = between(1e-3, 1e-2)});
  for (int i = 0; i < messages; ++i) {
    const Scheme schemes[] = {Scheme::ring, Scheme::tree, Scheme::factors, Scheme::parameterServer,
                              isPower ? Scheme::recursiveDoubling : Scheme::ring};
    scenario.messages.push_back({.name = "m",
                                 .scheme = schemes[random() % 5],
                                 .bytes = 840 * static_cast<std::int64_t>(200 + random() % 5000),
                                 .channel = static_cast<int>(random() % channels)});
    scenario.operations.push_back(
        {.phase = Phase::backward, .layer = "b", .seconds = between(1e-3, 1e-2)});
    scenario.operations.push_back({.kind = Operation::Kind::issue, .message = i});
  }
  for (int i = 0; i < messages; ++i) {
    scenario.operations.push_back({.kind = Operation::Kind::wait, .message = i});
    scenario.operations.push_back(
        {.kind = Operation::Kind::update, .seconds = between(1e-4, 1e-3), .message = i});
  }
  return scenario;
}

} // namespace

TEST(SimGridTest, AgreesOnRandomClustersAndPlans) {
  std::mt19937 random(7);
  double worst = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Scenario scenario = randomScenario(random);
    Result<Simulation> ours = runScenario(scenario);
    ASSERT_TRUE(ours) << ours.status().message();
    const std::vector<double> theirs = judged(scenario);
    ASSERT_EQ(theirs.size(), scenario.messages.size() + 1) << "trial " << trial;
    auto compare = [&](double own, double other, const std::string &what) {
      worst = std::max(worst, std::abs(own / other - 1));
      EXPECT_NEAR(own, other, 0.03 * other)
          << "trial " << trial << ", " << what << ", " << scenario.machines.ranks << " ranks";
    };
    for (std::size_t i = 0; i < scenario.messages.size(); ++i) {
      double end = 0;
      for (int rank = 0; rank < ours->ranks; ++rank)
        end = std::max(end, ours->message(0, rank, i).end);
      compare(end, theirs[i], std::string(schemeName(scenario.messages[i].scheme)));
    }
    compare(ours->stepSeconds(), theirs.back(), "step");
  }
  RecordProperty("worst", std::to_string(worst));
  std::printf("worst difference: %.3g %%\n", 100 * worst);
}

#endif
