// Imports nodes in order and gathers the ones that are refused.
#include "frontend/onnx/ImportNodes.h"

#include "frontend/onnx/BindCopies.h"
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/ShapeInference.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"

#include "onnx/onnx_pb.h"

#include <algorithm>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

namespace {

/// Nodes of one operator that are refused for one reason.
struct Refusal {
  std::string op;
  std::string first;  ///< describes the first of them
  std::string reason; ///< the first one's
  int count = 0;
};

class Refusals {
public:
  void add(const NodeImport &node, const std::string &reason) {
    // Reasons that differ in a tensor's name are one.
    if (hint.empty())
      hint = optimizerHint(node);
    const llvm::StringRef kind = llvm::StringRef(reason).split('\'').first;
    auto same = std::ranges::find_if(list, [&](const Refusal &refusal) {
      return refusal.op == node.op() && llvm::StringRef(refusal.reason).split('\'').first == kind;
    });
    if (same == list.end())
      same = list.insert(list.end(), {node.op(), node.describe(), reason, 0});
    ++same->count;
    ++total;
  }

  bool empty() const { return list.empty(); }

  /// `shapesKnown` says that all shapes behind refused nodes are known, so --plan-only works.
  Status status(bool shapesKnown) const {
    std::string text;
    for (const Refusal &refusal : list) {
      text += text.empty() ? "" : "; ";
      if (refusal.count > 1)
        text += std::to_string(refusal.count) + " " + refusal.op + ", the first ";
      text += refusal.first + ": " + refusal.reason;
    }
    if (total > 1)
      text = std::to_string(total) + " nodes cannot be trained: " + text;
    text += hint + "; frontend/onnx/README.md lists what can be";
    if (shapesKnown)
      text += ", and 'compile --plan-only' plans the model by its shapes";
    return Status::badInput(text);
  }

private:
  std::vector<Refusal> list;
  int total = 0;
  std::string hint; ///< about how the model came to be
};

/// The outcome of importing a node.
enum class Outcome { imported, refused, broken };

/// Whether the node's own constants state its result's shape. Where its rule refuses these, ONNX's
/// would take them as they were exported, which may be for another batch.
bool statesShape(NodeImport &node) {
  const bool isShape = llvm::StringSwitch<bool>(node.op())
                           .Cases("Expand", "Flatten", "Reshape", "Squeeze", true)
                           .Cases("Tile", "Unsqueeze", true)
                           .Default(false);
  return isShape && isKnownOp(node) && (!node.hasInput(1) || node.constant(1));
}

/// Moves a refused node's error from the state to `reason` and imports the node by its shapes. A
/// broken node's status is the importer's error, or else says why the shapes are unknown.
Outcome importOrSkip(ImportState &state, NodeImport &node, std::string &reason) {
  if (succeeded(importNode(node)))
    return Outcome::imported;
  const Status failure = state.values.status;
  if (failure) { // an importer failed without a reason
    state.values.status = Status::error(ErrorKind::internal, node.describe() + ": import failed");
    return Outcome::broken;
  }
  llvm::StringRef message = failure.message();
  if (!message.consume_front(node.describe() + ": ")) // a tensor is at fault, not the node
    return Outcome::broken;
  if (const std::string copies = copiesBehind(node); !copies.empty()) {
    state.values.status = Status::badInput(copies + "; " + failure.message());
    return Outcome::broken;
  }
  reason = message.str();
  state.values.status = Status::ok();
  if (!state.isStep && statesShape(node)) {
    state.values.status = failure;
    return Outcome::broken;
  }
  if (succeeded(importByShape(node)))
    return Outcome::refused;
  if (isKnownOp(node) && (state.isStep || findOp(node.op())))
    state.values.status = failure;
  return Outcome::broken;
}

/// All nodes from place `at` of the order on whose operator has no rule.
void addUnknown(ImportState &state, std::size_t at, Refusals &refusals) {
  for (; at < state.index.order.size(); ++at) {
    const int i = state.index.order[at];
    NodeImport node(state, state.file.model->graph().node(i), state.index.layers[i]);
    if (!isKnownOp(node))
      refusals.add(node, unsupportedOp(node));
  }
}

/// Puts what stands for a node that runs a body into its place in the order.
bool replaceCurrent(ImportState &state, std::size_t at) {
  if (!state.replacement)
    return false;
  std::vector<int> &order = state.index.order;
  order.erase(order.begin() + static_cast<std::ptrdiff_t>(at));
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(at), state.replacement->begin(),
               state.replacement->end());
  state.replacement.reset();
  return true;
}

} // namespace

Status frontend::importNodes(ImportState &state, Refused refused) {
  Refusals refusals;
  bool shapesKnown = true;
  for (std::size_t at = 0; at < state.index.order.size(); ++at) {
    const int i = state.current = state.index.order[at];
    const std::string layer = state.index.layers[i]; // more may be added
    NodeImport node(state, state.file.model->graph().node(i), layer);
    std::string reason;
    const Outcome outcome = importOrSkip(state, node, reason);
    if (outcome == Outcome::imported) {
      at -= replaceCurrent(state, at) ? 1 : 0;
      continue;
    }
    if (outcome == Outcome::refused) {
      refusals.add(node, reason);
      shapesKnown &= !statesShape(node);
      continue;
    }
    const bool isFirst = refusals.empty() && isKnownOp(node);
    if (isFirst || refused == Refused::haveShapes)
      return state.values.status;
    addUnknown(state, at, refusals);
    return refusals.status(/*shapesKnown=*/false);
  }
  const bool areErrors = refused == Refused::areErrors && !refusals.empty();
  return areErrors ? refusals.status(shapesKnown) : checkCopies(state);
}
