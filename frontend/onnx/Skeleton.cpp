// Takes a model apart into skeleton and values.
#include "frontend/onnx/Skeleton.h"

#include "frontend/onnx/BatchStatistics.h"
#include "frontend/onnx/ExternalData.h"
#include "frontend/onnx/TensorData.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

#include "onnx/onnx_pb.h"

#include <limits>

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

/// Replaces references to external data, which name files in `folders`, by the values: those of
/// initialisers and of attributes, in subgraphs and functions too. Initialisers of the main graph
/// that are external and that nothing reads are left out. badInput names a tensor whose values
/// cannot be read.
Status inlineValues(onnx::ModelProto &model, const DataFolders &folders) {
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

} // namespace

/// Sets the nodes that compute otherwise in training to inference, which is the default of both
/// operators: BatchNormalization has one result then, and Dropout no third operand. That operand's
/// constant may stay behind, unused.
static void setInference(google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes) {
  for (onnx::NodeProto &node : nodes) {
    for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
      if (attribute.has_g())
        setInference(*attribute.mutable_g()->mutable_node());
      for (onnx::GraphProto &body : *attribute.mutable_graphs())
        setInference(*body.mutable_node());
    }
    if (node.op_type() == "Dropout" && node.input_size() > 2)
      node.mutable_input()->DeleteSubrange(2, node.input_size() - 2);
    if (node.op_type() != "BatchNormalization")
      continue;
    if (node.output_size() > 1)
      node.mutable_output()->DeleteSubrange(1, node.output_size() - 1);
    for (int i = node.attribute_size() - 1; i >= 0; --i)
      if (node.attribute(i).name() == "training_mode")
        node.mutable_attribute()->DeleteSubrange(i, 1);
  }
}

Result<std::string> frontend::makeSkeleton(ModelFile &file, const GraphIndex &index,
                                           const std::vector<std::string> &stored,
                                           WeightsFile &weights) {
  llvm::StringSet<> names;
  for (const std::string &name : stored)
    names.insert(name);
  llvm::DenseSet<const onnx::TensorProto *> referred;
  for (const WeightsFile::Entry &entry : weights.entries())
    referred.insert(entry.data.proto);

  onnx::GraphProto &graph = *file.model->mutable_graph();
  for (std::unique_ptr<onnx::TensorProto> &tensor : file.initializers) {
    bool isStored = names.contains(tensor->name());
    if (!isStored && referred.contains(tensor.get())) // read under another name only
      *graph.add_initializer() = *tensor;
    else if (!isStored)
      graph.mutable_initializer()->AddAllocated(tensor.release());
    if (tensor && referred.contains(tensor.get()))
      weights.keep(std::move(tensor));
  }
  file.initializers.clear();

  graph.mutable_node()->DeleteSubrange(file.ownNodes, graph.node_size() - file.ownNodes);
  // Nodes that made stored values: generators, large Constants, Identities of merged tensors.
  google::protobuf::RepeatedPtrField<onnx::NodeProto> kept;
  for (onnx::NodeProto &node : *graph.mutable_node()) {
    if (node.output_size() == 0 || !names.contains(node.output(0))) {
      kept.Add()->Swap(&node);
      continue;
    }
    for (onnx::AttributeProto &attribute : *node.mutable_attribute())
      if (attribute.has_t() && referred.contains(&attribute.t()))
        weights.keep(std::unique_ptr<onnx::TensorProto>(attribute.release_t()));
  }
  bool removed = kept.size() < graph.node_size();
  graph.mutable_node()->Swap(&kept);
  setInference(*graph.mutable_node());
  for (onnx::FunctionProto &function : *file.model->mutable_functions())
    setInference(*function.mutable_node());
  recordTrainingMode(*file.model, index);
  SYNCLINE_TRY(inlineValues(*file.model, file.folders));
  if (removed && file.model->ir_version() < 4) // before, initialisers had to be inputs as well
    file.model->set_ir_version(4);
  if (file.model->ByteSizeLong() > std::numeric_limits<std::int32_t>::max())
    return Status::badInput("tensors that are not trained exceed the 2 GiB of an ONNX file");
  return file.model->SerializeAsString();
}
