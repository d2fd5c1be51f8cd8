// Which nodes define and read each name of a graph, and in which order nodes run.
#pragma once

#include "frontend/onnx/LossOutputs.h"
#include "frontend/onnx/ModelFile.h"

#include "llvm/ADT/StringSet.h"

#include <optional>

namespace onnx {
class NodeProto;
class TensorProto;
} // namespace onnx

namespace syncline::frontend {

/// The first results of the BatchNormalization nodes that the output needs.
struct Normalizations {
  llvm::StringSet<> frozen;     ///< of those that take their running statistics and leave them
  llvm::StringSet<> inTraining; ///< of those that the file has in training mode
};

/// A listed parameter of which the file has no tensor, because the exporter computed others of it.
struct FoldedParameter {
  std::string name;
  std::int64_t elements;
  int node; ///< the first that computes with what was made of it, by its index in the file
};

/// Refers to the model file, which must stay alive and in place.
struct GraphIndex {
  llvm::StringMap<int> producers; ///< value → node index
  llvm::StringMap<const onnx::TensorProto *> initializers;
  /// Initialisers that are not trained; true where nodes on them are computed at import.
  llvm::StringMap<bool> buffers;
  llvm::StringSet<> parameters; ///< initialisers that the exporter calls parameters
  /// The tensors that a list of parameters names, where there is one; others are not trained.
  std::optional<llvm::StringSet<>> listed;
  /// Where layers alone are planned: listed parameters that are in no tensor, and tensors that are
  /// a listed parameter once more, transposed perhaps, with that parameter's name.
  std::vector<FoldedParameter> folded;
  llvm::StringMap<std::string> copies;
  /// Those without values that the outputs need; where they need none, the first.
  std::vector<const onnx::ValueInfoProto *> inputs;
  std::vector<std::string> unneededInputs; ///< the others
  std::vector<LossOutput> outputs;         ///< the chosen ones, at least one
  std::vector<int> order;                  ///< indices of the nodes that the outputs need
  llvm::StringMap<int> uses;       ///< value → how often those nodes and the outputs read it
  std::vector<std::string> layers; ///< node index → a name no other node has
  llvm::StringSet<> nodeNames, layerNames;
  Normalizations normalizations; ///< by findBatchStatistics
};

/// Checks that every name is defined once, that every name read is defined and that nodes form no
/// cycle. Nodes may stand in any order in the file; `order` keeps the file's where it can be kept.
/// findLossOutputs() reads `on`. Messages do not name the file.
Result<GraphIndex> indexGraph(const ModelFile &file, const LossOn &on);

/// Indexes nodes that were appended to the graph; the order stays as it is.
void indexCopies(const onnx::GraphProto &graph, GraphIndex &index);

/// "node '/conv1/Conv' (Conv)"; a node without a name is called by its first result.
std::string describeNode(const onnx::NodeProto &node);

} // namespace syncline::frontend
