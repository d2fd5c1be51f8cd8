// The constraints, one function a paragraph of README.md.
#include "passes/z3/Z3Model.h"

#include "passes/z3/Z3Terms.h"

#include <algorithm>
#include <limits>

namespace syncline::z3judge {

Z3Model::Z3Model(const Problem &problem, const std::vector<std::vector<Piece>> &pieces,
                 z3::solver &solver)
    : problem(problem), pieces(pieces), solver(solver), context(solver.ctx()) {}

z3::expr Z3Model::number(std::int64_t value) const { return numberOf(context, value); }

z3::expr Z3Model::exact(double value) const { return exactValue(context, value); }

z3::expr Z3Model::flag(const char *name, std::size_t layer, std::size_t index) const {
  return context.bool_const((name + std::to_string(layer) + "_" + std::to_string(index)).c_str());
}

z3::expr Z3Model::real(const char *name) {
  return context.real_const((name + std::to_string(variables++)).c_str());
}

/// `value` where the condition holds, else 0.
z3::expr Z3Model::constantIf(const z3::expr &condition, const z3::expr &value) {
  const z3::expr result = real("value");
  solver.add(z3::implies(condition, result == value));
  solver.add(z3::implies(!condition, result == 0));
  return result;
}

void Z3Model::addWays() {
  for (std::size_t k = 0; k < problem.layers.size(); ++k) {
    Ways &ways = layers.emplace_back();
    for (std::size_t mergeClass = 0; mergeClass < problem.mergeClasses.size(); ++mergeClass)
      if (problem.allows(k, mergeClass))
        ways.merged.push_back({k, mergeClass, flag("join", k, mergeClass),
                               flag("close", k, mergeClass), real("seconds")});
    for (std::size_t i = 0; i < problem.layers[k].factorOptions.size(); ++i)
      ways.factors.push_back(flag("factors", k, i));
    if (problem.layers[k].carrier)
      ways.piggyback.push_back(flag("piggyback", k, 0));
  }
}

/// Each layer travels in exactly one way; a piggyback's carrier goes by factors.
void Z3Model::addOneWayEach() {
  for (std::size_t k = 0; k < layers.size(); ++k) {
    z3::expr_vector ways(context);
    for (const Membership &merged : layers[k].merged) {
      ways.push_back(merged.join);
      ways.push_back(merged.close);
    }
    for (const z3::expr &way : layers[k].factors)
      ways.push_back(way);
    for (const z3::expr &way : layers[k].piggyback) {
      ways.push_back(way);
      z3::expr_vector carries(context);
      for (const z3::expr &factors : layers[*problem.layers[k].carrier].factors)
        carries.push_back(factors);
      solver.add(z3::implies(way, z3::mk_or(carries)));
    }
    solver.add(z3::mk_or(ways));
    for (unsigned i = 0; i < ways.size(); ++i)
      for (unsigned j = 0; j < i; ++j)
        solver.add(!ways[static_cast<int>(i)] || !ways[static_cast<int>(j)]);
  }
}

/// A bucket that a layer joins is closed by a later one.
void Z3Model::addClosings(const std::vector<Membership *> &members) {
  z3::expr isClosedLater = context.bool_val(false);
  for (auto member = members.rbegin(); member != members.rend(); ++member) {
    solver.add(!(*member)->join || isClosedLater);
    isClosedLater = isClosedLater || (*member)->close;
  }
}

/// For each member the sum over the bucket that it closes, 0 where it closes none, of `perByte`
/// times the bytes. All rows have the coefficients 1 and -1: others make Z3's numbers grow with
/// every pivot.
Z3Model::Sums Z3Model::sent(const std::vector<Membership *> &members, const z3::expr &perByte,
                            double sign) {
  Sums sums;
  z3::expr open = number(0);
  for (const Membership *member : members) {
    const z3::expr own = (perByte * number(problem.layers[member->layer].bytes)).simplify();
    const z3::expr after = real("open"), sum = real("sent");
    solver.add(after == open + constantIf(member->join || member->close, own) - sum);
    solver.add(z3::implies(!member->close, sum == 0));
    solver.add(z3::implies(member->close, after == 0));
    solver.add(sign < 0 ? after <= 0 : after >= 0);
    solver.add(sign < 0 ? sum <= 0 : sum >= 0);
    open = after;
    sums.push_back(sum);
  }
  if (!members.empty())
    solver.add(open == 0);
  return sums;
}

/// No message takes less than its merge class's pieces say.
void Z3Model::addDurations(std::size_t mergeClass, const std::vector<Membership *> &members) {
  const std::vector<Piece> &ways = pieces[mergeClass];
  std::vector<z3::expr> some(members.size(), context.bool_val(false));
  const bool needsBytes = ways.size() > 1;
  const Sums bytes = needsBytes ? sent(members, number(1), 1) : Sums();
  std::vector<std::pair<double, Sums>> bySlope;
  for (const Piece &piece : ways) {
    const double slope = piece.line.slope;
    auto known = std::ranges::find_if(bySlope, [&](const auto &s) { return s.first == slope; });
    if (known == bySlope.end())
      known = bySlope.insert(known, {slope, sent(members, exact(slope), slope)});
    const z3::expr base =
        (exact(piece.line.base) - exact(slope) * number(piece.line.firstByte)).simplify();
    for (std::size_t i = 0; i < members.size(); ++i) {
      z3::expr takes = members[i]->seconds - known->second[i] >= base;
      if (needsBytes)
        takes = takes && bytes[i] >= number(piece.firstByte) && bytes[i] <= number(piece.lastByte);
      some[i] = some[i] || takes;
    }
  }
  double rate = std::numeric_limits<double>::infinity(); // least seconds a byte
  for (const Line &line : linesBelow(ways))
    rate = line.latency >= 0 ? std::min(rate, line.secondsPerByte) : 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    solver.add(members[i]->seconds >= 0);
    solver.add(!members[i]->close || some[i]);
  }
  if (rate > 0 && rate < std::numeric_limits<double>::infinity()) {
    const Sums least = ways.size() == 1 ? bySlope[0].second : sent(members, exact(rate), 1);
    for (std::size_t i = 0; i < members.size(); ++i)
      solver.add(members[i]->seconds - least[i] >= 0);
  }
}

