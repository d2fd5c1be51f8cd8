// Addresses of operands, and the order in which they are written and read.
#include "runtime/cuda/Preparation.h"

#include <limits>

namespace syncline::cuda {

std::byte *Preparation::counted(Tensor tensor) const {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (count(tensor) > most)
    fail("'" + info(tensor).name + "': expected at most " + std::to_string(most) +
         " elements, got " + std::to_string(count(tensor)));
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
