// Which ONNX operators are imported, and by which function.
#pragma once

#include "frontend/onnx/NodeImport.h"

namespace syncline::frontend {

struct SliceRanges;

using ImportFunction = mlir::LogicalResult (*)(NodeImport &);

struct OpImport {
  ImportFunction import;
  unsigned required;     ///< how many leading operands must be present
  unsigned tensors;      ///< how many leading operands are tensors, all of one element type
  bool floatOnly = true; ///< those tensors are floating-point
};

/// Null for an operator that is not supported.
const OpImport *findOp(llvm::StringRef name);

/// Whether the operator has an importer, or is one that is computed at import where it can be.
bool isKnownOp(const NodeImport &node);

/// Why a node that nothing imports is not supported: its operator is unknown, or only computed at
/// import, from known values.
std::string unsupportedOp(const NodeImport &node);

/// "; ..." where the node's operator is one that an optimizer wrote; empty for others.
std::string optimizerHint(const NodeImport &node);

/// Imports one node: at import time where all its operands are known, otherwise by the table.
mlir::LogicalResult importNode(NodeImport &node);

/// Computes the node's results from known operands; false without an error when the node is not of
/// the kind that is computed at import.
mlir::FailureOr<bool> foldNode(NodeImport &node);

/// The importer of a comparison or a connective of truth values; null for other operators.
ImportFunction findTruthOp(llvm::StringRef name);
/// The importer of an operator on integers that are not known at import; null for others.
ImportFunction findWholeOp(llvm::StringRef name);
/// Element by element; shapes broadcast as in numpy.
mlir::FailureOr<mlir::Value> createBinary(NodeImport &node, nn::BinaryKind kind, mlir::Value a,
                                          mlir::Value b);
/// op(a)·op(b) + bias; the bias may be null.
mlir::FailureOr<mlir::Value> createMatmul(NodeImport &node, mlir::Value a, bool transposeA,
                                          mlir::Value b, bool transposeB, mlir::Value bias);
/// The part of x that the ranges name.
mlir::FailureOr<mlir::Value> createSlice(NodeImport &node, mlir::Value x,
                                         const SliceRanges &ranges);
/// Whether operand `i` has integers or truth values in the file.
bool isWholeOperand(NodeImport &node, unsigned i);

// Importers by family; each imports one operator, or a few that differ in a name.
mlir::LogicalResult importConv(NodeImport &node);
mlir::LogicalResult importGemm(NodeImport &node);
mlir::LogicalResult importMatMul(NodeImport &node);
mlir::LogicalResult importEinsum(NodeImport &node);

mlir::LogicalResult importMaxPool(NodeImport &node);
mlir::LogicalResult importAveragePool(NodeImport &node);
mlir::LogicalResult importGlobalPool(NodeImport &node);

mlir::LogicalResult importAttention(NodeImport &node);
mlir::LogicalResult importRotaryEmbedding(NodeImport &node);
mlir::LogicalResult importRmsNormalization(NodeImport &node);

mlir::LogicalResult importBatchNormalization(NodeImport &node);
mlir::LogicalResult importGroupNormalization(NodeImport &node);
mlir::LogicalResult importInstanceNormalization(NodeImport &node);
mlir::LogicalResult importLayerNormalization(NodeImport &node);
mlir::LogicalResult importLrn(NodeImport &node);
mlir::LogicalResult importSoftmax(NodeImport &node);
mlir::LogicalResult importDropout(NodeImport &node);

mlir::LogicalResult importUnary(NodeImport &node);
mlir::LogicalResult importClip(NodeImport &node);
mlir::LogicalResult importGelu(NodeImport &node);
mlir::LogicalResult importPow(NodeImport &node);
mlir::LogicalResult importBinary(NodeImport &node);
mlir::LogicalResult importSum(NodeImport &node);
mlir::LogicalResult importWhere(NodeImport &node);
mlir::LogicalResult importChoice(NodeImport &node);
mlir::LogicalResult importWholeCast(NodeImport &node);
mlir::LogicalResult importIsNan(NodeImport &node);

mlir::LogicalResult importView(NodeImport &node);
mlir::LogicalResult importTranspose(NodeImport &node);
mlir::LogicalResult importConcat(NodeImport &node);
mlir::LogicalResult importExpand(NodeImport &node);
mlir::LogicalResult importTile(NodeImport &node);
mlir::LogicalResult importCumSum(NodeImport &node);
mlir::LogicalResult importReduce(NodeImport &node);
mlir::LogicalResult importPad(NodeImport &node);
mlir::LogicalResult importSlice(NodeImport &node);
mlir::LogicalResult importSplit(NodeImport &node);
mlir::LogicalResult importSplitToSequence(NodeImport &node);
mlir::LogicalResult importSequenceAt(NodeImport &node);
mlir::LogicalResult importGatherElements(NodeImport &node);
mlir::LogicalResult importGather(NodeImport &node);
mlir::LogicalResult importGatherNd(NodeImport &node);

mlir::LogicalResult importIdentity(NodeImport &node);
mlir::LogicalResult importCast(NodeImport &node);
mlir::LogicalResult importCastLike(NodeImport &node);
mlir::LogicalResult importConstant(NodeImport &node);
mlir::LogicalResult importConstantOfShape(NodeImport &node);
mlir::LogicalResult importRandom(NodeImport &node);
mlir::LogicalResult importShape(NodeImport &node);

} // namespace syncline::frontend
