// The parameters and states of the step that is being imported.
#pragma once

#include "frontend/onnx/WeightsFile.h"
#include "ir/nn/NN.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/GlobPattern.h"

namespace syncline::frontend {

/// Where a stored tensor's first values come from: the file, or a rule.
struct StoredSource {
  TensorData data;   ///< values from the file; without `proto` only type and dims count
  nn::InitAttr init; ///< the rule; null when there are values
  bool isTrainable = true;
};

/// Makes nn.parameter and nn.state operations at the step's head, in order of first use.
class StoredTensors {
public:
  /// `block` holds the step's operations, the first of which is nn.input.
  StoredTensors(mlir::Block &block, mlir::MLIRContext *context) : block(block), context(context) {}

  /// Names that match one of `patterns` are not trained.
  Status freeze(const std::vector<std::string> &patterns);

  /// Whether a pattern matches the name.
  bool isFrozen(const std::string &name);

  /// Fails when a pattern has matched nothing so far.
  Status checkFrozen() const;

  /// The tensor to compute with; a parameter unless frozen or not trainable.
  mlir::Value get(const std::string &name, const StoredSource &source);
  /// The tensor as a running statistic, never trained; null when it is already a parameter.
  mlir::Value getState(const std::string &name, const StoredSource &source);

  /// Erases tensors nothing uses, gives the others offsets in `weights` and returns their names.
  /// Fails when nothing is left to train or a freeze pattern has matched nothing.
  Result<std::vector<std::string>> finish(WeightsFile &weights);

private:
  std::string leftByPatterns() const;
  template <typename Op> mlir::Value make(const std::string &name, const StoredSource &source);

  struct Pattern {
    std::string text;
    llvm::GlobPattern glob;
    bool matched = false;
  };

  mlir::Block &block;
  mlir::MLIRContext *context;
  mlir::Operation *last = nullptr; ///< the newest stored tensor
  std::vector<Pattern> patterns;
  llvm::StringMap<mlir::Value> made;
  llvm::StringMap<StoredSource> sources;
};

} // namespace syncline::frontend
