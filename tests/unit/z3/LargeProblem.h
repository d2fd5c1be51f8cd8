// A problem that Z3 cannot answer within a second.
#pragma once

#include "tests/unit/solver/RandomProblem.h"

namespace syncline::z3judge {

inline problem::Problem largeProblem() {
  solver::Random random(1);
  return solver::randomProblem(random, {.layers = 60, .mergeClasses = 3, .onlyOneWay = 0});
}

} // namespace syncline::z3judge
