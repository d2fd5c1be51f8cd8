// Addresses of operands, and the order in which they are written and read.
#include "runtime/cuda/Preparation.h"

#include <limits>

namespace syncline::cuda {

void Preparation::expectCountable(const std::string &what, const Shape &shape) const {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  bool fits = true;
  std::int64_t elements = 1;
  for (std::int64_t extent : shape) {
    fits = fits && (extent <= 0 || elements <= most / extent); // a product may not overflow
    elements = fits ? elements * extent : elements;
  }
  if (!fits)
    fail(what + ": expected at most " + std::to_string(most) + " elements, got shape " +
         shapeText(shape));
}

void Preparation::expectCountable(Tensor tensor) const {
  expectCountable("'" + info(tensor).name + "'", shape(tensor));
}

std::byte *Preparation::counted(Tensor tensor) const {
  expectCountable(tensor);
  return program.data(tensor);
}

std::byte *Preparation::read(Tensor tensor) const {
  const Space space = info(tensor).space;
  const bool isResult = space == Space::arena || space == Space::gradients;
  if (isResult && !program.isWritten[static_cast<std::size_t>(tensor.id)])
    failUnwritten(tensor);
  return counted(tensor);
}

std::byte *Preparation::written(Tensor tensor) {
  std::byte *data = counted(tensor);
  program.isWritten[static_cast<std::size_t>(tensor.id)] = true;
  return data;
}

void Preparation::call(std::string_view implementation, Command command) {
  if (operation.implementation.empty())
    operation.implementation = implementation;
  commands.push_back(std::move(command));
}

} // namespace syncline::cuda
