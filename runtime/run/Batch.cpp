// Finding the step's input and target, and writing them.
#include "runtime/run/Batch.h"

namespace syncline::run {

static std::size_t bytesOf(const Shape &shape, ElementType type) {
  return static_cast<std::size_t>(core::elementCount(shape) * core::elementBytes(type));
}

Batch::Batch(const Plan &plan, core::Executable &executable)
    : x(bytesOf(plan.input.shape, plan.input.type)),
      y(bytesOf(plan.target.shape, plan.target.type)), executable(&executable),
      input(executable.find(Space::input, plan.input.name)),
      target(executable.find(Space::target, plan.target.name)) {}

Status Batch::write() {
  Status s = executable->write(input, x);
  return s ? executable->write(target, y) : s;
}

} // namespace syncline::run
