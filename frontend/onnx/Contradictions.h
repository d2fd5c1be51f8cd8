// Whether what a file says of a node or tensor contradicts itself.
#pragma once

#include "frontend/onnx/GraphIndex.h"
#include "frontend/onnx/Notes.h"

namespace syncline::frontend {

/// Refuses, as onnx.checker does, what readers would take in different ways: an attribute that is
/// given twice, has no name or values of another type than it says, or that the operator does not
/// have; values in two fields of an initialiser, or a shape other than that of the input of its name;
/// and operands or results beyond the operator's.
/// Looks at the nodes that the output needs. Notes say what of them is not read. Errors: badInput.
Status refuseContradictions(const ModelFile &file, const GraphIndex &index, Notes &notes);

} // namespace syncline::frontend
