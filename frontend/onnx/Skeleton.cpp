// Takes a model apart into skeleton and values.
#include "frontend/onnx/Skeleton.h"

#include "frontend/onnx/BatchStatistics.h"
#include "frontend/onnx/InlineValues.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

#include "onnx/onnx_pb.h"

#include <limits>

using namespace syncline;
using namespace syncline::frontend;

/// Sets the nodes that compute otherwise in training to inference, which is the default of both
/// operators: BatchNormalization has one result then, and Dropout no third operand. That operand's
/// constant may stay behind, unused.
static void setInference(onnx::GraphProto &graph) {
  for (onnx::NodeProto &node : *graph.mutable_node()) {
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
  setInference(graph);
  recordTrainingMode(*file.model, index);
  SYNCLINE_TRY(inlineValues(*file.model, file.folders));
  if (removed && file.model->ir_version() < 4) // before, initialisers had to be inputs as well
    file.model->set_ir_version(4);
  if (file.model->ByteSizeLong() > std::numeric_limits<std::int32_t>::max())
    return Status::badInput("tensors that are not trained exceed the 2 GiB of an ONNX file");
  return file.model->SerializeAsString();
}
