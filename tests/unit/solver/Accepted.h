// Accepted: the judge on what a planner gives.
#pragma once

#include "passes/proof/OrderChecker.h"
#include "passes/proof/SolutionChecker.h"
#include "passes/solver/OrderPlanner.h"
#include "passes/solver/Solver.h"

#include <gtest/gtest.h>

namespace syncline::solver {

/// Fails unless the judge accepts the plan and the proof of its bound, and of its optimality where
/// the result claims that.
inline void expectAccepted(const Problem &problem, const SolverResult &result) {
  if (auto rejection = proof::checkSolution(problem, result.plan))
    FAIL() << rejection->message;
  if (auto wrong =
          proof::checkProof(problem, result.certificate, result.plan.finish, result.optimal()))
    FAIL() << *wrong;
}

/// Fails unless the judge accepts the order and its bound.
inline void expectAccepted(const OrderProblem &problem, const OrderResult &result) {
  if (auto rejection = proof::checkOrder(problem, result.solution))
    FAIL() << rejection->message;
  if (auto rejection = proof::checkOrderBound(problem, result.certificate, result.solution.period))
    FAIL() << rejection->message;
}

} // namespace syncline::solver
