// Reads the outputs that the loss is taken on.
#include "frontend/onnx/LossOutputs.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include "onnx/onnx_pb.h"

#include <algorithm>

namespace syncline::frontend {

static const onnx::ValueInfoProto *named(const onnx::GraphProto &graph, llvm::StringRef name) {
  const auto found = std::ranges::find_if(
      graph.output(), [&](const auto &output) { return output.name() == name; });
  return found == graph.output().end() ? nullptr : &*found;
}

static Status unknown(const onnx::GraphProto &graph, llvm::StringRef name) {
  std::string names;
  for (const onnx::ValueInfoProto &output : graph.output())
    names += (names.empty() ? "'" : ", '") + output.name() + "'";
  return Status::badInput("the graph has no output '" + name.str() + "'; it has " + names);
}

/// Reads NAME or NAME=WEIGHT.
static Result<LossOutput> readOutput(const onnx::GraphProto &graph, llvm::StringRef text) {
  if (const onnx::ValueInfoProto *value = named(graph, text))
    return LossOutput{value};
  const auto [name, weight] = text.rsplit('=');
  LossOutput output{named(graph, name)};
  if (!output.value)
    return unknown(graph, name);
  if (weight.getAsDouble(output.weight) || !(output.weight >= 1e-30 && output.weight <= 1e30))
    return Status::badInput("--loss-on: output '" + name.str() +
                            "': expected a weight from 1e-30 to 1e30, got '" + weight.str() + "'");
  return output;
}

Result<std::vector<LossOutput>> findLossOutputs(const onnx::GraphProto &graph, const LossOn &on) {
  const std::string &text = on.text;
  using Outputs = std::vector<LossOutput>;
  if (graph.output().empty())
    return Status::badInput("the graph has no output");
  if (text.empty())
    return Outputs{{&graph.output(0)}};
  if (const onnx::ValueInfoProto *only = named(graph, text))
    return Outputs{{only}};
  if (on.isName)
    return unknown(graph, text);
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(text).split(parts, ',');
  Outputs outputs;
  for (llvm::StringRef part : parts) {
    SYNCLINE_TRY_GET(output, readOutput(graph, part));
    const auto isSame = [&](const LossOutput &other) { return other.value == output->value; };
    if (std::ranges::any_of(outputs, isSame))
      return Status::badInput("--loss-on: output '" + output->value->name() + "' is there twice");
    outputs.push_back(*output);
  }
  return outputs;
}

} // namespace syncline::frontend
