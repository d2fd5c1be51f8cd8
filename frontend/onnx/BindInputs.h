// The graph's inputs as a step sees them: the batch and every other dimension fixed.
#pragma once

#include "frontend/onnx/GraphIndex.h"
#include "frontend/onnx/ImportOptions.h"
#include "frontend/onnx/Notes.h"

namespace syncline::frontend {

struct BoundInputs {
  llvm::SmallVector<mlir::RankedTensorType> types; ///< of GraphIndex::inputs, as in the file
  llvm::SmallVector<std::int64_t> batchDimensions; ///< of each of these
  std::int64_t batch = 0;
  std::optional<std::int64_t> exportedBatch;      ///< of the first, in the file
  std::map<std::string, std::int64_t> dimensions; ///< symbolic ones, with their sizes
};

/// Binds the batch dimension of the first input to `options.batch`, and with it dimensions of the
/// same name and, in other inputs, a batch dimension that is as large in the file or has another
/// name; then the names in `options.dimensions`. Notes which fixed dimensions it replaces. badInput
/// for a dimension that stays open, an input that is no tensor of a supported type, a name that no
/// dimension has, and a fixed batch that the output's first dimension contradicts.
Result<BoundInputs> bindInputs(const GraphIndex &index, const ImportOptions &options, Notes &notes,
                               mlir::MLIRContext &context);

} // namespace syncline::frontend
