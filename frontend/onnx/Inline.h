// Bodies in place of the nodes that run them: the nodes of functions, branches and loops are copied
// to the end of the graph, under names of their own.
#pragma once

#include "frontend/onnx/ModelFile.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace onnx {
class GraphProto;
class NodeProto;
} // namespace onnx

namespace syncline::frontend {

/// Limits of a model: nodes in copied bodies, depth of calls, and bytes of copied tensors.
inline constexpr int mostCopiedNodes = 200'000, deepestCall = 64;
inline constexpr std::uint64_t mostCopiedBytes = std::uint64_t(1) << 29;

/// Replaces calls of the model's own functions: a call stays in the graph as the file has it, but
/// ModelFile::isCall says so and nothing reads it. Call it once, before the graph is indexed.
Status inlineFunctions(ModelFile &file);

/// Copies the nodes of subgraphs.
class Inliner {
public:
  /// What a body's names are called outside: its inputs before the copy, all of them after it.
  using Names = llvm::StringMap<std::string>;

  explicit Inliner(ModelFile &file) : file(file) {}

  /// Copies what the body's outputs need; names of nodes and values begin with `scope`. Returns the
  /// copies' places in the graph, in order. Initialisers become Constant nodes.
  Result<std::vector<int>> copy(const onnx::GraphProto &body, const std::string &scope,
                                Names &names);
  /// Appends a node; `scope` as above.
  Result<int> append(onnx::NodeProto node);
  /// A name that nothing in the model has, `name` if it can be.
  std::string freshName(const std::string &name);

private:
  ModelFile &file;
};

} // namespace syncline::frontend
