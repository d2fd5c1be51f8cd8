// Walks bodies and those within them.
#include "frontend/onnx/Subgraphs.h"

#include "llvm/ADT/STLExtras.h"

#include "onnx/onnx_pb.h"

using namespace syncline;
using namespace syncline::frontend;

void frontend::forEachSubgraph(onnx::NodeProto &node,
                               llvm::function_ref<void(onnx::GraphProto &)> visit) {
  for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
    if (attribute.has_g())
      visit(*attribute.mutable_g());
    for (onnx::GraphProto &body : *attribute.mutable_graphs())
      visit(body);
  }
}

void frontend::forEachDefinition(const onnx::GraphProto &body,
                                 llvm::function_ref<void(const std::string &)> visit) {
  for (const onnx::ValueInfoProto &input : body.input())
    visit(input.name());
  for (const onnx::TensorProto &tensor : body.initializer())
    visit(tensor.name());
  for (const onnx::NodeProto &node : body.node())
    for (const std::string &name : node.output())
      visit(name);
}

void frontend::forEachFreeRead(onnx::GraphProto &body, const llvm::StringSet<> &outer,
                               llvm::function_ref<void(std::string &)> visit) {
  llvm::StringSet<> own = outer;
  forEachDefinition(body, [&](const std::string &name) { own.insert(name); });
  const auto read = [&](std::string &name) {
    if (!name.empty() && !own.contains(name))
      visit(name);
  };
  for (onnx::NodeProto &node : *body.mutable_node()) {
    for (std::string &name : *node.mutable_input())
      read(name);
    forEachSubgraph(node, [&](onnx::GraphProto &inner) { forEachFreeRead(inner, own, visit); });
  }
  for (onnx::ValueInfoProto &output : *body.mutable_output())
    read(*output.mutable_name());
}

void frontend::forEachCapture(const onnx::NodeProto &node,
                              llvm::function_ref<void(const std::string &)> visit) {
  const bool hasBody = llvm::any_of(node.attribute(), [](const onnx::AttributeProto &attribute) {
    return attribute.has_g() || attribute.graphs_size() > 0;
  });
  if (!hasBody)
    return;
  // Nothing is replaced, so that the node stays as it is.
  forEachSubgraph(const_cast<onnx::NodeProto &>(node), [&](onnx::GraphProto &body) {
    forEachFreeRead(body, {}, [&](std::string &name) { visit(name); });
  });
}
