// Waiting for samples, and writing them to the step's inputs and target.
#include "runtime/run/Batch.h"

#include "runtime/core/Deadline.h"

namespace syncline::run {

std::vector<int> inputsOf(const Plan &plan, const core::Executable &executable) {
  std::vector<int> inputs;
  for (const PlanInput &input : plan.inputs)
    inputs.push_back(executable.find(Space::input, input.name));
  return inputs;
}

Batch::Batch(const Plan &plan, core::Executable &executable, const SampleSource &from)
    : source(from), format(plan.sampleFormat()), executable(&executable),
      inputs(inputsOf(plan, executable)), target(executable.find(Space::target, plan.target.name)) {
  if (!from.data)
    return;
  auto read = [from](std::int64_t microBatch, data::HostBatch &to) {
    return from.data->read(chosen(from, microBatch), to);
  };
  ahead = std::make_unique<data::ReadAhead>(std::move(read), from.threads,
                                            from.steps * from.microBatches);
}

/// The samples of micro-batch `number`.
data::Samples Batch::chosen(const SampleSource &from, std::int64_t number) {
  data::Samples samples = from.sampler->at(number / from.microBatches);
  const std::int64_t count = std::ssize(samples.indices) / from.microBatches;
  const auto begin = samples.indices.begin() + number % from.microBatches * count;
  samples.indices = {begin, begin + count};
  return samples;
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
    SYNCLINE_TRY(ahead->take(number, batch));
    waited = core::secondsSince(start);
  } else if (isInPlace && !source.isMeasured) {
    return waited;
  }
  SYNCLINE_TRY(copyToStep(/*isNext=*/true));
  isInPlace = true;
  return waited;
}

void Batch::imitateReading() {
  if (source.isMeasured && !ahead)
    copied = batch;
}

Result<StepSamples> Batch::describe(std::int64_t number) {
  StepSamples samples;
  if (source.data) {
    const data::Samples own = chosen(source, number);
    SYNCLINE_TRY(source.data->read(own, batch));
    for (const std::int64_t sample : own.indices)
      samples.names.push_back(source.data->nameOf(sample));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    samples.inputs.push_back({format.inputs[i].name, format.inputs[i].type, format.inputs[i].shape,
                              batch.input(format, i)});
  SYNCLINE_TRY(copyToStep(/*isNext=*/false));
  return samples;
}

/// A step that runs may still need what the next one's samples replace.
Status Batch::copyToStep(bool isNext) {
  const auto copy = [&](int tensor, std::span<const std::byte> dense) {
    return isNext ? executable->feed(tensor, dense) : executable->write(tensor, dense);
  };
  for (std::size_t i = 0; i < inputs.size(); ++i)
    SYNCLINE_TRY(copy(inputs[i], batch.input(format, i)));
  return copy(target, batch.targets);
}

} // namespace syncline::run