void Z3Model::addLimits(std::size_t mergeClass, const std::vector<Membership *> &members) {
  const MergeClass &limits = problem.mergeClasses[mergeClass];
  if (limits.largestMessage != unlimited)
    for (const z3::expr &bytes : sent(members, number(1), 1))
      solver.add(bytes <= number(limits.largestMessage));
  if (limits.capacity == unlimited)
    return;
  z3::expr held = number(0);
  for (const Membership *member : members)
    held = held +
           constantIf(member->join || member->close, number(problem.layers[member->layer].bytes));
  solver.add(held <= number(limits.capacity));
}

/// One channel and one device, in order. `end` is when the channel is free after layer k, at least
/// its ready time: no later message can start sooner. `left` is the reconstruction still to come.
void Z3Model::addClock(std::optional<double> deadline) {
  const auto keepsDeadline = [&](const z3::expr &seconds) {
    if (deadline)
      solver.add(seconds <= exact(*deadline));
  };
  const std::size_t n = layers.size();
  std::vector<z3::expr> left(n + 1, number(0));
  for (std::size_t k = n; k-- > 0;) {
    left[k] = left[k + 1];
    for (std::size_t i = 0; i < layers[k].factors.size(); ++i)
      if (const double seconds = problem.layers[k].factorOptions[i].reconstruct; seconds > 0) {
        const z3::expr sum = real("left");
        solver.add(sum == left[k] + constantIf(layers[k].factors[i], exact(seconds)));
        left[k] = sum;
      }
  }
  z3::expr free = number(0);
  for (std::size_t k = 0; k < n; ++k) {
    z3::expr sends = number(0);
    for (const Membership &merged : layers[k].merged)
      sends = sends + merged.seconds;
    for (std::size_t i = 0; i < layers[k].factors.size(); ++i)
      sends = sends +
              constantIf(layers[k].factors[i], exact(problem.layers[k].factorOptions[i].seconds));
    const z3::expr end = real("end");
    solver.add(end >= free + sends);
    solver.add(end >= exact(problem.layers[k].ready) + sends);
    keepsDeadline(end + left[k]);
    free = end;
  }
  keepsDeadline(exact(problem.computeFree) + left[0]);
}

void Z3Model::addMessageLimit(std::size_t maxMessages) {
  z3::expr_vector messages(context);
  for (const Ways &ways : layers) {
    for (const Membership &merged : ways.merged)
      messages.push_back(merged.close);
    for (const z3::expr &factors : ways.factors)
      messages.push_back(factors);
  }
  if (maxMessages < messages.size())
    solver.add(z3::atmost(messages, static_cast<unsigned>(maxMessages)));
}

void Z3Model::state(const Question &question) {
  addWays();
  addOneWayEach();
  for (std::size_t mergeClass = 0; mergeClass < problem.mergeClasses.size(); ++mergeClass) {
    std::vector<Membership *> members;
    for (Ways &ways : layers)
      for (Membership &merged : ways.merged)
        if (merged.mergeClass == mergeClass)
          members.push_back(&merged);
    addClosings(members);
    addDurations(mergeClass, members);
    addLimits(mergeClass, members);
  }
  addClock(question.deadline);
  if (question.maxMessages)
    addMessageLimit(*question.maxMessages);
}

std::vector<Choice> Z3Model::choices(const z3::model &model) const {
  auto isTaken = [&](const z3::expr &flag) { return model.eval(flag, true).is_true(); };
  std::vector<Choice> choices;
  for (const Ways &ways : layers) {
    Choice choice{Choice::Kind::piggyback, 0};
    for (const Membership &merged : ways.merged) {
      const auto index = static_cast<std::uint8_t>(merged.mergeClass);
      if (isTaken(merged.join))
        choice = {Choice::Kind::join, index};
      if (isTaken(merged.close))
        choice = {Choice::Kind::bucket, index};
    }
    for (std::size_t i = 0; i < ways.factors.size(); ++i)
      if (isTaken(ways.factors[i]))
        choice = {Choice::Kind::factors, static_cast<std::uint8_t>(i)};
    choices.push_back(choice);
  }
  return choices;
}

} // namespace syncline::z3judge
