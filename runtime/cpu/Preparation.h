// Prepares one operation: operands in the layouts that its kernel needs, the kernel, and the
// results' conversion to their tensors' layouts.
//
// input() and output() return memory in a given layout and insert a conversion only where the
// tensor has another layout. Commands run in this order: conversions of inputs, the commands of
// primitive() and call(), conversions of outputs.
#pragma once

#include "runtime/core/OperandChecks.h"
#include "runtime/cpu/Program.h"

#include <string_view>
#include <utility>
#include <vector>

namespace syncline::cpu {

class Preparation : public core::Operands {
public:
  Preparation(Program &program, core::OperationInfo &operation)
      : Operands(program.table), program(program), operation(operation) {}

  DataType type(Tensor tensor) const { return dataType(info(tensor).type); }
  Layout plain(Tensor tensor) const { return plainLayout(shape(tensor), info(tensor).type); }
  /// The types in which a product or a convolution may read the tensor, the quickest first.
  std::vector<DataType> productTypes(Tensor tensor) const;

  /// Whether the tensor is one of f32 that is stored as bf16.
  bool isRounded(Tensor tensor) const {
    return isLaidOut(tensor) &&
           cpu::isRounded(info(tensor).type, program.placement(tensor).layout.data_type());
  }
  /// Whether the tensor has a layout. A result mostly has none yet.
  bool isLaidOut(Tensor tensor) const;
  /// The tensor's layout. For a parameter or state that has none yet, the plain layout, which is
  /// not fixed by this call.
  Layout layout(Tensor tensor) const;

  /// The tensor's values in the wanted layout, which has the same elements in row-major order but
  /// may have other dimensions. A parameter or state without a layout adopts the wanted one.
  dnnl::memory input(Tensor tensor, const Layout &wanted);
  /// Memory for a result. A tensor without a layout adopts the wanted one if it fits.
  dnnl::memory output(Tensor tensor, const Layout &wanted);
  /// As input() and output(), in the dense row-major layout.
  dnnl::memory plainInput(Tensor tensor) { return input(tensor, plain(tensor)); }
  dnnl::memory plainOutput(Tensor tensor) { return output(tensor, plain(tensor)); }
  /// Memory of a tensor whose contents only the kernel interprets, such as a workspace.
  dnnl::memory opaque(Tensor tensor, const Layout &layout);
  /// Describes the same memory by another layout.
  dnnl::memory alias(const dnnl::memory &memory, const Layout &layout);
  /// Scratch memory for the duration of the operation.
  dnnl::memory scratch(const Layout &layout);

  /// Appends a primitive with its scratchpad. Its attributes must have scratchpad mode `user`.
  template <typename PrimitiveDesc>
  void primitive(const dnnl::primitive &primitive, const PrimitiveDesc &desc,
                 std::unordered_map<int, dnnl::memory> arguments) {
    if (const Layout pad = desc.scratchpad_desc(); pad.get_size() > 0)
      arguments.emplace(DNNL_ARG_SCRATCHPAD, scratch(pad));
    nameImplementation(desc.impl_info_str());
    commands.push_back({primitive, std::move(arguments), {}});
  }
  /// Appends a loop of this backend.
  void call(std::string_view implementation, std::function<void()> function);
  /// Appends a conversion of elements between two memories of the same dimensions.
  void reorder(const dnnl::memory &from, const dnnl::memory &to);

  /// Ends the preparation and returns the operation's commands in order.
  std::vector<Command> finish();

  static dnnl::primitive_attr attributes();

  Program &program;

private:
  dnnl::memory at(Tensor tensor, const Layout &layout);
  /// Sets the operation's implementation name to that of its first kernel.
  void nameImplementation(std::string_view name);
  void convert(std::vector<Command> &list, const dnnl::memory &from, const dnnl::memory &to);

  core::OperationInfo &operation;
  std::vector<Command> commands, after;
};

/// The address of a memory object, for loops. It is known only once the step is complete.
template <typename T> T *pointer(const dnnl::memory &memory) {
  return static_cast<T *>(memory.get_data_handle());
}

} // namespace syncline::cpu
