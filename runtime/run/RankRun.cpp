// The stages of a worker's run: training and its end.
#include "runtime/run/RankRun.h"

#include "runtime/core/Guarded.h"
#include "runtime/launch/Joining.h"
#include "runtime/run/Dump.h"
#include "runtime/run/ServerRun.h"
#include "runtime/run/StopSignal.h"
#include "runtime/run/Usage.h"
#include "runtime/run/weights/Drift.h"
#include "runtime/run/weights/EqualWeights.h"
#include "runtime/run/weights/Values.h"

#include <algorithm>
#include <cmath>

namespace syncline::run {

Status RankRun::run() {
  using Stage = Status (RankRun::*)();
  for (Stage stage : std::initializer_list<Stage>{
           &RankRun::load, &RankRun::join, &RankRun::watchRanks, &RankRun::agreeOnOptions,
           &RankRun::openData, &RankRun::build, &RankRun::chooseKernels, &RankRun::connect,
           &RankRun::observe, &RankRun::train, &RankRun::writeObservations, &RankRun::finish})
    SYNCLINE_TRY((this->*stage)());
  return checkpoints ? checkpoints->last() : Status::ok();
}

Status RankRun::watchRanks() {
  phase = " during start-up";
  lostWatch.emplace(LostRankWatch::Worker{
      group.get(), identity.rank,
      [this] { return phase.load() ? std::string(phase) : trainer->whereabouts(); },
      [this] { releaseFolder(); }});
  return Status::ok();
}

Status RankRun::observe() {
  return observations.begin(*trainer, group.get(),
                            {timeout(), steps == first ? 0 : steps,
                             std::min(options.traceSteps, steps - first), isServed(),
                             isServed() ? plan.servers : 0, links ? links->services() : nullptr},
                            /*isResumed=*/first > 0);
}

Status RankRun::writeObservations() {
  return observations.write(plan, present(), *trainer, *report, stopSignal != 0);
}

Status RankRun::train() {
  batch.seek(first * options.microBatches);
  phase = nullptr;
  for (std::int64_t number = first; number < steps && stopSignal == 0; ++number) {
    SYNCLINE_TRY(observations.beforeStep(number, *trainer));
    SYNCLINE_TRY(trainer->beginStep(number));
    const auto start = core::Clock::now();
    waited.reset();
    SYNCLINE_TRY(writeSamples(number * options.microBatches));
    const bool dumps = !options.dump.empty() && options.dumpSteps.contains(number);
    const bool saves = checkpoints && checkpoints->isDue(number + 1);
    const bool drains = number + 1 == steps || saves || isTested(number);
    const StepEnd end = dumps ? StepEnd::wholeGradients : drains ? StepEnd::drained : StepEnd::open;
    const double rate = schedule.rateAt(number, steps, options.optimizer.rate);
    trainer->setRate(rate);
    SYNCLINE_TRY(trainer->tell(number, end, /*meanwhile=*/[&] { batch.imitateReading(); }, start));
    told.push_back({rate, waited});
    SYNCLINE_TRY(completeAllBut(end == StepEnd::open ? trainer->ahead() : 0));
    SYNCLINE_TRY(finishStep(number, dumps, saves));
    if (isTested(number) && stopSignal == 0)
      SYNCLINE_TRY(testAfter(number));
    if (observations.isDone())
      break;
  }
  phase = " behind the last step";
  const Result<int> drained = trainer->drain();
  const Status finished = drained ? trainer->finish() : drained.status();
  report->addRest(trainer->movedSince());
  return finished;
}

/// Completes the steps that were told, but for the last `steps` ones.
Status RankRun::completeAllBut(std::size_t steps) {
  while (told.size() > steps) {
    SYNCLINE_TRY_GET(times, trainer->complete());
    times->data = told.front().waited;
    times->rate = told.front().rate;
    told.pop_front();
    report->addStep(*times);
    observations.addStep(times->seconds);
  }
  return Status::ok();
}

Status RankRun::chooseLength(std::size_t length) {
  if (!switched || switched->chosen() == length)
    return Status::ok();
  SYNCLINE_TRY(switched->choose(length));
  trainer->takeOperations();
  return Status::ok();
}

/// Puts the samples of this micro-batch in place, counted over all steps.
Status RankRun::writeSamples(std::int64_t microBatch) {
  if (labelWeights)
    SYNCLINE_TRY(trainer->weighLoss(labelWeights->of(microBatch)));
  const Result<std::optional<double>> seconds = batch.write(microBatch);
  if (seconds && *seconds)
    waited = waited.value_or(0) + **seconds;
  return seconds ? chooseLength(batch.length()) : seconds.status();
}

/// Whether an evaluation follows this step. The last step's is that of the run.
bool RankRun::isTested(std::int64_t number) const {
  return options.evalEvery > 0 && (number + 1) % options.evalEvery == 0 && number + 1 < steps;
}

Status RankRun::testAfter(std::int64_t number) {
  phase = " during evaluation";
  SYNCLINE_TRY(chooseLongest());
  const Result<std::optional<Score>> scored = evaluation->score(*trainer);
  phase = nullptr;
  if (scored && *scored)
    report->addTest(number, **scored);
  return scored.status();
}

/// Acts on the losses that have arrived. All ranks have equal losses and decide alike.
Status RankRun::finishStep(std::int64_t number, bool dumps, bool saves) {
  LossExchange &losses = trainer->losses();
  if (!group || dumps || saves || isTested(number) || number + 1 == steps)
    SYNCLINE_TRY(losses.settle());
  if (dumps || saves)
    SYNCLINE_TRY(chooseLongest());
  if (dumps)
    SYNCLINE_TRY(dump(number));
  if (group)
    report->tellLost(group->lost());
  // Ranks end together at the end of the window, when weights are others: search now.
  const auto &own = losses.firstNotFinite();
  if (own && own->step == number && plan.consistency.isLocal() && !options.allowsNonFinite)
    SYNCLINE_TRY(search({number, std::isfinite(own->loss), ""}));
  const std::vector<EarlierLoss> arrived = losses.arrived();
  losses.forget();
  for (const EarlierLoss &loss : arrived) {
    report->addLoss(loss);
    if (loss.notFinite > 0 && !options.allowsNonFinite)
      return notFinite(loss);
    if (loss.stopSignal != 0 && number + 1 < steps)
      stopSignal = loss.stopSignal;
  }
  if (stopSignal != 0)
    return stop(number + 1);
  if (!saves)
    return Status::ok();
  SYNCLINE_TRY(compareWeights(number + 1));
  return checkpoints->save(number + 1);
}

/// Where ranks hold copies of the same weights, they must be equal before they are kept.
Status RankRun::compareWeights(std::int64_t completed) {
  if (!group || plan.consistency.isLocal() || completed == compared)
    return Status::ok();
  compared = completed;
  return expectEqualWeights(step->executable(), *group, completed);
}

Status RankRun::stop(std::int64_t completed) {
  SYNCLINE_TRY(completeAllBut(0));
  SYNCLINE_TRY_GET(drained, trainer->drain());
  EarlierLoss last{.step = completed - 1, .loss = 0};
  int bad = *drained;
  for (const EarlierLoss &loss : trainer->losses().arrived()) {
    report->addLoss(loss);
    last = loss;
    bad += loss.notFinite;
  }
  if (bad > 0 && !options.allowsNonFinite)
    return notFinite(last);
  report->stop(stopSignal, completed);
  SYNCLINE_TRY(compareWeights(completed));
  SYNCLINE_TRY(chooseLongest());
  SYNCLINE_TRY(checkpoints ? checkpoints->save(completed) : Status::ok());
  if (plan.servers == 0 || !group || isServed())
    return Status::ok();
  return stopServers(*group, stopSignal, timeout());
}

/// Searches for the cause in that step's batches, one after the other. A bad sample has spoiled
/// running statistics, which an earlier batch would meet, so that samples come first.
Status RankRun::search(const NotFinite &what) {
  finding = {what.step, what.hasLoss, "", identity.rank};
  for (const bool computes : {false, true})
    for (int microBatch = 0; microBatch < options.microBatches && finding.cause.empty();
         ++microBatch) {
      const std::int64_t number = what.step * options.microBatches + microBatch;
      SYNCLINE_TRY_GET(samples, batch.describe(number));
      SYNCLINE_TRY(chooseLength(batch.length()));
      SYNCLINE_TRY_GET(cause,
                       computes ? findNotFinite(present(), number, *samples) : badSample(*samples));
      finding.cause = *cause;
    }
  return Status::ok();
}

/// Returns the error that ends the run.
Status RankRun::notFinite(const EarlierLoss &loss) {
  // The search computes where messages may be under way.
  if (const Result<int> drained = trainer->drain(); !drained)
    return drained.status();
  if (!plan.consistency.isLocal()) // else this rank has searched after its own first such step
    SYNCLINE_TRY(search({loss.step, std::isfinite(loss.loss), ""}));
  // With servers, only this rank is known to be at this step.
  return notFiniteError(isServed() ? nullptr : group.get(), finding, 10 * options.startTimeout);
}

Status RankRun::dump(std::int64_t number) {
  const std::string own = isFirst() ? "" : "/rank" + std::to_string(identity.rank);
  return dumpStep(options.dump + own, number, trainer->losses().arrived().back().lastLoss,
                  step->executable(), plan.gradientRanks() * trainer->appliedScale());
}

Status RankRun::finish() {
  SYNCLINE_TRY(chooseLongest());
  Result<std::optional<Score>> scored = std::optional<Score>();
  if (evaluation && stopSignal == 0)
    phase = " during evaluation", scored = evaluation->score(*trainer);
  lostWatch.reset();
  if (!scored)
    return scored.status();
  // What was trained is saved all the same: it may be days of work, and rank 0 may be right.
  const Status equal = stopSignal == 0 ? compareWeights(steps) : Status::ok();
  if (isFirst() && !options.save.empty())
    SYNCLINE_TRY(
        saveOnnx(plan, step->executable(), options.seed, options.save, options.allowsNonFinite));
  if (!equal)
    return equal;
  SYNCLINE_TRY(checkpoints ? checkpoints->finish() : Status::ok());
  SYNCLINE_TRY_GET(
      used, largestUsage(group.get(), {peakMemoryBytes(), report->medianTraffic()}, timeout()));
  if (isServed()) {
    SYNCLINE_TRY_GET(drift, sumDrift(*group, {trainer->drift(), report->own()}, timeout()));
    report->addDrift(*drift, group->lost());
  }
  report->finish(used->peakBytes, used->traffic, *scored);
  return Status::ok();
}

/// A signal after the last step ends the evaluation, on each rank that receives one.
int RankRun::stoppedBy() const { return stopSignal != 0 ? stopSignal : StopSignal::received(); }

void RankRun::releaseFolder() {
  if (checkpoints)
    checkpoints->release();
}

void RankRun::release() {
  lostWatch.reset();
  releaseFolder();
}

int runRank(const Options &options, const launch::Identity &identity) {
  std::unique_ptr<Participant> participant = identity.isServer()
                                                 ? createServer(options, identity)
                                                 : std::make_unique<RankRun>(options, identity);
  // What goes wrong in this thread too is told to the other ranks.
  const Status s = core::guarded([&] { return participant->run(); });
  if (!s)
    participant->release();
  const int code = launch::conclude("syncline-run", s, participant->joined());
  const int signal = participant->stoppedBy();
  return signal == 0 ? code : 128 + signal;
}

} // namespace syncline::run
