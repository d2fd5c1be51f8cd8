// Which outputs of the graph the loss is taken on.
#pragma once

#include "syncline/Status.h"

#include <string>
#include <vector>

namespace onnx {
class GraphProto;
class ValueInfoProto;
} // namespace onnx

namespace syncline::frontend {

struct LossOutput {
  const onnx::ValueInfoProto *value;
  double weight = 1; ///< of its loss in the sum
};

/// Reads NAME or NAME=WEIGHT, several with commas between; the first output where the text is
/// empty. A text that is an output's name is that name. Refers to `graph`.
Result<std::vector<LossOutput>> findLossOutputs(const onnx::GraphProto &graph,
                                                const std::string &text);

} // namespace syncline::frontend
