// Latest arrivals, overtaking and other orders of one plan's messages.
#include "passes/explain/OrderExplanation.h"

#include "passes/explain/Reorder.h"
#include "passes/problem/Interference.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <ranges>

namespace syncline::explain {

using namespace problem;

namespace {

/// When messages must end so that the period is as planned.
class LatestEnds {
public:
  LatestEnds(const OrderProblem &problem, const Solution &plan)
      : problem(problem), plan(plan), choices(layerChoices(problem.sync, plan)),
        following(problem.tail), riders(choices.size()) {
    double reconstructions = 0;
    for (std::size_t k : readersOf(problem) | std::views::reverse) {
      following[k] += reconstructions;
      reconstructions += reconstructOf(k);
    }
    for (std::size_t k : plan.piggybacks)
      riders[*problem.sync.layers[k].carrier].push_back(k);
    std::vector<double> awaited(choices.size(), 0); // share of each gradient in later messages
    brought.resize(plan.messages.size());
    setLostBehind();
    std::vector<std::size_t> arrivals(plan.messages.size()); // messages, the last one first
    std::iota(arrivals.rbegin(), arrivals.rend(), std::size_t{0});
    std::ranges::stable_sort(arrivals, std::greater(),
                             [&](std::size_t m) { return plan.messages[m].arrived(); });
    for (std::size_t m : arrivals)
      for (std::size_t k : plan.messages[m].layers)
        bring(m, k, awaited);
  }

  /// What message m brings of one gradient.
  struct Brought {
    std::size_t layer = 0;
    std::int64_t bytes = 0;
    double latest = 0;
  };
  const std::vector<Brought> &broughtBy(std::size_t m) const { return brought[m]; }
  /// When message m must end at the latest, whatever it brings.
  double latestOf(std::size_t m) const { return plan.finish - lostBehind[m]; }
  /// Computation that follows the gradient's update.
  double tailOf(std::size_t k) const { return following[k]; }
  double reconstructOf(std::size_t k) const {
    return choices[k].kind == Choice::Kind::factors
               ? problem.sync.layers[k].factorOptions[choices[k].index].reconstruct
               : 0;
  }

private:
  void bring(std::size_t m, std::size_t k, std::vector<double> &awaited) {
    const Message &message = plan.messages[m];
    const std::int64_t all = problem.sync.layers[k].bytes;
    const std::int64_t bytes = message.bytesOf(problem.sync, k);
    if (all == 0 && !message.isFactors)
      return; // nothing arrives, so that nothing waits
    awaited[k] += message.isFactors ? 1 : static_cast<double>(bytes) / static_cast<double>(all);
    brought[m].push_back({k, bytes, latestOf(m, k, awaited[k]) - reconstructOf(k)});
    if (message.isFactors)
      for (std::size_t rider : riders[k])
        brought[m].push_back({rider, problem.sync.layers[rider].bytes, latestOf(m, rider, 1)});
  }

  /// When so much of the gradient must be there, by message m, to be updated.
  double latestOf(std::size_t m, std::size_t k, double part) const {
    return latestOf(m) - following[k] - part * problem.updateOf(k);
  }

  /// What follows a message takes so much longer as the messages behind it take from computation.
  void setLostBehind() {
    lostBehind.resize(plan.messages.size());
    const OrderSolution order = orderFrom(problem, plan);
    const std::vector<std::size_t> numbers = numbersInPlan(order);
    double lost = 0;
    for (std::size_t p = numbers.size(); p-- > 0;) {
      if (order.messages[p].half != Half::first)
        lostBehind[numbers[p]] = lost;
      lost += lostSeconds(problem.sync, order.messages[p]);
    }
  }

