// Reading samples, and writing them to the step's input and target.
#include "runtime/run/Batch.h"

namespace syncline::run {

static std::size_t bytesOf(const Shape &shape, ElementType type) {
  return static_cast<std::size_t>(core::elementCount(shape) * core::elementBytes(type));
}

Batch::Batch(const Plan &plan, core::Executable &executable, const SampleSource &source)
    : source(source), format(plan.sampleFormat()), shape(plan.input.shape),
      x(bytesOf(plan.input.shape, plan.input.type)),
      y(bytesOf(plan.target.shape, plan.target.type)), executable(&executable),
      input(executable.find(Space::input, plan.input.name)),
      target(executable.find(Space::target, plan.target.name)) {}

void Batch::read(std::int64_t number) {
  if (source.data) {
    if (number < source.steps)
      source.data->read(source.sampler->indices(number), x.data(), y.data());
  } else if (number == 0) {
    data::fillSynthetic(format, source.seed, source.rank, x.data(), y.data());
  } else if (source.isMeasured) {
    copiedX = x;
    copiedY = y;
  }
}

Result<StepSamples> Batch::describe(std::int64_t number) {
  StepSamples samples{format.inputType, shape, x, "", {}};
  if (source.data) {
    read(number);
    samples.indices = source.sampler->indices(number);
    samples.file = source.file;
  }
  if (Status s = write(); !s)
    return s;
  return samples;
}

Status Batch::write() {
  Status s = executable->write(input, x);
  return s ? executable->write(target, y) : s;
}

} // namespace syncline::run
