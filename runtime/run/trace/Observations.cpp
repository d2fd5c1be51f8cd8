// Recording steps, and writing what was recorded.
#include "runtime/run/trace/Observations.h"

namespace syncline::run {

Status Observations::begin(Trainer &trainer, transport::Group *group, const TraceRecorder::Run &run,
                           bool isResumed) {
  if (isMeasured())
    trainer.recordSteps();
  if (options.trace.empty())
    return Status::ok();
  if (run.steps == 0)
    return isResumed ? Status::ok()
                     : Status::error(ErrorKind::badUsage, "--trace: the run has no steps");
  SYNCLINE_TRY_GET(made, TraceRecorder::create(group, run));
  trace = std::move(*made);
  return Status::ok();
}

Status Observations::beforeStep(std::int64_t number, Trainer &trainer) {
  return trace ? trace->beforeStep(number, trainer) : Status::ok();
}

void Observations::addStep(double seconds) {
  if (isMeasured())
    measured.push_back(seconds);
  steadiness.add(seconds);
}

Status Observations::write(const Plan &plan, const core::Executable &executable, Trainer &trainer,
                           Report &report, bool isStopped) {
  bool isWritten = !isStopped;
  if (trace) {
    SYNCLINE_TRY_GET(traced, trace->finish(options.trace, plan, executable, trainer));
    isWritten = *traced;
  } else if (!options.trace.empty()) {
    report.note("'" + options.trace + "' is not written: no step was left to trace");
  } else if (isMeasured() && isWritten) {
    SYNCLINE_TRY(writeOperationTimes(options.opTimes, plan, executable, trainer.records(), measured,
                                     steadiness.isSteady()));
  }
  if (!isWritten && (trace || isMeasured()))
    report.note("the run ended too early for '" + (trace ? options.trace : options.opTimes) +
                "', which is not written");
  return Status::ok();
}

} // namespace syncline::run
