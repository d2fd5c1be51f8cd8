// Derivatives of recurrent layers, of all that a step may read of them.
#include "GradientHarness.h"

#include "syncline/RecurrentCell.h"

#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::test;

namespace {

struct Direction {
  const char *attribute;
  std::int64_t count;
};

/// A layer of 3 steps, 2 samples and 2 elements a state, on parameters.
std::string layer(RecurrentCell cell, const Direction &direction, const std::string &lengths = "") {
  const std::int64_t d = direction.count, rows = 2 * gatesOf(cell), states = statesOf(cell);
  const nn::Dims x{3, 2, d * rows}, r{d, rows, 2}, bias{d, 2 * rows}, state{states, d, 2, 2};
  return parameter("x", x) + parameter("r", r) + parameter("b", bias) + parameter("s", state) +
         "%h, %last, %saved = nn.recurrent %x, %r, %b, %s " + lengths +
         " {cell = " + std::to_string(static_cast<int>(cell)) + " : i64" + direction.attribute +
         "} : (" + type(x) + ", " + type(r) + ", " + type(bias) + ", " + type(state) +
         (lengths.empty() ? "" : ", tensor<2xi64>") + ") -> (" + type({3, 2, d * 2}) + ", " +
         type(state) + ", " + type({d, 3, 2, 2 * savedOf(cell)}) + ")\n";
}

const Direction directions[] = {{"", 1}, {", reverse", 1}, {"", 2}};

/// y is h itself.
std::string readsOutputs(std::int64_t d) {
  const std::string whole = type({3, 2, 2 * d});
  return "%y = nn.reshape %h : (" + whole + ") -> " + whole + "\n";
}

TEST(RecurrentGradient, OfOutputs) {
  for (std::int64_t cell = 0; cell < recurrentCells; ++cell)
    for (const Direction &direction : directions)
      expectRightGradients(layer(static_cast<RecurrentCell>(cell), direction) +
                               readsOutputs(direction.count),
                           {3, 2, 2 * direction.count});
}

TEST(RecurrentGradient, OfLastStates) {
  for (std::int64_t number = 0; number < recurrentCells; ++number) {
    const auto cell = static_cast<RecurrentCell>(number);
    for (const Direction &direction : directions) {
      const nn::Dims state{statesOf(cell), direction.count, 2, 2};
      expectRightGradients(layer(cell, direction) + "%y = nn.reshape %last : (" + type(state) +
                               ") -> " + type(state) + "\n",
                           state);
    }
  }
}

// One of the two samples takes no step, the other two of three.
TEST(RecurrentGradient, OfShortSamples) {
  const std::string lengths = "%n = nn.constant dense<[0, 2]> : tensor<2xi64>\n";
  for (std::int64_t cell = 0; cell < recurrentCells; ++cell)
    for (const Direction &direction : directions)
      expectRightGradients(lengths +
                               layer(static_cast<RecurrentCell>(cell), direction, "lengths %n") +
                               readsOutputs(direction.count),
                           {3, 2, 2 * direction.count});
}

} // namespace
