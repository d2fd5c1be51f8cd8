// Validation of order problems, the layout of merge classes, and orders as plans hold them.
#include "passes/problem/OrderProblem.h"

#include "passes/problem/Rounding.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <string>

namespace syncline::problem {

/// Updates are parts of the computation: of all tails behind which they stand.
static Status validateUpdates(const OrderProblem &problem) {
  if (problem.update.empty())
    return Status::ok();
  if (problem.update.size() != problem.tail.size())
    return Status::badInput("order problem: expected " + std::to_string(problem.tail.size()) +
                            " updates, got " + std::to_string(problem.update.size()));
  double left = problem.forward;
  for (std::size_t k : readersOf(problem)) {
    const double own = problem.update[k];
    const bool fits = problem.tail[k] + own <= left + sumRounding * problem.forward;
    if (!(own >= 0) || !fits)
      return Status::badInput("layer " + std::to_string(k + 1) +
                              " in backward order: expected an update from 0 s to the " +
                              std::to_string(std::max(left - problem.tail[k], 0.0)) +
                              " s before its tail, got " + std::to_string(own) + " s");
    left = problem.tail[k];
  }
  return Status::ok();
}

std::vector<std::size_t> readersOf(const OrderProblem &problem) {
  std::vector<std::size_t> readers(problem.tail.size());
  std::iota(readers.begin(), readers.end(), std::size_t{0});
  std::ranges::stable_sort(readers, std::greater(), [&](std::size_t k) { return problem.tail[k]; });
  return readers;
}

Status validate(const OrderProblem &problem) {
  SYNCLINE_TRY(validate(problem.sync));
  if (!std::isfinite(problem.forward) || problem.forward < 0)
    return Status::badInput("order problem: expected a finite forward pass >= 0 s, got " +
                            std::to_string(problem.forward) + " s");
  if (problem.tail.size() != problem.sync.layers.size())
    return Status::badInput("order problem: expected " +
                            std::to_string(problem.sync.layers.size()) + " tails, got " +
                            std::to_string(problem.tail.size()));
  for (std::size_t k = 0; k < problem.tail.size(); ++k)
    if (!(problem.tail[k] >= 0 && problem.tail[k] <= problem.forward))
      return Status::badInput(
          "layer " + std::to_string(k + 1) +
          " in backward order: expected a tail from 0 s to the forward pass's " +
          std::to_string(problem.forward) + " s, got " + std::to_string(problem.tail[k]) + " s");
  SYNCLINE_TRY(validateUpdates(problem));
  if (problem.grain < 1)
    return Status::badInput("order problem: expected a grain of at least 1 B, got " +
                            std::to_string(problem.grain) + " B");
  return Status::ok();
}

bool travelsBothWays(const OrderProblem &problem, std::size_t layer) {
  if (layer >= problem.sync.layers.size())
    return false;
  const Layer &split = problem.sync.layers[layer];
  return split.mergeClasses != 0 && !split.factorOptions.empty() && !split.carrier;
}

OrderProblem restricted(const OrderProblem &problem, std::size_t layer, bool byFactors) {
  OrderProblem one = problem;
  Layer &split = one.sync.layers[layer];
  if (!byFactors) {
    split.factorOptions.clear();
    for (Layer &rider : one.sync.layers)
      if (rider.carrier == layer && rider.mergeClasses != 0)
        rider.carrier.reset();
    return one;
  }
  split.mergeClasses = 0;
  const double least =
      std::ranges::min_element(split.factorOptions, {}, &FactorOption::reconstruct)->reconstruct;
  for (FactorOption &option : split.factorOptions)
    option.reconstruct -= least;
  for (std::size_t k : readersOf(problem)) {
    if (k == layer)
      break;
    one.tail[k] += least;
  }
  one.update.resize(one.tail.size(), 0);
  one.update[layer] += least;
  one.forward += least;
  return one;
}

bool canTellOrder(const OrderProblem &problem, std::size_t factors, std::size_t other) {
  const std::vector<Layer> &layers = problem.sync.layers;
  const auto travels = [&](std::size_t k) {
    return k < layers.size() && layers[k].bytes > 0 && !layers[k].carrier;
  };
  return factors != other && travels(factors) && travels(other) &&
         layers[factors].mergeClasses == 0 && !layers[factors].factorOptions.empty();
}

OrderProblem ordered(const OrderProblem &problem, std::size_t first, std::size_t second) {
  OrderProblem one = problem;
  const double longer = problem.sync.layers[second].leastSeconds() + problem.tailBehind(second) -
                        problem.tailBehind(first);
  one.tail[first] += std::max(0.0, longer);
  Layer &later = one.sync.layers[second];
  if (later.mergeClasses == 0)
    later.ready = std::max(later.ready, problem.sync.layers[first].ready +
                                            problem.sync.layers[first].leastSeconds());
  return one;
}

WeakestCase weakestCase(const OrderProblem &problem, const OrderCertificate &certificate) {
  WeakestCase weakest{problem, certificate, {}, {}};
  while (!weakest.certificate.cases.empty()) {
    const OrderCertificate split = std::move(weakest.certificate);
    const bool isFirst = split.cases[0].bound <= split.cases[1].bound;
    weakest.certificate = split.cases[isFirst ? 0 : 1];
    if (split.other) {
      const auto [before, behind] =
          isFirst ? std::pair(split.splits, *split.other) : std::pair(*split.other, split.splits);
      weakest.problem = ordered(weakest.problem, before, behind);
      weakest.orders.emplace_back(before, behind);
      continue;
    }
    weakest.problem = restricted(weakest.problem, split.splits, isFirst);
    weakest.fixed.emplace_back(split.splits, isFirst);
  }
  return weakest;
}

double secondsOf(const Problem &problem, const OrderMessage &message) {
  if (message.isFactors)
    return problem.layers[message.index].factorOptions[message.option].secondsOnClock();
  const double whole =
      problem.mergeClasses[message.index].options[message.option].secondsOnClock(message.bytes());
  return message.half == Half::whole ? whole : whole / 2;
}

double lostSeconds(const Problem &problem, const OrderMessage &message) {
  if (message.isFactors)
    return problem.layers[message.index].factorOptions[message.option].lost;
  const double whole =
      problem.mergeClasses[message.index].options[message.option].lostSeconds(message.bytes());
  return message.half == Half::whole ? whole : whole / 2;
}

double lostSeconds(const Problem &problem, const OrderSolution &order) {
  double lost = 0;
  for (const OrderMessage &message : order.messages)
    lost += lostSeconds(problem, message);
  return lost;
}

LeastLost::LeastLost(const OrderProblem &problem)
    : problem(&problem), slows(slowsComputation(problem.sync)) {
  for (std::size_t l = 0; slows && l < problem.sync.mergeClasses.size(); ++l) {
    std::int64_t most = 0;
    for (const Layer &layer : problem.sync.layers)
      most += layer.mergeClasses >> l & 1 ? layer.bytes : 0;
    const MergeClass &mergeClass = problem.sync.mergeClasses[l];
    perByte[l] = leastLostPerByte(mergeClass, std::min(most, mergeClass.largestMessage));
  }
}

double LeastLost::of(std::size_t k, double channelWeight, std::span<const double> rates) const {
  const Layer &layer = problem->sync.layers[k];
  if (!slows || layer.carrier || layer.bytes == 0)
    return 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t l = 0; l < problem->sync.mergeClasses.size(); ++l)
    if (layer.mergeClasses >> l & 1)
      least = std::min(least, rates[l] * static_cast<double>(layer.bytes));
  for (const FactorOption &option : layer.factorOptions)
    least = std::min(least, option.lost + (1 - channelWeight) * option.reconstruct);
  return least;
}

