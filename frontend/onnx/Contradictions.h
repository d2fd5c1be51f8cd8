// Whether what a file says of a node or tensor contradicts itself.
#pragma once

#include "frontend/onnx/GraphIndex.h"
#include "frontend/onnx/Notes.h"

namespace syncline::frontend {

/// Refuses what readers would take in different ways, as onnx.checker does:
/// - an attribute that is given twice, has no name or values of another type than it says, or that
///   the operator does not have; operands or results beyond the operator's;
/// - values in two fields of an initialiser, or another shape than that of the input of its name;
/// - external data of another SHA-1 than its checksum.
/// Looks at the nodes that the output needs, and at the operators that the installed ONNX library
/// defines. Notes say what of the file is not read. Errors: badInput.
Status refuseContradictions(const ModelFile &file, const GraphIndex &index, Notes &notes);

} // namespace syncline::frontend
