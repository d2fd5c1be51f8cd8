// Comparing clocks before and after the traced steps.
#include "runtime/run/trace/TraceRecorder.h"

#include "runtime/run/trace/TraceFile.h"
#include "syncline/OutputFile.h"

namespace syncline::run {

Result<TraceRecorder> TraceRecorder::create(transport::Group *group, const Run &run) {
  TraceRecorder recorder(run, !group || group->rank() == 0);
  if (group && group->workers() + run.servers > 1) {
    SYNCLINE_TRY_GET(
        links, RankZeroLinks::open(*group, run.timeoutSeconds, group->workers() + run.servers));
    recorder.links = std::move(*links);
  }
  if (run.services)
    run.services->start(recorder.first);
  if (run.isLoose)
    SYNCLINE_TRY(recorder.compareClocks());
  return recorder;
}

Status TraceRecorder::compareClocks() {
  SYNCLINE_TRY_GET(measured, offsets());
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

/// What every rank passes, by rank, on rank 0.
Result<std::vector<std::vector<double>>> TraceRecorder::collect(const std::vector<double> &own) {
  if (links)
    return links->collect(own);
  return std::vector<std::vector<double>>{own};
}

Result<bool> TraceRecorder::finish(const std::string &path, const Plan &plan,
                                   const core::StepRunner &runner, const Trainer &trainer) {
  if (!hasCompared) // the run has stopped before the first traced step, on all ranks
    return false;
  SYNCLINE_TRY_GET(after, offsets());
  SYNCLINE_TRY_GET(all, collect(packRecords(trainer.records())));
  Result<std::vector<std::vector<double>>> services(std::vector<std::vector<double>>{});
  if (run.isLoose)
    services = collect(run.services ? packServices(run.services->take()) : std::vector<double>());
  if (!services)
    return services.status();
  if (!isFirstRank)
    return true;
  all->resize(all->size() - static_cast<std::size_t>(run.servers)); // which have no steps
  Result<Trace> trace = alignTrace(*all, before, *after, runner.operations().size());
  auto servers = alignServices(*services, before, *after);
  if (!trace || !servers)
    return trace ? servers.status() : trace.status();
  trace->servers = std::move(*servers);
  if (std::ranges::all_of(trace->ranks, [](const auto &steps) { return steps.empty(); }))
    return false;
  const Status s = writeWholeFile(path, traceText(plan, runner, *trace));
  return s ? Result<bool>(true) : s;
}

} // namespace syncline::run
