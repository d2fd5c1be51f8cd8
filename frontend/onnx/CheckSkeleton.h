// Whether a plan's model.onnx fits the plan.
#pragma once

#include "syncline/Status.h"

#include <string>
#include <vector>

namespace syncline::frontend {

/// What a plan says of its model.
struct PlannedNames {
  std::vector<std::string> inputs;   ///< that the step reads
  std::vector<std::string> unneeded; ///< the model's other inputs
  std::string output;                ///< that the loss is on, or the first of several
  std::string lossOn; ///< all of them, as findLossOutputs() reads them; empty for `output` alone
  std::vector<std::string> parameters, states; ///< whose values the file lacks
};

/// Reads the model at `path`. badInput, naming the file, where it is none, refers to other files,
/// has inputs, an output or initialisers other than the plan's names imply, lacks what a node
/// reads, or does not need a parameter for the output.
Status checkSkeleton(const std::string &path, const PlannedNames &plan);

} // namespace syncline::frontend
