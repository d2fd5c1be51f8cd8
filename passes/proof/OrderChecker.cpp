// Checks order solutions message by message.
#include "passes/proof/OrderChecker.h"

#include "passes/proof/Rejections.h"

#include <numeric>
#include <set>
#include <tuple>

namespace syncline::proof {

using Kind = OrderRejectionKind;
using Verdict = std::optional<OrderRejection>;

namespace {

/// Follows one solution's messages; every member function adds one rule.
class OrderCheck {
public:
  OrderCheck(const OrderProblem &problem, const OrderSolution &solution)
      : problem(problem), sync(problem.sync), solution(solution), arrived(sync.layers.size()) {}

  Verdict run() {
    if (Verdict verdict = checkWays())
      return verdict;
    layouts = layoutsOf(sync, solution.choices);
    sent.resize(layouts.size());
    for (std::size_t l = 0; l < layouts.size(); ++l) {
      if (layouts[l].bytes() > sync.mergeClasses[l].capacity)
        return reject(Kind::classTooLarge, "merge class ", l + 1, ": expected at most ",
                      sync.mergeClasses[l].capacity, " B, got ", layouts[l].bytes(), " B");
    }
    for (std::size_t p = 0; p < solution.messages.size(); ++p) {
      Verdict verdict = solution.messages[p].isFactors ? checkFactors(p) : checkBucket(p);
      if (!verdict)
        verdict = checkTimes(p);
      if (verdict)
        return verdict;
    }
    if (Verdict verdict = checkAllSent())
      return verdict;
    return checkPeriod();
  }

private:
  Verdict checkWays() const {
    if (solution.choices.size() != sync.layers.size())
      return reject(Kind::wayNotAllowed, "expected ways for ", sync.layers.size(), " layers, got ",
                    solution.choices.size());
    for (std::size_t k = 0; k < solution.choices.size(); ++k) {
      const Choice choice = solution.choices[k];
      const Layer &layer = sync.layers[k];
      switch (choice.kind) {
      case Choice::Kind::join:
        return reject(Kind::wayNotAllowed, "layer ", k + 1,
                      ": expected a bucket that is sent, got one that stays open");
      case Choice::Kind::bucket:
        // A gradient may be cut, so that it need not fit into one message.
        if (choice.index >= sync.mergeClasses.size() || !(layer.mergeClasses >> choice.index & 1))
          return reject(Kind::wayNotAllowed, "layer ", k + 1, ": may not use merge class ",
                        choice.index + 1);
        break;
      case Choice::Kind::factors:
        if (choice.index >= layer.factorOptions.size())
          return reject(Kind::wayNotAllowed, "layer ", k + 1, ": has no factor option ",
                        choice.index + 1);
        break;
      case Choice::Kind::piggyback:
        if (!layer.carrier)
          return reject(Kind::wayNotAllowed, "layer ", k + 1, ": has no carrier");
        if (solution.choices[*layer.carrier].kind != Choice::Kind::factors)
          return reject(Kind::carrierNotFactors, "layer ", k + 1, ": its carrier, layer ",
                        *layer.carrier + 1, ", does not travel by factors");
      }
    }
    return std::nullopt;
  }

  Verdict checkFactors(std::size_t p) {
    const OrderMessage &message = solution.messages[p];
    if (message.index >= sync.layers.size() || message.half != Half::whole ||
        solution.choices[message.index] !=
            Choice{Choice::Kind::factors, static_cast<std::uint8_t>(message.option)})
      return reject(Kind::messageNotThere, "message ", p + 1, ": layer ", message.index + 1,
                    " does not travel by factor option ", message.option + 1);
    if (!arrived[message.index].empty())
      return reject(Kind::sentTwice, "message ", p + 1, ": the factors of layer ",
                    message.index + 1, " travelled before");
    return arrive(p, message.index, 1);
  }

