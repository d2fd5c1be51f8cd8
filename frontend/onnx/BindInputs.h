// The graph's inputs as a step sees them: the batch and every other dimension fixed.
#pragma once

#include "frontend/onnx/GraphIndex.h"
#include "frontend/onnx/ImportOnnx.h"

namespace syncline::frontend {

struct BoundInputs {
  llvm::SmallVector<mlir::RankedTensorType> types; ///< of GraphIndex::inputs
  std::int64_t batch = 0;                          ///< dimension 0 of the first
  std::optional<std::int64_t> exportedBatch;       ///< that dimension in the file
  std::map<std::string, std::int64_t> dimensions;  ///< symbolic ones, with their sizes
};

/// Binds dimension 0 of the first input to `options.batch`, and with it dimensions of the same name
/// and, in other inputs, a dimension 0 that is as large in the file or has another name; then the
/// names in `options.dimensions`. badInput for a dimension that stays open, an input that is no
/// tensor of a supported type, and a name that no dimension has.
Result<BoundInputs> bindInputs(const GraphIndex &index, const ImportOptions &options,
                               mlir::MLIRContext &context);

} // namespace syncline::frontend
