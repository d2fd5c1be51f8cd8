// Z3Judge: problems as satisfiability of linear arithmetic, decided by Z3: a prover that shares
// neither algorithm nor arithmetic with our planner and its judges. README.md has the model.
//
// A build without Z3 has the same functions (WithoutZ3.cpp); they refuse. Thread-safe: a call
// makes its own Z3 context. Ctrl-C ends the process as it does elsewhere.
#pragma once

#include "passes/problem/Problem.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace syncline::z3judge {

using namespace problem;

struct Question {
  std::optional<double> deadline;         ///< seconds; if set, only plans that finish by then count
  std::optional<std::size_t> maxMessages; ///< if set, only plans with so few count
};

enum class Verdict {
  possible,   ///< some plan counts
  impossible, ///< proved: none does
  noAnswer,   ///< out of time or memory
};

struct Answer {
  Verdict verdict = Verdict::noAnswer;
  std::vector<Choice> choices; ///< where possible: a plan that counts
  std::string reason;          ///< where there is no answer: Z3's
};

/// badInput, saying how to get it, when this build has no Z3.
Status checkAvailable();

/// Whether there is such a plan, in exact rational arithmetic: every double of the problem is taken
/// at its exact value. Gives up after `seconds`. badInput when messages slow computation, a cost
/// does not show its pieces or the build has no Z3; internal when Z3 fails. The time grows
/// exponentially with what is to be chosen; README.md has measurements. Precondition: the problem
/// is valid.
Result<Answer> findPlan(const Problem &problem, const Question &question, double seconds);

/// findPlan with an hour's patience, for tests. internal where that does not suffice.
Result<bool> canFinishBy(const Problem &problem, double deadline);

} // namespace syncline::z3judge
