// Choosing layouts and scratch memory while a step is built.
#include "runtime/cpu/Program.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace syncline::cpu {

Program::Program(const core::ExecutableOptions &options)
    : options(options), table(options.sizes), engine(dnnl::engine::kind::cpu, 0), stream(engine),
      loss(std::numeric_limits<double>::quiet_NaN()) {}

void Program::declare(const core::StepTensor &tensor) {
  Placement placement;
  placement.data = spaces[static_cast<int>(tensor.space)].data() + tensor.offset;
  placement.layout = plainLayout(tensor.shape, tensor.type);
  placement.isLaidOut = tensor.space == Space::input || tensor.space == Space::target;
  if (shared && (tensor.space == Space::parameters || tensor.space == Space::gradients))
    follow(tensor, placement);
  placements.push_back(std::move(placement));
}

void Program::follow(const core::StepTensor &tensor, Placement &placement) {
  const int index = shared->table.find(tensor.space, tensor.name);
  const bool isThere = index >= 0;
  const core::StepTensor &other = isThere ? shared->table.tensors[index] : tensor;
  if (!isThere || other.shape != tensor.shape || other.type != tensor.type ||
      other.offset != tensor.offset)
    return table.fail(ErrorKind::badInput, "tensor '" + tensor.name +
                                               "' differs from that of the step whose memory this "
                                               "one shares, or lies elsewhere");
  placement.layout = shared->placements[index].layout;
  placement.isLaidOut = true;
}

std::int64_t Program::capacity(Tensor tensor) const {
  const Tensor other = table.counterpart(tensor);
  const std::int64_t own = table.of(tensor).reserved;
  return other.isValid() ? std::min(own, table.of(other).reserved) : own;
}

DataType Program::storedType(const core::StepTensor &info, DataType wanted) const {
  if (info.isRounded)
    return DataType::bf16;
  if (isRounded(info.type, wanted))
    return info.space == Space::arena ? DataType::bf16 : DataType::f32;
  return wanted;
}

void Program::layOut(Tensor tensor, const Layout &wanted) {
  const core::StepTensor &info = table.of(tensor);
  const Layout stored = withType(wanted, storedType(info, wanted.data_type()));
  const bool fits = static_cast<std::int64_t>(stored.get_size()) <= capacity(tensor);
  Placement &self = placement(tensor);
  // A plain layout may have other dimensions than the tensor, for a reshaped result; the tensor
  // keeps its own.
  self.layout = fits && !isPlain(stored)
                    ? stored
                    : withType(plainLayout(info.shape, info.type), stored.data_type());
  self.isLaidOut = true;
  if (Tensor other = table.counterpart(tensor); other.isValid()) {
    placement(other).layout = self.layout;
    placement(other).isLaidOut = true;
  }
}

dnnl::memory Program::scratchMemory(const Layout &layout, std::int64_t offset) {
  dnnl::memory memory(layout, engine, DNNL_MEMORY_NONE);
  scratchMemories.emplace_back(memory, offset);
  return memory;
}

std::optional<std::int64_t> Program::scratchOffset(const dnnl::memory &memory) const {
  // The caller asks about memory that was reserved last, so the search begins at the end.
  for (auto use = scratchMemories.rbegin(); use != scratchMemories.rend(); ++use)
    if (use->first.get() == memory.get())
      return use->second;
  return std::nullopt;
}

bool Program::allocateScratch() {
  scratch = core::HostMemory(scratchPlan.bytes());
  if (!scratch.isValid())
    return false;
  for (auto &[memory, offset] : scratchMemories)
    memory.set_data_handle(scratch.data() + offset);
  scratchMemories.clear();
  if (core::fillsUnwritten())
    unwritten = core::unwrittenRanges(table);
  return true;
}

void Program::fillUnwritten() {
  const auto fill = [](core::HostMemory &memory, std::int64_t offset, std::int64_t bytes) {
    std::memset(memory.data() + offset, core::nanByte, static_cast<std::size_t>(bytes));
  };
  for (const core::SpaceRange &range : unwritten)
    fill(spaces[static_cast<std::size_t>(range.space)], range.offset, range.bytes);
  if (!unwritten.empty() && scratch.bytes() > 0)
    fill(scratch, 0, scratch.bytes());
}

} // namespace syncline::cpu
