// What a caller asks of an import.
#pragma once

#include "frontend/onnx/ParameterList.h"
#include "ir/nn/NN.h"
#include "syncline/TrainedLoss.h"

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
  TrainedLoss loss;
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
  /// Whether the step is for `--backend cuda`, which lacks some operators.
  bool onCuda = false;
  /// The graph outputs that the loss is taken on, as findLossOutputs() reads them.
  std::string output;
};

} // namespace syncline::frontend
