// ssp, asp and dssp: workers push updates to servers and read weights back.
#include "passes/simulate/consistency/ClockKeeper.h"
#include "passes/simulate/consistency/FormRun.h"

#include <algorithm>

namespace syncline::simulate {

namespace {

/// After a step a worker hands its update to its sender, as soon as the sender has sent the one
/// before, and ticks. When the grant has come it reads, unless a read is under way. It goes on at
/// once where its weights contain what the grant asks for; else it waits for a read that brings
/// that.
class BoundedRun final : public FormRun {
public:
  explicit BoundedRun(const FormPlace &place)
      : place(place), keeper(place.scenario.consistency, place.workers.count()),
        states(static_cast<std::size_t>(place.workers.count())) {}

  void start() override {
    for (int worker = 0; worker < place.workers.count(); ++worker)
      next(worker);
  }

private:
  struct State {
    std::int64_t applied = 0;   ///< this worker's steps that the servers have added
    std::int64_t contained = 0; ///< steps of all others that its weights contain
    std::int64_t need = 0;      ///< of the last grant
    std::int64_t asked = 0;     ///< of the read under way
    bool isReading = false, isParked = false, isWaiting = false;
    bool isSending = false, hasToSend = false;
  };

  void next(int worker) {
    place.workers.begin(worker, states[worker].contained);
    place.workers.computeStep(worker, [this, worker] {
      place.workers.finish(worker);
      if (states[worker].isSending)
        states[worker].hasToSend = true;
      else
        handOver(worker);
    });
  }

  void handOver(int worker) {
    states[worker].isSending = true;
    const std::int64_t clock = place.workers.clock(worker);
    place.links.push(worker, [this, worker, clock] {
      place.links.lock([this, worker, clock] { add(worker, clock); });
      states[worker].isSending = false;
      if (std::exchange(states[worker].hasToSend, false))
        handOver(worker);
    });
    place.queue.after(place.links.latencyToFirst(worker), [this, worker] {
      for (const ClockKeeper::Grant &grant : keeper.tick(worker, place.queue.now()))
        place.queue.after(place.links.latencyToFirst(grant.worker), [this, grant] { go(grant); });
    });
  }

  void go(const ClockKeeper::Grant &grant) {
    State &state = states[grant.worker];
    state.need = grant.need;
    if (!state.isReading)
      read(grant.worker);
    if (state.contained >= state.need)
      return next(grant.worker);
    state.isWaiting = true;
  }

  void read(int worker) {
    State &state = states[worker];
    state.isReading = true;
    state.asked = state.need;
    place.queue.after(place.links.latencyToFirst(worker), [this, worker] {
      states[worker].isParked = true;
      answerParked();
    });
  }

  void add(int worker, std::int64_t clock) {
    states[worker].applied = clock;
    answerParked();
  }

  void answerParked() {
    for (int worker = 0; worker < place.workers.count(); ++worker)
      if (State &state = states[worker];
          state.isParked && std::ranges::min_element(states, {}, &State::applied)->applied >=
                                state.asked) {
        state.isParked = false;
        place.links.pull(worker, [this, worker, holds = othersIn(worker)] {
          arrive(worker, holds);
        });
      }
  }

  /// Steps of all workers but this one that the servers have added.
  std::int64_t othersIn(int worker) const {
    std::int64_t least = place.workers.count() > 1 ? INT64_MAX : states[worker].applied;
    for (int other = 0; other < place.workers.count(); ++other)
      if (other != worker)
        least = std::min(least, states[other].applied);
    return least;
  }

  void arrive(int worker, std::int64_t holds) {
    State &state = states[worker];
    state.contained = holds;
    state.isReading = false;
    if (!state.isWaiting)
      return;
    if (state.contained < state.need)
      return read(worker);
    state.isWaiting = false;
    next(worker);
  }

  FormPlace place;
  ClockKeeper keeper;
  std::vector<State> states;
};

} // namespace

std::unique_ptr<FormRun> createBoundedRun(const FormPlace &place) {
  return std::make_unique<BoundedRun>(place);
}

} // namespace syncline::simulate
