// ONNX → nn: reads a model and builds one training step's forward pass and loss from it.
#pragma once

#include "frontend/onnx/Inventory.h"
#include "frontend/onnx/ParameterList.h"
#include "frontend/onnx/WeightsFile.h"
#include "ir/nn/NN.h"

#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace syncline::frontend {

/// Which dimension of the output holds the classes of a cross-entropy.
enum class ClassesIn { automatic, second, last };

struct ImportOptions {
  /// Samples per rank; takes the place of the input's batch dimension. Without it that dimension
  /// must be fixed in the file.
  std::optional<std::int64_t> batch;
  /// Which dimension of an input is the batch, by the input's name; the first of other inputs, or
  /// a later one that the file names so.
  std::map<std::string, std::int64_t> batchDimensions;
  /// Sizes of the inputs' other symbolic dimensions, by name.
  std::map<std::string, std::int64_t> dimensions;
  nn::LossKind loss = nn::LossKind::cross_entropy;
  ClassesIn classesIn = ClassesIn::automatic; ///< automatic: as the end of the model has them
  /// Glob patterns (`*`, `?`, `[abc]`) of parameter names that are not trained.
  std::vector<std::string> freeze;
  /// The model's parameters: what is not listed is not trained. Without it the file says which
  /// they are.
  std::optional<ParameterList> parameters;
  /// false leaves Dropout nodes out; true trains with them, whatever their training_mode says.
  bool dropout = true;
  /// Whether shapes will do: parameters may lack values, and the import makes no files.
  bool shapesSuffice = false;
  /// The graph output that the loss is taken on; empty for the first.
  std::string output;
};

struct ImportedModel {
  /// One nn.step named after the file: forward, nn.output, nn.loss; no backward. Verified.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Initial values of the parameters and states that have some, at the step's offsets.
  WeightsFile weights;
  /// The model, set to inference, as a serialised ModelProto without the values of parameters and
  /// states (and without the nodes that generate such values). Followed by
  /// ModelProto{graph{initializer{...}}} records for all of them it is the trained model, because
  /// protobuf messages concatenate.
  std::string skeleton;
  /// Choices made on the user's behalf, one message each.
  std::vector<std::string> notes;
  /// What is trained of the file's tensors, and what is not.
  Inventory inventory;
  /// The graph's inputs that the step does not read.
  std::vector<std::string> unneededInputs;
};

/// Imports the ONNX model at `path`. Every failure is one message that names the file and, where
/// there is one, the node; the file's contents never crash the import. Loads the nn dialect into
/// `context`. Thread-safe for different contexts.
Result<ImportedModel> importOnnx(const std::string &path, const ImportOptions &options,
                                 mlir::MLIRContext &context);

} // namespace syncline::frontend
