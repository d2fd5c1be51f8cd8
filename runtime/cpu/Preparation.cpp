// Providing operands in wanted layouts and collecting an operation's commands.
#include "runtime/cpu/Preparation.h"

namespace syncline::cpu {

std::vector<DataType> Preparation::productTypes(Tensor tensor) const {
  if (program.rounds() && info(tensor).type == ElementType::f32)
    return {DataType::bf16, DataType::f32};
  return {type(tensor)};
}

bool Preparation::isLaidOut(Tensor tensor) const {
  info(tensor);
  return program.placement(tensor).isLaidOut;
}

Layout Preparation::layout(Tensor tensor) const {
  if (isLaidOut(tensor))
    return program.placement(tensor).layout;
  const Space space = info(tensor).space;
  if (space == Space::arena && program.table.isInCarriedSection()) {
    program.layOut(tensor, plain(tensor)); // a later gather writes it
    program.placement(tensor).isCarried = true;
  } else if (space == Space::arena || space == Space::gradients)
    failUnwritten(tensor);
  return plain(tensor);
}

dnnl::memory Preparation::at(Tensor tensor, const Layout &layout) {
  return dnnl::memory(layout, program.engine, program.placement(tensor).data);
}

dnnl::memory Preparation::alias(const dnnl::memory &memory, const Layout &layout) {
  if (const auto offset = program.scratchOffset(memory))
    return program.scratchMemory(layout, *offset);
  return dnnl::memory(layout, program.engine, memory.get_data_handle());
}

dnnl::memory Preparation::scratch(const Layout &layout) {
  return program.scratchMemory(
      layout, program.reserveScratch(static_cast<std::int64_t>(layout.get_size())));
}

dnnl::memory Preparation::input(Tensor tensor, const Layout &wanted) {
  Layout current = layout(tensor);
  operation.operands.push_back(tensor.id);
  if (!isLaidOut(tensor)) {
    program.layOut(tensor, wanted);
    current = layout(tensor);
  }
  if (current == wanted)
    return at(tensor, current);
  if (current.dims() == wanted.dims()) {
    dnnl::memory converted = scratch(wanted);
    convert(commands, at(tensor, current), converted);
    return converted;
  }
  const Layout reshaped = withType(plainLike(wanted), current.data_type());
  dnnl::memory dense;
  if (isPlain(current)) {
    dense = at(tensor, reshaped);
  } else {
    const Layout flat = plainLike(current);
    const auto offset = program.reserveScratch(static_cast<std::int64_t>(flat.get_size()));
    convert(commands, at(tensor, current), program.scratchMemory(flat, offset));
    dense = program.scratchMemory(reshaped, offset);
  }
  if (wanted == reshaped)
    return dense;
  dnnl::memory converted = scratch(wanted);
  convert(commands, dense, converted);
  return converted;
}

dnnl::memory Preparation::output(Tensor tensor, const Layout &wanted) {
  operation.results.push_back(tensor.id);
  if (!isLaidOut(tensor))
    program.layOut(tensor, wanted);
  const Layout current = program.placement(tensor).layout;
  if (current == wanted)
    return at(tensor, current);
  if (current.dims() == wanted.dims()) {
    dnnl::memory result = scratch(wanted);
    convert(after, result, at(tensor, current));
    return result;
  }
  const Layout reshaped = withType(plainLike(wanted), current.data_type());
  if (isPlain(current)) {
    if (wanted == reshaped)
      return at(tensor, reshaped);
    dnnl::memory result = scratch(wanted);
    convert(after, result, at(tensor, reshaped));
    return result;
  }
  const auto offset = program.reserveScratch(static_cast<std::int64_t>(reshaped.get_size()));
  dnnl::memory dense = program.scratchMemory(reshaped, offset);
  dnnl::memory result = dense;
  if (!(wanted == reshaped)) {
    result = scratch(wanted);
    convert(after, result, dense);
  }
  convert(after, program.scratchMemory(plainLike(current), offset), at(tensor, current));
  return result;
}

dnnl::memory Preparation::opaque(Tensor tensor, const Layout &layout) {
  const auto needed = static_cast<std::int64_t>(layout.get_size());
  if (needed > info(tensor).reserved)
    fail("'" + info(tensor).name + "': expected " + std::to_string(needed) +
         " bytes reserved, got " + std::to_string(info(tensor).reserved));
  Placement &placement = program.placement(tensor);
  placement.layout = layout;
  placement.isLaidOut = true;
  return at(tensor, layout);
}

void Preparation::call(std::string_view implementation, std::function<void()> function) {
  nameImplementation(implementation);
  commands.push_back({{}, {}, std::move(function)});
}

void Preparation::nameImplementation(std::string_view name) {
  if (operation.implementation.empty())
    operation.implementation = name;
}

void Preparation::convert(std::vector<Command> &list, const dnnl::memory &from,
                          const dnnl::memory &to) {
  ++operation.reorders;
  dnnl::reorder::primitive_desc desc(program.engine, from.get_desc(), program.engine, to.get_desc(),
                                     attributes());
  std::unordered_map<int, dnnl::memory> arguments{{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
  if (const Layout pad = desc.scratchpad_desc(); pad.get_size() > 0)
    arguments.emplace(DNNL_ARG_SCRATCHPAD, scratch(pad));
  list.push_back({dnnl::reorder(desc), std::move(arguments), {}});
}

void Preparation::reorder(const dnnl::memory &from, const dnnl::memory &to) {
  nameImplementation("reorder");
  convert(commands, from, to);
  --operation.reorders; // requested as an operation, so it is no layout conversion
}

std::vector<Command> Preparation::finish() {
  commands.insert(commands.end(), std::make_move_iterator(after.begin()),
                  std::make_move_iterator(after.end()));
  after.clear();
  return std::move(commands);
}

dnnl::primitive_attr Preparation::attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

} // namespace syncline::cpu
