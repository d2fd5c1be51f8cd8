// Entries of a tensor by indices of ONNX's indexing operators, as nn.gather_rows and
// nn.scatter_rows take them.
#pragma once

#include "frontend/onnx/NodeImport.h"
#include "syncline/ScatterKind.h"

namespace syncline::frontend {

/// Operand `i` as indices, of i64 or as whole numbers in f32; null with an error.
mlir::Value indicesOf(NodeImport &node, unsigned i);

/// A constant of i64 that has the batch in `place`.
mlir::Value indexConstant(NodeImport &node, nn::DimsRef values, nn::DimsRef dims,
                          BatchLayout::Place place);

/// A tensor seen as a table whose entries along `axis` are named by indices; the first `shared`
/// dimensions are those of both.
struct IndexedRows {
  nn::Dims table; ///< the tensor's elements in another shape
  mlir::Value indices;
  std::int64_t axis = 0, shared = 0;

  /// The shape of the entries.
  nn::Dims entries() const;
};

/// Rows of a table [rows, ...] that has the batch in `place`, by known numbers from 0 on. Where
/// each sample names rows of its own, they are counted from the sample's first one.
IndexedRows knownRows(NodeImport &node, nn::DimsRef table, BatchLayout::Place place,
                      nn::DimsRef rows, nn::DimsRef idDims);
/// Rows by numbers that the step computes, of i64 or f32.
IndexedRows computedRows(NodeImport &node, nn::DimsRef table, BatchLayout::Place place,
                         mlir::Value numbers);
/// Lists of f32 in the last dimension, which name places in dimensions of these sizes, as one
/// number each that counts the places in order. A place that does not exist has a number below all.
mlir::FailureOr<mlir::Value> placeNumbers(NodeImport &node, mlir::Value lists, nn::DimsRef sizes);

mlir::FailureOr<mlir::Value> createGatherRows(NodeImport &node, mlir::Value x,
                                              const IndexedRows &rows);
/// `onto` with the updates, which have the entries' elements in their order; in the table's shape.
mlir::FailureOr<mlir::Value> createScatterRows(NodeImport &node, mlir::Value updates,
                                               mlir::Value onto, const IndexedRows &rows,
                                               ScatterKind kind);
/// Operand 0 as f32, its integers too; null with an error.
mlir::Value floatOperand(NodeImport &node);
/// Defines the result by rows of a table whose numbers are known at import; `place` is theirs.
mlir::LogicalResult importKnownRows(NodeImport &node, mlir::Value table, nn::DimsRef indices,
                                    nn::DimsRef idDims, BatchLayout::Place place = {});
/// Whether there are indices and all have one distance.
bool areEven(nn::DimsRef indices);
/// Defines the result by a slice along an axis at indices that are even.
mlir::LogicalResult importSlices(NodeImport &node, mlir::Value x, std::int64_t axis,
                                 nn::DimsRef indices, nn::DimsRef indexDims);
/// One where the number is its place in a new dimension `axis` of `depth` places, zero elsewhere.
mlir::FailureOr<mlir::Value> createOneHot(NodeImport &node, mlir::Value numbers, std::int64_t depth,
                                          std::int64_t axis);
/// The numbers with `size` added to negative ones, which count from the end.
mlir::Value fromFront(NodeImport &node, mlir::Value numbers, std::int64_t size);
/// Dimension i of the result is dimension order[i] of x.
mlir::Value createTranspose(NodeImport &node, mlir::Value x, nn::DimsRef order);

} // namespace syncline::frontend
