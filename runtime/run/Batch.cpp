// Waiting for samples, and writing them to the step's input and target.
#include "runtime/run/Batch.h"

#include "runtime/core/Deadline.h"

namespace syncline::run {

Batch::Batch(const Plan &plan, core::Executable &executable, const SampleSource &from)
    : source(from), format(plan.sampleFormat()), executable(&executable),
      input(executable.find(Space::input, plan.input.name)),
      target(executable.find(Space::target, plan.target.name)) {
  if (!from.data)
    return;
  auto read = [data = from.data, sampler = from.sampler](std::int64_t step, data::HostBatch &to) {
    return data->read(sampler->at(step), to);
  };
  ahead = std::make_unique<data::ReadAhead>(std::move(read), from.threads, from.steps);
}

void Batch::seek(std::int64_t number) {
  if (ahead)
    ahead->seek(number);
  else
    data::fillSynthetic(format, source.seed, source.rank, batch);
}

Result<std::optional<double>> Batch::write(std::int64_t number) {
  std::optional<double> waited;
  if (ahead) {
    const auto start = core::Clock::now();
    if (Status s = ahead->take(number, batch); !s)
      return s;
    waited = core::secondsSince(start);
  } else if (isInPlace && !source.isMeasured) {
    return waited;
  }
  if (Status s = copyToStep(); !s)
    return s;
  isInPlace = true;
  return waited;
}

void Batch::imitateReading() {
  if (source.isMeasured && !ahead)
    copied = batch;
}

Result<StepSamples> Batch::describe(std::int64_t number) {
  StepSamples samples{format.inputType, format.inputShape, {}, {}};
  if (source.data) {
    const data::Samples chosen = source.sampler->at(number);
    if (Status s = source.data->read(chosen, batch); !s)
      return s;
    for (const std::int64_t sample : chosen.indices)
      samples.names.push_back(source.data->nameOf(sample));
  }
  samples.values = batch.inputs;
  if (Status s = copyToStep(); !s)
    return s;
  return samples;
}

Status Batch::copyToStep() {
  Status s = executable->write(input, batch.inputs);
  return s ? executable->write(target, batch.targets) : s;
}

} // namespace syncline::run
