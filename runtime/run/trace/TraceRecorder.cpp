// Comparing clocks before and after the traced steps.
#include "runtime/run/trace/TraceRecorder.h"

#include "runtime/run/trace/TraceFile.h"
#include "syncline/OutputFile.h"

#include <algorithm>

namespace syncline::run {

Result<TraceRecorder> TraceRecorder::create(transport::Group *group, const Run &run) {
  TraceRecorder recorder(std::max<std::int64_t>(0, run.steps - run.traced),
                         !group || group->rank() == 0);
  if (group && group->workers() > 1) {
    Result<RankZeroLinks> links = RankZeroLinks::open(*group, run.timeoutSeconds);
    if (!links)
      return links.status();
    recorder.links = std::move(*links);
  }
  if (run.isLoose)
    if (Status s = recorder.compareClocks(); !s)
      return s;
  return recorder;
}

Status TraceRecorder::compareClocks() {
  auto measured = offsets();
  if (!measured)
    return measured.status();
  before = std::move(*measured);
  hasCompared = true;
  return Status::ok();
}

Result<std::vector<ClockOffset>> TraceRecorder::offsets() {
  if (links)
    return links->measureOffsets();
  return std::vector<ClockOffset>(1);
}

Status TraceRecorder::beforeStep(std::int64_t number, Trainer &trainer) {
  if (number != first)
    return Status::ok();
  trainer.recordSteps();
  return hasCompared ? Status::ok() : compareClocks();
}

Result<bool> TraceRecorder::finish(const std::string &path, const Plan &plan,
                                   const core::StepRunner &runner, const Trainer &trainer) {
  if (!hasCompared) // the run has stopped before the first traced step, on all ranks
    return false;
  auto after = offsets();
  if (!after)
    return after.status();
  // With --timings, the steps before the traced ones have records too.
  const std::vector<StepRecord> &records = trainer.records();
  const auto begin = std::find_if(records.begin(), records.end(),
                                  [&](const StepRecord &r) { return r.step >= first; });
  const std::vector<double> own = packRecords({begin, records.end()});
  std::vector<std::vector<double>> all{own};
  if (links) {
    auto collected = links->collect(own);
    if (!collected)
      return collected.status();
    all = std::move(*collected);
  }
  if (!isFirstRank)
    return true;
  Result<Trace> trace = alignTrace(all, before, *after, runner.operations().size());
  if (!trace)
    return trace.status();
  if (std::ranges::all_of(trace->ranks, [](const auto &steps) { return steps.empty(); }))
    return false;
  const Status s = writeWholeFile(path, traceText(plan, runner, *trace));
  return s ? Result<bool>(true) : s;
}

} // namespace syncline::run
