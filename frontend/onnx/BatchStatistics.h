// Which BatchNormalization nodes take the batch's statistics, and which their running ones.
#pragma once

#include "frontend/onnx/GraphIndex.h"
#include "frontend/onnx/Notes.h"
#include "frontend/onnx/StoredTensors.h"

namespace syncline::frontend {

/// Fills index.normalizations. A node takes its running statistics, which then stay as they are,
/// - where the file, or PyTorch's call that it keeps, has it in inference mode, and others that the
///   output needs in training mode;
/// - where freeze patterns match both of them, as after PyTorch's eval().
/// All others take the batch's statistics: a file with all nodes in inference mode was exported for
/// inference. Notes say so. badInput where patterns match one statistic of two, and where a frozen
/// node shares statistics with one that moves them.
Status findBatchStatistics(const ModelFile &file, GraphIndex &index, StoredTensors &stored,
                           Notes &notes);

/// Writes into a model whose nodes are all set to inference which of a mixed file's were in
/// training mode, so that it trains like the original when it is read again.
void recordTrainingMode(onnx::ModelProto &model, const GraphIndex &index);

} // namespace syncline::frontend
