// Prepares one operation: the places of its operands in the layouts that its kernel takes, scratch
// memory, and commands.
//
// input() and output() insert a conversion only where a tensor has another layout. Conversions of
// inputs and commands of call() run in the order of the calls, then the conversions of outputs.
#pragma once

#include "runtime/core/OperandChecks.h"
#include "runtime/cuda/Place.h"
#include "runtime/cuda/Program.h"
#include "runtime/cuda/kernels/BFloat16.h"

#include <string_view>
#include <vector>

namespace syncline::cuda {

class Preparation : public core::Operands {
public:
  Preparation(Program &program, core::OperationInfo &operation)
      : Operands(program.table), program(program), operation(operation) {}

  Layout dense(Tensor tensor) const { return denseLayout(info(tensor)); }
  /// The tensor's layout; dense before it has one.
  Layout layout(Tensor tensor) const;
  /// The layout in which an operation that accepts any layout uses this operand and produces
  /// its result: the operand's layout, or, where both orders are equal, the order of the
  /// precision's convolutions.
  Layout imageLayout(Tensor tensor) const;

  /// An operand's values, dense or in the wanted layout. A parameter or state without a layout
  /// adopts the wanted order. Fails for a tensor of the arena or the gradients that no operation
  /// has written, and for a tensor with more elements than kernels and cuDNN can count.
  template <typename T = float> Place<const T> input(Tensor tensor) {
    return input<T>(tensor, dense(tensor));
  }
  template <typename T = float> Place<const T> input(Tensor tensor, const Layout &wanted) {
    return read(tensor, wanted).template as<const T>();
  }
  /// The place for a result, dense or in the wanted layout, which a tensor without a layout adopts.
  /// From here on the tensor counts as written.
  template <typename T = float> Place<T> output(Tensor tensor) {
    return output<T>(tensor, dense(tensor));
  }
  template <typename T = float> Place<T> output(Tensor tensor, const Layout &wanted) {
    return written(tensor, wanted).template as<T>();
  }
  /// As output(), or a null place for `none`.
  template <typename T = float> Place<T> outputOrNull(Tensor tensor) {
    return tensor.isValid() ? output<T>(tensor) : Place<T>();
  }
  /// Gives this layout to a result without a layout; output() may still compute it in another one.
  void layOut(Tensor tensor, const Layout &wanted);

  /// Fails where the tensor has more elements than kernels and cuDNN can count.
  void expectCountable(Tensor tensor) const;
  void expectCountable(const std::string &what, const Shape &shape) const;
  /// Scratch memory for the duration of the operation.
  Scratch scratch(std::int64_t bytes) { return program.reserveScratch(bytes); }
  template <typename T> Place<T> scratchPlace(std::int64_t bytes) {
    return {program, scratch(bytes)};
  }

  /// Appends a command. The first name that is not empty becomes the operation's implementation.
  void call(std::string_view implementation, Command command);

  /// Ends the preparation and returns the operation's commands in order.
  std::vector<Command> finish();

  Program &program;

private:
  Place<const std::byte> read(Tensor tensor, const Layout &wanted);
  Place<const std::byte> readRounded(Tensor tensor);
  Place<std::byte> written(Tensor tensor, const Layout &wanted);
  Command conversion(const Shape &shape, const Place<std::byte> &to, const Layout &toLayout,
                     const Place<const std::byte> &from, const Layout &fromLayout);

  core::OperationInfo &operation;
  std::vector<Command> commands, after;
};

} // namespace syncline::cuda
