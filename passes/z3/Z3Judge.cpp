// The joint problem as constraints: which message each layer is in, and when messages end.
#include "passes/z3/Z3Judge.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <z3++.h>

namespace syncline::solver {

namespace {

class Model {
public:
  explicit Model(const JointProblem &problem)
      : problem(problem), n(problem.layers.size()), solver(context, "QF_LRA") {}

  bool canFinishBy(double deadline) {
    addDecisions();
    addBuckets();
    addCapacity();
    addTimes(deadline);
    z3::check_result answer = solver.check();
    if (answer == z3::unknown)
      throw z3::exception(solver.reason_unknown().c_str());
    return answer == z3::sat;
  }

private:
  /// The exact value of a double.
  z3::expr exact(double value) {
    int exponent = 0;
    auto mantissa = static_cast<std::int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
    exponent -= 53;
    z3::expr number = context.real_val(std::to_string(mantissa).c_str());
    z3::expr two = context.real_val(1);
    for (int left = std::abs(exponent); left > 0; left -= 62)
      two = two * context.real_val(std::to_string(std::int64_t{1} << std::min(left, 62)).c_str());
    return (exponent >= 0 ? number * two : number / two).simplify();
  }

  z3::expr boolean(const std::string &name, std::size_t a, std::size_t b, std::size_t c) {
    return context.bool_const(
        (name + std::to_string(a) + "_" + std::to_string(b) + "_" + std::to_string(c)).c_str());
  }

  /// Layer k is in the bucket of `lane` whose last member is `last`.
  z3::expr isIn(std::size_t k, std::size_t lane, std::size_t last) {
    return boolean("in", k, lane, last);
  }
  z3::expr isSolo(std::size_t k, std::size_t option) { return boolean("solo", k, option, 0); }
  z3::expr rides(std::size_t k) { return boolean("rides", k, 0, 0); }

  z3::expr goesAlone(std::size_t k) {
    z3::expr any = context.bool_val(false);
    for (std::size_t i = 0; i < problem.layers[k].solos.size(); ++i)
      any = any || isSolo(k, i);
    return any;
  }

  /// Each layer travels in exactly one way.
  void addDecisions() {
    for (std::size_t k = 0; k < n; ++k) {
      z3::expr_vector ways(context);
      for (std::size_t lane = 0; lane < problem.lanes.size(); ++lane)
        for (std::size_t last = k; last < n; ++last)
          if (problem.layers[k].lanes >> lane & 1)
            ways.push_back(isIn(k, lane, last));
      for (std::size_t i = 0; i < problem.layers[k].solos.size(); ++i)
        ways.push_back(isSolo(k, i));
      if (std::optional<std::size_t> carrier = problem.layers[k].carrier) {
        ways.push_back(rides(k));
        solver.add(z3::implies(rides(k), goesAlone(*carrier)));
      }
      solver.add(z3::atleast(ways, 1));
      solver.add(z3::atmost(ways, 1));
    }
  }

  bool mayUse(std::size_t k, std::size_t lane) const { return problem.layers[k].lanes >> lane & 1; }

  /// A bucket contains its last member, and closes before the lane's next one opens.
  void addBuckets() {
    for (std::size_t lane = 0; lane < problem.lanes.size(); ++lane)
      for (std::size_t k = 0; k < n; ++k)
        for (std::size_t last = k; last < n && mayUse(k, lane); ++last) {
          solver.add(mayUse(last, lane) ? z3::implies(isIn(k, lane, last), isIn(last, lane, last))
                                        : !isIn(k, lane, last));
          for (std::size_t i = k + 1; i <= last; ++i)
            for (std::size_t other = i; other < n && mayUse(i, lane); ++other)
              if (other != last)
                solver.add(!isIn(k, lane, last) || !isIn(i, lane, other));
        }
  }

