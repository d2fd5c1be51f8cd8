// Reads external values, and drops those that nothing reads.
#include "frontend/onnx/InlineValues.h"

#include "frontend/onnx/TensorData.h"
#include "frontend/onnx/TensorWalk.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

#include "onnx/onnx_pb.h"

using namespace syncline;
using namespace syncline::frontend;

namespace {

bool isExternal(const onnx::TensorProto &tensor) {
  return tensor.data_location() == onnx::TensorProto::EXTERNAL;
}

/// Adds what the graph reads by name, in subgraphs too.
void findReads(const onnx::GraphProto &graph, llvm::StringSet<> &reads) {
  for (const onnx::ValueInfoProto &output : graph.output())
    reads.insert(output.name());
  for (const onnx::NodeProto &node : graph.node()) {
    for (const std::string &name : node.input())
      reads.insert(name);
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      if (attribute.has_g())
        findReads(attribute.g(), reads);
      for (const onnx::GraphProto &body : attribute.graphs())
        findReads(body, reads);
    }
  }
}

/// Leaves out external initialisers that nothing reads, and the inputs that old files have of them.
void dropUnread(onnx::GraphProto &graph) {
  llvm::StringSet<> reads, dropped;
  findReads(graph, reads);
  auto &tensors = *graph.mutable_initializer();
  tensors.erase(llvm::remove_if(tensors,
                                [&](const onnx::TensorProto &tensor) {
                                  if (!isExternal(tensor) || reads.contains(tensor.name()))
                                    return false;
                                  dropped.insert(tensor.name());
                                  return true;
                                }),
                tensors.end());
  auto &inputs = *graph.mutable_input();
  inputs.erase(llvm::remove_if(inputs, [&](const auto &x) { return dropped.contains(x.name()); }),
               inputs.end());
}

} // namespace

Status frontend::inlineValues(onnx::ModelProto &model, const DataFolders &folders) {
  dropUnread(*model.mutable_graph());
  Status status = Status::ok(); // of the first tensor that cannot be read
  forEachTensor(model, [&](onnx::TensorProto &tensor) {
    if (!status || !isExternal(tensor))
      return;
    Result<TensorData> data = checkTensor(tensor, folders);
    std::string values;
    status =
        data ? streamTensor(*data, [&](llvm::StringRef bytes) { values += bytes; }) : data.status();
    tensor.set_raw_data(std::move(values));
    tensor.clear_external_data();
    tensor.clear_data_location();
  });
  return status;
}
