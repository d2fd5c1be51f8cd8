// Finding the places of operands, checking the order of writing and reading, and conversions.
#include "runtime/cuda/Preparation.h"

#include "runtime/cuda/Copies.h"
#include "runtime/cuda/NormSums.h"

#include <limits>

namespace syncline::cuda {

void Preparation::expectCountable(const std::string &what, const Shape &shape) const {
  constexpr std::int64_t max = std::numeric_limits<std::int32_t>::max();
  bool fits = true;
  std::int64_t elements = 1;
  for (std::int64_t extent : shape) {
    fits = fits && (extent <= 0 || elements <= max / extent); // avoids overflow of the product
    elements = fits ? elements * extent : elements;
  }
  if (!fits)
    fail(what + ": expected at most " + std::to_string(max) + " elements, got shape " +
         core::shapeText(shape));
}

void Preparation::expectCountable(Tensor tensor) const {
  expectCountable("'" + info(tensor).name + "'", shape(tensor));
}

Layout Preparation::layout(Tensor tensor) const {
  info(tensor);
  return program.placement(tensor).layout;
}

Layout Preparation::imageLayout(Tensor tensor) const {
  const Layout own = layout(tensor);
  const bool isEither = normalized({own.type, true}, shape(tensor)) == Layout{own.type, false};
  const bool prefersLast = convolutionLayouts(program.options.precision)[0].isChannelsLast;
  return {own.type, own.isChannelsLast || (isEither && prefersLast)};
}

void Preparation::layOut(Tensor tensor, const Layout &wanted) {
  if (!program.placement(tensor).isLaidOut)
    program.layOut(tensor, wanted);
}

/// Whether a tensor of this space keeps its values after its last use. Tensors of the arena
/// are overlaid.
static bool outlivesOperations(Space space) {
  return space != Space::arena && space != Space::gradients;
}

Place<const std::byte> Preparation::read(Tensor tensor, const Layout &wanted) {
  const core::StepTensor &own = info(tensor);
  operation.operands.push_back(tensor.id);
  expectCountable(tensor);
  const Placement &placement = program.placement(tensor);
  if (placement.norm)
    storeNorm(program, *placement.norm);
  if (!outlivesOperations(own.space) && !placement.isWritten) {
    if (own.space != Space::arena || !program.table.isInCarriedSection())
      failUnwritten(tensor);
    layOut(tensor, dense(tensor)); // a later gather writes it
  }
  layOut(tensor, wanted);
  const Place<const std::byte> stored(program.data(tensor));
  const Layout asked = normalized(wanted, own.shape);
  if (placement.layout == asked)
    return stored;
  if (program.weights.holds(tensor, asked))
    return readRounded(tensor);
  const std::int64_t bytes = layoutBytes(asked, own.shape);
  KeptCopy *copy = outlivesOperations(own.space) ? &program.keep(tensor, asked) : nullptr;
  const Place<std::byte> place(program, copy ? copy->place : scratch(bytes));
  const bool isFresh = copy && copy->isFresh;
  if (copy)
    copy->isFresh = true;
  if (!isFresh) {
    ++operation.reorders;
    call("", conversion(own.shape, place, asked, stored, placement.layout));
  }
  return place;
}

Place<const std::byte> Preparation::readRounded(Tensor tensor) {
  if (Command rounding = program.weights.read(tensor)) {
    ++operation.reorders;
    call("", std::move(rounding));
  }
  return Place<const std::byte>(Place<std::byte>(program, program.roundedPlace(tensor)));
}

Place<std::byte> Preparation::written(Tensor tensor, const Layout &wanted) {
  const core::StepTensor &own = info(tensor);
  operation.results.push_back(tensor.id);
  expectCountable(tensor);
  Placement &placement = program.placement(tensor);
  layOut(tensor, wanted);
  placement.isWritten = true;
  placement.sums = nullptr;
  program.changed(own.space, own.offset, own.reserved);
  const Place<std::byte> stored(program.data(tensor));
  const Layout asked = normalized(wanted, own.shape);
  Place<std::byte> place = stored;
  if (placement.layout != asked) {
    ++operation.reorders;
    place = scratchPlace<std::byte>(layoutBytes(asked, own.shape));
    after.push_back(conversion(own.shape, stored, placement.layout, place, asked));
  }
  if (own.space == Space::parameters)
    after.push_back([&program = program, tensor] { program.weights.round(tensor); });
  return place;
}

Command Preparation::conversion(const Shape &shape, const Place<std::byte> &to,
                                const Layout &toLayout, const Place<const std::byte> &from,
                                const Layout &fromLayout) {
  return [&program = program, to, from,
          conversion = Conversion(*this, shape, toLayout, fromLayout,
                                  std::min(to.alignment(), from.alignment()))] {
    conversion.run(program.device.compute, to, from);
  };
}

void Preparation::call(std::string_view implementation, Command command) {
  if (operation.implementation.empty())
    operation.implementation = implementation;
  commands.push_back(std::move(command));
}

std::vector<Command> Preparation::finish() {
  commands.insert(commands.end(), std::make_move_iterator(after.begin()),
                  std::make_move_iterator(after.end()));
  after.clear();
  return std::move(commands);
}

} // namespace syncline::cuda
