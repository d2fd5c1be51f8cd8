// Z3Model: a problem as linear constraints over 0/1 variables and seconds (README.md, "The model").
#pragma once

#include "passes/z3/Pieces.h"
#include "passes/z3/Z3Judge.h"

#include <vector>
#include <z3++.h>

namespace syncline::z3judge {

/// States the problem to a solver and reads its answer back. Refers to both.
class Z3Model {
public:
  /// `pieces` has an entry per merge class.
  Z3Model(const Problem &problem, const std::vector<std::vector<Piece>> &pieces,
          z3::solver &solver);

  /// Adds all constraints. Call it once.
  void state(const Question &question);

  /// What Z3 chose. Precondition: `model` is one of the solver's.
  std::vector<Choice> choices(const z3::model &model) const;

private:
  /// What layer k may do in one merge class, and how long its message takes if it closes a bucket.
  struct Membership {
    std::size_t layer, mergeClass;
    z3::expr join, close, seconds;
  };
  struct Ways {
    std::vector<Membership> merged;
    std::vector<z3::expr> factors;
    std::vector<z3::expr> piggyback; ///< none or one
  };
  using Sums = std::vector<z3::expr>; ///< one per membership of a merge class

  z3::expr number(std::int64_t value) const;
  z3::expr exact(double value) const;
  z3::expr flag(const char *name, std::size_t layer, std::size_t index) const;
  z3::expr real(const char *name);
  z3::expr constantIf(const z3::expr &condition, const z3::expr &value);

  void addWays();
  void addOneWayEach();
  void addClosings(const std::vector<Membership *> &members);
  Sums sent(const std::vector<Membership *> &members, const z3::expr &perByte, double sign);
  void addDurations(std::size_t mergeClass, const std::vector<Membership *> &members);
  void addLimits(std::size_t mergeClass, const std::vector<Membership *> &members);
  void addClock(std::optional<double> deadline);
  void addMessageLimit(std::size_t maxMessages);

  const Problem &problem;
  const std::vector<std::vector<Piece>> &pieces;
  z3::solver &solver;
  z3::context &context;
  std::vector<Ways> layers;
  std::size_t variables = 0;
};

} // namespace syncline::z3judge
