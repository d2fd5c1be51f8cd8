// Translates between pieces of merge classes and messages of layers.
#include "passes/problem/OrderMessages.h"

#include <algorithm>
#include <map>

namespace syncline::problem {

static std::vector<ClassLayout> layoutsOf(const OrderProblem &problem,
                                          const std::vector<Choice> &choices) {
  std::vector<ClassLayout> layouts;
  for (std::size_t l = 0; l < problem.sync.mergeClasses.size(); ++l)
    layouts.emplace_back(problem.sync, choices, l);
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
  const std::vector<ClassLayout> layouts = layoutsOf(problem, solution.choices);
  Solution messages;
  std::map<std::pair<std::size_t, std::int64_t>, std::size_t> halved; // by class and first byte
  for (std::size_t place = 0; place < solution.pieces.size(); ++place) {
    const Piece &piece = solution.pieces[place];
    messages.communicationEnd = piece.finish;
    if (piece.half == Half::second) {
      messages.messages[halved.at({piece.index, piece.begin})].gather = {place, piece.start,
                                                                         piece.finish};
      continue;
    }
    if (piece.half == Half::first)
      halved[{piece.index, piece.begin}] = messages.messages.size();
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
    messages.messages.push_back(std::move(message));
  }
  for (std::size_t k = 0; k < solution.choices.size(); ++k)
    if (solution.choices[k].kind == Choice::Kind::piggyback)
      messages.piggybacks.push_back(k);
  messages.computeEnd = problem.sync.computeFree;
  messages.finish = solution.period;
  return messages;
}

std::vector<Choice> layerChoices(const Problem &problem, const Solution &solution) {
  std::vector<Choice> choices(problem.layers.size());
  const auto set = [&](std::size_t k, Choice choice) {
    if (k < choices.size())
      choices[k] = choice;
  };
  for (const Message &message : solution.messages)
    for (std::size_t k : message.layers)
      set(k, message.isFactors
                 ? Choice{Choice::Kind::factors, static_cast<std::uint8_t>(message.option)}
                 : Choice{Choice::Kind::bucket, static_cast<std::uint8_t>(message.mergeClass)});
  for (std::size_t k : solution.piggybacks)
    set(k, {Choice::Kind::piggyback, 0});
  return choices;
}

/// Puts each second half at the place that its message claims, and the other pieces between them in
/// their order. A half whose place is not free becomes a piece that does not exist.
static std::vector<Piece> inOrder(const std::vector<Piece> &pieces, const Solution &messages) {
  std::vector<std::optional<Piece>> places(pieces.size());
  for (const Message &message : messages.messages)
    places.resize(places.size() + (message.gather ? 1 : 0));
  std::vector<Piece> lost;
  for (std::size_t m = 0; m < pieces.size(); ++m)
    if (const auto &gather = messages.messages[m].gather) {
      Piece second = pieces[m];
      second.half = Half::second;
      second.start = gather->start;
      second.finish = gather->end;
      if (gather->place < places.size() && !places[gather->place])
        places[gather->place] = second;
      else
        lost.push_back({.start = gather->start, .finish = gather->end, .half = Half::second});
    }
  std::vector<Piece> ordered;
  std::size_t next = 0;
  for (const std::optional<Piece> &second : places)
    if (second)
      ordered.push_back(*second);
    else if (next < pieces.size())
      ordered.push_back(pieces[next++]);
  ordered.insert(ordered.end(), lost.begin(), lost.end());
  return ordered;
}

OrderSolution orderFrom(const OrderProblem &problem, const Solution &messages) {
  OrderSolution solution;
  solution.choices = layerChoices(problem.sync, messages);
  const std::vector<ClassLayout> layouts = layoutsOf(problem, solution.choices);
  for (const Message &message : messages.messages) {
    Piece piece{.isFactors = message.isFactors,
                .index = message.mergeClass,
                .option = message.option,
                .start = message.start,
                .finish = message.end,
                .half = message.gather ? Half::first : Half::whole};
    if (message.isFactors) {
      piece.index = message.layers.size() == 1 ? message.layers.front() : solution.choices.size();
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
  solution.pieces = inOrder(solution.pieces, messages);
  solution.period = messages.finish;
  return solution;
}

} // namespace syncline::problem