  Verdict checkBucket(std::size_t p) {
    const OrderMessage &message = solution.messages[p];
    if (message.index >= layouts.size() ||
        message.option >= sync.mergeClasses[message.index].options.size() || message.begin < 0 ||
        message.begin >= message.end || message.end > layouts[message.index].bytes())
      return reject(Kind::messageNotThere, "message ", p + 1, ": bytes ", message.begin, " to ",
                    message.end, " of merge class ", message.index + 1, " by scheme ",
                    message.option + 1, " do not exist");
    if (message.bytes() > sync.mergeClasses[message.index].largestMessage)
      return reject(Kind::messageTooLarge, "message ", p + 1, ": expected at most ",
                    sync.mergeClasses[message.index].largestMessage, " B, got ", message.bytes(),
                    " B");
    if (Verdict verdict = checkHalf(p))
      return verdict;
    const ClassLayout &layout = layouts[message.index];
    if (message.half != Half::second)
      sent[message.index].push_back({message.begin, message.end});
    for (std::size_t i : layout.carriedBy(message)) {
      for (std::int64_t cut : {message.begin, message.end}) {
        if (cut <= layout.begin[i] || cut >= layout.begin[i + 1])
          continue;
        const std::int64_t place = cut - layout.begin[i];
        if (!problem.cutsGradients)
          return reject(Kind::cutOffGrain, "message ", p + 1, ": cuts layer ", layout.layers[i] + 1,
                        " at byte ", place, ", but gradients stay whole");
        if (place % problem.grain != 0)
          return reject(Kind::cutOffGrain, "message ", p + 1, ": cuts layer ", layout.layers[i] + 1,
                        " at byte ", place, ", not a multiple of ", problem.grain);
      }
      const auto all = static_cast<double>(sync.layers[layout.layers[i]].bytes);
      const std::int64_t carried =
          std::min(message.end, layout.begin[i + 1]) - std::max(message.begin, layout.begin[i]);
      if (all > 0)
        if (Verdict verdict = arrive(p, layout.layers[i], static_cast<double>(carried) / all))
          return verdict;
    }
    return std::nullopt;
  }

  /// A second half follows its first half, and not every scheme has halves. What remains open at
  /// the end has no second half.
  Verdict checkHalf(std::size_t p) {
    const OrderMessage &message = solution.messages[p];
    if (message.half == Half::whole)
      return std::nullopt;
    const auto bytes = std::tuple(message.index, message.option, message.begin, message.end);
    const Scheme scheme = sync.mergeClasses[message.index].options[message.option].scheme;
    if (!hasHalves(scheme))
      return reject(Kind::wrongHalf, "message ", p + 1, ": travels in halves by '",
                    schemeName(scheme), "', which has none");
    if (message.half == Half::first)
      halved.insert(bytes);
    else if (halved.erase(bytes) == 0)
      return reject(Kind::wrongHalf, "message ", p + 1, ": gathers bytes ", message.begin, " to ",
                    message.end, " of merge class ", message.index + 1,
                    ", which no message has reduced before");
    return std::nullopt;
  }

  /// Message p brings so much of layer k.
  Verdict arrive(std::size_t p, std::size_t k, double part) {
    if (isBefore(solution.messages[p].start, sync.layers[k].ready))
      return reject(Kind::startsBeforeReady, "message ", p + 1, ": starts at ",
                    solution.messages[p].start, " s, before layer ", k + 1, " is ready at ",
                    sync.layers[k].ready, " s");
    if (solution.messages[p].half != Half::first)
      arrived[k].push_back({solution.messages[p].finish, part});
    return std::nullopt;
  }

  Verdict checkTimes(std::size_t p) const {
    const OrderMessage &message = solution.messages[p];
    const double seconds = secondsOf(sync, message);
    if (!isCheckedTime(message.start) || !isCheckedTime(message.finish) ||
        isOther(message.finish, message.start + seconds))
      return reject(Kind::wrongDuration, "message ", p + 1, ": expected ", seconds, " s, got from ",
                    message.start, " s to ", message.finish, " s");
    if (p > 0 && isBefore(message.start, solution.messages[p - 1].finish))
      return reject(Kind::channelBusy, "message ", p + 1, ": starts at ", message.start,
                    " s, before the channel is free at ", solution.messages[p - 1].finish, " s");
    return std::nullopt;
  }

