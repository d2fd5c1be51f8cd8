// A training step as constant tables, and the loop that describes them to a StepBuilder. A step may
// have a hundred thousand operations, and a compiler takes a tenth of the time and a quarter of the
// memory for a table's row that it takes for a call.
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

/// The methods of StepBuilder. Behind each stands what its row has besides the operands:
/// `numbers`, then `reals`. A list is preceded by its length. A window or a loop is named by
/// its index in its table.
enum class Op {
  more,                ///< continues the arrays of the row before
  phase,               ///< `layer` is the phase's name
  conv,                ///< window, relu
  convBackwardData,    ///< window
  convBackwardWeights, ///< window
  matmul,              ///< operands a, b, bias, y; transposeA, transposeB, relu
  batchNorm,           ///< relu; epsilon, momentum
  batchNormBackward,   ///< relu; epsilon
  maxPool,             ///< window
  maxPoolBackward,     ///< window
  averagePool,         ///< window
  averagePoolBackward, ///< window
  layerNorm,           ///< epsilon
  layerNormBackward,   ///< epsilon
  lrn,                 ///< size; alpha, beta, bias
  lrnBackward,         ///< size; alpha, beta, bias
  softmax,             ///< axis, logarithm
  softmaxBackward,     ///< axis, logarithm
  crossEntropy,
  meanSquaredError,
  embedding,
  embeddingBackward,
  concat,        ///< operands xs, y; number of xs, axis
  slice,         ///< starts, steps
  sliceBackward, ///< starts, steps
  pad,           ///< begins; value
  transpose,     ///< permutation
  reshape,
  reduce,          ///< mean, axes
  pointwise,       ///< operands ins, outs; loop, number of ins, number of outs, flat, keepsZero
  dropout,         ///< ratio
  dropoutBackward, ///< ratio
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

/// Reads one operation's row with the rows that continue it, and calls the builder's method.
class RowReader {
public:
  RowReader(const StepTables &tables, const std::vector<Tensor> &tensors)
      : tables(tables), tensors(tensors) {}

  /// Appends the operation at row `first` to `builder` and returns the row of the next operation.
  std::size_t tell(StepBuilder &builder, std::size_t first) {
    row = &tables.rows[first];
    operands.clear();
    numbers.clear();
    std::size_t next = first;
    do {
      for (int operand : tables.rows[next].operands)
        operands.push_back(tensors[static_cast<std::size_t>(operand)]);
      numbers.insert(numbers.end(), std::begin(tables.rows[next].numbers),
                     std::end(tables.rows[next].numbers));
    } while (++next < tables.rows.size() && tables.rows[next].op == Op::more);
    dispatch(builder);
    return next;
  }

private:
  Tensor t(std::size_t i) const { return operands[i]; }
  std::span<const Tensor> list(std::size_t first, std::int64_t count) const {
    return std::span(operands).subspan(first, static_cast<std::size_t>(count));
  }
  bool flag(std::size_t i) const { return numbers[i] != 0; }
  Activation activation(std::size_t i) const {
    return flag(i) ? Activation::relu : Activation::none;
  }
  const Window &window() const { return tables.windows[static_cast<std::size_t>(numbers[0])]; }
  int bucket() const { return static_cast<int>(numbers[0]); }
  /// The list whose length stands at `place`.
  Shape sizes(std::size_t place) const {
    const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(place) + 1;
    return Shape(begin, begin + numbers[place]);
  }
  /// The list that follows the first list of the numbers.
  Shape secondSizes() const { return sizes(static_cast<std::size_t>(numbers[0]) + 1); }

  void pointwise(StepBuilder &to) const {
    const GeneratedLoop &loop = tables.loops[static_cast<std::size_t>(numbers[0])];
    const auto ins = static_cast<std::size_t>(numbers[1]);
    to.pointwise(row->layer, loop.kernel, list(0, numbers[1]), list(ins, numbers[2]),
                 {.flat = flag(3),
                  .keepsZero = flag(4),
                  .rounded = loop.rounded,
                  .form = loop.form,
                  .gate = loop.gate});
  }

