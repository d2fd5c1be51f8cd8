// One question to Z3, with a limit of time and memory.
#include "passes/z3/Z3Judge.h"

#include "passes/problem/Interference.h"
#include "passes/z3/Z3Model.h"
#include "passes/z3/Z3Terms.h"

#include <algorithm>

namespace syncline::z3judge {

namespace {

std::vector<std::vector<Piece>> allPieces(const Problem &problem) {
  std::vector<std::vector<Piece>> pieces;
  for (std::size_t mergeClass = 0; mergeClass < problem.mergeClasses.size(); ++mergeClass) {
    std::int64_t fewest = unlimited, most = 0;
    for (std::size_t k = 0; k < problem.layers.size(); ++k)
      if (problem.allows(k, mergeClass)) {
        fewest = std::min(fewest, problem.layers[k].bytes);
        most += problem.layers[k].bytes;
      }
    most = std::min(most, problem.mergeClasses[mergeClass].largestMessage);
    pieces.push_back(piecesOf(problem.mergeClasses[mergeClass], std::min(fewest, most), most));
  }
  return pieces;
}

Result<Answer> ask(const Problem &problem, const std::vector<std::vector<Piece>> &pieces,
                   const Question &question, double seconds) {
  z3::context context;
  z3::solver solver = limitedSolver(context, seconds);
  Z3Model model(problem, pieces, solver);
  model.state(question);
  switch (solver.check()) {
  case z3::sat:
    return Answer{Verdict::possible, model.choices(solver.get_model()), {}};
  case z3::unsat:
    return Answer{Verdict::impossible, {}, {}};
  case z3::unknown:
    return Answer{Verdict::noAnswer, {}, solver.reason_unknown()};
  }
  return Status::error(ErrorKind::internal, "Z3 judge: no result");
}

} // namespace

Status checkAvailable() { return Status::ok(); }

Result<Answer> findPlan(const Problem &problem, const Question &question, double seconds) {
  if (slowsComputation(problem))
    return Status::badInput("Z3's model has no messages that slow computation");
  try {
    return ask(problem, allPieces(problem), question, seconds);
  } catch (const z3::exception &error) {
    const std::string reason = error.msg();
    if (reason.find("memory") != std::string::npos || reason.find("cancel") != std::string::npos)
      return Answer{Verdict::noAnswer, {}, reason};
    return Status::error(ErrorKind::internal, "Z3 judge: " + reason);
  }
}

Result<bool> canFinishBy(const Problem &problem, double deadline) {
  SYNCLINE_TRY_GET(answer, findPlan(problem, {deadline, {}}, 3600));
  if (answer->verdict == Verdict::noAnswer)
    return Status::error(ErrorKind::internal, "Z3 judge: " + answer->reason);
  return answer->verdict == Verdict::possible;
}

} // namespace syncline::z3judge