  z3::expr bytesOf(std::size_t lane, std::size_t last) {
    z3::expr sum = context.real_val(0);
    for (std::size_t k = 0; k <= last; ++k)
      if (mayUse(k, lane))
        sum =
            sum + z3::ite(isIn(k, lane, last), whole(problem.layers[k].bytes), context.real_val(0));
    return sum;
  }

  z3::expr whole(std::int64_t number) { return context.real_val(std::to_string(number).c_str()); }

  void addCapacity() {
    for (std::size_t lane = 0; lane < problem.lanes.size(); ++lane) {
      z3::expr held = context.real_val(0);
      for (std::size_t last = 0; last < n; ++last) {
        if (problem.lanes[lane].largestMessage != unlimited)
          solver.add(bytesOf(lane, last) <= whole(problem.lanes[lane].largestMessage));
        held = held + bytesOf(lane, last);
      }
      if (problem.lanes[lane].capacity != unlimited)
        solver.add(held <= whole(problem.lanes[lane].capacity));
    }
  }

  z3::expr seconds(const CollectiveCost &cost, const z3::expr &bytes) {
    std::span<const CostSegment> pieces = cost.segments();
    z3::expr time = context.real_val(0);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      z3::expr onPiece =
          exact(pieces[i].base) + exact(pieces[i].slope) * (bytes - whole(pieces[i].firstByte));
      time = i == 0 ? onPiece : z3::ite(bytes >= whole(pieces[i].firstByte), onPiece, time);
    }
    return time;
  }

  /// The channel and the device after each layer. Later ends are allowed and help nobody, so
  /// inequalities suffice; so does "some option" for the fastest.
  void addTimes(double deadline) {
    z3::expr free = context.real_val(0), compute = exact(problem.computeFree);
    for (std::size_t k = 0; k < n; ++k) {
      const JointLayer &layer = problem.layers[k];
      z3::expr end = context.real_const(("end" + std::to_string(k)).c_str());
      z3::expr built = context.real_const(("built" + std::to_string(k)).c_str());
      solver.add(end >= free && built >= compute);
      auto occupies = [&](const z3::expr &when, const z3::expr &time) {
        solver.add(z3::implies(when, end >= free + time && end >= exact(layer.ready) + time));
      };
      for (std::size_t lane = 0; lane < problem.lanes.size(); ++lane) {
        if (!mayUse(k, lane))
          continue;
        z3::expr bytes = bytesOf(lane, k);
        z3::expr some = context.bool_val(false);
        for (std::size_t i = 0; i < problem.lanes[lane].options.size(); ++i) {
          z3::expr taken = boolean("by", k, lane, i);
          occupies(taken, seconds(*problem.lanes[lane].options[i].cost, bytes));
          some = some || taken;
        }
        solver.add(z3::implies(isIn(k, lane, k), some));
      }
      for (std::size_t i = 0; i < layer.solos.size(); ++i) {
        const SoloOption &solo = layer.solos[i];
        occupies(isSolo(k, i), exact(solo.seconds));
        if (solo.rebuild > 0)
          solver.add(z3::implies(isSolo(k, i), built >= compute + exact(solo.rebuild) &&
                                                   built >= end + exact(solo.rebuild)));
      }
      free = end;
      compute = built;
    }
    solver.add(free <= exact(deadline) && compute <= exact(deadline));
  }

  const JointProblem &problem;
  std::size_t n;
  z3::context context;
  z3::solver solver;
};

} // namespace

Result<bool> canFinishBy(const JointProblem &problem, double deadline) {
  for (const Lane &lane : problem.lanes)
    for (const SchemeOption &option : lane.options)
      if (option.cost->segments().empty())
        return Status::badInput("Z3 judge: the cost of '" + std::string(schemeName(option.scheme)) +
                                "' does not show its pieces");
  try {
    return Model(problem).canFinishBy(deadline);
  } catch (const z3::exception &error) {
    return Status::error(ErrorKind::internal, std::string("Z3 judge: ") + error.msg());
  }
}

} // namespace syncline::solver
