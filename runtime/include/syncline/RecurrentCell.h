// The cells of the kernels recurrent and recurrentBackward (Kernels.inc), as their numbers.
#pragma once

#include <cstdint>

namespace syncline {

/// Gates stand in ONNX's order.
enum class RecurrentCell {
  lstm,          ///< input, output, forget, candidate
  gru,           ///< update, reset, candidate; the reset gate scales the state before the product
  gruResetAfter, ///< linear_before_reset: the reset gate scales the product
  rnnTanh,
  rnnRelu,
};

inline constexpr std::int64_t recurrentCells = 5;

constexpr std::int64_t gatesOf(RecurrentCell cell) {
  switch (cell) {
  case RecurrentCell::lstm:
    return 4;
  case RecurrentCell::gru:
  case RecurrentCell::gruResetAfter:
    return 3;
  case RecurrentCell::rnnTanh:
  case RecurrentCell::rnnRelu:
    return 1;
  }
  return 0;
}

/// How many vectors a cell hands on: its output, and behind it an LSTM's cell state.
constexpr std::int64_t statesOf(RecurrentCell cell) { return cell == RecurrentCell::lstm ? 2 : 1; }

/// How many vectors a time step keeps for the backward pass: the gates, what the reset gate scales
/// in gruResetAfter, and the states. Those of the simple cells follow from their output.
constexpr std::int64_t savedOf(RecurrentCell cell) {
  const bool isSimple = gatesOf(cell) == 1;
  return (isSimple ? 0 : gatesOf(cell)) + (cell == RecurrentCell::gruResetAfter ? 1 : 0) +
         statesOf(cell);
}

} // namespace syncline
