// Tries list schedules and keeps the best.
#include "passes/solver/OrderPlanner.h"

#include "passes/problem/Interference.h"
#include "passes/problem/Rounding.h"
#include "passes/solver/Gathering.h"
#include "passes/solver/Inflation.h"
#include "passes/solver/ListSchedule.h"
#include "passes/solver/OrderBound.h"
#include "passes/solver/OrderCases.h"
#include "passes/solver/OrderMoves.h"
#include "passes/solver/OrderRivals.h"
#include "passes/solver/OrderTurns.h"
#include "passes/solver/OrderWays.h"
#include "passes/solver/Replay.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace syncline::solver {

OrderSolution orderOf(const OrderProblem &problem, const Solution &inReadyOrder) {
  // An order's messages slow all operations alike.
  Solution plan = tellsClasses(problem.sync)
                      ? replay(withoutClasses(problem.sync), choicesOf(problem.sync, inReadyOrder))
                      : inReadyOrder;
  for (Message &message : plan.messages)
    std::ranges::reverse(message.layers); // as they lie in memory
  OrderSolution order = orderFrom(problem, plan);
  std::erase_if(order.messages,
                [](const OrderMessage &own) { return !own.isFactors && own.bytes() == 0; });
  order.period = periodOf(problem, order);
  return order;
}

namespace {

/// Follows the best list schedule.
class OrderSearch {
public:
  OrderSearch(const OrderProblem &problem, const Solution &inReadyOrder, bool inHalves,
              const OrderSolution *known)
      : problem(problem), inHalves(inHalves) {
    result.certificate = orderBound(problem);
    result.solution = orderOf(problem, inReadyOrder);
    longest = result.solution.period;
    if (known && known->period < longest) {
      result.solution = *known;
      longest = known->period;
    }
    schedules.emplace(problem, result.solution.choices);
    for (const Layer &layer : problem.sync.layers)
      total += layer.bytes;
    chunk = std::max(problem.grain, total / 16);
  }

  OrderResult run() {
    tryChunks(Halves::none);
    flipLargest();
    tryCases();
    tryTargets(result.certificate.bound);
    schedules.emplace(problem, result.solution.choices);
    tryAround(result.solution, rounds, false);
    if (offersHalves()) {
      tryChunks(Halves::behind);
      tryChunks(Halves::between);
      tryAround(result.solution, rounds, true);
    }
    tryRivals();
    tryOptions();
    return std::move(result);
  }

private:
  static constexpr std::int64_t maxMessages = 1024;
  static constexpr int targets = 16;
  static constexpr std::size_t maxFlips = 16;     ///< gradients whose choice changes alone
  static constexpr double goodGap = 5e-4;         ///< the search ends here
  static constexpr std::size_t mostBranches = 64; ///< of searchTurns()
  static constexpr std::size_t mostTrials = 2500; ///< of searchAround()
  static constexpr std::uint64_t rounds = 4;      ///< of it, around the best order
  static constexpr std::size_t mostMoved = 64;    ///< messages in an order that it changes
  /// Layers that the branches, and one round of trials, may look at.
  static constexpr std::size_t turnVisits = 20'000, trialVisits = 250'000;
  /// Layers that all list schedules may place together, for the time of large problems.
  static constexpr std::size_t maxVisits = 1'000'000;

  bool attempt(const MessageSize &size) {
    if (result.gap() <= goodGap || visits > maxVisits)
      return false;
    return keepIfBetter(listSchedule(*schedules, size));
  }

  bool keepIfBetter(OrderSolution next) {
    visits += problem.sync.layers.size();
    const bool isBetter = next.period <= longest && priceOf(next) < priceOf(result.solution);
    if (isBetter)
      result.solution = std::move(next);
    return isBetter;
  }

