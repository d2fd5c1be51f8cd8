// The nodes that take the place of the one that is being imported.
#pragma once

#include "frontend/onnx/Inline.h"
#include "frontend/onnx/NodeImport.h"

namespace syncline::frontend {

/// Iterations of a Loop, or entries of a Scan: for each there is a copy of the body's nodes.
inline constexpr std::int64_t mostIterations = 1000;

/// Appends nodes to the graph. Errors are the node's.
class Replacement {
public:
  explicit Replacement(NodeImport &node) : node(node), inliner(node.state.file) {}

  mlir::LogicalResult copy(const onnx::GraphProto &body, const std::string &scope,
                           Inliner::Names &names);
  mlir::LogicalResult append(onnx::NodeProto proto);
  mlir::LogicalResult alias(const std::string &from, const std::string &to);
  /// The name of a new constant: a number or, with `isList`, a list, of a type of TensorProto.
  mlir::FailureOr<std::string> constant(nn::DimsRef values, bool isList, int type);
  /// The name of the value with a dimension of 1 more.
  mlir::FailureOr<std::string> unsqueezed(const std::string &value, std::int64_t axis);
  /// The name of a new value of the node.
  std::string fresh(llvm::StringRef what);
  /// The current node comes again behind the others.
  void repeatNode() { list.push_back(node.state.current); }

  /// Hands the nodes over.
  mlir::LogicalResult finish();

private:
  NodeImport &node;
  Inliner inliner;
  std::vector<int> list;
};

} // namespace syncline::frontend
