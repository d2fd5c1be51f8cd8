// What a cell of a recurrent layer computes for one sample and one time step, element by element.
//
// A pointer to a gate's vector is followed by those of the next gates, in ONNX's order, each of n
// elements. Products of the states have been computed before.
#pragma once

#include "syncline/RecurrentCell.h"

#include <cstdint>

namespace syncline::cpu {

/// `gates` and the states are vectors of `saved`.
struct CellStep {
  const float *x;         ///< the inputs' products
  const float *product;   ///< the states' products
  const float *inputBias; ///< of the inputs' products
  const float *stateBias; ///< of the states' products
  const float *h, *c;     ///< the states before the step
  float *gates, *newC, *newH;
  std::int64_t n;
};

void lstmCell(const CellStep &step);
/// The update and reset gates, and reset·h in `scaled`.
void gruGates(const CellStep &step, float *scaled);
/// What follows: `candidate` has the product of the scaled state.
void gruCandidate(const CellStep &step, const float *candidate);
void gruResetAfterCell(const CellStep &step);
void rnnCell(const CellStep &step, bool isRelu);

/// `dh` and `dc` are gradients of the states behind the step. A function adds to `dh` nothing of
/// what comes through products: it leaves there what reaches the state before the step otherwise.
struct CellGradient {
  const float *gates, *c, *h; ///< of the step, from `saved`
  const float *oldC, *oldH;   ///< the states before the step
  float *dh, *dc;
  float *dx; ///< of the inputs' products
  std::int64_t n;
};

void lstmCellBackward(const CellGradient &of);
/// The candidate's and the update gate's gradients.
void gruCandidateBackward(const CellGradient &of);
/// What follows: `dscaled` is the gradient of reset·h. `scaled` becomes reset·h.
void gruGatesBackward(const CellGradient &of, const float *dscaled, float *scaled);
/// `dproduct` is the gradient of the states' products.
void gruResetAfterCellBackward(const CellGradient &of, float *dproduct);
void rnnCellBackward(const CellGradient &of, bool isRelu);

} // namespace syncline::cpu
