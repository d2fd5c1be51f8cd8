// Copies that a file makes of what samples share, one for each sample of the batch that it fixes.
#pragma once

#include "frontend/onnx/NodeImport.h"

namespace syncline::frontend {

/// Where the node joins a tensor that has the batch with one that has as many equal copies, at the
/// same place, as the file has samples: gives the node as many copies as the batch has. Class
/// tokens and queries are such. Does nothing where the file's batch is open or the bound one.
void bindCopies(NodeImport &node);

/// Takes note of the copies that an Expand or a Tile makes of what has no batch, where they may be
/// one for each sample of the file: they have to be joined with samples.
void addCopies(NodeImport &node, nn::BroadcastOp all);

/// Names the node whose copies the failed one has in place of the batch; empty without one.
std::string copiesBehind(NodeImport &node);

/// Refuses copies along a first dimension that no tensor with the batch was joined with.
Status checkCopies(const ImportState &state);

} // namespace syncline::frontend
