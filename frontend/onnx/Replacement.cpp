// Builds nodes as an exporter would write them.
#include "frontend/onnx/Replacement.h"
#include "frontend/onnx/ElementType.h"

#include "onnx/onnx_pb.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

LogicalResult Replacement::copy(const onnx::GraphProto &body, const std::string &scope,
                                Inliner::Names &names) {
  for (const onnx::TensorProto &tensor : body.initializer())
    if (isFloatElement(tensor.data_type()) && tensor.dims_size() > 0 && !names.count(tensor.name()))
      node.state.notes.add("not trained, since it is an initialiser of a branch or a loop",
                           tensor.name());
  Result<std::vector<int>> places = inliner.copy(body, scope, names);
  if (!places)
    return node.error(places.status().message());
  list.insert(list.end(), places->begin(), places->end());
  return success();
}

LogicalResult Replacement::append(onnx::NodeProto proto) {
  Result<int> place = inliner.append(std::move(proto));
  if (!place)
    return node.error(place.status().message());
  list.push_back(*place);
  return success();
}

LogicalResult Replacement::alias(const std::string &from, const std::string &to) {
  onnx::NodeProto identity;
  identity.set_op_type("Identity");
  identity.add_input(from);
  identity.add_output(to);
  return append(std::move(identity));
}

FailureOr<std::string> Replacement::constant(nn::DimsRef values, bool isList, int type) {
  onnx::NodeProto proto;
  proto.set_op_type("Constant");
  proto.set_name(fresh("Constant"));
  onnx::AttributeProto &value = *proto.add_attribute();
  value.set_name("value");
  value.set_type(onnx::AttributeProto::TENSOR);
  value.mutable_t()->set_data_type(type);
  if (isList)
    value.mutable_t()->add_dims(static_cast<std::int64_t>(values.size()));
  for (const std::int64_t number : values)
    if (type == onnx::TensorProto::BOOL)
      value.mutable_t()->add_int32_data(static_cast<std::int32_t>(number));
    else
      value.mutable_t()->add_int64_data(number);
  std::string name = fresh("constant");
  proto.add_output(name);
  if (failed(append(std::move(proto))))
    return failure();
  return name;
}

FailureOr<std::string> Replacement::unsqueezed(const std::string &value, std::int64_t axis) {
  onnx::NodeProto unsqueeze;
  unsqueeze.set_op_type("Unsqueeze");
  unsqueeze.set_name(fresh("Unsqueeze"));
  unsqueeze.add_input(value);
  if (node.opset() < 13) {
    onnx::AttributeProto &axes = *unsqueeze.add_attribute();
    axes.set_name("axes");
    axes.set_type(onnx::AttributeProto::INTS);
    axes.add_ints(axis);
  } else {
    FailureOr<std::string> axes = constant({axis}, true, onnx::TensorProto::INT64);
    if (failed(axes))
      return failure();
    unsqueeze.add_input(*axes);
  }
  std::string name = fresh("element");
  unsqueeze.add_output(name);
  if (failed(append(std::move(unsqueeze))))
    return failure();
  return name;
}

std::string Replacement::fresh(llvm::StringRef what) {
  return inliner.freshName(node.layerName() + "/" + what.str());
}

LogicalResult Replacement::finish() {
  indexCopies(node.state.file.model->graph(), node.state.index);
  node.state.replacement = std::move(list);
  return success();
}
