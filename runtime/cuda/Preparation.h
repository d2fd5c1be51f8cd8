// Prepares one operation: addresses of its operands, scratch, commands.
#pragma once

#include "runtime/core/OperandChecks.h"
#include "runtime/cuda/Program.h"

#include <string_view>
#include <utility>
#include <vector>

namespace syncline::cuda {

class Preparation : public Operands {
public:
  Preparation(Program &program, OperationInfo &operation)
      : Operands(program.table), program(program), operation(operation) {}

  /// The address of an operand that has values. Fails for one of the arena or the gradients that
  /// nobody has written, and for one of more elements than our kernels and cuDNN count.
  template <typename T = float> const T *input(Tensor tensor) const {
    return reinterpret_cast<const T *>(read(tensor));
  }
  /// The address of a result; from here on it has values.
  template <typename T = float> T *output(Tensor tensor) {
    return reinterpret_cast<T *>(written(tensor));
  }
  /// The address of a result, null for none.
  template <typename T = float> T *outputOrNull(Tensor tensor) {
    return tensor.isValid() ? output<T>(tensor) : nullptr;
  }
  /// Fails where there are more elements than our kernels and cuDNN count; `what` says of whom.
  void expectCountable(Tensor tensor) const;
  void expectCountable(const std::string &what, const Shape &shape) const;
  /// Memory for the duration of the operation.
  Scratch scratch(std::int64_t bytes) { return program.reserveScratch(bytes); }

  /// Appends a command; the first name that is not empty is the operation's implementation.
  void call(std::string_view implementation, Command command);

  /// The operation's commands, in order; ends the preparation.
  std::vector<Command> finish() { return std::move(commands); }

  Program &program;

private:
  std::byte *read(Tensor tensor) const;
  std::byte *written(Tensor tensor);
  std::byte *counted(Tensor tensor) const;

  OperationInfo &operation;
  std::vector<Command> commands;
};

} // namespace syncline::cuda