double LeastLost::beside(std::size_t k, double channelWeight,
                         std::span<const Relaxation::Line, maxMergeClasses> lines) const {
  std::array<double, maxMergeClasses> rates = perByte;
  for (std::size_t l = 0; l < rates.size(); ++l)
    rates[l] = std::min(rates[l], channelWeight * lines[l].secondsPerByte);
  return of(k, channelWeight, rates);
}

double LeastLost::period() const {
  double lost = 0;
  for (std::size_t k = 0; k < problem->sync.layers.size(); ++k)
    lost += of(k, 0, perByte);
  return problem->compute() + lost;
}

std::optional<std::size_t> bestHalvedOption(const MergeClass &mergeClass, std::int64_t bytes) {
  std::optional<std::size_t> best;
  double least = 0;
  for (std::size_t i = 0; i < mergeClass.options.size(); ++i) {
    if (!hasHalves(mergeClass.options[i].scheme))
      continue;
    const double seconds = mergeClass.options[i].cost->seconds(bytes);
    if (!best || seconds < least) {
      best = i;
      least = seconds;
    }
  }
  return best;
}

ClassLayout::ClassLayout(const Problem &problem, std::span<const Choice> choices,
                         std::size_t mergeClass)
    : begin{0} {
  for (std::size_t k = choices.size(); k-- > 0;)
    if (choices[k].kind == Choice::Kind::bucket && choices[k].index == mergeClass) {
      layers.push_back(k);
      begin.push_back(begin.back() + problem.layers[k].bytes);
    }
}