  Verdict checkAllSent() {
    if (!halved.empty())
      return reject(Kind::wrongHalf, "merge class ", std::get<0>(*halved.begin()) + 1, ": byte ",
                    std::get<2>(*halved.begin()), " is reduced, but never gathered");
    for (std::size_t l = 0; l < layouts.size(); ++l) {
      std::ranges::sort(sent[l]);
      std::int64_t at = 0;
      for (const auto &[begin, end] : sent[l]) {
        if (begin < at)
          return reject(Kind::sentTwice, "merge class ", l + 1, ": byte ", begin, " travels twice");
        if (begin > at)
          break;
        at = end;
      }
      if (at < layouts[l].bytes())
        return reject(Kind::notSent, "merge class ", l + 1, ": byte ", at,
                      ", which belongs to layer ", layouts[l].layers[layouts[l].indexAt(at)] + 1,
                      ", does not travel");
    }
    for (std::size_t k = 0; k < arrived.size(); ++k)
      if (solution.choices[k].kind == Choice::Kind::factors && arrived[k].empty())
        return reject(Kind::notSent, "the factors of layer ", k + 1, " do not travel");
    return std::nullopt;
  }

  /// Runs the next forward pass: before a layer's reader stand, for each part of its gradient, the
  /// wait, its reconstruction where factors travel, and the part of the update.
  Verdict checkPeriod() const {
    std::vector<std::size_t> readers(arrived.size());
    std::iota(readers.begin(), readers.end(), std::size_t{0});
    std::ranges::stable_sort(readers, std::greater(),
                             [&](std::size_t k) { return problem.tail[k]; });
    double now = sync.computeFree, left = problem.forward;
    for (std::size_t k : readers) {
      const Choice choice = solution.choices[k];
      const double update = problem.updateOf(k);
      const bool rides = choice.kind == Choice::Kind::piggyback;
      const auto &parts = arrived[rides ? *sync.layers[k].carrier : k];
      now += left - update - problem.tail[k];
      left = problem.tail[k];
      if (parts.empty())
        now += update;
      for (const auto &[end, part] : parts) {
        now = std::max(now, end) + update * part;
        if (choice.kind == Choice::Kind::factors)
          now += sync.layers[k].factorOptions[choice.index].reconstruct;
      }
    }
    now += left + lostSeconds(sync, solution);
    if (isOther(now, solution.period))
      return reject(Kind::wrongPeriod, "expected a period of ", now, " s, got ", solution.period,
                    " s");
    return std::nullopt;
  }

  const OrderProblem &problem;
  const Problem &sync;
  const OrderSolution &solution;
  std::vector<ClassLayout> layouts;
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> sent; ///< by merge class
  /// First halves without a second one so far: merge class, option and bytes.
  std::set<std::tuple<std::size_t, std::size_t, std::int64_t, std::int64_t>> halved;
  /// For each layer the ends of the messages that bring it, and how much of it each brings.
  std::vector<std::vector<std::pair<double, double>>> arrived;
};

} // namespace

Verdict checkOrder(const OrderProblem &problem, const OrderSolution &solution) {
  return OrderCheck(problem, solution).run();
}

Verdict checkMessages(const OrderProblem &problem, const Solution &plan) {
  const OrderSolution order = orderFrom(problem, plan);
  if (Verdict verdict = checkOrder(problem, order))
    return verdict;
  const Solution carried = messagesOf(problem, order);
  for (std::size_t m = 0; m < carried.messages.size(); ++m) {
    const Message &claimed = plan.messages[m], &expected = carried.messages[m];
    if (claimed.layers != expected.layers || claimed.cutBefore != expected.cutBefore ||
        claimed.cutBehind != expected.cutBehind || claimed.bytes != expected.bytes)
      return reject(Kind::wrongList, "message ", m + 1, ": lists ", claimed.layers.size(),
                    " layers with ", claimed.bytes, " B, less ", claimed.cutBefore,
                    " B before and ", claimed.cutBehind, " B behind, but its bytes belong to ",
                    expected.layers.size(), " layers, less ", expected.cutBefore, " B and ",
                    expected.cutBehind, " B");
  }
  return std::nullopt;
}

} // namespace syncline::proof
