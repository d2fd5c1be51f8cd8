// Serving, one thread a channel, while the process's first thread looks after the run.
#include "runtime/run/ServerRun.h"

#include "runtime/core/Guarded.h"
#include "runtime/run/PlanChecks.h"
#include "runtime/run/StopSignal.h"
#include "runtime/transport/CommunicationThread.h"
#include "runtime/transport/collectives/DedicatedServers.h"

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

namespace syncline {
namespace {

/// By channel, in the order of issue.
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
  ServerRun(const Options &options, const Identity &identity) : Participant(options, identity) {}
  Status run() override;

private:
  Status learnSteps();
  Status serve();
  Status askWorkers(double seconds);
  Status openChannels();
  Status serveChannel(int channel);
  Status lost(const Status &why, const std::string &where, std::int64_t done) const;
  void conclude(const Status &s);
  Status watch();

  std::int64_t steps = 0;
  ServedBuckets served;
  std::map<int, std::unique_ptr<DedicatedServer>> servers; ///< by channel
  std::map<int, std::int64_t> completed;                   ///< steps, by channel
  std::vector<std::thread> threads;

  std::mutex mutex;
  std::condition_variable changed;
  std::size_t running = 0; ///< threads that have something to do
  bool areOpen = false;    ///< the channels: the store is free again
  Status failure;          ///< the first thread's to fail
};

Status ServerRun::run() {
  using Stage = Status (ServerRun::*)();
  for (Stage stage : std::initializer_list<Stage>{&ServerRun::loadPlan, &ServerRun::join,
                                                  &ServerRun::learnSteps, &ServerRun::serve})
    if (Status s = (this->*stage)(); !s)
      return s;
  return Status::ok();
}

Status ServerRun::learnSteps() {
  // Workers prepare their step meanwhile: more than ranks wait for each other to start.
  auto told = group->gather(stepsKey, "", 10 * options.startTimeout);
  if (!told)
    return told.status();
  const std::string &text = told->front();
  if (std::from_chars(text.data(), text.data() + text.size(), steps).ec != std::errc())
    return Status::error(ErrorKind::internal, "rank 0 tells no number of steps: '" + text + "'");
  return Status::ok();
}

Status ServerRun::serve() {
  served = servedBuckets(plan);
  // The links have no limit of their own: how long workers compute is theirs to judge, and watch()
  // learns of it when they give somebody up.
  if (Status s = group->connect(1e6); !s)
    return s;
  running = 1;
  threads.emplace_back([this] { conclude(guarded([this] { return openChannels(); })); });
  // Workers decide when to stop, and tell.
  StopSignal::hold();
  Status s = watch();
  std::lock_guard lock(mutex);
  for (std::thread &t : threads)
    s ? t.join() : t.detach();
  return s;
}

/// Whether to go on, as Group::ask(). Ends the process where workers have stopped early: threads
/// wait for sums that do not come.
Status ServerRun::askWorkers(double seconds) {
  const auto told = group->ask(stoppedKey, seconds);
  if (!told || !*told)
    return told ? Status::ok() : told.status();
  (void)group->gather("left", "", std::max(20.0, timeout()));
  group->depart();
  std::fflush(nullptr);
  std::_Exit(128 + std::atoi((*told)->c_str()));
}

/// Opens the channels in the order in which workers do, and serves them all at once.
Status ServerRun::openChannels() {
  const ServerGroup roles{plan.ranks, plan.servers};
  for (const auto &[channel, buckets] : served) {
    auto made = DedicatedServer::create(*group->transport(),
                                        CommunicationThread::linkName(channel) + "/" +
                                            std::string(schemeName(Scheme::parameterServer)),
                                        roles);
    if (!made)
      return made.status();
    servers[channel] = std::move(*made);
  }
  std::lock_guard lock(mutex);
  areOpen = true;
  running += served.size();
  for (const auto &[channel, buckets] : served)
    threads.emplace_back([this, channel = channel] {
      conclude(guarded([this, channel] { return serveChannel(channel); }));
    });
  return Status::ok();
}

Status ServerRun::serveChannel(int channel) {
  DedicatedServer &server = *servers.at(channel);
  for (std::int64_t step = 0; step < steps; ++step) {
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

/// The error as it is told; `done` steps are complete.
Status ServerRun::lost(const Status &why, const std::string &where, std::int64_t done) const {
  return Status::error(why.kind(), RankNames{plan.ranks}.of(identity.rank) + ": " + why.message() +
                                       where + "; " + lastCompletedStep(done));
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

/// Waits for the threads, or until somebody is lost for whom they would wait in vain.
Status ServerRun::watch() {
  // A thread that hears of it by itself knows more: bucket and step.
  constexpr auto interval = std::chrono::seconds(1), grace = std::chrono::seconds(2);
  const Deadline opening = deadlineIn(options.startTimeout + timeout());
  // As long as workers wait for rank 0.
  const double seconds = std::max(20.0, timeout());
  auto isOver = [&] { return running == 0 || !failure; };
  std::unique_lock lock(mutex);
  while (!changed.wait_for(lock, interval, isOver)) {
    const bool mayAsk = areOpen;
    lock.unlock();
    Status s = mayAsk ? askWorkers(seconds) : group->verdict();
    if (s && !mayAsk && Clock::now() > opening)
      s = Status::error(ErrorKind::peerLost, notConnected(group->waitsFor()));
    lock.lock();
    if (!s && !changed.wait_for(lock, grace, isOver)) {
      std::int64_t done = areOpen ? steps : 0;
      for (const auto &[channel, buckets] : served)
        done = std::min(done, completed[channel]);
      return lost(s, "", done);
    }
  }
  return failure;
}

} // namespace

std::unique_ptr<Participant> createServer(const Options &options, const Identity &identity) {
  return std::make_unique<ServerRun>(options, identity);
}

} // namespace syncline
