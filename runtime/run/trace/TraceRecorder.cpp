// Comparing clocks before and after the traced steps.
#include "runtime/run/trace/TraceRecorder.h"

#include "runtime/run/trace/TraceFile.h"
#include "syncline/OutputFile.h"

#include <algorithm>

namespace syncline::run {

Result<TraceRecorder> TraceRecorder::create(transport::Group *group, double timeoutSeconds,
                                            std::int64_t steps, std::int64_t traced) {
  TraceRecorder recorder(std::max<std::int64_t>(0, steps - traced), !group || group->rank() == 0);
  if (group && group->workers() > 1) {
    Result<RankZeroLinks> links = RankZeroLinks::open(*group, timeoutSeconds);
    if (!links)
      return links.status();
    recorder.links = std::move(*links);
  }
  return recorder;
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
  auto measured = offsets();
  if (!measured)
    return measured.status();
  before = std::move(*measured);
  return Status::ok();
}

Status TraceRecorder::finish(const std::string &path, const Plan &plan,
                             const core::StepRunner &runner, const Trainer &trainer) {
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
    return Status::ok();
  Result<Trace> trace = alignTrace(all, before, *after, runner.operations().size());
  if (!trace)
    return trace.status();
  return writeWholeFile(path, traceText(plan, runner, *trace));
}

} // namespace syncline::run
