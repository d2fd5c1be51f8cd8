// The user's model without the values of parameters and states.
#pragma once

#include "frontend/onnx/GraphIndex.h"
#include "frontend/onnx/WeightsFile.h"

namespace syncline::frontend {

/// Serialises the model, set to inference, less the initialisers called `stored` and the nodes
/// whose first result is called so. It refers to no other file. Its metadata records which
/// normalizations of a mixed file were in training mode. Takes the file apart: `weights` owns the
/// values then that it refers to. badInput where values that are not stored cannot be read, or
/// exceed what one file holds.
Result<std::string> makeSkeleton(ModelFile &file, const GraphIndex &index,
                                 const std::vector<std::string> &stored, WeightsFile &weights);

} // namespace syncline::frontend
