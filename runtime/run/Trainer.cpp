// The training step's loop over operations.
#include "runtime/run/Trainer.h"

#include "runtime/core/RankNames.h"

#include <algorithm>
#include <utility>

namespace syncline::run {

using core::OperationKind;

Status Trainer::issue(int bucket) {
  const BucketPlace &b = places.at(bucket);
  if (b.scheme == Scheme::reduceScatter)
    return issueSharded(bucket, b.isHalved ? core::Half::first : core::Half::whole);
  if (!sums())
    return Status::ok();
  if (b.isHalved)
    return b.channel->issueHalf(bucket, b.gradients, b.bytes, b.type, b.scheme, core::Half::first);
  return b.channel->issue(bucket, b.gradients, b.bytes, b.type, b.scheme);
}

Status Trainer::allGather(int bucket) {
  const BucketPlace &b = places.at(bucket);
  if (b.scheme == Scheme::reduceScatter)
    return issueSharded(bucket, core::Half::second);
  if (!sums())
    return Status::ok();
  return b.channel->issueHalf(bucket, b.gradients, b.bytes, b.type, b.scheme, core::Half::second);
}

Status Trainer::issueSharded(int bucket, core::Half half) {
  const BucketPlace &b = places.at(bucket);
  if (ranks == 1)
    return half == core::Half::second || updatesLast ? Status::ok()
                                                     : executable.updateShard(bucket);
  if (updatesLast && half == core::Half::whole)
    half = core::Half::first;
  return b.channel->issueSharded(bucket, {b.gradients, b.parameters, b.bytes, b.type,
                                          wholeGradients, half, /*updatesLater=*/updatesLast});
}

Status Trainer::gather(std::size_t index) {
  Status s = executable.run(static_cast<int>(index));
  if (!s || !sums())
    return s;
  const core::OperationInfo &op = executable.operations()[index];
  return places.at(op.bucket).channel->issueGather(op.bucket, op.gathered);
}

Status Trainer::runOperation(std::size_t index) {
  const core::OperationInfo &op = executable.operations()[index];
  presentOperation.store(static_cast<int>(index), std::memory_order_relaxed);
  switch (op.kind) {
  case OperationKind::compute:
    return executable.run(static_cast<int>(index));
  case OperationKind::update:
    return runUpdate(index);
  case OperationKind::issue:
    SYNCLINE_TRY(microBatchSums.finish(op.bucket, gradientsOf(op.bucket)));
    if (rankWeight != 1)
      SYNCLINE_TRY(
          executable.weights().scale(gradientsOf(op.bucket), static_cast<float>(rankWeight)));
    return takeRate(op.bucket), issue(op.bucket);
  case OperationKind::gather:
    return takeRate(op.bucket), gather(index);
  case OperationKind::allGather:
    return allGather(op.bucket);
  case OperationKind::wait:
    return wait(op.bucket);
  }
  return Status::ok();
}

/// Waits for a bucket. The squares of a part that this rank updates are added up at once, while
/// later messages travel.
Status Trainer::wait(int bucket) {
  const BucketPlace &b = places.at(bucket);
  if (sums())
    SYNCLINE_TRY(b.channel->wait(bucket));
  return updatesLast && b.scheme == Scheme::reduceScatter ? executable.addSquares(bucket)
                                                          : Status::ok();
}

/// Runs an update, or adds up what factors of an earlier micro-batch have made.
Status Trainer::runUpdate(std::size_t index) {
  const int bucket = executable.operations()[index].bucket;
  // A carried bucket is updated in the first micro-batch of the next step.
  if (carried.isCarried(bucket) ? microBatch > 0 : !isLastMicroBatch())
    return microBatchSums.add(bucket, gradientsOf(bucket));
  SYNCLINE_TRY(microBatchSums.finish(bucket, gradientsOf(bucket)));
  return updatesLast ? executable.addSquares(bucket) : executable.run(static_cast<int>(index));
}

bool Trainer::isOfLastMicroBatch(const core::OperationInfo &operation) const {
  switch (operation.kind) {
  case OperationKind::compute:
  case OperationKind::gather:
    return false;
  case OperationKind::issue:
  case OperationKind::allGather:
    return true;
  case OperationKind::wait:
  case OperationKind::update:
    return !carried.isCarried(operation.bucket) && !isGathered(places.at(operation.bucket).scheme);
  }
  return false;
}

Status Trainer::runOperations() {
  const auto count = executable.operations().size();
  for (std::size_t i = 0; i < count; ++i) {
    if (isRecording)
      SYNCLINE_TRY(executable.mark(static_cast<int>(i)));
    if (carried.isLeftOut(i))
      continue;
    const core::OperationInfo &op = executable.operations()[i];
    if (!isLastMicroBatch() && isOfLastMicroBatch(op)) {
      if (op.kind == OperationKind::issue)
        SYNCLINE_TRY(microBatchSums.add(op.bucket, gradientsOf(op.bucket)));
      continue;
    }
    SYNCLINE_TRY(runOperation(i));
    carried.ran(i);
  }
  if (isLastMicroBatch() && updatesLast)
    SYNCLINE_TRY(finishUpdates());
  return isRecording ? executable.mark(static_cast<int>(count)) : Status::ok();
}

Status Trainer::runDue() {
  for (std::size_t i = 0; i < executable.operations().size() && carried.isAnyUnderWay(); ++i) {
    if (!carried.isDue(i))
      continue;
    SYNCLINE_TRY(runOperation(i));
    carried.ran(i);
  }
  return Status::ok();
}

Result<int> Trainer::drain() {
  while (!told.empty())
    SYNCLINE_TRY(complete());
  SYNCLINE_TRY(lossExchange->settle());
  if (exchanges)
    SYNCLINE_TRY(settled(exchanges->drain()));
  if (!carried.isAnyUnderWay())
    return 0;
  SYNCLINE_TRY(runDue());
  SYNCLINE_TRY(executable.synchronize());
  return lossExchange->count(executable.metNonFinite());
}

/// Waits until a device has done what an exchange enqueued. Nothing else waits for messages in a
/// way that notices lost ranks. Where exchanges are done when they return, this costs nothing.
Status Trainer::settled(const Status &s) { return s ? executable.synchronize() : s; }

/// The error of an exchange around step `number`. Channels name their messages themselves.
Status Trainer::duringExchange(const Status &s, std::int64_t number) const {
  const std::string where = " in the exchange of weights around step " + std::to_string(number);
  const std::string whole = s.message() + where + "; " + core::lastCompletedStep(number);
  return channels.empty() ? Status::error(s.kind(), whole) : s;
}

Status Trainer::record(std::int64_t number) {
  SYNCLINE_TRY_GET(marks, executable.marks());
  StepRecord &record = recorded.emplace_back();
  record.step = number;
  record.start = exchanges ? begunAt : began;
  const double before = std::chrono::duration<double>(began - record.start).count();
  for (std::size_t i = 0; i < executable.operations().size(); ++i)
    record.operations.push_back({before + (*marks)[i], before + (*marks)[i + 1]});
  record.buckets = bucketTimings();
  if (exchanges)
    record.add(exchanges->takeRequests());
  return Status::ok();
}

Status Trainer::finish() {
  Status s = exchanges ? settled(exchanges->finish()) : Status::ok();
  if (s && exchanges && !recorded.empty())
    recorded.back().add(exchanges->takeRequests());
  return s;
}

std::string Trainer::whereabouts() const {
  const std::int64_t step = presentStep;
  if (step < 0)
    return " before the first step";
  std::string text;
  if (const int index = presentOperation; index >= 0) {
    const core::OperationInfo &op = executable.operations()[static_cast<std::size_t>(index)];
    text = " in operation " + op.name + (op.layer.empty() ? "" : " of layer '" + op.layer + "'");
    if (op.bucket >= 0)
      text += " of " + core::messageName(op.bucket);
  }
  return text + " in step " + std::to_string(step) + "; " + core::lastCompletedStep(step);
}

Status Trainer::beginStep(std::int64_t number) {
  presentOperation = -1;
  presentStep = number;
  if (!exchanges || begun == number)
    return Status::ok();
  begun = number;
  begunAt = core::Clock::now();
  waitedBefore = exchanges->waitedSeconds();
  for (auto &[id, channel] : channels)
    channel->startStep(number);
  const Status s = settled(exchanges->beforeStep(number));
  beginning = core::secondsSince(begunAt);
  return s ? s : duringExchange(s, number);
}

void Trainer::runAhead() {
  runsAhead =
      executable.canRunAhead() && !exchanges && !carried.any() && !scale && microBatches == 1;
  if (runsAhead)
    executable.runAhead();
}

Result<StepTimes> Trainer::step(std::int64_t number, StepEnd end,
                                const std::function<void()> &meanwhile) {
  SYNCLINE_TRY(tell(number, end, meanwhile));
  return complete();
}

Status Trainer::tell(std::int64_t number, StepEnd end, const std::function<void()> &meanwhile,
                     core::Clock::time_point start) {
  wholeGradients = end == StepEnd::wholeGradients;
  drains = end != StepEnd::open;
  SYNCLINE_TRY(beginStep(number));
  SYNCLINE_TRY(runStep(number, meanwhile));
  told.push_back({number, start, isRecording, weight});
  return Status::ok();
}

/// What the host learns of the step that has just ended, where none runs ahead.
core::StepOutcome Trainer::outcomeNow() {
  core::StepOutcome now;
  now.loss = executable.loss();
  now.isUpdateFinite = !executable.metNonFinite();
  now.gradientNorm = executable.gradientNorm();
  return now;
}

Result<StepTimes> Trainer::complete() {
  const auto [number, start, isRecorded, lossWeight] = told.front();
  told.pop_front();
  SYNCLINE_TRY_GET(outcome, runsAhead ? executable.outcome(number)
                                      : Result<core::StepOutcome>(outcomeNow()));
  if (hasWindows)
    addLoss(number, *outcome, lossWeight);
  if (exchanges)
    if (Status s = settled(exchanges->afterStep(number)); !s)
      return duringExchange(s, number);
  StepTimes times;
  times.exposed = exchanges ? exchanges->waitedSeconds() - waitedBefore : 0;
  for (auto &[id, channel] : channels)
    times.exposed += channel->exposedSeconds();
  // The loss of the step before had this whole step to arrive.
  if (!hasWindows)
    SYNCLINE_TRY(lossExchange->receive());
  ++uncounted;
  // Where all messages have been waited for, the counters stand still.
  const bool areStill = exchanges ? exchanges->isStill(number) : !carried.isAnyUnderWay();
  if (areStill) {
    times.moved = movedSince();
    counted = traffic ? traffic() : transport::Traffic();
    uncounted = 0;
  }
  if (!hasWindows) {
    addLoss(number, *outcome, lossWeight);
    SYNCLINE_TRY(lossExchange->send());
  }
  times.gradientNorm = outcome->gradientNorm;
  times.lossScale = applied;
  times.isSkipped = isSkipped;
  if (scale)
    scale->count(isSkipped);
  const auto now = core::Clock::now();
  const auto began = std::max(start, std::exchange(completedAt, now));
  times.seconds = beginning + std::chrono::duration<double>(now - began).count();
  if (isRecorded)
    SYNCLINE_TRY(record(number));
  return times;
}

std::optional<transport::Traffic> Trainer::movedSince() const {
  if (uncounted == 0 || (ranks > 1 && !traffic))
    return std::nullopt;
  const transport::Traffic now = traffic ? traffic() : transport::Traffic();
  return transport::Traffic{(now.sent - counted.sent) / uncounted,
                            (now.received - counted.received) / uncounted};
}

void Trainer::addLoss(std::int64_t number, const core::StepOutcome &outcome, double lossWeight) {
  int stop = signal ? signal() : 0;
  if (stop == 0 && exchanges)
    stop = exchanges->stopSignal();
  lossExchange->add(
      {.step = number,
       .loss = rankWeight * (earlierLosses + lossWeight * outcome.loss) / microBatches,
       .isUpdateFinite = outcome.isUpdateFinite,
       .stopSignal = stop});
}

Status Trainer::forward(std::int64_t number) {
  executable.beginStep(number);
  for (std::size_t i = 0; i < executable.operations().size(); ++i)
    if (executable.operations()[i].phase == "forward")
      SYNCLINE_TRY(executable.run(static_cast<int>(i)));
  return executable.synchronize();
}

std::vector<core::BucketTiming> Trainer::bucketTimings() const {
  std::vector<core::BucketTiming> all;
  for (const auto &[id, channel] : channels)
    for (const core::BucketTiming &t : channel->timings())
      if (t.bucket != core::lossMessage && t.bucket != core::squaresMessage)
        all.push_back(t);
  return all;
}

} // namespace syncline::run
