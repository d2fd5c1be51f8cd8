// EASGD by servers, which hold the centre: original, async, momentum and hogwild.
#include "passes/simulate/consistency/FormRun.h"

#include <algorithm>

namespace syncline::simulate {

namespace {

using Elastic = Consistency::Elastic;

class ElasticRun final : public FormRun {
public:
  explicit ElasticRun(const FormPlace &place)
      : place(place), elastic(place.scenario.consistency.elastic),
        period(place.scenario.consistency.period),
        states(static_cast<std::size_t>(place.workers.count())) {}

  void start() override {
    if (elastic == Elastic::original)
      return turn(0);
    for (int worker = 0; worker < place.workers.count(); ++worker)
      next(worker);
  }

private:
  struct State {
    std::int64_t inCentre = 0;  ///< this worker's steps at its last exchange
    std::int64_t contained = 0; ///< steps of all others that its weights contain
    std::int64_t arrived = 0;   ///< the same of the centre that has come
    bool isUnderWay = false, isWaiting = false;
  };

  /// original: one worker after the other gives its weights and takes the centre, computes, and
  /// tells the first server that its turn is over.
  void turn(int worker) {
    place.queue.after(place.links.latencyToFirst(worker), [this, worker] {
      states[worker].isWaiting = true;
      exchange(worker);
    });
  }

  void turnStep(int worker) {
    place.workers.begin(worker, states[worker].contained);
    place.workers.computeStep(worker, [this, worker] {
      place.workers.finish(worker);
      if (place.workers.clock(worker) % period != 0)
        return turnStep(worker);
      place.queue.after(place.links.latencyToFirst(worker),
                        [this, worker] { turn((worker + 1) % place.workers.count()); });
    });
  }

  /// The others: in the first step of each period a worker sends its weights and computes while
  /// the centre comes. The step is over when it has both.
  void next(int worker) {
    place.workers.begin(worker, states[worker].contained);
    if (place.workers.clock(worker) % period == 0)
      exchange(worker);
    place.workers.computeStep(worker, [this, worker] {
      if (states[worker].isUnderWay)
        states[worker].isWaiting = true;
      else
        finish(worker);
    });
  }

  void exchange(int worker) {
    states[worker].isUnderWay = true;
    const std::int64_t clock = place.workers.clock(worker);
    place.links.push(worker, [this, worker, clock] {
      const auto added = [this, worker, clock] {
        const std::int64_t holds = leastOfOthers(states, worker, &State::inCentre);
        states[worker].inCentre = clock;
        place.links.pull(worker, [this, worker, holds] { arrive(worker, holds); });
      };
      if (elastic == Elastic::hogwild)
        place.queue.after(place.links.addSeconds(), added);
      else
        place.links.lock(added);
    });
  }

  void arrive(int worker, std::int64_t holds) {
    State &state = states[worker];
    state.arrived = holds;
    state.isUnderWay = false;
    if (!std::exchange(state.isWaiting, false))
      return;
    if (elastic == Elastic::original) {
      state.contained = holds;
      turnStep(worker);
    } else {
      finish(worker);
    }
  }

  void finish(int worker) {
    states[worker].contained = states[worker].arrived;
    place.workers.finish(worker);
    next(worker);
  }

  FormPlace place;
  Elastic elastic;
  std::int64_t period;
  std::vector<State> states;
};

} // namespace

std::unique_ptr<FormRun> createElasticRun(const FormPlace &place) {
  return std::make_unique<ElasticRun>(place);
}

} // namespace syncline::simulate
