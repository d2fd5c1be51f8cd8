// One thread for each channel serves; the process's first thread watches the run.
#include "runtime/run/ServerRun.h"

#include "runtime/core/Guarded.h"
#include "runtime/run/StopSignal.h"
#include "runtime/run/trace/ServerTrace.h"
#include "runtime/run/weights/ServedWeights.h"
#include "runtime/transport/CommunicationThread.h"
#include "runtime/transport/GroupPeers.h"
#include "runtime/transport/collectives/DedicatedServers.h"
#include "runtime/transport/collectives/RoundingTransport.h"

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

namespace syncline::run {
namespace {

/// The served buckets by channel, in issue order.
using ServedBuckets = std::map<int, std::vector<PlanBucket>>;

ServedBuckets servedBuckets(const Plan &plan) {
  ServedBuckets served;
  for (const PlanBucket &b : plan.buckets)
    if (b.scheme == Scheme::parameterServer)
      served[b.channel].push_back(b);
  return served;
}

std::string notConnected(const std::string &missing) {
  return (missing.empty() ? "the ranks" : missing) + " did not connect in time";
}

class ServerRun : public Participant {
public:
  ServerRun(const Options &options, const launch::Identity &identity)
      : Participant(options, identity) {}
  Status run() override;
  int stoppedBy() const override { return stopSignal; }

private:
  Status learnSteps();
  Status serve();
  Status askWorkers(double seconds);
  Status openChannels();
  Status serveChannel(int channel);
  Status openShard();
  Status traceShard();
  void leaveLost();
  void startThread(std::function<Status()> work);
  Status lost(const Status &why, const std::string &where, std::int64_t done) const;
  void conclude(const Status &s);
  Status watch();

  std::int64_t first = 0, steps = 0; ///< complete steps at the beginning and at the end
  std::int64_t traced = 0;           ///< steps at the end whose trace rank 0 wants
  int stopSignal = 0;                ///< by which a worker has ended the run; 0 for none
  ServedBuckets served;
  std::map<int, std::unique_ptr<transport::DedicatedServer>> servers; ///< by channel
  std::map<int, std::int64_t> completed;     ///< number of completed steps, by channel
  std::optional<servers::ShardServer> shard; ///< where the plan's weights are served
  servers::Connections connections;          ///< of the shard
  std::unique_ptr<core::Peers> peers;        ///< that the shard asks
  std::vector<std::thread> threads;

