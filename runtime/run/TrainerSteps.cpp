// One step: its micro-batches, told or captured once and replayed.
#include "runtime/run/Trainer.h"

namespace syncline::run {

/// Which part of a step the present micro-batch is, for captures.
core::StepPart Trainer::part() const {
  if (microBatch == 0)
    return core::StepPart::first;
  return isLastMicroBatch() ? core::StepPart::last : core::StepPart::between;
}

/// Tells the channels of gradients that the present micro-batch begins, and whether it is replayed.
void Trainer::startChannels(std::int64_t number, bool replayed) {
  if (exchanges) // beginStep() has told channels of weights that the step begins
    return;
  for (auto &[id, channel] : channels)
    if (microBatch == 0)
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

/// Replays the present micro-batch, which it captures first where it has not yet.
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
  if (Status s = executable.replay(); !s || !isLastMicroBatch())
    return s;
  // Carried buckets now wait for updates with this step's rate, which may be told. No thread of the
  // host updates what a graph has issued, so that rates can be set at once.
  for (const core::Bucket &bucket : executable.buckets())
    if (carried.isCarried(bucket.id))
      takeRate(bucket.id);
  return Status::ok();
}

/// Tells the present micro-batch.
Status Trainer::tellMicroBatch(std::int64_t number) {
  if (microBatch == 0)
    startChannels(number, false);
  return runOperations();
}

void Trainer::accumulate(int count, std::function<Status(std::int64_t)> next) {
  microBatches = count;
  microBatchSums = MicroBatchSums(count, executable.weights());
  nextSamples = std::move(next);
}

Status Trainer::runEarlierMicroBatches(std::int64_t number, bool replays) {
  earlierLosses = 0;
  for (microBatch = 0; !isLastMicroBatch(); ++microBatch) {
    SYNCLINE_TRY(replays ? replay(number) : tellMicroBatch(number));
    SYNCLINE_TRY(executable.synchronize());
    earlierLosses += weight * executable.loss();
    const std::int64_t next = number * microBatches + microBatch + 1;
    SYNCLINE_TRY(nextSamples(next));
    executable.beginMicroBatch(next);
  }
  return Status::ok();
}

Status Trainer::runStep(std::int64_t number, const std::function<void()> &meanwhile) {
  const bool isWhole = carried.areAllUnderWay();
  const bool replays = captures && isWarm && isWhole && !wholeGradients;
  executable.beginStep(number);
  if (microBatches > 1)
    executable.beginMicroBatch(number * microBatches);
  if (scale) {
    applied = scale->value();
    SYNCLINE_TRY(executable.setLossScale(applied));
  }
  SYNCLINE_TRY(runEarlierMicroBatches(number, replays));
  began = core::Clock::now();
  SYNCLINE_TRY(replays ? replay(number) : tellMicroBatch(number));
  microBatch = 0;
  if (drains)
    SYNCLINE_TRY(runDue());
  isWarm = isWarm || isWhole;
  if (meanwhile)
    meanwhile();
  return runsAhead ? executable.endStep() : executable.synchronize();
}

} // namespace syncline::run
