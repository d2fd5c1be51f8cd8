// What the bodies of a node define, and read from outside.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace onnx {
class GraphProto;
class NodeProto;
} // namespace onnx

namespace syncline::frontend {

void forEachSubgraph(onnx::NodeProto &node, llvm::function_ref<void(onnx::GraphProto &)> visit);
/// The names of the body's inputs, initialisers and nodes' results.
void forEachDefinition(const onnx::GraphProto &body,
                       llvm::function_ref<void(const std::string &)> visit);
/// Calls `visit` with the names that the body, and bodies in it, read and do not define, and that
/// are not among `outer`. It may replace them.
void forEachFreeRead(onnx::GraphProto &body, const llvm::StringSet<> &outer,
                     llvm::function_ref<void(std::string &)> visit);
/// The names that the node's bodies read from outside.
void forEachCapture(const onnx::NodeProto &node,
                    llvm::function_ref<void(const std::string &)> visit);

} // namespace syncline::frontend
