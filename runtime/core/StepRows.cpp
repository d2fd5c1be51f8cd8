// Calls a builder's methods for the rows of a step.
#include "runtime/core/StepRows.h"

#include "syncline/StepTables.h"

#include <vector>

namespace syncline::core {

namespace {

/// Reads one operation's row with the rows that continue it, and calls the builder's method.
class RowReader {
public:
  RowReader(const StepTables &tables, std::span<const Tensor> tensors)
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
  const std::span<const Tensor> tensors; ///< by number
  const Row *row = nullptr;
  std::vector<Tensor> operands;
  std::vector<std::int64_t> numbers;
  std::size_t operandsRead = 0, numbersRead = 0, realsRead = 0;
  const GeneratedLoop *loop = nullptr; ///< the one read last
};

} // namespace

void appendRows(StepBuilder &builder, const StepTables &tables, std::span<const Tensor> tensors) {
  RowReader reader(tables, tensors);
  for (std::size_t place = 0; place < tables.rows.size();)
    place = reader.tell(builder, place);
}

} // namespace syncline::core
