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

Batch::Batch(const std::vector<LengthStep> &steps, const SampleSource &from) : source(from) {
  for (const auto &[plan, executable] : steps)
    places.push_back({plan->sampleFormat(), executable, inputsOf(*plan, *executable),
                      plan->target ? executable->find(Space::target, plan->target->name) : -1});
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
}

/// Synthetic samples have all lengths in turn.
std::size_t Batch::syntheticLength(std::int64_t number) const {
  return static_cast<std::size_t>(number / source.microBatches) % places.size();
}

Result<std::optional<double>> Batch::write(std::int64_t number) {
  if (ahead) {
    const auto start = core::Clock::now();
    SYNCLINE_TRY(ahead->take(number, batch));
    const double waited = core::secondsSince(start);
    written = batch.length;
    SYNCLINE_TRY(copyToStep(places[written], /*isNext=*/true));
    return std::optional(waited);
  }
  written = syntheticLength(number);
  Place &place = places[written];
  if (place.isFilled && !source.isMeasured)
    return std::optional<double>();
  if (!place.isFilled)
    data::fillSynthetic(place.format, source.seed, source.rank, batch);
  place.isFilled = true;
  SYNCLINE_TRY(copyToStep(place, /*isNext=*/true));
  return std::optional<double>();
}

void Batch::imitateReading() {
  if (source.isMeasured && !ahead)
    copied = batch;
}

Result<StepSamples> Batch::describe(std::int64_t number) {
  written = syntheticLength(number);
  StepSamples samples;
  if (source.data) {
    const data::Samples own = chosen(source, number);
    written = own.length;
    SYNCLINE_TRY(source.data->read(own, batch));
    for (const std::int64_t sample : own.indices)
      samples.names.push_back(source.data->nameOf(sample));
  } else {
    data::fillSynthetic(places[written].format, source.seed, source.rank, batch);
  }
  const Place &place = places[written];
  for (std::size_t i = 0; i < place.inputs.size(); ++i) {
    const data::InputFormat &input = place.format.inputs[i];
    samples.inputs.push_back({input.name, input.type, input.shape, batch.input(place.format, i)});
  }
  SYNCLINE_TRY(copyToStep(place, /*isNext=*/false));
  return samples;
}

/// A step that runs may still need what the next one's samples replace.
Status Batch::copyToStep(const Place &place, bool isNext) {
  const auto copy = [&](int tensor, std::span<const std::byte> dense) {
    return isNext ? place.executable->feed(tensor, dense) : place.executable->write(tensor, dense);
  };
  for (std::size_t i = 0; i < place.inputs.size(); ++i)
    SYNCLINE_TRY(copy(place.inputs[i], batch.input(place.format, i)));
  return place.target < 0 ? Status::ok() : copy(place.target, batch.targets);
}

} // namespace syncline::run
