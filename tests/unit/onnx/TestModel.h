// Models as text for the import tests.
#pragma once

#include "frontend/onnx/ImportOnnx.h"

#include <functional>
#include <string>

namespace onnx {
class ModelProto;
class NodeProto;
class StringStringEntryProto;
} // namespace onnx

namespace syncline::test {

/// What importing a model came to.
struct Outcome {
  std::string ir;    ///< the module, without nn.layer; empty after an error
  std::string error; ///< empty when imported
  int exitCode = 0;
  std::vector<std::string> notes;
  std::string skeleton, weights;

  bool has(const std::string &text) const { return ir.find(text) != std::string::npos; }
  /// How often `text` is in the IR.
  int count(const std::string &text) const;
};

/// Expects that the import failed for the user's input, with `text` in its message.
void expectError(const Outcome &outcome, const std::string &text);

using Edit = std::function<void(onnx::ModelProto &)>;

/// Parses ONNX's textual form of a graph: `agraph (float[4,3] x) => (float[4,2] y) { ... }`.
onnx::ModelProto parseModel(int opset, const std::string &graph);

/// Imports the graph after `edit` has changed what the text cannot say.
Outcome importText(int opset, const std::string &graph, const frontend::ImportOptions &options = {},
                   const Edit &edit = {});

Outcome importBytes(const std::string &bytes, const frontend::ImportOptions &options = {});
Outcome importFile(const std::string &path, const frontend::ImportOptions &options = {});

/// The path of a file in a folder of this test's own that is deleted when the program ends.
std::string scratchPath(const std::string &name);

/// Imports `nodes` between h = x·w, x and h of shape [2, 4, 8, 8] and w a parameter, and y, which
/// the loss, a mean square, is on. h is %2 in the IR.
Outcome importNodes(int opset, const std::string &nodes, const Edit &edit = {});

/// What torch.onnx.export(..., dynamo=True) writes beside a node: the call of ATen's that it was
/// made of, with "%x, %p_weight, True" as arguments, and the module.
void markCall(onnx::NodeProto &node, const std::string &function, const std::string &arguments,
              const std::string &module = "");
onnx::StringStringEntryProto property(const std::string &key, const std::string &value);

/// Default options but for the loss.
frontend::ImportOptions meanSquare();

} // namespace syncline::test
