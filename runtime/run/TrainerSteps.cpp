// One step: its passes, told or captured once and replayed.
#include "runtime/run/Trainer.h"

namespace syncline::run {

/// Which part of a step the present pass is, for captures.
core::StepPart Trainer::part() const {
  if (pass == 0)
    return core::StepPart::first;
  return isLastPass() ? core::StepPart::last : core::StepPart::between;
}

/// Tells the channels of gradients that the present pass begins, and whether it is replayed.
void Trainer::startChannels(std::int64_t number, bool replayed) {
  if (exchanges) // beginStep() has told channels of weights that the step begins
    return;
  for (auto &[id, channel] : channels)
    if (pass == 0)
      channel->startStep(number, replayed);
    else
      channel->startPart(replayed);
}

Status Trainer::capture(bool &isDone) {
  SYNCLINE_TRY(executable.beginCapture());
  const Status told = runOperations();
  const Status ended = executable.endCapture();
  isDone = told && ended;
  return told ? ended : told;
}

/// Replays the present pass, which it captures first where it has not yet.
Status Trainer::replay(std::int64_t number) {
  executable.choosePart(part());
  const bool takesTurns = carried.any() || runsAhead;
  bool &isThere = hasCaptured[takesTurns ? static_cast<std::size_t>(number % 2) : 0]
                             [static_cast<std::size_t>(part())];
  if (!(isThere && executable.isCaptured())) {
    startChannels(number, false);
    SYNCLINE_TRY(capture(isThere));
  }
  startChannels(number, true);
  if (Status s = executable.replay(); !s || !isLastPass())
    return s;
  // Carried buckets now wait for updates with this step's rate, which may be told. No thread of the
  // host updates what a graph has issued, so that rates can be set at once.
  for (const core::Bucket &bucket : executable.buckets())
    if (carried.isCarried(bucket.id))
      takeRate(bucket.id);
  return Status::ok();
}

/// Tells the present pass.
Status Trainer::tellPass(std::int64_t number) {
  if (pass == 0)
    startChannels(number, false);
  return runOperations();
}

void Trainer::accumulate(int count, std::function<Status(std::int64_t)> next) {
  passes = count;
  passSums = PassSums(count, executable.weights());
  nextSamples = std::move(next);
}

Status Trainer::runEarlierPasses(std::int64_t number, bool replays) {
  earlierLosses = 0;
  for (pass = 0; !isLastPass(); ++pass) {
    Status s = replays ? replay(number) : tellPass(number);
    if (s)
      s = executable.synchronize();
    if (!s)
      return s;
    earlierLosses += weight * executable.loss();
    const std::int64_t next = number * passes + pass + 1;
    if (s = nextSamples(next); !s)
      return s;
    executable.beginPass(next);
  }
  return Status::ok();
}

Status Trainer::runStep(std::int64_t number, const std::function<void()> &meanwhile) {
  const bool isWhole = carried.areAllUnderWay();
  const bool replays = captures && isWarm && isWhole && !wholeGradients;
  executable.beginStep(number);
  if (passes > 1)
    executable.beginPass(number * passes);
  if (scale) {
    applied = scale->value();
    SYNCLINE_TRY(executable.setLossScale(applied));
  }
  SYNCLINE_TRY(runEarlierPasses(number, replays));
  began = core::Clock::now();
  SYNCLINE_TRY(replays ? replay(number) : tellPass(number));
  pass = 0;
  if (drains)
    SYNCLINE_TRY(runDue());
  isWarm = isWarm || isWhole;
  if (meanwhile)
    meanwhile();
  return runsAhead ? executable.endStep() : executable.synchronize();
}

} // namespace syncline::run
