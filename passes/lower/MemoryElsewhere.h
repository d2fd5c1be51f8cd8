// Predicts a program's memory with another batch, on other ranks, or with other gradients
// by factors.
#pragma once

#include "ir/plan/Plan.h"

#include <cstdint>
#include <map>
#include <string>

namespace syncline::lower {

/// The batch, ranks and factors for which memory is wanted.
struct MemoryNeed {
  std::int64_t batch = 1; ///< samples per rank
  std::int64_t ranks = 1;
  /// Whether steps wait for messages of the step before. Gathered tensors then live all the time.
  bool isCarrying = false;
  /// Bytes of one rank's factors, by parameter, for every gradient that travels by factors.
  std::map<std::string, std::int64_t> factors = {};
};

/// Bytes of all spaces together. Tensors that hold samples grow with the batch, gathered
/// tensors with the ranks too, and all are placed anew by their lifetimes. With the program's
/// own batch, ranks and factors the result is the program's memory. Idealised: operations keep
/// their order and lifetimes; a gradient that travels by factors in `there` but not in the
/// program keeps its factors and the gathered tensors alive from where the program computes it
/// to the end of the step, and the gathered tensors in all of it where `there` is carrying.
std::int64_t memoryElsewhere(plan::ProgramOp program, const MemoryNeed &there);

} // namespace syncline::lower
