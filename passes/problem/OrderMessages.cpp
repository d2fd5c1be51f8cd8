// Translates between pieces of merge classes and messages of layers.
#include "passes/problem/OrderMessages.h"

#include <algorithm>

namespace syncline::problem {

static std::vector<ClassLayout> layoutsOf(const OrderProblem &problem,
                                          const std::vector<Way> &ways) {
  std::vector<ClassLayout> layouts;
  for (std::size_t l = 0; l < problem.sync.mergeClasses.size(); ++l)
    layouts.emplace_back(problem.sync, ways, l);
  return layouts;
}

/// Sets the layers of a run of bytes, and what of them it leaves out.
static void list(Message &message, const ClassLayout &layout, const Piece &piece) {
  const std::size_t first = layout.indexAt(piece.begin);
  std::size_t end = first;
  while (end < layout.layers.size() && layout.begin[end] < piece.end)
    message.layers.push_back(layout.layers[end++]);
  message.cutBefore = piece.begin - layout.begin[first];
  message.cutBehind = layout.begin[end] - piece.end;
}

Solution messagesOf(const OrderProblem &problem, const OrderSolution &solution) {
  const std::vector<ClassLayout> layouts = layoutsOf(problem, solution.ways);
  Solution messages;
  for (const Piece &piece : solution.pieces) {
    Message message;
    message.isFactors = piece.isFactors;
    message.option = piece.option;
    if (piece.isFactors) {
      message.layers = {piece.index};
      message.bytes = problem.sync.layers[piece.index].bytes;
    } else {
      message.mergeClass = piece.index;
      message.bytes = piece.bytes();
      list(message, layouts[piece.index], piece);
    }
    for (std::size_t k : message.layers)
      message.ready = std::max(message.ready, problem.sync.layers[k].ready);
    message.start = piece.start;
    message.end = message.reconstructed = piece.finish;
    messages.communicationEnd = piece.finish;
    messages.messages.push_back(std::move(message));
  }
  for (std::size_t k = 0; k < solution.ways.size(); ++k)
    if (solution.ways[k].kind == Way::Kind::piggyback)
      messages.piggybacks.push_back(k);
  messages.computeEnd = problem.sync.computeFree;
  messages.finish = solution.period;
  return messages;
}

std::vector<Way> waysOf(const Problem &problem, const Solution &solution) {
  std::vector<Way> ways(problem.layers.size());
  const auto set = [&](std::size_t k, Way way) {
    if (k < ways.size())
      ways[k] = way;
  };
  for (const Message &message : solution.messages)
    for (std::size_t k : message.layers)
      set(k, message.isFactors
                 ? Way{Way::Kind::factors, static_cast<std::uint8_t>(message.option)}
                 : Way{Way::Kind::bucket, static_cast<std::uint8_t>(message.mergeClass)});
  for (std::size_t k : solution.piggybacks)
    set(k, {Way::Kind::piggyback, 0});
  return ways;
}

OrderSolution orderFrom(const OrderProblem &problem, const Solution &messages) {
  OrderSolution solution;
  solution.ways = waysOf(problem.sync, messages);
  const std::vector<ClassLayout> layouts = layoutsOf(problem, solution.ways);
  for (const Message &message : messages.messages) {
    Piece piece{.isFactors = message.isFactors,
                .index = message.mergeClass,
                .option = message.option,
                .start = message.start,
                .finish = message.end};
    if (message.isFactors) {
      piece.index = message.layers.size() == 1 ? message.layers.front() : solution.ways.size();
    } else if (message.mergeClass < layouts.size() && !message.layers.empty()) {
      const ClassLayout &layout = layouts[message.mergeClass];
      const auto first = std::ranges::find(layout.layers, message.layers.front());
      // Numbers that the layout does not have could overflow in a sum.
      const auto fits = [&](std::int64_t bytes) { return bytes >= 0 && bytes <= layout.bytes(); };
      if (first != layout.layers.end() && fits(message.cutBefore) && fits(message.bytes)) {
        piece.begin = layout.begin[static_cast<std::size_t>(first - layout.layers.begin())] +
                      message.cutBefore;
        piece.end = piece.begin + message.bytes;
      }
    }
    solution.pieces.push_back(piece);
  }
  solution.period = messages.finish;
  return solution;
}

} // namespace syncline::problem
