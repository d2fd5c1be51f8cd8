// Indexes the model as if it had its values.
#include "frontend/onnx/CheckSkeleton.h"

#include "frontend/onnx/GraphIndex.h"

#include "onnx/onnx_pb.h"

#include <algorithm>
#include <set>

using namespace syncline;
using namespace syncline::frontend;

static Status check(ModelFile &file, const PlannedNames &plan) {
  for (const auto &tensor : file.initializers)
    if (tensor->data_location() == onnx::TensorProto::EXTERNAL)
      return Status::badInput("expected the values of '" + tensor->name() + "' in this file");
  for (const auto *names : {&plan.parameters, &plan.states})
    for (const std::string &name : *names) {
      file.initializers.push_back(std::make_unique<onnx::TensorProto>());
      file.initializers.back()->set_name(name);
    }
  const LossOn on =
      plan.lossOn.empty() ? LossOn{plan.output, /*isName=*/true} : LossOn{plan.lossOn};
  SYNCLINE_TRY_GET(index, indexGraph(file, on));
  if (const std::string &first = index->outputs.front().value->name(); first != plan.output)
    return Status::badInput("expected the loss on the plan's output '" + plan.output + "', got '" +
                            first + "'");
  for (const std::string &name : plan.parameters)
    if (!index->uses.count(name))
      return Status::badInput("the output '" + plan.output + "' does not need parameter '" + name +
                              "' of the plan");
  // A step may read one input twice, as integers and as numbers.
  const std::set<std::string> inputs(plan.inputs.begin(), plan.inputs.end());
  std::vector<std::string> needed, all = index->unneededInputs,
                                   planned(inputs.begin(), inputs.end());
  for (const onnx::ValueInfoProto *input : index->inputs)
    needed.push_back(input->name());
  for (const std::string &name : plan.inputs)
    if (!std::ranges::count(needed, name))
      return Status::badInput("the output '" + plan.output + "' does not need input '" + name +
                              "' of the plan");
  all.insert(all.end(), needed.begin(), needed.end());
  planned.insert(planned.end(), plan.unneeded.begin(), plan.unneeded.end());
  std::ranges::sort(all);
  std::ranges::sort(planned);
  return all == planned ? Status::ok()
                        : Status::badInput("its inputs differ from the plan's, read or unneeded");
}

Status frontend::checkSkeleton(const std::string &path, const PlannedNames &plan) {
  SYNCLINE_TRY_GET(file, readModelFile(path));
  const Status checked = check(*file, plan);
  return checked ? checked : Status::error(checked.kind(), "'" + path + "': " + checked.message());
}
