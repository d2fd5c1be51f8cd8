// The problem as constraints: which message each layer is in, and when messages end.
#include "passes/z3/Z3Judge.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <z3++.h>

namespace syncline::z3judge {

namespace {

class Model {
public:
  explicit Model(const Problem &problem)
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

  /// Layer k is in the bucket of `merge_class` whose last member is `last`.
  z3::expr isIn(std::size_t k, std::size_t mergeClass, std::size_t last) {
    return boolean("in", k, mergeClass, last);
  }
  z3::expr isFactors(std::size_t k, std::size_t option) {
    return boolean("factor_option", k, option, 0);
  }
  z3::expr isPiggyback(std::size_t k) { return boolean("rides", k, 0, 0); }

  z3::expr goesAlone(std::size_t k) {
    z3::expr any = context.bool_val(false);
    for (std::size_t i = 0; i < problem.layers[k].factorOptions.size(); ++i)
      any = any || isFactors(k, i);
    return any;
  }

  /// Each layer travels in exactly one way.
  void addDecisions() {
    for (std::size_t k = 0; k < n; ++k) {
      z3::expr_vector ways(context);
      for (std::size_t mergeClass = 0; mergeClass < problem.mergeClasses.size(); ++mergeClass)
        for (std::size_t last = k; last < n; ++last)
          if (problem.layers[k].mergeClasses >> mergeClass & 1)
            ways.push_back(isIn(k, mergeClass, last));
      for (std::size_t i = 0; i < problem.layers[k].factorOptions.size(); ++i)
        ways.push_back(isFactors(k, i));
      if (std::optional<std::size_t> carrier = problem.layers[k].carrier) {
        ways.push_back(isPiggyback(k));
        solver.add(z3::implies(isPiggyback(k), goesAlone(*carrier)));
      }
      solver.add(z3::atleast(ways, 1));
      solver.add(z3::atmost(ways, 1));
    }
  }

  bool mayUse(std::size_t k, std::size_t mergeClass) const {
    return problem.layers[k].mergeClasses >> mergeClass & 1;
  }

  /// A bucket contains its last member, and closes before the merge class's next one opens.
  void addBuckets() {
    for (std::size_t mergeClass = 0; mergeClass < problem.mergeClasses.size(); ++mergeClass)
      for (std::size_t k = 0; k < n; ++k)
        for (std::size_t last = k; last < n && mayUse(k, mergeClass); ++last) {
          solver.add(mayUse(last, mergeClass)
                         ? z3::implies(isIn(k, mergeClass, last), isIn(last, mergeClass, last))
                         : !isIn(k, mergeClass, last));
          for (std::size_t i = k + 1; i <= last; ++i)
            for (std::size_t other = i; other < n && mayUse(i, mergeClass); ++other)
              if (other != last)
                solver.add(!isIn(k, mergeClass, last) || !isIn(i, mergeClass, other));
        }
  }

  z3::expr bytesOf(std::size_t mergeClass, std::size_t last) {
    z3::expr sum = context.real_val(0);
    for (std::size_t k = 0; k <= last; ++k)
      if (mayUse(k, mergeClass))
        sum = sum + z3::ite(isIn(k, mergeClass, last), whole(problem.layers[k].bytes),
                            context.real_val(0));
    return sum;
  }

  z3::expr whole(std::int64_t number) { return context.real_val(std::to_string(number).c_str()); }

  void addCapacity() {
    for (std::size_t mergeClass = 0; mergeClass < problem.mergeClasses.size(); ++mergeClass) {
      z3::expr held = context.real_val(0);
      for (std::size_t last = 0; last < n; ++last) {
        if (problem.mergeClasses[mergeClass].largestMessage != unlimited)
          solver.add(bytesOf(mergeClass, last) <=
                     whole(problem.mergeClasses[mergeClass].largestMessage));
        held = held + bytesOf(mergeClass, last);
      }
      if (problem.mergeClasses[mergeClass].capacity != unlimited)
        solver.add(held <= whole(problem.mergeClasses[mergeClass].capacity));
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
      const Layer &layer = problem.layers[k];
      z3::expr end = context.real_const(("end" + std::to_string(k)).c_str());
      z3::expr built = context.real_const(("built" + std::to_string(k)).c_str());
      solver.add(end >= free && built >= compute);
      auto occupies = [&](const z3::expr &when, const z3::expr &time) {
        solver.add(z3::implies(when, end >= free + time && end >= exact(layer.ready) + time));
      };
      for (std::size_t mergeClass = 0; mergeClass < problem.mergeClasses.size(); ++mergeClass) {
        if (!mayUse(k, mergeClass))
          continue;
        z3::expr bytes = bytesOf(mergeClass, k);
        z3::expr some = context.bool_val(false);
        for (std::size_t i = 0; i < problem.mergeClasses[mergeClass].options.size(); ++i) {
          z3::expr taken = boolean("by", k, mergeClass, i);
          occupies(taken, seconds(*problem.mergeClasses[mergeClass].options[i].cost, bytes));
          some = some || taken;
        }
        solver.add(z3::implies(isIn(k, mergeClass, k), some));
      }
      for (std::size_t i = 0; i < layer.factorOptions.size(); ++i) {
        const FactorOption &factorOption = layer.factorOptions[i];
        occupies(isFactors(k, i), exact(factorOption.seconds));
        if (factorOption.reconstruct > 0)
          solver.add(
              z3::implies(isFactors(k, i), built >= compute + exact(factorOption.reconstruct) &&
                                               built >= end + exact(factorOption.reconstruct)));
      }
      free = end;
      compute = built;
    }
    solver.add(free <= exact(deadline) && compute <= exact(deadline));
  }

  const Problem &problem;
  std::size_t n;
  z3::context context;
  z3::solver solver;
};

} // namespace

Result<bool> canFinishBy(const Problem &problem, double deadline) {
  for (const MergeClass &mergeClass : problem.mergeClasses)
    for (const SchemeOption &option : mergeClass.options)
      if (option.cost->segments().empty())
        return Status::badInput("Z3 judge: the cost of '" + std::string(schemeName(option.scheme)) +
                                "' does not show its pieces");
  try {
    return Model(problem).canFinishBy(deadline);
  } catch (const z3::exception &error) {
    return Status::error(ErrorKind::internal, std::string("Z3 judge: ") + error.msg());
  }
}

} // namespace syncline::z3judge
