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

/// What the loss is taken on: NAME or NAME=WEIGHT, several with commas between; the first output
/// where the text is empty. A text that is an output's name is that name.
struct LossOn {
  std::string text = {};
  bool isName = false; ///< `text` is one name, whatever it contains
};

/// Errors: badInput, which lists the outputs where one is not there. Refers to `graph`.
Result<std::vector<LossOutput>> findLossOutputs(const onnx::GraphProto &graph, const LossOn &on);

} // namespace syncline::frontend
