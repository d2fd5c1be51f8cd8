// ssp, asp and dssp: workers push updates to servers and read weights back.
#include "passes/simulate/consistency/ClockKeeper.h"
#include "passes/simulate/consistency/FormRun.h"

#include <algorithm>
#include <deque>

namespace syncline::simulate {

namespace {

/// After a step a worker ticks and hands its update to its courier, which sends pushes and reads
/// one after the other. Two updates may be with the courier. Before the next step the worker waits
/// for its grant, but not with asp, and for a read where its weights lack what the bound wants; it
/// then has the courier read for a later step, unless a read is under way.
class BoundedRun final : public FormRun {
public:
  explicit BoundedRun(const FormPlace &place)
      : place(place), isAsp(place.scenario.consistency.form == Consistency::Form::asp),
        bound(place.scenario.consistency.form == Consistency::Form::dssp
                  ? place.scenario.consistency.upper
                  : place.scenario.consistency.staleness),
        keeper(place.scenario.consistency, place.workers.count()),
        states(static_cast<std::size_t>(place.workers.count())) {}

  void start() override {
    for (int worker = 0; worker < place.workers.count(); ++worker)
      compute(worker);
  }

private:
  using Job = std::function<void()>;
  struct State {
    std::int64_t applied = 0; ///< this worker's steps that the servers have added
    std::int64_t others = 0;  ///< steps of all others that its weights contain
    std::int64_t cached = 0;  ///< the same, at most its own steps at the time of the read
    std::int64_t least = 0;   ///< of the last grant
    std::int64_t readClock = 0, asked = 0;
    int pushes = 0; ///< with the courier
    bool isGranted = false, isReading = false, isParked = false, isBusy = false;
    bool hasToPush = false, isBetween = false; ///< what the worker waits in
    std::deque<Job> jobs;                      ///< for the courier, behind the one under way
  };

  void compute(int worker) {
    place.workers.begin(worker, states[worker].others);
    place.workers.computeStep(worker, [this, worker] {
      place.workers.finish(worker);
      states[worker].isGranted = isAsp;
      tick(worker);
      if (states[worker].pushes == 2)
        states[worker].hasToPush = true;
      else
        push(worker);
    });
  }

  void tick(int worker) {
    place.queue.after(place.links.latencyToFirst(worker), [this, worker] {
      for (const ClockKeeper::Grant &grant : keeper.tick(worker, place.queue.now()))
        place.queue.after(place.links.latencyToFirst(grant.worker), [this, grant] {
          states[grant.worker].isGranted = true;
          states[grant.worker].least = grant.least;
          goOn(grant.worker);
        });
    });
  }

  void push(int worker) {
    State &state = states[worker];
    ++state.pushes;
    state.isBetween = true;
    give(worker, [this, worker, clock = place.workers.clock(worker)] {
      place.links.push(worker, [this, worker, clock] {
        place.links.lock([this, worker, clock] {
          states[worker].applied = clock;
          answerParked();
        });
        --states[worker].pushes;
        nextJob(worker);
        if (std::exchange(states[worker].hasToPush, false))
          push(worker);
      });
    });
    goOn(worker);
  }

  /// Begins the worker's next step if nothing is lacking.
  void goOn(int worker) {
    State &state = states[worker];
    if (!state.isBetween || !state.isGranted)
      return;
    const std::int64_t clock = place.workers.clock(worker);
    const bool lacks = !isAsp && state.cached < clock - bound;
    if (!state.isReading && state.readClock < clock)
      read(worker);
    if (lacks)
      return;
    state.isBetween = false;
    compute(worker);
  }

  void read(int worker) {
    State &state = states[worker];
    state.isReading = true;
    state.readClock = place.workers.clock(worker);
    state.asked = isAsp ? 0 : state.least;
    give(worker, [this, worker] {
      place.queue.after(place.links.latencyToFirst(worker), [this, worker] {
        states[worker].isParked = true;
        answerParked();
      });
    });
  }

  void answerParked() {
    const std::int64_t least = std::ranges::min_element(states, {}, &State::applied)->applied;
    for (int worker = 0; worker < place.workers.count(); ++worker)
      if (State &state = states[worker]; state.isParked && least >= state.asked) {
        state.isParked = false;
        place.links.pull(
            worker, [this, worker, least, others = leastOfOthers(states, worker, &State::applied)] {
              State &own = states[worker];
              own.others = others;
              own.cached = std::min(least, own.readClock);
              own.isReading = false;
              nextJob(worker);
              goOn(worker);
            });
      }
  }

  void give(int worker, Job job) {
    State &state = states[worker];
    if (state.isBusy)
      return state.jobs.push_back(std::move(job));
    state.isBusy = true;
    job();
  }

  void nextJob(int worker) {
    State &state = states[worker];
    state.isBusy = !state.jobs.empty();
    if (!state.isBusy)
      return;
    const Job job = std::move(state.jobs.front());
    state.jobs.pop_front();
    job();
  }

  FormPlace place;
  bool isAsp;
  std::int64_t bound;
  ClockKeeper keeper;
  std::vector<State> states;
};

} // namespace

std::unique_ptr<FormRun> createBoundedRun(const FormPlace &place) {
  return std::make_unique<BoundedRun>(place);
}

} // namespace syncline::simulate
