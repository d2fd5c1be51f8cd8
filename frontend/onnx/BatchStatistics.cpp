// Compares the modes of a file's normalizations, and what is frozen of them.
#include "frontend/onnx/BatchStatistics.h"

#include "frontend/onnx/TorchMarks.h"
#include "syncline/JsonDepth.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

#include "onnx/onnx_pb.h"

#include <algorithm>

using namespace syncline;
using namespace syncline::frontend;

/// The entry of a saved model's metadata that lists the first results of nodes in training mode.
static constexpr const char *trainingModeKey = "syncline.training_mode";

/// The names that the metadata lists.
static Result<llvm::StringSet<>> recordedNames(const onnx::ModelProto &model) {
  llvm::StringSet<> names;
  for (const onnx::StringStringEntryProto &entry : model.metadata_props()) {
    if (entry.key() != trainingModeKey)
      continue;
    const std::string place = "metadata '" + std::string(trainingModeKey) + "'";
    SYNCLINE_TRY(checkJsonDepth(entry.value(), place, 1));
    llvm::Expected<llvm::json::Value> list = llvm::json::parse(entry.value());
    const llvm::json::Array *array = list ? list->getAsArray() : nullptr;
    if (!list)
      llvm::consumeError(list.takeError());
    if (!array || !llvm::all_of(*array, [](const auto &name) { return name.getAsString(); }))
      return Status::badInput(place + ": expected a list of names in JSON");
    for (const llvm::json::Value &name : *array)
      names.insert(*name.getAsString());
  }
  return names;
}

/// Whether the node itself is in training mode: by its attribute, and before opset 14 by its
/// further results. PyTorch's exporter with dynamo=True writes inference into the attribute of any
/// node, and the true mode into the call.
static bool isInTraining(const onnx::NodeProto &node, std::int64_t opset) {
  if (callOf(node).trainsBatchNormalization())
    return true;
  if (opset < 14)
    return std::any_of(node.output().begin() + 1, node.output().end(),
                       [](const std::string &name) { return !name.empty(); });
  return std::ranges::any_of(node.attribute(), [](const onnx::AttributeProto &attribute) {
    return attribute.name() == "training_mode" && attribute.i() != 0;
  });
}

static bool isBatchNormalization(const onnx::NodeProto &node) {
  return node.op_type() == "BatchNormalization" && isDefaultDomain(node.domain()) &&
         node.input_size() >= 5 && node.output_size() > 0;
}

/// Whether other nodes compute the node's running statistics, as those of a weight that is
/// normalized: it keeps none. Files without weights have ConstantOfShape nodes as statistics.
static bool hasComputedStatistics(const onnx::NodeProto &node, const ModelFile &file,
                                  const GraphIndex &index) {
  const auto producer = index.producers.find(node.input(3));
  if (producer == index.producers.end())
    return false;
  const std::string &op = file.model->graph().node(producer->second).op_type();
  return op != "Identity" && op != "Constant" && op != "ConstantOfShape";
}

/// Whether freeze patterns match the node's running statistics.
static Result<bool> isFrozen(const onnx::NodeProto &node, StoredTensors &stored) {
  const bool mean = stored.isFrozen(node.input(3)), variance = stored.isFrozen(node.input(4));
  if (mean == variance)
    return mean;
  return Status::badInput(describeNode(node) + ": --freeze names its running statistic '" +
                          node.input(mean ? 3 : 4) + "' and not '" + node.input(mean ? 4 : 3) +
                          "'; expected both or neither");
}

/// Names that were changed since would put their nodes into another mode.
static Status checkComputed(llvm::StringSet<> recorded, const onnx::GraphProto &graph) {
  for (const onnx::NodeProto &node : graph.node())
    if (isBatchNormalization(node))
      recorded.erase(node.output(0));
  if (recorded.empty())
    return Status::ok();
  return Status::badInput("metadata '" + std::string(trainingModeKey) + "': expected results of " +
                          "BatchNormalization nodes, got '" + recorded.begin()->getKey().str() +
                          "'");
}

Status frontend::findBatchStatistics(const ModelFile &file, GraphIndex &index,
                                     StoredTensors &stored, Notes &notes) {
  SYNCLINE_TRY_GET(recorded, recordedNames(*file.model));
  SYNCLINE_TRY(checkComputed(*recorded, file.model->graph()));
  std::vector<int> nodes;
  auto &[frozen, inTraining] = index.normalizations;
  for (int i : index.order) {
    const onnx::NodeProto &node = file.model->graph().node(i);
    if (!isBatchNormalization(node) || hasComputedStatistics(node, file, index))
      continue;
    nodes.push_back(i);
    if (isInTraining(node, file.opset) || recorded->contains(node.output(0)))
      inTraining.insert(node.output(0));
  }
  const bool isMixed = !inTraining.empty() && inTraining.size() < nodes.size();
  llvm::StringMap<bool> owners; // running statistic → whether it is frozen
  for (int i : nodes) {
    const onnx::NodeProto &node = file.model->graph().node(i);
    SYNCLINE_TRY_GET(isChosen, isFrozen(node, stored));
    const bool isKept = *isChosen || (isMixed && !inTraining.contains(node.output(0)));
    if (isKept) {
      frozen.insert(node.output(0));
      notes.add(std::string("takes its running statistics, which stay as they are: ") +
                    (*isChosen ? "--freeze names them"
                               : "the file has it in inference mode, and others in training mode"),
                index.layers[i]);
    }
    for (int k : {3, 4})
      if (owners.try_emplace(node.input(k), isKept).first->second != isKept)
        return Status::badInput(describeNode(node) + ": its running statistic '" + node.input(k) +
                                "' is another normalization's too, and only one of them moves it");
  }
  if (inTraining.empty() && frozen.size() < nodes.size())
    notes.add("every BatchNormalization of this file is in inference mode; training takes the "
              "batch's statistics all the same, where --freeze does not name the running ones");
  return Status::ok();
}

void frontend::recordTrainingMode(onnx::ModelProto &model, const GraphIndex &index) {
  auto &entries = *model.mutable_metadata_props();
  for (int i = entries.size() - 1; i >= 0; --i)
    if (entries[i].key() == trainingModeKey)
      entries.DeleteSubrange(i, 1);
  llvm::json::Array names;
  bool isMixed = false;
  for (const onnx::NodeProto &node : model.graph().node()) {
    if (!isBatchNormalization(node))
      continue;
    if (index.normalizations.inTraining.contains(node.output(0)))
      names.push_back(node.output(0));
    else
      isMixed = true;
  }
  if (names.empty() || !isMixed)
    return;
  onnx::StringStringEntryProto &entry = *entries.Add();
  entry.set_key(trainingModeKey);
  llvm::raw_string_ostream(*entry.mutable_value()) << llvm::json::Value(std::move(names));
}
