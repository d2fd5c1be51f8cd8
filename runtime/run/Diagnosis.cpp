// Running one operation after the other and checking its results.
#include "runtime/run/Diagnosis.h"

#include "runtime/data/Array.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

namespace syncline::run {
namespace {

std::string numberText(double value) {
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

data::Array arrayOver(ElementType type, std::span<const std::byte> values) {
  data::Array array;
  array.type = type;
  array.shape = {static_cast<std::int64_t>(values.size()) / core::elementBytes(type)};
  array.data = values.data();
  return array;
}

/// "element 3 is nan" for a tensor with such an element; empty for any other tensor.
Result<std::string> badElement(core::Executable &executable, int tensor) {
  const core::StepTensor &t = executable.tensors()[tensor];
  std::vector<std::byte> values(
      static_cast<std::size_t>(core::elementCount(t.shape) * core::elementBytes(t.type)));
  SYNCLINE_TRY(executable.read(tensor, values));
  const auto at = firstNotFinite(t.type, values);
  if (!at)
    return std::string();
  return "element " + std::to_string(*at) + " is " + numberText(arrayOver(t.type, values).at(*at));
}

/// Describes a value before the step that is not finite; empty if there is none.
Result<std::string> badValue(core::Executable &executable) {
  for (int i = 0; i < static_cast<int>(executable.tensors().size()); ++i) {
    const core::StepTensor &t = executable.tensors()[i];
    if (t.space != Space::parameters && t.space != Space::state)
      continue;
    SYNCLINE_TRY_GET(found, badElement(executable, i));
    if (!found->empty())
      return (t.space == Space::parameters ? "parameter '" : "state '") + t.name + "': " + *found;
  }
  return std::string();
}

std::string nameOf(const core::OperationInfo &op) {
  return "operation " + op.name + (op.layer.empty() ? "" : " of layer '" + op.layer + "'") + ", " +
         op.phase;
}

/// Whether all values of this step that the operation reads were computed again.
bool isReady(const core::Executable &executable, const core::OperationInfo &op,
             const std::set<int> &written) {
  return std::ranges::all_of(op.operands, [&](int tensor) {
    const Space space = executable.tensors()[tensor].space;
    return (space != Space::arena && space != Space::gradients) || written.contains(tensor);
  });
}

std::string textOf(const NotFinite &found) {
  return std::to_string(found.step) + (found.hasLoss ? " 1 " : " 0 ") + found.cause;
}

NotFinite parseNotFinite(const std::string &text) {
  NotFinite found;
  std::istringstream in(text);
  in >> found.step >> found.hasLoss;
  in.get();
  std::getline(in, found.cause, '\0');
  return found;
}

} // namespace

std::optional<std::int64_t> firstNotFinite(ElementType type, std::span<const std::byte> values) {
  switch (type) {
  case ElementType::f32:
  case ElementType::f64:
  case ElementType::f16:
  case ElementType::bf16: {
    const data::Array array = arrayOver(type, values);
    for (std::int64_t i = 0; i < array.count(); ++i)
      if (!std::isfinite(array.at(i)))
        return i;
    return std::nullopt;
  }
  case ElementType::i64:
  case ElementType::i32:
  case ElementType::u8:
    return std::nullopt;
  }
  return std::nullopt;
}

std::string badSample(const StepSamples &samples) {
  for (const StepSamples::Input &input : samples.inputs) {
    const auto at = firstNotFinite(input.type, input.values);
    if (!at)
      continue;
    const std::int64_t perSample = core::elementCount(input.shape) / input.shape[0];
    const std::int64_t sample = *at / perSample;
    const std::string name = samples.names.empty()
                                 ? "sample " + std::to_string(sample)
                                 : samples.names[static_cast<std::size_t>(sample)];
    return "element " + std::to_string(*at % perSample) + " of " +
           (samples.inputs.size() > 1 ? "input '" + input.name + "' of " : "") + name + " is " +
           numberText(arrayOver(input.type, input.values).at(*at));
  }
  return "";
}

Result<std::string> findNotFinite(core::Executable &executable, std::int64_t number,
                                  const StepSamples &samples) {
  if (std::string found = badSample(samples); !found.empty())
    return found;
  auto value = badValue(executable);
  if (!value || !value->empty())
    return value;
  executable.beginStep(number);
  std::set<int> written;
  for (int i = 0; i < static_cast<int>(executable.operations().size()); ++i) {
    const core::OperationInfo &op = executable.operations()[i];
    if (op.kind != core::OperationKind::compute || !isReady(executable, op, written))
      continue;
    SYNCLINE_TRY(executable.run(i));
    SYNCLINE_TRY(executable.synchronize());
    for (int result : op.results) {
      written.insert(result);
      SYNCLINE_TRY_GET(found, badElement(executable, result));
      if (!found->empty())
        return nameOf(op) + ", makes it of finite values: " + *found + " in its result";
    }
  }
  return std::string();
}

Status notFiniteError(transport::Group *group, const NotFinite &own, double seconds) {
  std::vector<NotFinite> found{own};
  if (group) {
    group->enter("after a step that was not finite");
    SYNCLINE_TRY_GET(
        all, group->gather("cause", textOf(own), seconds, transport::Participants::workers));
    found.clear();
    std::ranges::transform(*all, std::back_inserter(found), parseNotFinite);
  }
  const auto first = std::ranges::min_element(
      found, {}, [](const NotFinite &f) { return std::pair(f.step, f.cause.empty()); });
  const auto rank = (group ? 0 : own.rank) + (first - found.begin());
  const std::string why =
      first->cause.empty() ? "all that a rank computes by itself is finite: gradients, their sum "
                             "or the learning rate are too large"
                           : "rank " + std::to_string(rank) + ": " + first->cause;
  return Status::badInput("step " + std::to_string(first->step) + ": the " +
                          (first->hasLoss ? "update of the parameters" : "loss") +
                          " is not finite; " + why + "; '--allow-nonfinite' goes on all the same");
}

} // namespace syncline::run
