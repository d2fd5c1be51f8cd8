// Doubles as rational numbers, and Z3's parameters.
#include "passes/z3/Z3Terms.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace syncline::z3judge {

z3::expr numberOf(z3::context &context, std::int64_t value) {
  return context.real_val(std::to_string(value).c_str());
}

z3::expr exactValue(z3::context &context, double value) {
  int exponent = 0;
  auto mantissa = static_cast<std::int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
  exponent -= 53;
  z3::expr result = numberOf(context, mantissa);
  z3::expr power = numberOf(context, 1);
  for (int left = std::abs(exponent); left > 0; left -= 62)
    power = power * numberOf(context, std::int64_t{1} << std::min(left, 62));
  return (exponent >= 0 ? result * power : result / power).simplify();
}

z3::solver limitedSolver(z3::context &context, double seconds) {
  constexpr int maxMegabytes = 4096;
  z3::set_param("memory_max_size", maxMegabytes);
  constexpr unsigned forever = std::numeric_limits<unsigned>::max();
  z3::params parameters(context);
  parameters.set("arith.solver", 2u); // half the time of Z3's default here
  parameters.set("ctrl_c", false);    // Z3 would only stop the check, and the process would go on
  parameters.set("timeout", static_cast<unsigned>(
                                std::clamp(std::round(seconds * 1e3), 1.0, double(forever - 1))));
  z3::solver solver(context, "QF_LRA");
  solver.set(parameters);
  return solver;
}

} // namespace syncline::z3judge
