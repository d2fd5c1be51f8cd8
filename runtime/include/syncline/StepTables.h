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
  template <typename Parameter> struct Next {}; ///< chooses an overload of read()

  Tensor read(Next<Tensor>) { return operands[operandsRead++]; }
  std::int64_t read(Next<std::int64_t>) { return numbers[numbersRead++]; }
  double read(Next<double>) { return row->reals[realsRead++]; }
  bool read(Next<bool>) { return read(Next<std::int64_t>()) != 0; }
  Activation read(Next<Activation>) {
    return read(Next<bool>()) ? Activation::relu : Activation::none;
  }
  Reduction read(Next<Reduction>) { return static_cast<Reduction>(read(Next<std::int64_t>())); }
  std::size_t readIndex() { return static_cast<std::size_t>(read(Next<std::int64_t>())); }
  const Window &read(Next<const Window &>) { return tables.windows[readIndex()]; }
  Shape read(Next<const Shape &>) {
    const std::size_t count = readIndex();
    const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(numbersRead);
    numbersRead += count;
    return Shape(begin, begin + static_cast<std::ptrdiff_t>(count));
  }
  std::span<const Tensor> readList(std::size_t count) {
    operandsRead += count;
    return std::span(operands).subspan(operandsRead - count, count);
  }
  std::span<const Tensor> read(Next<std::span<const Tensor>>) { return readList(readIndex()); }
  PointwiseKernel read(Next<PointwiseKernel>) {
    loop = &tables.loops[readIndex()];
    return loop->kernel;
  }
  PointwiseInfo read(Next<const PointwiseInfo &>) {
    const bool flat = read(Next<bool>()), keepsZero = read(Next<bool>());
    return {.flat = flat,
            .keepsZero = keepsZero,
            .rounded = loop->rounded,
            .form = loop->form,
            .gate = loop->gate};
  }

  /// Calls a method of `to`. Braces evaluate the arguments from left to right.
  struct Call {
    template <typename... Parameters, typename... Arguments>
    Call(StepBuilder &to, void (StepBuilder::*method)(std::string_view, Parameters...),
         const char *layer, const Arguments &...arguments) {
      (to.*method)(layer, arguments...);
    }
  };
  /// Calls the method with what the row has for its parameters.
  template <typename... Parameters>
  void call(StepBuilder &to, void (StepBuilder::*method)(std::string_view, Parameters...)) {
    Call{to, method, row->layer, read(Next<Parameters>())...};
  }

  int bucket() { return static_cast<int>(read(Next<std::int64_t>())); }

  void gather(StepBuilder &to) {
    const int bucket = this->bucket();
    const std::size_t count = readIndex();
    const std::span<const Tensor> ins = readList(count), outs = readList(count);
    to.gather(bucket, ins, outs);
  }

  void dispatch(StepBuilder &to) {
    operandsRead = numbersRead = realsRead = 0;
    switch (row->op) {
    case Op::more:
      return;
    case Op::phase:
      return to.phase(row->layer);
#define SYNCLINE_KERNEL(name, ...)                                                                 \
  case Op::name:                                                                                   \
    return call(to, &StepBuilder::name);
#include "syncline/Kernels.inc"
    case Op::loss:
      return to.loss(read(Next<Tensor>()));
    case Op::issue:
      return to.issue(bucket());
    case Op::gather:
      return gather(to);
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
  std::size_t operandsRead = 0, numbersRead = 0, realsRead = 0;
  const GeneratedLoop *loop = nullptr; ///< the one read last
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
