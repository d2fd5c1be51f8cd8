// Prepares one operation: operands in the layouts its kernel wants, the kernel, results put back.
//
// input() and output() hand out memory in a given layout and insert a conversion only where the
// tensor lies in another one. Commands run in this order: conversions of inputs, what primitive()
// and call() append, conversions of outputs.
#pragma once

#include "runtime/core/OperandChecks.h"
#include "runtime/cpu/Program.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace syncline::cpu {

class Preparation : public Operands {
public:
  Preparation(Program &program, OperationInfo &operation)
      : Operands(program.table), program(program), operation(operation) {}

  DataType type(Tensor tensor) const { return dataType(info(tensor).type); }
  Layout plain(Tensor tensor) const { return plainLayout(shape(tensor), info(tensor).type); }

  /// Whether the tensor has a layout already. A result mostly has none yet.
  bool isLaidOut(Tensor tensor) const;
  /// Of a tensor that has one; of a parameter or state without, the plain one without fixing it.
  Layout layout(Tensor tensor) const;

  /// The tensor's values in the wanted layout (same elements in row-major order, perhaps other
  /// dimensions). A parameter or state without a layout adopts this one.
  dnnl::memory input(Tensor tensor, const Layout &wanted);
  /// Memory for a result; a tensor without a layout adopts this one if it fits.
  dnnl::memory output(Tensor tensor, const Layout &wanted);
  /// As input() and output(), dense row-major.
  dnnl::memory plainInput(Tensor tensor) { return input(tensor, plain(tensor)); }
  dnnl::memory plainOutput(Tensor tensor) { return output(tensor, plain(tensor)); }
  /// A tensor whose contents only the kernel understands, such as a workspace.
  dnnl::memory opaque(Tensor tensor, const Layout &layout);
  /// The same bytes under another description of them.
  dnnl::memory alias(const dnnl::memory &memory, const Layout &layout);
  /// Memory for the duration of the operation.
  dnnl::memory scratch(const Layout &layout);

  /// Appends a primitive with its scratchpad (the attributes must say scratchpad mode user).
  template <typename PrimitiveDesc>
  void primitive(const dnnl::primitive &primitive, const PrimitiveDesc &desc,
                 std::unordered_map<int, dnnl::memory> arguments) {
    if (const Layout pad = desc.scratchpad_desc(); pad.get_size() > 0)
      arguments.emplace(DNNL_ARG_SCRATCHPAD, scratch(pad));
    nameImplementation(desc.impl_info_str());
    commands.push_back({primitive, std::move(arguments), {}});
  }
  /// Appends a loop of our own.
  void call(std::string_view implementation, std::function<void()> function);
  /// Appends a conversion of elements between two memories of the same dimensions.
  void reorder(const dnnl::memory &from, const dnnl::memory &to);

  /// The operation's commands, in order; ends the preparation.
  std::vector<Command> finish();

  static dnnl::primitive_attr attributes();

  Program &program;

private:
  dnnl::memory at(Tensor tensor, const Layout &layout);
  /// The first kernel names the operation's.
  void nameImplementation(std::string_view name);
  void convert(std::vector<Command> &list, const dnnl::memory &from, const dnnl::memory &to);

  OperationInfo &operation;
  std::vector<Command> commands, after;
};

/// For loops over memory whose address is known only once the step is complete.
template <typename T> T *pointer(const dnnl::memory &memory) {
  return static_cast<T *>(memory.get_data_handle());
}

} // namespace syncline::cpu
