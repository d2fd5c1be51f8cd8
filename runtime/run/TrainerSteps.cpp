// One step: its passes, told or captured once and replayed.
#include "runtime/run/Trainer.h"

namespace syncline::run {

Status Trainer::capture(bool &isDone) {
  if (Status s = executable.beginCapture(); !s)
    return s;
  const Status told = runOperations();
  const Status ended = executable.endCapture();
  isDone = told && ended;
  return told ? ended : told;
}

/// Replays the step. Carried buckets then wait for updates with its rate, which may be told. No
/// thread of the host updates what a graph has issued, so that rates can be set at once.
Status Trainer::replay() {
  if (Status s = executable.replay(); !s)
    return s;
  for (const core::Bucket &bucket : executable.buckets())
    if (carried.isCarried(bucket.id))
      takeRate(bucket.id);
  return Status::ok();
}

void Trainer::accumulate(int count, std::function<Status(std::int64_t)> next) {
  passes = count;
  passSums = PassSums(count, executable.weights());
  nextSamples = std::move(next);
}

Status Trainer::runEarlierPasses(std::int64_t number) {
  earlierLosses = 0;
  for (pass = 0; !isLastPass(); ++pass) {
    Status s = runOperations();
    if (s)
      s = executable.synchronize();
    if (!s)
      return s;
    earlierLosses += executable.loss();
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
    if (Status s = executable.setLossScale(applied); !s)
      return s;
  }
  const bool takesTurns = carried.any() || runsAhead;
  bool &isThere = hasCaptured[takesTurns ? static_cast<std::size_t>(number % 2) : 0];
  const auto startChannels = [&](bool replayed) {
    if (!exchanges) // else beginStep() did
      for (auto &[id, channel] : channels)
        channel->startStep(number, replayed);
  };
  if (replays && !(isThere && executable.isCaptured())) {
    startChannels(false);
    if (Status s = capture(isThere); !s)
      return s;
  }
  startChannels(replays);
  if (Status s = runEarlierPasses(number); !s)
    return s;
  began = core::Clock::now();
  if (Status s = replays ? replay() : runOperations(); !s)
    return s;
  pass = 0;
  if (drains)
    if (Status s = runDue(); !s)
      return s;
  isWarm = isWarm || isWhole;
  if (meanwhile)
    meanwhile();
  return runsAhead ? executable.endStep() : executable.synchronize();
}

} // namespace syncline::run
