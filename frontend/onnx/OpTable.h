// Which ONNX operators are imported, and by which function.
#pragma once

#include "frontend/onnx/NodeImport.h"
#include "ir/nn/UnaryKinds.h"

namespace syncline::frontend {

struct SliceRanges;

using ImportFunction = mlir::LogicalResult (*)(NodeImport &);

struct OpImport {
  ImportFunction import;
  unsigned required;     ///< how many leading operands must be present
  unsigned tensors;      ///< how many leading operands are tensors, all of one element type
  bool floatOnly = true; ///< those tensors are floating-point
  /// Whether `--backend cuda` has it; `compile` refuses the node where it has not.
  bool onCuda = true;
};

/// An operator and how it is imported.
struct OpRow {
  llvm::StringLiteral name;
  OpImport import;
};
using OpRows = llvm::ArrayRef<OpRow>;

// The rows by family, each beside its importers.
OpRows attentionOps();
OpRows blockOps();
OpRows columnOps();
OpRows constantOps();
OpRows controlOps();
OpRows convTransposeOps();
OpRows einsumOps();
OpRows extremeOps();
OpRows fourierOps();
OpRows gatherScatterOps();
OpRows groupNormOps();
OpRows linearOps();
OpRows lossOps();
OpRows noiseOps();
OpRows normalizationOps();
OpRows padOps();
OpRows pointwiseOps();
OpRows poolOps();
OpRows recurrentOps();
OpRows reductionOps();
OpRows repeatOps();
OpRows resizeOps();
OpRows rowOps();
OpRows scanOps();
OpRows sequenceOps();
OpRows shapeOps();
OpRows topOps();
OpRows wholeOps();

inline constexpr unsigned allOperands = ~0u; ///< as OpImport::tensors

/// The row of ir/nn/UnaryKinds.inc that an operator is imported by; null for others.
const nn::UnaryRow *findUnary(llvm::StringRef op);

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

/// The importer of a comparison or a connective of truth values; null for other operators.
ImportFunction findTruthOp(llvm::StringRef name);
/// The importer of an operator on integers that are not known at import; null for others.
ImportFunction findWholeOp(llvm::StringRef name);
/// The importer of a reduction of such integers; null for other operators.
ImportFunction findWholeReduction(llvm::StringRef name);
/// Element by element; shapes broadcast as in numpy.
mlir::FailureOr<mlir::Value> createBinary(NodeImport &node, nn::BinaryKind kind, mlir::Value a,
                                          mlir::Value b);
/// One where a < b, zero elsewhere.
mlir::FailureOr<mlir::Value> createLess(NodeImport &node, mlir::Value a, mlir::Value b);
/// op(a)·op(b) + bias; the bias may be null.
mlir::FailureOr<mlir::Value> createMatmul(NodeImport &node, mlir::Value a, bool transposeA,
                                          mlir::Value b, bool transposeB, mlir::Value bias);
/// The part of x that the ranges name.
mlir::FailureOr<mlir::Value> createSlice(NodeImport &node, mlir::Value x,
                                         const SliceRanges &ranges);
/// Whether operand `i` has integers or truth values in the file.
bool isWholeOperand(NodeImport &node, unsigned i);
/// The operand as f32, whichever numbers it has in the file; null with an error where none is made.
mlir::Value realOperand(NodeImport &node, unsigned i);
/// Defines the result, in floating point, as integers or truth values of `type`.
mlir::LogicalResult defineWhole(NodeImport &node, mlir::FailureOr<mlir::Value> value, int type,
                                std::optional<WholeBounds> bounds = {});
/// Defines the result as the integers of `type` that x, in floating point, stands for: small types
/// wrap around. `bounds` are x's where they are known.
mlir::LogicalResult defineWrapped(NodeImport &node, mlir::FailureOr<mlir::Value> x, int type,
                                  std::optional<WholeBounds> bounds);

/// Has the result of an Identity stand for a sequence; false where the operand is none.
bool importSequenceAlias(NodeImport &node);

// Importers that are chosen by more than the operator's name.
mlir::LogicalResult importUnary(NodeImport &node);
mlir::LogicalResult importChoice(NodeImport &node);
mlir::LogicalResult importWholeCast(NodeImport &node);
mlir::LogicalResult importIsInfinite(NodeImport &node);
mlir::LogicalResult importIsNan(NodeImport &node);
mlir::LogicalResult importTriangle(NodeImport &node);
mlir::LogicalResult importWholeExtreme(NodeImport &node);
mlir::LogicalResult importBits(NodeImport &node);

} // namespace syncline::frontend
