// Descends into graphs, nodes and attributes.
#include "frontend/onnx/TensorWalk.h"

#include "onnx/onnx_pb.h"

using namespace syncline;

namespace {

class Walk {
public:
  explicit Walk(llvm::function_ref<void(onnx::TensorProto &)> visit) : visit(visit) {}

  void enter(onnx::GraphProto &graph) {
    for (onnx::TensorProto &tensor : *graph.mutable_initializer())
      visit(tensor);
    enter(*graph.mutable_node());
  }

  void enter(google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes) {
    for (onnx::NodeProto &node : nodes)
      for (onnx::AttributeProto &attribute : *node.mutable_attribute())
        enter(attribute);
  }

private:
  void enter(onnx::AttributeProto &attribute) {
    if (attribute.has_t())
      visit(*attribute.mutable_t());
    for (onnx::TensorProto &tensor : *attribute.mutable_tensors())
      visit(tensor);
    if (attribute.has_g())
      enter(*attribute.mutable_g());
    for (onnx::GraphProto &graph : *attribute.mutable_graphs())
      enter(graph);
  }

  llvm::function_ref<void(onnx::TensorProto &)> visit;
};

} // namespace

void frontend::forEachTensor(onnx::ModelProto &model,
                             llvm::function_ref<void(onnx::TensorProto &)> visit) {
  Walk walk(visit);
  walk.enter(*model.mutable_graph());
  for (onnx::FunctionProto &function : *model.mutable_functions())
    walk.enter(*function.mutable_node());
}