std::size_t ClassLayout::indexAt(std::int64_t at) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(begin, at) - begin.begin()) - 1;
}

std::ranges::iota_view<std::size_t, std::size_t>
ClassLayout::carriedBy(const OrderMessage &message) const {
  const std::size_t first = indexAt(message.begin);
  std::size_t end = first;
  while (end < layers.size() && begin[end] < message.end)
    ++end;
  return std::views::iota(first, end);
}

std::vector<ClassLayout> layoutsOf(const Problem &problem, std::span<const Choice> choices) {
  std::vector<ClassLayout> layouts;
  for (std::size_t l = 0; l < problem.mergeClasses.size(); ++l)
    layouts.emplace_back(problem, choices, l);
  return layouts;
}

std::vector<std::size_t> numbersInPlan(const OrderSolution &order) {
  std::vector<std::size_t> numbers;
  std::map<std::pair<std::size_t, std::int64_t>, std::size_t> halved; // by class and first byte
  std::size_t next = 0;
  for (const OrderMessage &message : order.messages) {
    const std::pair first(message.index, message.begin);
    if (message.half == Half::first)
      halved[first] = next;
    numbers.push_back(message.half == Half::second ? halved.at(first) : next++);
  }
  return numbers;
}

/// Adds the next message of an order and returns its beginning and end by the true clock.
static std::pair<double, double> addTo(ComputationClock &clock, const Problem &problem,
                                       const OrderMessage &message) {
  const double lost = lostSeconds(problem, message), start = message.start + clock.lost(),
               end = message.finish + (clock.lost() + lost);
  clock.add(start, end, lost);
  return {start, end};
}

ComputationClock clockOf(const Problem &problem, const OrderSolution &order) {
  ComputationClock clock;
  for (const OrderMessage &message : order.messages)
    addTo(clock, problem, message);
  return clock;
}

Solution messagesOf(const OrderProblem &problem, const OrderSolution &order) {
  const std::vector<ClassLayout> layouts = layoutsOf(problem.sync, order.choices);
  const std::vector<std::size_t> numbers = numbersInPlan(order);
  Solution plan;
  ComputationClock clock;
  for (std::size_t place = 0; place < order.messages.size(); ++place) {
    const OrderMessage &own = order.messages[place];
    const auto [start, end] = addTo(clock, problem.sync, own);
    plan.communicationEnd = end;
    if (own.half == Half::second) {
      plan.messages[numbers[place]].gather = {place, start, end};
      continue;
    }
    Message message{.layers = {},
                    .isFactors = own.isFactors,
                    .option = own.option,
                    .start = start,
                    .end = end,
                    .reconstructed = end};
    if (own.isFactors) {
      message.layers = {own.index};
      message.bytes = problem.sync.layers[own.index].bytes;
    } else {
      const ClassLayout &layout = layouts[own.index];
      const auto carried = layout.carriedBy(own);
      message.mergeClass = own.index;
      message.bytes = own.bytes();
      message.cutBefore = own.begin - layout.begin[carried.front()];
      message.cutBehind = layout.begin[carried.back() + 1] - own.end;
      for (std::size_t i : carried)
        message.layers.push_back(layout.layers[i]);
    }
    for (std::size_t k : message.layers)
      message.ready = std::max(message.ready, problem.sync.layers[k].ready);
    plan.messages.push_back(std::move(message));
  }
  for (Message &message : plan.messages)
    message.ready = clock.at(message.ready);
  for (std::size_t k = 0; k < order.choices.size(); ++k)
    if (order.choices[k].kind == Choice::Kind::piggyback)
      plan.piggybacks.push_back(k);
  plan.computeEnd = clock.at(problem.sync.computeFree);
  plan.finish = order.period;
  return plan;
}

