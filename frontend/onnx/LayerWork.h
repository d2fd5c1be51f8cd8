// What a node computes and moves, forward and backward, from the shapes of what it reads and makes.
#pragma once

#include "frontend/onnx/ImportLayers.h"
#include "frontend/onnx/NodeImport.h"

namespace syncline::frontend {

/// An operand or a result.
struct NodeTensor {
  mlir::RankedTensorType type; ///< null for an operand that is left out
  bool isTrained = false;      ///< a parameter, or another shape of one
  bool needsGradient = false;  ///< computed from a trained parameter, or one

  double elements() const;
  double bytes() const;
};

struct NodeTensors {
  llvm::SmallVector<NodeTensor> operands, results;
  /// Whether the node before makes operand 0 and no other node reads it: an elementwise operator
  /// then runs in the pass that makes the operand.
  bool isAlone = false;
};

struct NodeWork {
  std::vector<Work> forward;
  std::vector<Work> weights;         ///< backward, of gradients of trained operands; comes first
  std::vector<Work> data;            ///< backward, of the other operands' gradients
  std::optional<FactorDims> factors; ///< of a product with a trained matrix
};

/// Whether the operator names what it reads and computes nothing.
bool isView(llvm::StringRef op);
/// Whether the operator computes one element from those at the same place of its operands.
bool isElementwise(llvm::StringRef op);
/// How many leading operands are data; the others are settings such as axes and sizes.
unsigned dataOperands(llvm::StringRef op);

/// The work of a node. Convolutions, matrix products, recurrent layers and Einsum have formulas;
/// other operators move far more than they compute, and count by the bytes that they read and write
/// (README.md, "Layers without a step").
NodeWork workOf(NodeImport &node, const NodeTensors &tensors);

} // namespace syncline::frontend