  const OrderProblem &problem;
  const Solution &plan;
  std::vector<Choice> choices;
  std::vector<double> following;
  std::vector<std::vector<std::size_t>> riders; ///< by carrier
  std::vector<std::vector<Brought>> brought;    ///< by message
  std::vector<double> lostBehind; ///< by message: seconds that messages behind it take
};

/// The plan's messages, and those that bring the gradient.
void addMessages(OrderExplanation &explanation, const OrderProblem &problem, const Solution &plan,
                 const LatestEnds &ends) {
  for (std::size_t m = 0; m < plan.messages.size(); ++m) {
    const Message &message = plan.messages[m];
    ExplainedMessage entry{.message = message,
                           .scheme = plan.scheme(problem.sync, message),
                           .latest = ends.latestOf(m),
                           .urgent = message.layers.front()};
    for (const LatestEnds::Brought &part : ends.broughtBy(m)) {
      if (part.latest < entry.latest) {
        entry.latest = part.latest;
        entry.urgent = part.layer;
      }
      if (part.layer == explanation.layer)
        explanation.parts.push_back({m, part.bytes, part.latest});
    }
    explanation.messages.push_back(std::move(entry));
  }
}

/// Whether the first one was ready later, and yet left or arrived before the second one. Whole
/// messages arrive as they leave; halves may overtake in one of their orders alone.
bool hasOvertaken(const Message &first, const Message &second, bool leftFirst) {
  return first.ready > second.ready && (leftFirst || first.arrived() < second.arrived());
}

/// The messages that overtook one of `own`, and those that one of `own` overtook.
void addOvertaking(OrderExplanation &explanation, const std::vector<std::size_t> &own) {
  const std::vector<ExplainedMessage> &all = explanation.messages;
  for (std::size_t m = 0; m < all.size(); ++m) {
    if (std::ranges::binary_search(own, m))
      continue;
    bool overtook = false, wasOvertaken = false, isNeeded = false, wasNeeded = false;
    for (std::size_t x : own) {
      if (hasOvertaken(all[m].message, all[x].message, m < x)) {
        overtook = true;
        isNeeded = isNeeded || all[m].latest < all[x].latest;
      }
      if (hasOvertaken(all[x].message, all[m].message, x < m)) {
        wasOvertaken = true;
        wasNeeded = wasNeeded || all[x].latest < all[m].latest;
      }
    }
    if (overtook)
      explanation.overtakers.push_back({m, isNeeded});
    if (wasOvertaken)
      explanation.overtaken.push_back({m, wasNeeded});
  }
}

/// `order` lists the solution's messages.
OtherOrder timed(const OrderProblem &problem, const OrderSolution &solution,
                 const std::vector<std::size_t> &order) {
  return {reordered(problem, solution, order).period, std::ranges::is_sorted(order)};
}

OrderProof proofFor(const OrderProblem &problem, const OrderCertificate &certificate,
                    std::size_t layer) {
  const WeakestCase weakest = weakestCase(withLeastLosses(problem), certificate);
  const Layer &asked = weakest.problem.sync.layers[layer];
  const LeastLost leastLost(weakest.problem);
  OrderProof proof{.bound = certificate.bound,
                   .compute = weakest.problem.compute(),
                   .leastLost = leastLost.period() - weakest.problem.compute(),
                   .channelWeight = weakest.certificate.channelWeight,
                   .ready = weakest.certificate.ready,
                   .tail = weakest.certificate.tail,
                   .mayPiggyback = asked.carrier.has_value(),
                   .fixed = weakest.fixed,
                   .orders = weakest.orders};
  const auto isNamed = [&](std::size_t k) {
    return weakest.problem.sync.layers[k].ready >= proof.ready &&
           weakest.problem.tailBehind(k) >= proof.tail;
  };
  proof.isMember = !proof.mayPiggyback && asked.bytes > 0 && isNamed(layer);
  for (std::size_t k = 0; k < weakest.problem.tail.size(); ++k)
    if (!isNamed(k))
      proof.lostBeside += leastLost.beside(k, proof.channelWeight, weakest.certificate.lines);
  return proof;
}

} // namespace

const OrderedPart &OrderExplanation::tightest() const {
  return *std::ranges::min_element(parts, {}, [&](const OrderedPart &part) {
    return part.latest - messages[part.message].message.arrived();
  });
}

OrderExplanation explainOrder(const OrderProblem &problem, const Solution &messages,
                              const std::optional<OrderCertificate> &certificate,
                              std::size_t layer) {
  const LatestEnds ends(problem, messages);
  const OrderSolution solution = orderFrom(problem, messages);
  OrderExplanation explanation;
  explanation.layer = layer;
  explanation.bytes = problem.sync.layers[layer].bytes;
  explanation.ready = clockOf(problem.sync, solution).at(problem.sync.layers[layer].ready);
  explanation.update = problem.updateOf(layer);
  explanation.reconstruct = ends.reconstructOf(layer);
  explanation.tail = ends.tailOf(layer);
  explanation.period = messages.finish;
  if (std::ranges::binary_search(messages.piggybacks, layer))
    explanation.carrier = problem.sync.layers[layer].carrier;
  addMessages(explanation, problem, messages, ends);
  std::vector<std::size_t> own;
  for (const OrderedPart &part : explanation.parts)
    own.push_back(part.message);
  addOvertaking(explanation, own);
  explanation.raised = timed(problem, solution, raised(messages, solution, own));
  explanation.lowered = timed(problem, solution, lowered(solution, own));
  if (!explanation.parts.empty())
    explanation.grouping = groupingInOrder(problem, messages, explanation.tightest().message);
  if (certificate)
    explanation.proof = proofFor(problem, *certificate, layer);
  return explanation;
}

} // namespace syncline::explain
