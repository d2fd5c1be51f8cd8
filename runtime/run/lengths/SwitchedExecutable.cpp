// What concerns more than one of the executables.
#include "runtime/run/lengths/SwitchedExecutable.h"

namespace syncline::run {

SwitchedExecutable::SwitchedExecutable(std::vector<core::Executable *> executables,
                                       std::vector<std::string> changed)
    : all(std::move(executables)), states(std::move(changed)), number(all.size() - 1) {
  const auto operations = own().operations();
  for (std::size_t i = 0; i < operations.size(); ++i)
    if (operations[i].kind == core::OperationKind::update)
      updates[operations[i].bucket] = static_cast<int>(i);
}

Status SwitchedExecutable::choose(std::size_t next) {
  std::vector<std::byte> values;
  for (const std::string &name : states) {
    if (next == number)
      break;
    const int from = present().find(Space::state, name), to = all[next]->find(Space::state, name);
    if (from < 0 || to < 0) // no operation of a step uses it
      continue;
    const core::StepTensor &tensor = present().tensors()[static_cast<std::size_t>(from)];
    values.resize(static_cast<std::size_t>(core::elementCount(tensor.shape) *
                                           core::elementBytes(tensor.type)));
    SYNCLINE_TRY(present().read(from, values));
    SYNCLINE_TRY(all[next]->write(to, values));
  }
  number = next;
  return Status::ok();
}

std::int64_t SwitchedExecutable::extraBytes() const {
  std::int64_t bytes = 0;
  for (const core::Executable *one : all)
    bytes += one->extraBytes();
  return bytes;
}

void SwitchedExecutable::beginStep(std::int64_t step) {
  own().beginStep(step); // whose updates count steps, and which forgets sums of squares
  if (&present() != &own())
    present().beginStep(step);
}

Status SwitchedExecutable::run(int operation) {
  const core::OperationInfo &info = present().operations()[static_cast<std::size_t>(operation)];
  return info.kind == core::OperationKind::update ? own().run(updates.at(info.bucket))
                                                  : present().run(operation);
}

Status SwitchedExecutable::setLossScale(double scale) {
  for (core::Executable *one : all)
    SYNCLINE_TRY(one->setLossScale(scale));
  return Status::ok();
}

Status SwitchedExecutable::weighLoss(double weight) {
  for (core::Executable *one : all)
    SYNCLINE_TRY(one->weighLoss(weight));
  return Status::ok();
}

void SwitchedExecutable::setEvaluation(bool evaluates) {
  for (core::Executable *one : all)
    one->setEvaluation(evaluates);
}

std::string SwitchedExecutable::layoutFingerprint() const {
  std::string text;
  for (const core::Executable *one : all)
    text += one->layoutFingerprint();
  return text;
}

} // namespace syncline::run