  void dispatch(StepBuilder &to) const {
    const char *const layer = row->layer;
    const double *const reals = row->reals;
    switch (row->op) {
    case Op::more:
      return;
    case Op::phase:
      return to.phase(layer);
    case Op::conv:
      return to.conv(layer, t(0), t(1), t(2), t(3), window(), activation(1));
    case Op::convBackwardData:
      return to.convBackwardData(layer, t(0), t(1), t(2), window());
    case Op::convBackwardWeights:
      return to.convBackwardWeights(layer, t(0), t(1), t(2), t(3), window());
    case Op::matmul:
      return to.matmul(layer, t(0), flag(0), t(1), flag(1), t(2), t(3), activation(2));
    case Op::batchNorm:
      return to.batchNorm(layer, t(0), t(1), t(2), t(3), t(4), t(5), t(6), t(7), t(8), reals[0],
                          reals[1], activation(0));
    case Op::batchNormBackward:
      return to.batchNormBackward(layer, t(0), t(1), t(2), t(3), t(4), t(5), t(6), t(7), t(8),
                                  reals[0], activation(0));
    case Op::maxPool:
      return to.maxPool(layer, t(0), t(1), t(2), window());
    case Op::maxPoolBackward:
      return to.maxPoolBackward(layer, t(0), t(1), t(2), window());
    case Op::averagePool:
      return to.averagePool(layer, t(0), t(1), window());
    case Op::averagePoolBackward:
      return to.averagePoolBackward(layer, t(0), t(1), window());
    case Op::layerNorm:
      return to.layerNorm(layer, t(0), t(1), t(2), t(3), reals[0]);
    case Op::layerNormBackward:
      return to.layerNormBackward(layer, t(0), t(1), t(2), t(3), t(4), t(5), reals[0]);
    case Op::lrn:
      return to.lrn(layer, t(0), t(1), numbers[0], reals[0], reals[1], reals[2]);
    case Op::lrnBackward:
      return to.lrnBackward(layer, t(0), t(1), t(2), numbers[0], reals[0], reals[1], reals[2]);
    case Op::softmax:
      return to.softmax(layer, t(0), t(1), numbers[0], flag(1));
    case Op::softmaxBackward:
      return to.softmaxBackward(layer, t(0), t(1), t(2), numbers[0], flag(1));
    case Op::crossEntropy:
      return to.crossEntropy(layer, t(0), t(1), t(2), t(3));
    case Op::meanSquaredError:
      return to.meanSquaredError(layer, t(0), t(1), t(2), t(3));
    case Op::embedding:
      return to.embedding(layer, t(0), t(1), t(2));
    case Op::embeddingBackward:
      return to.embeddingBackward(layer, t(0), t(1), t(2), t(3));
    case Op::concat:
      return to.concat(layer, list(0, numbers[0]), t(static_cast<std::size_t>(numbers[0])),
                       numbers[1]);
    case Op::slice:
      return to.slice(layer, t(0), t(1), sizes(0), secondSizes());
    case Op::sliceBackward:
      return to.sliceBackward(layer, t(0), t(1), sizes(0), secondSizes());
    case Op::pad:
      return to.pad(layer, t(0), t(1), sizes(0), reals[0]);
    case Op::transpose:
      return to.transpose(layer, t(0), t(1), sizes(0));
    case Op::reshape:
      return to.reshape(layer, t(0), t(1));
    case Op::reduce:
      return to.reduce(layer, flag(0) ? Reduction::mean : Reduction::sum, t(0), t(1), sizes(1));
    case Op::pointwise:
      return pointwise(to);
    case Op::dropout:
      return to.dropout(layer, t(0), t(1), t(2), reals[0]);
    case Op::dropoutBackward:
      return to.dropoutBackward(layer, t(0), t(1), t(2), reals[0]);
    case Op::loss:
      return to.loss(t(0));
    case Op::issue:
      return to.issue(bucket());
    case Op::gather:
      return to.gather(bucket(), list(0, numbers[1]),
                       list(static_cast<std::size_t>(numbers[1]), numbers[1]));
    case Op::allGather:
      return to.allGather(bucket());
    case Op::wait:
      return to.wait(bucket());
    case Op::update:
      return to.update(bucket());
    }
  }

  const StepTables &tables;
  const std::vector<Tensor> &tensors; ///< by number
  const Row *row = nullptr;
  std::vector<Tensor> operands;
  std::vector<std::int64_t> numbers;
};

/// Describes the step to `builder`: declares the tensors, then the buckets, then appends the
/// operations in the rows' order.
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
  RowReader reader(tables, tensors);
  for (std::size_t place = 0; place < tables.rows.size();)
    place = reader.tell(builder, place);
}

} // namespace syncline
