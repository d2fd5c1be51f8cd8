// Runs a scenario's ranks and channels as SimGrid's actors.
#include "tests/unit/simulate/SimGridJudge.h"

#include "tests/unit/simulate/SimGridChannel.h"

#include <sys/wait.h>
#include <unistd.h>

namespace syncline::simulate {

namespace {

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

  /// For each step, when each of its messages is over everywhere, then when the step is.
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
    ends.assign(scenario.steps * (scenario.messages.size() + 1), 0);
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
    Channel wire(scenario, rank);
    std::vector<int> own;
    for (int i = 0; i < messages; ++i)
      if (scenario.messages[i].channel == channel)
        own.push_back(i);
    for (int step = 0; step < scenario.steps; ++step)
      for (int i : own)
        listen(i, step * messages + i, rank);
    for (int step = 0; step < scenario.steps; ++step)
      for (int i : own) {
        handover.issued[i]->acquire();
        sg4::this_actor::get_host()->set_pstate(++handover.underWay > 0);
        wire.run(i, step * messages + i);
        sg4::this_actor::get_host()->set_pstate(--handover.underWay > 0);
        double &end = ends[step * (scenario.messages.size() + 1) + i];
        end = std::max(end, sg4::Engine::get_clock());
        handover.arrived[i]->release();
      }
  }

  /// Data travels once it is sent, whether or not it is requested yet.
  void listen(int index, int number, int rank) {
    auto receive = [](const std::string &box) {
      sg4::Mailbox::by_name(box)->set_receiver(sg4::Actor::self());
    };
    const TwoTrees all(scenario.machines.ranks, scenario.messages[index].bytes);
    for (int from = 0; from < scenario.machines.ranks; ++from) {
      receive(std::to_string(number) + ":" + std::to_string(from) + ":" + std::to_string(rank));
      for (int tree = 0; tree < all.count; ++tree)
        for (int segment = 0; segment < all.segments; ++segment)
          receive(TwoTrees::box(number, tree, from, rank, segment));
    }
  }

  /// Computes the steps one after the other. A wait before its issue is for the message of the step
  /// before; the first step leaves it out, and the update behind it.
  void compute(int rank, Handover &handover) {
    for (int step = 0; step < scenario.steps; ++step) {
      std::vector<bool> isIssued(scenario.messages.size(), false);
      for (const Operation &op : scenario.operations) {
        const bool isLeftOut = step == 0 && op.message >= 0 && !isIssued[op.message];
        switch (op.kind) {
        case Operation::Kind::square:
        case Operation::Kind::update:
          if (isLeftOut)
            break;
          [[fallthrough]];
        case Operation::Kind::compute:
          sg4::this_actor::execute(op.seconds * scenario.machines.slowdownOf(rank) * speed);
          break;
        case Operation::Kind::issue:
          handover.issued[op.message]->release();
          isIssued[op.message] = true;
          break;
        case Operation::Kind::wait:
          if (!isLeftOut)
            handover.arrived[op.message]->acquire();
          break;
        }
      }
      double &end = ends[(step + 1) * (scenario.messages.size() + 1) - 1];
      end = std::max(end, sg4::Engine::get_clock());
    }
  }

  const Scenario &scenario;
  std::vector<double> ends;
};

} // namespace

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
  std::vector<double> times(scenario.steps * (scenario.messages.size() + 1));
  const auto size = static_cast<ssize_t>(times.size() * sizeof(double));
  const bool isRead = read(ends[0], times.data(), static_cast<std::size_t>(size)) == size;
  close(ends[0]);
  int status = 1;
  waitpid(child, &status, 0);
  return isRead && status == 0 ? times : std::vector<double>();
}

} // namespace syncline::simulate
