// The nodes of a graph, one after the other, and what is said of those that cannot be imported.
#pragma once

#include "frontend/onnx/NodeImport.h"

namespace syncline::frontend {

/// What becomes of nodes that have no rule, or a form that their rule refuses.
enum class Refused {
  areErrors,  ///< they make one message, grouped by operator and reason
  haveShapes, ///< they are tensors of their shapes, which ONNX's rules give; see importByShape
};

/// Imports the nodes that the output needs, in order. A refused node never ends the import: what it
/// makes gets its shape by ONNX's rules, so that all such nodes are found. What is wrong with the
/// file itself ends the import at once, and so do shapes that cannot be known.
Status importNodes(ImportState &state, Refused refused);

} // namespace syncline::frontend