/// The first half of a plan's message, or all of it.
static OrderMessage firstOf(const Message &message, std::span<const ClassLayout> layouts,
                            std::size_t layers) {
  OrderMessage own{.isFactors = message.isFactors,
                   .index = message.mergeClass,
                   .option = message.option,
                   .start = message.start,
                   .finish = message.end,
                   .half = message.gather ? Half::first : Half::whole};
  if (message.isFactors) {
    own.index = message.layers.size() == 1 ? message.layers.front() : layers;
  } else if (message.mergeClass < layouts.size() && !message.layers.empty()) {
    const ClassLayout &layout = layouts[message.mergeClass];
    const auto first = std::ranges::find(layout.layers, message.layers.front());
    // Numbers that the layout does not have could overflow in a sum.
    const auto fits = [&](std::int64_t bytes) { return bytes >= 0 && bytes <= layout.bytes(); };
    if (first != layout.layers.end() && fits(message.cutBefore) && fits(message.bytes)) {
      own.begin =
          layout.begin[static_cast<std::size_t>(first - layout.layers.begin())] + message.cutBefore;
      own.end = own.begin + message.bytes;
    }
  }
  return own;
}

/// Whether the message's option exists, and its bytes may be those of a message.
static bool hasOption(const Problem &problem, const OrderMessage &message) {
  return message.isFactors
             ? message.index < problem.layers.size() &&
                   message.option < problem.layers[message.index].factorOptions.size()
             : message.index < problem.mergeClasses.size() && message.bytes() >= 0 &&
                   message.option < problem.mergeClasses[message.index].options.size();
}

/// Takes from true times what messages have taken from computation by then.
static void stopClock(const Problem &problem, OrderSolution &order) {
  double lost = 0;
  for (OrderMessage &message : order.messages) {
    message.start -= lost;
    if (hasOption(problem, message))
      lost += lostSeconds(problem, message);
    message.finish -= lost;
  }
}

OrderSolution orderFrom(const OrderProblem &problem, const Solution &plan) {
  OrderSolution order{
      .choices = layerChoices(problem.sync, plan), .messages = {}, .period = plan.finish};
  const std::vector<ClassLayout> layouts = layoutsOf(problem.sync, order.choices);
  const auto halved = std::ranges::count_if(
      plan.messages, [](const Message &message) { return message.gather.has_value(); });
  // Second halves at the places that they claim; the other messages fill the places between.
  std::vector<std::optional<OrderMessage>> places(plan.messages.size() +
                                                  static_cast<std::size_t>(halved));
  std::vector<OrderMessage> others, lost;
  for (const Message &message : plan.messages) {
    others.push_back(firstOf(message, layouts, order.choices.size()));
    if (!message.gather)
      continue;
    const auto &[place, start, end] = *message.gather;
    if (place < places.size() && !places[place]) {
      places[place] = others.back();
      places[place]->half = Half::second;
      places[place]->start = start;
      places[place]->finish = end;
    } else {
      lost.push_back({.half = Half::second});
    }
  }
  others.insert(others.end(), lost.begin(), lost.end());
  auto next = others.begin();
  for (const std::optional<OrderMessage> &second : places)
    order.messages.push_back(second ? *second : *next++);
  stopClock(problem.sync, order);
  return order;
}

} // namespace syncline::problem
