// Functions of a problem that need no solver, and its validation.
#include "passes/problem/Interference.h"

#include "passes/problem/Rounding.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace syncline::problem {

namespace {

/// Doubles represent every integer up to here.
constexpr std::int64_t maxBytes = std::int64_t{1} << 53;

Status layerError(std::size_t index, const std::string &what) {
  return Status::badInput("layer " + std::to_string(index + 1) + " in backward order: " + what);
}

bool isTime(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

/// Whether messages take no less than nothing from computation and no more than their time. Two
/// costs compare as they do at the corners of both.
bool isLostWithin(const CollectiveCost &time, const CollectiveCost *taken) {
  if (!taken)
    return true;
  const auto isWithin = [&](std::int64_t bytes) {
    const double lost = taken->seconds(bytes), seconds = time.seconds(bytes);
    return isTime(lost) && lost <= seconds * (1 + sumRounding);
  };
  for (const CollectiveCost *cost : {&time, taken})
    for (const CostSegment &piece : cost->segments())
      if (!isWithin(piece.firstByte) || (piece.firstByte > 0 && !isWithin(piece.firstByte - 1)))
        return false;
  return isWithin(maxBytes);
}

bool isLostWithin(const SchemeOption &option) {
  return isLostWithin(*option.cost, option.lost.get()) &&
         std::ranges::all_of(option.lostBy.of, [&](const auto &lost) {
           return isLostWithin(*option.cost, lost.get());
         });
}

bool isLostWithin(const FactorOption &option) {
  const auto isWithin = [&](double lost) { return isTime(lost) && lost <= option.seconds; };
  return isWithin(option.lost) && std::ranges::all_of(option.lostBy.of, isWithin);
}

/// Memory-bound spans ascend and lie before the end of the backward pass.
Status validateSpans(const Problem &problem) {
  double last = -std::numeric_limits<double>::infinity();
  for (const WorkSpan &span : *problem.memoryBound) {
    if (!(span.begin >= last && span.end >= span.begin && span.end <= problem.computeFree))
      return Status::badInput("problem: expected memory-bound operations in ascending order and up "
                              "to the end of the backward pass, got some from " +
                              std::to_string(span.begin) + " to " + std::to_string(span.end) +
                              " s after " + std::to_string(last) + " s");
    last = span.end;
  }
  return Status::ok();
}

Status validateMergeClasses(const Problem &problem) {
  if (problem.mergeClasses.empty() || problem.mergeClasses.size() > maxMergeClasses)
    return Status::badInput("problem: expected 1 to " + std::to_string(maxMergeClasses) +
                            " merge classes, got " + std::to_string(problem.mergeClasses.size()));
  int limited = 0;
  for (const MergeClass &mergeClass : problem.mergeClasses) {
    if (mergeClass.options.empty() || mergeClass.options.size() >= Choice::fastest)
      return Status::badInput("problem: expected 1 to 254 schemes in a merge class, got " +
                              std::to_string(mergeClass.options.size()));
    for (const SchemeOption &option : mergeClass.options)
      if (!option.cost)
        return Status::badInput("problem: scheme '" + std::string(schemeName(option.scheme)) +
                                "' has no cost");
    for (const SchemeOption &option : mergeClass.options)
      if (!isLostWithin(option))
        return Status::badInput("problem: expected messages by '" +
                                std::string(schemeName(option.scheme)) +
                                "' to take from computation at least 0 s and at most their time");
    if (mergeClass.largestMessage < 0 || mergeClass.capacity < 0)
      return Status::badInput("problem: expected limits >= 0");
    limited += mergeClass.capacity != unlimited;
  }
  if (limited > 1)
    return Status::badInput("problem: expected one merge class with a capacity, got " +
                            std::to_string(limited));
  return Status::ok();
}

Status validateChoices(const Problem &problem, std::size_t k) {
  const Layer &layer = problem.layers[k];
  if (layer.mergeClasses >> problem.mergeClasses.size())
    return layerError(k, "expected merge classes below " +
                             std::to_string(problem.mergeClasses.size()));
  for (const FactorOption &factorOption : layer.factorOptions)
    if (!isTime(factorOption.seconds) || !isTime(factorOption.reconstruct))
      return layerError(k, "expected finite times >= 0 for '" +
                               std::string(schemeName(factorOption.scheme)) + "'");
  for (const FactorOption &factorOption : layer.factorOptions)
    if (!isLostWithin(factorOption))
      return layerError(k, "expected '" + std::string(schemeName(factorOption.scheme)) +
                               "' to take from computation at least 0 s and at most its time");
  if (layer.factorOptions.size() > 255)
    return layerError(k, "expected at most 255 ways to travel alone");
  if (layer.carrier && (*layer.carrier >= problem.layers.size() || *layer.carrier == k ||
                        problem.layers[*layer.carrier].factorOptions.empty()))
    return layerError(k, "expected its carrier to be another layer that can travel alone");
  return Status::ok();
}

/// Layers that can only use the limited merge class must fit into it together.
Status validateRoutes(const Problem &problem) {
  std::optional<std::size_t> limited = problem.limitedMergeClass();
  std::int64_t captive = 0;
  for (std::size_t k = 0; k < problem.layers.size(); ++k) {
    const std::optional<std::size_t> carrier = problem.layers[k].carrier;
    bool canPiggyback =
        carrier && problem.hasNoMergeClass(*carrier) && !problem.layers[*carrier].carrier;
    bool anywhere = canPiggyback || !problem.layers[k].factorOptions.empty(), elsewhere = anywhere;
    for (std::size_t mergeClass = 0; mergeClass < problem.mergeClasses.size(); ++mergeClass)
      if (problem.allows(k, mergeClass)) {
        anywhere = true;
        elsewhere |= mergeClass != limited;
      }
    if (!anywhere)
      return layerError(k, "no scheme can carry its " + std::to_string(problem.layers[k].bytes) +
                               " B");
    captive += elsewhere ? 0 : problem.layers[k].bytes;
  }
  if (limited && captive > problem.mergeClasses[*limited].capacity)
    return Status::badInput(
        "problem: expected at most " + std::to_string(problem.mergeClasses[*limited].capacity) +
        " B of gradients that only '" +
        std::string(schemeName(problem.mergeClasses[*limited].options[0].scheme)) +
        "' can carry, got " + std::to_string(captive) + " B");
  return Status::ok();
}

} // namespace

double Layer::leastSeconds() const {
  if (mergeClasses != 0)
    return 0;
  double least = std::numeric_limits<double>::infinity();
  for (const FactorOption &option : factorOptions)
    least = std::min(least, option.secondsOnClock());
  return least;
}

const FactorOption &Layer::fastestFactors() const {
  return *std::ranges::min_element(factorOptions, {}, &FactorOption::seconds);
}

std::optional<std::size_t> Problem::limitedMergeClass() const {
  for (std::size_t mergeClass = 0; mergeClass < mergeClasses.size(); ++mergeClass)
    if (mergeClasses[mergeClass].capacity != unlimited)
      return mergeClass;
  return std::nullopt;
}

bool Problem::allows(std::size_t layer, std::size_t mergeClass) const {
  return (layers[layer].mergeClasses >> mergeClass & 1) &&
         layers[layer].bytes <= mergeClasses[mergeClass].largestMessage;
}

void appendSpan(std::vector<WorkSpan> &spans, WorkSpan span) {
  if (span.end <= span.begin)
    return;
  if (!spans.empty() && spans.back().end == span.begin)
    spans.back().end = span.end;
  else
    spans.push_back(span);
}

Problem shifted(Problem problem, double seconds) {
  problem.computeFree += seconds;
  for (Layer &layer : problem.layers)
    layer.ready += seconds;
  if (problem.memoryBound)
    for (WorkSpan &span : *problem.memoryBound)
      span = {span.begin + seconds, span.end + seconds};
  return problem;
}

std::optional<MergeProblem> plainProblem(const Problem &problem) {
  if (problem.mergeClasses.size() != 1 || problem.mergeClasses[0].largestMessage != unlimited ||
      problem.mergeClasses[0].capacity != unlimited)
    return std::nullopt;
  MergeProblem plain;
  plain.layers.reserve(problem.layers.size());
  for (const Layer &layer : problem.layers) {
    if (!layer.factorOptions.empty() || layer.mergeClasses != 1)
      return std::nullopt;
    plain.layers.push_back({layer.bytes, layer.ready});
  }
  plain.options = problem.mergeClasses[0].options;
  if (slowsComputation(problem))
    return std::nullopt;
  return plain;
}

double boundOf(const Problem &problem, const BoundProof &proof) {
  if (const auto *joint = std::get_if<Certificate>(&proof))
    return joint->bound;
  return std::max(std::get<MergeCertificate>(proof).earliestFinish.back(), problem.computeFree);
}

bool Problem::hasNoMergeClass(std::size_t layer) const {
  for (std::size_t mergeClass = 0; mergeClass < mergeClasses.size(); ++mergeClass)
    if (allows(layer, mergeClass))
      return false;
  return true;
}

Status validate(const Problem &problem) {
  SYNCLINE_TRY(validateMergeClasses(problem));
  if (problem.memoryBound)
    SYNCLINE_TRY(validateSpans(problem));
  std::int64_t total = 0;
  double previous = 0;
  for (std::size_t k = 0; k < problem.layers.size(); ++k) {
    const Layer &layer = problem.layers[k];
    if (layer.bytes < 0)
      return layerError(k, "expected bytes >= 0, got " + std::to_string(layer.bytes));
    if (layer.bytes >= maxBytes - total)
      return layerError(k, "expected less than 2^53 bytes in all");
    total += layer.bytes;
    if (!isTime(layer.ready) || layer.ready < previous)
      return layerError(k, "expected a finite ready time >= " + std::to_string(previous) +
                               ", got " + std::to_string(layer.ready));
    previous = layer.ready;
    SYNCLINE_TRY(validateChoices(problem, k));
  }
  if (!std::isfinite(problem.computeFree) || problem.computeFree < previous)
    return Status::badInput("problem: expected the backward pass to end at " +
                            std::to_string(previous) + " s or later, got " +
                            std::to_string(problem.computeFree) + " s");
  if (PairBits(problem).most > 64)
    return Status::badInput("problem: expected at most 64 carriers with piggybacks at a time");
  return validateRoutes(problem);
}

const FactorOption *factorOptionOf(const Problem &problem, const Message &message) {
  return message.isFactors ? &problem.layers[message.layers.front()].factorOptions[message.option]
                           : nullptr;
}

static const SchemeOption &schemeOptionOf(const Problem &problem, const Message &message) {
  return problem.mergeClasses[message.mergeClass].options[message.option];
}

double secondsOf(const Problem &problem, const Message &message) {
  const FactorOption *factors = factorOptionOf(problem, message);
  return factors ? factors->seconds : schemeOptionOf(problem, message).cost->seconds(message.bytes);
}

Scheme Solution::scheme(const Problem &problem, const Message &message) const {
  const FactorOption *factors = factorOptionOf(problem, message);
  return factors ? factors->scheme : schemeOptionOf(problem, message).scheme;
}

void Solution::takeTurns(int channels) {
  for (std::size_t i = 0; i < messages.size(); ++i)
    messages[i].channel = static_cast<int>(i % static_cast<std::size_t>(channels));
}

int Solution::channels() const {
  int count = 1;
  for (const Message &message : messages)
    count = std::max(count, message.channel + 1);
  return count;
}

double Solution::traffic(const Problem &problem) const {
  double bytes = 0;
  for (const Message &message : messages) {
    const FactorOption *factors = factorOptionOf(problem, message);
    bytes +=
        factors ? factors->traffic : schemeOptionOf(problem, message).bytesMoved(message.bytes);
  }
  return bytes;
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

PairBits::PairBits(const Problem &problem) : ofLayer(problem.layers.size()) {
  std::size_t n = problem.layers.size();
  std::vector<std::vector<std::size_t>> piggybacksOf(n);
  for (std::size_t k = 0; k < n; ++k)
    if (problem.layers[k].carrier)
      piggybacksOf[*problem.layers[k].carrier].push_back(k);

  std::vector<std::size_t> bitOfPiggyback(n);
  std::vector<std::size_t> spare; // bits that are free again
  std::size_t used = 0;
  auto visit = [&](std::size_t k, std::size_t piggyback, bool carries, bool opens) {
    if (opens && spare.empty())
      spare.push_back(used++);
    if (opens) {
      bitOfPiggyback[piggyback] = spare.back();
      spare.pop_back();
    }
    std::size_t bit = bitOfPiggyback[piggyback];
    ofLayer[k].push_back({bit < 64 ? std::uint64_t{1} << bit : 0, opens, carries});
    return bit;
  };
  for (std::size_t k = 0; k < n; ++k) {
    std::vector<std::size_t> closing; // bits to free once this layer's own pairs are open
    if (std::optional<std::size_t> carrier = problem.layers[k].carrier)
      if (std::size_t bit = visit(k, k, false, k < *carrier); *carrier < k)
        closing.push_back(bit);
    for (std::size_t piggyback : piggybacksOf[k])
      if (std::size_t bit = visit(k, piggyback, true, k < piggyback); piggyback < k)
        closing.push_back(bit);
    spare.insert(spare.end(), closing.begin(), closing.end());
  }
  most = used;
}

bool PairBits::settle(std::uint64_t &freedom, std::size_t k, Choice::Kind kind) const {
  for (const Pair &pair : ofLayer[k]) {
    // A pair forbids only that the layer piggybacks while its carrier sends no factors.
    bool harmless = pair.carries ? kind == Choice::Kind::factors : kind != Choice::Kind::piggyback;
    if (pair.opens) {
      freedom |= harmless ? pair.bit : 0;
      continue;
    }
    if (!harmless && !(freedom & pair.bit))
      return false;
    freedom &= ~pair.bit;
  }
  return true;
}

} // namespace syncline::problem
