// A training step as constant tables. A step may have a hundred thousand operations, and a compiler
// takes a tenth of the time and a quarter of the memory for a table's row that it takes for a call.
//
// Tensors are numbered from 1 in the order of their rows; 0 stands for an absent operand. An
// operation's row has its operands in the order of the StepBuilder method's arguments. Where a
// row's arrays are full, rows of Op::more continue them.
#pragma once

#include "syncline/Step.h"

#include <span>
#include <vector>

namespace syncline {

/// A declared tensor. `maxDimensions` is the largest rank in the table, at least 1.
template <int maxDimensions> struct TensorRow {
  const char *name;
  Space space;
  ElementType type;
  int rank;
  std::int64_t shape[maxDimensions];
  std::int64_t offset, reserved; ///< bytes
  bool isRounded = false;        ///< as TensorInfo::isRounded
};

/// The methods of StepBuilder. What a row has besides the operands stands in `numbers` and `reals`,
/// in the order of the method's parameters. A list is preceded by its length, which is a number. A
/// window or a loop is named by its index in its table.
enum class Op {
  more,  ///< continues the arrays of the row before
  phase, ///< `layer` is the phase's name
#define SYNCLINE_KERNEL(name, ...) name,
#include "syncline/Kernels.inc"
  loss,
  issue,     ///< bucket
  gather,    ///< operands ins, outs; bucket, number of ins
  allGather, ///< bucket
  wait,      ///< bucket
  update,    ///< bucket
};

struct Row {
  static constexpr int maxOperands = 10, maxNumbers = 8, maxReals = 3;

  Op op;
  const char *layer;
  int operands[maxOperands];
  std::int64_t numbers[maxNumbers];
  double reals[maxReals];
};

struct GeneratedLoop {
  PointwiseKernel kernel;
  RoundedKernel rounded; ///< as PointwiseInfo::rounded
  LoopForm form = LoopForm::other;
  int gate = 0; ///< as PointwiseInfo::gate
};

struct StepTables {
  std::span<const BucketInfo> buckets;
  std::span<const Row> rows;
  std::span<const Window> windows;
  std::span<const GeneratedLoop> loops;
};

/// Describes the step to `builder`: declares the tensors, then the buckets, then hands over the
/// operations' rows.
template <int maxDimensions>
void tell(StepBuilder &builder, std::span<const TensorRow<maxDimensions>> rows,
          const StepTables &tables) {
  std::vector<Tensor> tensors{none};
  for (const TensorRow<maxDimensions> &row : rows) {
    const Shape shape(row.shape, row.shape + row.rank);
    tensors.push_back(builder.tensor(
        TensorInfo{row.name, row.space, row.type, shape, row.offset, row.reserved, row.isRounded}));
  }
  for (const BucketInfo &bucket : tables.buckets)
    builder.bucket(bucket);
  builder.operations(tables, tensors);
}

} // namespace syncline
