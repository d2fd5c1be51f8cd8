// ONNX → nn: reads a model and builds one training step's forward pass and loss from it.
#pragma once

#include "frontend/onnx/ImportOptions.h"
#include "frontend/onnx/Inventory.h"
#include "frontend/onnx/WeightsFile.h"
#include "ir/nn/NN.h"

#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace syncline::frontend {

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
