// What a program's tensors take on a device with another batch, on other ranks, with other factors.
#pragma once

#include "ir/plan/Plan.h"

#include <cstdint>
#include <map>
#include <string>

namespace syncline::lower {

/// What the program would be compiled for instead.
struct MemoryNeed {
  std::int64_t batch = 1; ///< samples a rank
  std::int64_t ranks = 1;
  /// By parameter: the bytes of one rank's factors, for every gradient that travels by factors.
  std::map<std::string, std::int64_t> factors = {};
};

/// Bytes of all spaces together. Tensors that hold samples grow with the batch, what is gathered
/// with the ranks too, and all are placed anew by their lifetimes, so that with the program's own
/// batch, ranks and factors it is what the program says. Idealised: operations keep their order
/// and lifetimes; a gradient that travels by factors there and not in the program has them and what
/// they are gathered into alive from where the program computes it to the step's end.
std::int64_t memoryElsewhere(plan::ProgramOp program, const MemoryNeed &there);

} // namespace syncline::lower
