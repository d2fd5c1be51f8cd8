// Prepares one operation: places of its operands in the layouts that its kernel takes, scratch,
// commands.
//
// input() and output() insert a conversion only where a tensor lies in another layout. Commands run
// in this order: conversions of inputs and what call() appends, as they are asked for; conversions
// of outputs.
#pragma once

#include "runtime/core/OperandChecks.h"
#include "runtime/cuda/BFloat16.h"
#include "runtime/cuda/Place.h"
#include "runtime/cuda/Program.h"

#include <string_view>
#include <utility>
#include <vector>

namespace syncline::cuda {

class Preparation : public Operands {
public:
  Preparation(Program &program, OperationInfo &operation)
      : Operands(program.table), program(program), operation(operation) {}

  Layout dense(Tensor tensor) const { return denseLayout(info(tensor)); }
  /// How the tensor lies; dense while nobody has laid it out.
  Layout layout(Tensor tensor) const;
  /// What an operation that takes any layout computes this operand in, and leaves its result in:
  /// how it lies; where both orders are one, in the order of the precision's convolutions.
  Layout imageLayout(Tensor tensor) const;

  /// An operand's values, dense or in the wanted layout. A parameter or state without a layout
  /// adopts this one's order. Fails for a tensor of the arena or the gradients that nobody has
  /// written, and for one of more elements than our kernels and cuDNN count.
  template <typename T = float> Place<const T> input(Tensor tensor) {
    return input<T>(tensor, dense(tensor));
  }
  template <typename T = float> Place<const T> input(Tensor tensor, const Layout &wanted) {
    return read(tensor, wanted).template as<const T>();
  }
  /// Where a result is computed, dense or in the wanted layout, which a tensor without one adopts;
  /// from here on it has values.
  template <typename T = float> Place<T> output(Tensor tensor) {
    return output<T>(tensor, dense(tensor));
  }
  template <typename T = float> Place<T> output(Tensor tensor, const Layout &wanted) {
    return written(tensor, wanted).template as<T>();
  }
  /// The place of a result, none for none.
  template <typename T = float> Place<T> outputOrNull(Tensor tensor) {
    return tensor.isValid() ? output<T>(tensor) : Place<T>();
  }
  /// Lets a result that has no layout lie in this one, whatever output() computes it in.
  void layOut(Tensor tensor, const Layout &wanted);

  /// Fails where there are more elements than our kernels and cuDNN count; `what` says of whom.
  void expectCountable(Tensor tensor) const;
  void expectCountable(const std::string &what, const Shape &shape) const;
  /// Memory for the duration of the operation.
  Scratch scratch(std::int64_t bytes) { return program.reserveScratch(bytes); }
  template <typename T> Place<T> scratchPlace(std::int64_t bytes) {
    return {program, scratch(bytes)};
  }

  /// Appends a command; the first name that is not empty is the operation's implementation.
  void call(std::string_view implementation, Command command);

  /// The operation's commands, in order; ends the preparation.
  std::vector<Command> finish();

  Program &program;

private:
  Place<const std::byte> read(Tensor tensor, const Layout &wanted);
  Place<std::byte> written(Tensor tensor, const Layout &wanted);
  Command conversion(const Shape &shape, const Place<std::byte> &to, const Layout &toLayout,
                     const Place<const std::byte> &from, const Layout &fromLayout);

  OperationInfo &operation;
  std::vector<Command> commands, after;
};

} // namespace syncline::cuda