  std::mutex mutex;
  std::condition_variable changed;
  std::size_t running = 0; ///< number of threads that still work
  bool isTracing = false;  ///< rank 0 still waits for what the trace shows of this server
  bool areOpen = false;    ///< the channels are open, so that the store is free for other requests
  Status failure;          ///< the error of the thread that failed first
};

Status ServerRun::run() {
  using Stage = Status (ServerRun::*)();
  for (Stage stage : std::initializer_list<Stage>{&ServerRun::loadPlan, &ServerRun::join,
                                                  &ServerRun::learnSteps, &ServerRun::serve})
    SYNCLINE_TRY((this->*stage)());
  return Status::ok();
}

Status ServerRun::learnSteps() {
  // Workers prepare their step meanwhile, which may take longer than the start of all ranks.
  SYNCLINE_TRY_GET(told, group->gather(stepsKey, "", 10 * options.startTimeout));
  const std::string &text = told->front();
  std::istringstream words(text);
  if (!(words >> steps))
    return Status::error(ErrorKind::internal, "rank 0 tells no number of steps: '" + text + "'");
  words >> first >> traced; // it may resume from a checkpoint
  return Status::ok();
}

Status ServerRun::serve() {
  served = servedBuckets(plan);
  // The links get no time limit, because a server cannot know how long workers compute. When
  // workers declare a rank lost, watch() learns of it.
  SYNCLINE_TRY(group->connect(1e6));
  running = 1;
  threads.emplace_back([this] {
    conclude(core::guarded(
        [this] { return plan.consistency.isServed() ? openShard() : openChannels(); }));
  });
  // Workers decide when to stop and tell the servers. Without a server they could not save.
  StopSignal::hold(StopSignal::Further::isIgnored);
  Status s = watch();
  std::lock_guard lock(mutex);
  for (std::thread &t : threads)
    s ? t.join() : t.detach();
  if (s && shard)
    stopSignal = shard->stopSignal();
  return s;
}

/// Ok while the run goes on; errors as Group::ask(). Ends the process where workers have stopped
/// early, because threads would wait for sums that do not come.
Status ServerRun::askWorkers(double seconds) {
  const auto told = group->ask(stoppedKey, seconds);
  if (!told || !*told)
    return told ? Status::ok() : told.status();
  (void)group->gather("left", "", std::max(20.0, timeout()));
  group->depart();
  std::fflush(nullptr);
  std::_Exit(128 + std::atoi((*told)->c_str()));
}

/// Opens the channels in the workers' order and starts a thread for each.
Status ServerRun::openChannels() {
  const transport::ServerGroup roles{plan.ranks, plan.servers};
  transport::Transport *carrier = group->transport();
  std::optional<transport::RoundingTransport> rounding;
  if (options.wire != core::WirePrecision::fp32) {
    carrier = &rounding.emplace(*carrier, options.wire);
    rounding->begin(); // a server's messages are all gradients
  }
  for (const auto &[channel, buckets] : served) {
    SYNCLINE_TRY_GET(made, transport::DedicatedServer::create(
                               *carrier,
                               transport::CommunicationThread::linkName(channel) + "/" +
                                   std::string(schemeName(Scheme::parameterServer)),
                               roles));
    servers[channel] = std::move(*made);
  }
  std::lock_guard lock(mutex);
  areOpen = true;
  running += served.size();
  for (const auto &[channel, buckets] : served)
    completed[channel] = first;
  for (const auto &[channel, buckets] : served)
    threads.emplace_back([this, channel = channel] {
      conclude(core::guarded([this, channel] { return serveChannel(channel); }));
    });
  return Status::ok();
}

/// Opens the connections to the workers and starts the threads that serve them. With a trace,
/// returns when it is sent.
Status ServerRun::openShard() {
  SYNCLINE_TRY_GET(made, servers::Connections::open(*group->transport(), rolesOf(plan)));
  connections = std::move(*made);
  peers = transport::createPeers(*group, timeout(), options.startTimeout);
  shard.emplace(shardOptions(plan, identity.rank, [this] { return peers->lost(); }), connections);
  {
    std::lock_guard lock(mutex);
    areOpen = traced == 0;
    isTracing = traced > 0;
    for (int worker = 0; worker < shard->workers(); ++worker) {
      startThread([this, worker] { return shard->serve(worker); });
      if (shard->hasKeeper())
        startThread([this, worker] { return shard->keep(worker); });
    }
  }
  return traced > 0 ? traceShard() : Status::ok();
}

/// Records what the shard does, and sends it to rank 0 when all workers have left.
Status ServerRun::traceShard() {
  shard->log().start(steps - traced);
  SYNCLINE_TRY_GET(trace, ServerTrace::open(*group, timeout(), plan.ranks + plan.servers));
  {
    std::lock_guard lock(mutex);
    areOpen = true;
  }
  const auto goesOn = [this] {
    std::lock_guard lock(mutex);
    return failure.isOk();
  };
  const Status s = shard->waitUntilDone(goesOn) ? trace->send(shard->log().take()) : Status::ok();
  std::lock_guard lock(mutex);
  isTracing = false;
  return s;
}

void ServerRun::startThread(std::function<Status()> work) {
  ++running;
  threads.emplace_back([this, work = std::move(work)] {
    const Status s = core::guarded(work);
    const std::string own = core::RankNames{plan.ranks}.of(identity.rank);
    conclude(s ? s : Status::error(s.kind(), own + ": " + s.message()));
  });
}

Status ServerRun::serveChannel(int channel) {
  transport::DedicatedServer &server = *servers.at(channel);
  for (std::int64_t step = first; step < steps; ++step) {
    for (const PlanBucket &b : served.at(channel))
      if (Status s = server.serve(static_cast<std::size_t>(b.extent), b.type); !s)
        return lost(
            s, " in the sum of bucket " + std::to_string(b.id) + " in step " + std::to_string(step),
            step);
    std::lock_guard lock(mutex);
    completed[channel] = step + 1;
  }
  return Status::ok();
}

/// Ends the process where only threads are left that wait for lost workers.
void ServerRun::leaveLost() {
  std::unique_lock lock(mutex);
  if (isTracing || !shard->isDone() ||
      changed.wait_for(lock, std::chrono::seconds(1), [this] { return running == 0 || !failure; }))
    return;
  group->depart();
  std::fflush(nullptr);
  const int signal = shard->stopSignal();
  std::_Exit(signal == 0 ? 0 : 128 + signal);
}

/// The error message for a run of which `done` steps are complete.
Status ServerRun::lost(const Status &why, const std::string &where, std::int64_t done) const {
  return Status::error(why.kind(), core::RankNames{plan.ranks}.of(identity.rank) + ": " +
                                       why.message() + where + "; " +
                                       core::lastCompletedStep(done));
}

void ServerRun::conclude(const Status &s) {
  {
    std::lock_guard lock(mutex);
    --running;
    if (failure && !s)
      failure = s;
  }
  changed.notify_all();
}

/// Waits until all threads end, or until a rank is lost for which they would wait in vain.
Status ServerRun::watch() {
  // A thread that meets the failure itself can name bucket and step, so it gets time to do so.
  constexpr auto interval = std::chrono::seconds(1), grace = std::chrono::seconds(2);
  const core::Deadline opening = core::deadlineIn(options.startTimeout + timeout());
  bool hasAsked = false;
  // Workers wait for rank 0 with this limit too.
  const double seconds = std::max(20.0, timeout());
  auto isOver = [&] { return running == 0 || !failure; };
  std::unique_lock lock(mutex);
  while (!changed.wait_for(lock, interval, isOver)) {
    const bool mayAsk = areOpen;
    lock.unlock();
    if (const int signal = StopSignal::received(); signal != 0 && !std::exchange(hasAsked, true))
      group->askToStop(signal);
    if (mayAsk && shard)
      leaveLost();
    Status s = mayAsk ? askWorkers(seconds) : group->verdict();
    if (s && !mayAsk && core::Clock::now() > opening)
      s = Status::error(ErrorKind::peerLost, notConnected(group->waitsFor()));
    lock.lock();
    if (!s && !changed.wait_for(lock, grace, isOver)) {
      std::int64_t done = areOpen ? steps : first;
      for (const auto &[channel, buckets] : served)
        done = std::min(done, completed[channel]);
      return lost(s, "", done);
    }
  }
  return failure;
}

} // namespace

Status stopServers(transport::Group &group, int signal, double timeoutSeconds) {
  // Servers wait for sums that will not come, and ask every second whether the run has ended.
  if (group.rank() == 0)
    SYNCLINE_TRY(group.tell(stoppedKey, std::to_string(signal), timeoutSeconds));
  return group.gather("left", "", timeoutSeconds).status();
}

std::unique_ptr<Participant> createServer(const Options &options,
                                          const launch::Identity &identity) {
  return std::make_unique<ServerRun>(options, identity);
}

} // namespace syncline::run
