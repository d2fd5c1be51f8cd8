// Forms whose weights travel by collectives: easgd sync1 to sync3, local and diloco.
#include "passes/simulate/consistency/FormRun.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

namespace syncline::simulate {

namespace {

using Elastic = Consistency::Elastic;
using Form = Consistency::Form;

/// Collectives of all workers, one behind the other.
class Collectives {
public:
  Collectives(const FormPlace &place) : place(place) {}

  /// The worker has what collective `number` takes from it.
  void join(std::int64_t number) {
    Collective &collective = at(number);
    if (++collective.joined < place.workers.count())
      return;
    const std::vector<double> &seconds = place.scenario.exchanges;
    const double start = std::max(channelFree, place.queue.now());
    channelFree = start + seconds[number % seconds.size()];
    place.queue.at(start, [this] { setBusy(true); });
    place.queue.at(channelFree, [this, number] {
      setBusy(false);
      Collective &over = at(number);
      over.isOver = true;
      const std::vector<ActionQueue::Action> waiting = std::move(over.waiting);
      if (over.waited == place.workers.count())
        all.erase(number);
      for (const ActionQueue::Action &action : waiting)
        action();
    });
  }

  /// Goes on once collective `number` is over. Every worker joins it and waits for it once.
  void wait(std::int64_t number, ActionQueue::Action then) {
    Collective &collective = at(number);
    ++collective.waited;
    if (!collective.isOver)
      return collective.waiting.push_back(std::move(then));
    if (collective.waited == place.workers.count())
      all.erase(number);
    then();
  }

private:
  struct Collective {
    int joined = 0, waited = 0;
    bool isOver = false;
    std::vector<ActionQueue::Action> waiting;
  };
  Collective &at(std::int64_t number) { return all[number]; }
  /// Whether a collective is under way, which slows all workers.
  void setBusy(bool isBusy) {
    for (int worker = 0; worker < place.workers.count(); ++worker) {
      const double lost = lostBesideMessages(place.scenario.machines, worker);
      place.workers.setSpeed(worker, isBusy ? 1 - lost : 1);
    }
  }

  FormPlace place;
  std::map<std::int64_t, Collective> all;
  double channelFree = 0;
};

/// sync1 and sync2 wait for the exchange before a period's first step. sync3 waits for it behind
/// the step's computation.
class SyncElasticRun final : public FormRun {
public:
  explicit SyncElasticRun(const FormPlace &place)
      : place(place), collectives(place), period(place.scenario.consistency.period),
        isHidden(place.scenario.consistency.elastic == Elastic::sync3) {}

  void start() override {
    for (int worker = 0; worker < place.workers.count(); ++worker)
      next(worker);
  }

private:
  void next(int worker) {
    const std::int64_t clock = place.workers.clock(worker), number = clock / period;
    if (clock % period != 0)
      return compute(worker, std::nullopt);
    collectives.join(number);
    if (isHidden)
      return compute(worker, number);
    collectives.wait(number, [this, worker] { compute(worker, std::nullopt); });
  }

  /// Computes a step, which is over when this exchange is, too.
  void compute(int worker, std::optional<std::int64_t> exchange) {
    // The step's exchange moves weights behind the step, so it computes with the one before.
    const std::int64_t clock = place.workers.clock(worker);
    place.workers.begin(worker, std::max<std::int64_t>(0, (clock - 1) / period * period));
    place.workers.computeStep(worker, [this, worker, exchange] {
      const auto finish = [this, worker] {
        place.workers.finish(worker);
        next(worker);
      };
      if (exchange)
        collectives.wait(*exchange, finish);
      else
        finish();
    });
  }

  FormPlace place;
  Collectives collectives;
  std::int64_t period;
  bool isHidden;
};

/// local and diloco: exchange k starts `delay` steps before step (k + 1) · window is over, and is
/// used behind that step.
class LocalRun final : public FormRun {
public:
  explicit LocalRun(const FormPlace &place)
      : place(place), form(place.scenario.consistency), collectives(place) {}

  void start() override {
    for (int worker = 0; worker < place.workers.count(); ++worker)
      next(worker);
  }

private:
  void next(int worker) {
    place.workers.begin(worker, contained(place.workers.clock(worker)));
    place.workers.computeStep(worker, [this, worker] {
      place.workers.finish(worker);
      const std::int64_t clock = place.workers.clock(worker), window = form.window();
      if ((clock + form.delay) % window == 0)
        collectives.join((clock + form.delay) / window - 1);
      if (clock % window != 0)
        return next(worker);
      collectives.wait(clock / window - 1, [this, worker] { next(worker); });
    });
  }

  /// Steps of all others that the fragment contains that was exchanged longest ago.
  std::int64_t contained(std::int64_t clock) const {
    const std::int64_t oldest = clock / form.window() - form.fragments + 1;
    return oldest < 1 ? 0 : oldest * form.window() - form.delay;
  }

  FormPlace place;
  Consistency form;
  Collectives collectives;
};

} // namespace

std::unique_ptr<FormRun> createCollectiveRun(const FormPlace &place) {
  if (place.scenario.consistency.form == Form::easgd)
    return std::make_unique<SyncElasticRun>(place);
  return std::make_unique<LocalRun>(place);
}

} // namespace syncline::simulate
