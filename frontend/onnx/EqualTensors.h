// Finds tensors that hold the same numbers: one parameter that the exporter wrote twice, or two
// that began as copies.
#pragma once

#include "frontend/onnx/GraphIndex.h"
#include "frontend/onnx/Notes.h"
#include "frontend/onnx/StoredTensors.h"

namespace syncline::frontend {

/// Compares floating-point initialisers that the output needs and that no pattern freezes, of at
/// least 1 KiB and two different elements. A transposed tensor counts as the same, one whose
/// elements are in another order does not.
/// - Where nothing says which are parameters, a note names trained ones and their bytes.
/// - Where index.listed has one of two, the other would keep its values: badInput, or, where layers
///   alone are planned, one of index.copies.
Status findEqual(const ModelFile &file, bool plansLayers, GraphIndex &index, StoredTensors &stored,
                 Notes &notes);

/// The names without those of tensors that are equal to an earlier one.
std::vector<std::string> distinct(const ModelFile &file, const GraphIndex &index,
                                  const std::vector<std::string> &names);

} // namespace syncline::frontend
