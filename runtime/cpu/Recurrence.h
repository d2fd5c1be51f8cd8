// A recurrent layer over all time steps, forward and backward, on plain tensors of f32.
#pragma once

#include "syncline/RecurrentCell.h"

#include <cstdint>
#include <vector>

namespace syncline::cpu {

struct RecurrentLayer {
  RecurrentCell cell;
  bool reverse;
  std::int64_t steps, batch, directions, size;

  std::int64_t gates() const { return gatesOf(cell) * size; }
  std::int64_t saved() const { return savedOf(cell) * size; }
  /// Elements of one state in one direction.
  std::int64_t state() const { return batch * size; }
  /// The time of step number k.
  std::int64_t time(std::int64_t direction, std::int64_t k) const {
    return direction == 1 || reverse ? steps - 1 - k : k;
  }
};

/// The kernel's operands (syncline/Kernels.inc). `lengths` may be null.
struct RecurrentOperands {
  const float *x, *r, *bias, *initial;
  const std::int64_t *lengths;
  float *y, *last, *saved;
};

/// The operands of the backward kernel. `lengths`, `dr`, `dbias` and `dinitial` may be null.
struct RecurrentGradients {
  const float *r, *initial, *saved, *dy, *dlast;
  const std::int64_t *lengths;
  float *dx, *dr, *dbias, *dinitial;
};

/// Floats of scratch memory that the functions below need.
std::int64_t recurrentScratch(const RecurrentLayer &layer);
std::int64_t recurrentBackwardScratch(const RecurrentLayer &layer);

void recurrentForward(const RecurrentLayer &layer, const RecurrentOperands &all, float *scratch);
void recurrentBackward(const RecurrentLayer &layer, const RecurrentGradients &all, float *scratch);

} // namespace syncline::cpu