  /// Another system's order must be shorter by the price of a message, and have no more than
  /// `maxMessages` or as many as ours: each costs the device some time.
  void keepIfShorter(OrderSolution next) {
    const std::size_t most =
        std::max(static_cast<std::size_t>(maxMessages), result.solution.messages.size());
    if (next.messages.size() <= most && next.period <= longest &&
        next.period < result.solution.period * (1 - messagePrice))
      result.solution = std::move(next);
  }

  /// Bytes of the shortest messages that are tried.
  std::int64_t leastChunk() const { return std::max(problem.grain, total / maxMessages); }

  void tryChunks(Halves halves) {
    for (auto bytes = static_cast<double>(leastChunk()); bytes < 2.0 * static_cast<double>(total);
         bytes *= std::sqrt(2.0))
      if (attempt({.chunk = std::llround(bytes), .halves = halves}))
        chunk = std::llround(bytes);
  }

  /// Takes the order of another system where it is shorter, however small the gap is.
  void tryRivals() {
    if (result.isOptimal() || !usesFirstClass(problem))
      return;
    keepIfShorter(priorityOrder(problem, 200'000));              // P3
    keepIfShorter(priorityOrder(problem, 4'096'000, 4'096'000)); // ByteScheduler
    keepIfShorter(priorityOrder(problem, unlimited));            // TicTac
    const std::int64_t largest = problem.sync.mergeClasses[0].largestMessage;
    const auto fits = [&](const Layer &layer) { return layer.bytes <= largest; };
    if (!inHalves || !std::ranges::all_of(problem.sync.layers, fits))
      return; // DeAR cuts no layer, and sends every bucket in halves
    const auto least = static_cast<std::uint64_t>(std::min<std::int64_t>(leastChunk(), 1 << 16));
    for (auto size = static_cast<std::int64_t>(std::bit_floor(least)); size < 2 * total; size *= 2)
      if (Result<OrderSolution> order = dearOrder(problem, size))
        keepIfShorter(std::move(*order));
  }

  /// Where messages slow computation, lets them travel by options that take less from it than the
  /// fastest one, one message after the other.
  void tryOptions() {
    if (!slowsComputation(problem.sync))
      return;
    schedules.emplace(problem, result.solution.choices);
    for (std::size_t p = 0; p < result.solution.messages.size(); ++p) {
      const OrderMessage own = result.solution.messages[p];
      if (own.isFactors || own.half != Half::whole)
        continue;
      const std::size_t options = problem.sync.mergeClasses[own.index].options.size();
      for (std::size_t option = 0; option < options && visits <= maxVisits; ++option) {
        OrderSolution next = result.solution;
        next.messages[p].option = option;
        if (lostSeconds(problem.sync, next.messages[p]) >=
            lostSeconds(problem.sync, result.solution.messages[p]))
          continue;
        setTimes(*schedules, next);
        keepIfBetter(std::move(next));
      }
    }
  }

  /// Whether a layer travels by a merge class whose buckets may travel in halves.
  bool offersHalves() const {
    return inHalves && std::ranges::any_of(schedules->layerChoices(), [&](const Choice &choice) {
             return choice.kind == Choice::Kind::bucket &&
                    std::ranges::any_of(
                        problem.sync.mergeClasses[choice.index].options,
                        [](const SchemeOption &option) { return hasHalves(option.scheme); });
           });
  }

  /// Lets the largest gradients change between factors and buckets, one by one, and keeps what
  /// shortens the period.
  void flipLargest() {
    std::vector<std::size_t> layers = flippable(problem.sync);
    layers.resize(std::min(layers.size(), maxFlips));
    for (std::size_t k : layers)
      if (const auto other = flipped(problem.sync, schedules->layerChoices(), k))
        tryChoices(*other);
  }

  /// Proves a bound with cases, and tries the ways of those that do not prove that their solutions
  /// are longer.
  void tryCases() {
    if (result.gap() <= goodGap || !mayProveByCases(problem))
      return;
    ProvedCases proved = proveByCases(problem, result.certificate, result.solution.choices,
                                      result.solution.period / (1 + goodGap));
    result.certificate = std::move(proved.certificate);
    for (const ProvedCases::Case &one : proved.cases)
      if (one.bound < result.solution.period)
        tryChoices(one.choices, one.bound);
  }

  /// Tries messages around the best chunk for other ways, and for targets from `low` on if given.
  void tryChoices(const std::vector<Choice> &next, double low = 0) {
    std::optional<Schedules> before(std::in_place, problem, next);
    std::swap(schedules, before);
    bool isBetter = false;
    for (std::int64_t bytes : chunksAround())
      if (attempt({.chunk = bytes})) {
        isBetter = true;
        chunk = bytes;
      }
    if (low > 0)
      isBetter |= tryTargets(low);
    isBetter |= tryTurns(low > 0);
    if (!isBetter)
      std::swap(schedules, before);
  }

  /// Bytes of messages around the best size.
  std::vector<std::int64_t> chunksAround() const {
    std::vector<std::int64_t> chunks;
    for (double factor : {0.25, 0.5, 1.0, 2.0, 4.0})
      chunks.push_back(
          std::max<std::int64_t>(problem.grain, std::llround(factor * static_cast<double>(chunk))));
    return chunks;
  }

  /// Lets factors travel sooner or later where they are in the way of other messages, and with
  /// `thenAround` searches around the best schedule of these.
  bool tryTurns(bool thenAround) {
    if (result.gap() <= goodGap || visits > maxVisits)
      return false;
    const double enough = result.certificate.bound * (1 + goodGap);
    const std::size_t most = std::min(mostBranches, turnVisits / (problem.tail.size() + 1));
    TurnsResult turned = searchTurns(*schedules, chunksAround(), most, enough);
    visits += turned.schedules * problem.tail.size();
    OrderSolution start = turned.solution;
    const bool isBetter = keepIfBetter(std::move(turned.solution));
    return (thenAround && tryAround(std::move(start), 1, false)) || isBetter;
  }

  /// Searches at random around an order by the ways of `schedules`.
  bool tryAround(OrderSolution start, std::uint64_t searches, bool inHalves) {
    const std::size_t trials = std::min(mostTrials, trialVisits / (problem.tail.size() + 1));
    bool isBetter = false;
    for (std::uint64_t seed = 0; seed < searches; ++seed)
      if (result.gap() > goodGap && start.messages.size() <= mostMoved) {
        start = searchAround(*schedules, std::move(start), {trials, seed, inHalves});
        isBetter |= keepIfBetter(start);
      }
    return isBetter;
  }

  /// Tries messages that meet targets from `low` to the best period.
  bool tryTargets(double low) {
    const double latency = problem.sync.mergeClasses[0].secondsOnClock(1);
    const double lost = lostSeconds(problem.sync, result.solution);
    const double step = (result.solution.period - low) / targets;
    bool isBetter = false;
    for (int i = 0; i < targets; ++i)
      for (std::int64_t part : {1, 4, 16})
        for (double reserve : {0.0, 1.0, 2.0, 4.0, 8.0})
          isBetter |= attempt({.chunk = std::max(problem.grain, chunk / part),
                               .target = low + i * step - lost,
                               .reserve = reserve * latency});
    return isBetter;
  }

  const OrderProblem &problem;
  const bool inHalves;
  OrderResult result;
  /// Schedules by the ways in which gradients travel in the best or in the tried solution.
  std::optional<Schedules> schedules;
  double longest = 0; ///< seconds: the period in ready order, or the known one if it is shorter
  std::size_t visits = 0;
  std::int64_t total = 0, chunk = 0; ///< bytes of all gradients, and of the best chunk
};

} // namespace

/// An order that no search shortens, with a bound.
static OrderResult proved(const OrderProblem &problem, OrderSolution order) {
  if (tellsClasses(problem.sync))
    return proved(withLeastLosses(problem), std::move(order));
  OrderResult result{std::move(order), orderBound(problem)};
  if (!result.isOptimal() && mayProveByCases(problem))
    result.certificate =
        proveByCases(problem, result.certificate, result.solution.choices, result.solution.period)
            .certificate;
  return result;
}

/// What the search finds; it proves no bound where classes of operations lose unequally.
static OrderResult searched(const OrderProblem &problem, const Solution &inReadyOrder,
                            bool inHalves, const OrderSolution *known) {
  OrderResult result = OrderSearch(problem, inReadyOrder, inHalves, known).run();
  return tellsClasses(problem.sync) ? proved(problem, std::move(result.solution)) : result;
}

OrderResult planOrder(const OrderProblem &problem, const Solution &inReadyOrder, bool inHalves) {
  return searched(problem, inReadyOrder, inHalves, nullptr);
}

static Result<OrderResult> planOptimal(const OrderProblem &problem, bool inHalves);

/// The order that "optimal" gives where it forgets what messages take from computation.
static Result<OrderSolution> forgetting(const OrderProblem &problem, bool inHalves) {
  OrderProblem free = problem;
  free.sync = withoutLosses(problem.sync);
  SYNCLINE_TRY_GET(order, planOptimal(free, inHalves));
  setTimes(Schedules(problem, order->solution.choices), order->solution);
  return std::move(order->solution);
}

/// What "optimal" gives, in halves or not.
static Result<OrderResult> planOptimal(const OrderProblem &problem, bool inHalves) {
  SYNCLINE_TRY_GET(inReadyOrder, (*parsePlanner("optimal"))->plan(problem.sync));
  // That plan finishes first of all, but a rule's plan may have the shorter period.
  const std::optional<Solution> ruled = bestRuledSolution(problem.sync);
  const bool isShorter =
      ruled && orderOf(problem, *ruled).period < orderOf(problem, inReadyOrder->plan).period;
  const Solution &start = isShorter ? *ruled : inReadyOrder->plan;
  if (!slowsComputation(problem.sync))
    return planOrder(problem, start, inHalves);
  SYNCLINE_TRY_GET(known, forgetting(problem, inHalves));
  return searched(problem, start, inHalves, &*known);
}

Result<OrderSolution> searchOrder(const OrderProblem &problem, const Planner &planner) {
  const Search &search = *planner.search();
  SYNCLINE_TRY_GET(found, planOptimal(inflated(problem, search.inflation), search.inHalves));
  if (search.inflation > 0)
    setTimes(Schedules(problem, found->solution.choices), found->solution);
  return std::move(found->solution);
}

/// The order that "optimal" finds for sums alone, with the bound of all orders.
static Result<OrderResult> planSums(const OrderProblem &problem) {
  Result<Problem> sums = withoutGathering(problem.sync);
  if (!sums)
    return Status::error(sums.status().kind(), "planner 'sums': " + sums.status().message());
  OrderProblem ofSums = problem;
  ofSums.sync = std::move(*sums);
  Result<OrderResult> order = planOrder(ofSums, **parsePlanner("optimal"));
  return order ? proved(problem, std::move(order->solution)) : order;
}

Result<OrderResult> planOrder(const OrderProblem &problem, const Planner &planner) {
  if (const OrderRule *rule = planner.orderRule()) {
    Result<OrderSolution> order = (*rule)(problem);
    if (!order)
      return Status::error(order.status().kind(),
                           "planner '" + planner.name() + "': " + order.status().message());
    return proved(problem, std::move(*order));
  }
  if (planner.search() && planner.search()->sumsOnly())
    return planSums(problem);
  if (planner.isOptimal())
    return planOptimal(problem, true);
  if (planner.search() && planner.search()->gatherPrice == 1) {
    SYNCLINE_TRY_GET(order, searchOrder(problem, planner));
    return proved(problem, std::move(*order));
  }
  SYNCLINE_TRY_GET(inReadyOrder, planner.plan(problem.sync));
  return proved(problem, orderOf(problem, inReadyOrder->plan));
}

} // namespace syncline::solver
