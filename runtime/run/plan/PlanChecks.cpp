// Comparing the tensors and buckets of plan.json with those of step.so.
#include "runtime/run/plan/PlanChecks.h"

#include "runtime/core/Labels.h"
#include "runtime/run/weights/CarriedBuckets.h"
#include "syncline/RowsPart.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace syncline::run {

using core::Executable;

namespace {

Status differ(const Plan &plan, const std::string &what) {
  return Status::badInput("'" + plan.folder + "': plan.json and step.so differ in " + what);
}

Status checkTensor(const Plan &plan, const Executable &executable, Space space,
                   const NamedTensor &tensor) {
  const int index = executable.find(space, tensor.name);
  if (index < 0)
    return Status::badInput("'" + plan.file("step.so") + "' has no tensor '" + tensor.name + "'");
  const core::StepTensor &declared = executable.tensors()[index];
  if (declared.shape != tensor.shape || declared.type != tensor.type)
    return differ(plan, "tensor '" + tensor.name + "'");
  return Status::ok();
}

Status checkTensors(const Plan &plan, const Executable &executable) {
  for (const PlanInput &input : plan.inputs)
    SYNCLINE_TRY(checkTensor(plan, executable, Space::input, input));
  if (plan.target)
    SYNCLINE_TRY(checkTensor(plan, executable, Space::target, *plan.target));
  if (plan.output)
    SYNCLINE_TRY(checkTensor(plan, executable, Space::arena, *plan.output));
  for (const PlanTensor &t : plan.tensors) {
    const bool isParameter = t.kind == PlanTensor::Kind::parameter;
    const Space space = isParameter ? Space::parameters : Space::state;
    if (!isParameter && executable.find(space, t.name) < 0)
      continue;
    SYNCLINE_TRY(checkTensor(plan, executable, space, {t.name, t.type, t.shape}));
  }
  return Status::ok();
}

/// Whether the gradients that lie in the bucket's interval in step.so, wholly or in part, are
/// exactly the plan's members and have the members' type.
bool hasMembers(const PlanBucket &bucket, const core::Bucket &declared,
                const Executable &executable) {
  std::multiset<std::string> members(bucket.members.begin(), bucket.members.end()), found;
  std::erase_if(members, [](const std::string &name) { return isRowsPart(name); });
  for (const core::StepTensor &t : executable.tensors()) {
    if (t.space != Space::gradients || t.offset + t.reserved <= declared.offset ||
        t.offset >= declared.offset + declared.extent)
      continue;
    if (t.type != bucket.type)
      return false;
    found.insert(t.name);
  }
  return members == found;
}

/// Whether step.so hands over a second half of the bucket.
bool isHalved(const PlanBucket &bucket, const Executable &executable) {
  return std::ranges::any_of(executable.operations(), [&](const core::OperationInfo &operation) {
    return operation.kind == core::OperationKind::allGather && operation.bucket == bucket.id;
  });
}

Status checkBuckets(const Plan &plan, const Executable &executable) {
  std::map<int, const core::Bucket *> declared;
  for (const core::Bucket &b : executable.buckets())
    declared[b.id] = &b;
  for (const PlanBucket &b : plan.buckets) {
    const std::string what = "bucket " + std::to_string(b.id);
    auto found = declared.find(b.id);
    if (found == declared.end())
      return differ(plan, what + ", which step.so does not have or plan.json has twice");
    const core::Bucket &other = *found->second;
    if (other.channel != b.channel || other.scheme != b.scheme || other.extent != b.extent ||
        !hasMembers(b, other, executable) || b.allGather.has_value() != isHalved(b, executable))
      return differ(plan, what);
    declared.erase(found);
  }
  if (!declared.empty())
    return differ(plan, "bucket " + std::to_string(declared.begin()->first) +
                            ", which plan.json does not have");
  return Status::ok();
}

/// Checks the issue order of served buckets. In each channel servers sum in plan.json's order, and
/// workers issue in the order of step.so.
Status checkOrder(const Plan &plan, const Executable &executable) {
  std::map<int, std::vector<int>> expected, issued; ///< ids, by channel
  std::map<int, int> channels;                      ///< of served buckets, by bucket id
  for (const PlanBucket &b : plan.buckets)
    if (b.scheme == Scheme::parameterServer) {
      expected[b.channel].push_back(b.id);
      channels[b.id] = b.channel;
    }
  for (const core::OperationInfo &op : executable.operations())
    if (op.kind == core::OperationKind::issue && channels.contains(op.bucket))
      issued[channels[op.bucket]].push_back(op.bucket);
  for (const auto &[channel, ids] : expected) {
    const auto [want, have] =
        std::mismatch(ids.begin(), ids.end(), issued[channel].begin(), issued[channel].end());
    if (want != ids.end() || have != issued[channel].end())
      return differ(plan, "when bucket " + std::to_string(want != ids.end() ? *want : *have) +
                              " is issued");
  }
  return Status::ok();
}

} // namespace

Status checkSamples(const Plan &plan) {
  auto bad = [&](const NamedTensor &tensor, const std::string &expected) {
    return Status::badInput("'" + plan.file("plan.json") + "': tensor '" + tensor.name +
                            "': expected " + expected + ", got shape " +
                            data::describe(tensor.shape));
  };
  std::vector<const NamedTensor *> tensors;
  if (plan.target)
    tensors.push_back(&*plan.target);
  for (const PlanInput &input : plan.inputs)
    tensors.push_back(&input);
  if (plan.output)
    tensors.push_back(&*plan.output);
  for (const NamedTensor *tensor : tensors)
    if (tensor->shape.empty() || tensor->shape[0] != plan.batch)
      return bad(*tensor, "the batch, " + std::to_string(plan.batch) + ", as first dimension");
  if (!plan.output || !plan.target)
    return Status::ok();
  const NamedTensor &output = *plan.output;
  std::int64_t classes = 1;
  if (plan.loss.kind == LossKind::crossEntropy) {
    const bool hasLabels = plan.loss.hasClassTargets();
    if (output.shape.size() > 1)
      classes = output.shape[hasLabels ? core::classAxis(output.shape, plan.target->shape) : 1];
    if (output.shape.size() < 2 || classes < 1)
      return bad(output, "classes as second or last dimension");
    if (!plan.loss.classWeights.empty() && !std::cmp_equal(plan.loss.classWeights.size(), classes))
      return bad(output,
                 "classes for " + std::to_string(plan.loss.classWeights.size()) + " weights");
    classes = hasLabels ? classes : 1;
  }
  if (core::elementCount(output.shape) != core::elementCount(plan.target->shape) * classes)
    return bad(*plan.target, "a target for every prediction of '" + output.name + "', shape " +
                                 data::describe(output.shape));
  return Status::ok();
}

Status checkStep(const Plan &plan, const Executable &executable) {
  SYNCLINE_TRY(checkTensors(plan, executable));
  SYNCLINE_TRY(checkBuckets(plan, executable));
  if (CarriedBuckets(executable.operations()).any() && !plan.overlapsSteps)
    return differ(plan, "'overlap': step.so waits for messages of the step before");
  return checkOrder(plan, executable);
}

} // namespace syncline::run
