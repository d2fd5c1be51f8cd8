// What can be said about a joint problem without solving it.
#include "passes/problem/Problem.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace syncline::solver {

namespace {

/// Doubles hold every integer up to here.
constexpr std::int64_t maxBytes = std::int64_t{1} << 53;

Status layerError(std::size_t index, const std::string &what) {
  return Status::badInput("layer " + std::to_string(index + 1) + " in backward order: " + what);
}

bool isTime(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

Status validateLanes(const JointProblem &problem) {
  if (problem.lanes.empty() || problem.lanes.size() > maxLanes)
    return Status::badInput("joint problem: expected 1 to " + std::to_string(maxLanes) +
                            " lanes, got " + std::to_string(problem.lanes.size()));
  int limited = 0;
  for (const Lane &lane : problem.lanes) {
    if (lane.options.empty() || lane.options.size() >= Choice::fastest)
      return Status::badInput("joint problem: expected 1 to 254 schemes in a lane, got " +
                              std::to_string(lane.options.size()));
    for (const SchemeOption &option : lane.options)
      if (!option.cost)
        return Status::badInput("joint problem: scheme '" + std::string(schemeName(option.scheme)) +
                                "' has no cost");
    if (lane.largestMessage < 0 || lane.capacity < 0)
      return Status::badInput("joint problem: expected limits >= 0");
    limited += lane.capacity != unlimited;
  }
  if (limited > 1)
    return Status::badInput("joint problem: expected one lane with a capacity, got " +
                            std::to_string(limited));
  return Status::ok();
}

Status validateChoices(const JointProblem &problem, std::size_t k) {
  const JointLayer &layer = problem.layers[k];
  if (layer.lanes >> problem.lanes.size())
    return layerError(k, "expected lanes below " + std::to_string(problem.lanes.size()));
  for (const SoloOption &solo : layer.solos)
    if (!isTime(solo.seconds) || !isTime(solo.rebuild))
      return layerError(k, "expected finite times >= 0 for '" +
                               std::string(schemeName(solo.scheme)) + "'");
  if (layer.solos.size() > 255)
    return layerError(k, "expected at most 255 ways to travel alone");
  if (layer.carrier && (*layer.carrier >= problem.layers.size() || *layer.carrier == k ||
                        problem.layers[*layer.carrier].solos.empty()))
    return layerError(k, "expected its carrier to be another layer that can travel alone");
  return Status::ok();
}

/// Layers that can only use the limited lane must fit into it together.
Status validateRoutes(const JointProblem &problem) {
  std::optional<std::size_t> limited = problem.limitedLane();
  std::int64_t captive = 0;
  for (std::size_t k = 0; k < problem.layers.size(); ++k) {
    const std::optional<std::size_t> carrier = problem.layers[k].carrier;
    bool canRide = carrier && problem.isLaneless(*carrier) && !problem.layers[*carrier].carrier;
    bool anywhere = canRide || !problem.layers[k].solos.empty(), elsewhere = anywhere;
    for (std::size_t lane = 0; lane < problem.lanes.size(); ++lane)
      if (problem.allows(k, lane)) {
        anywhere = true;
        elsewhere |= lane != limited;
      }
    if (!anywhere)
      return layerError(k, "no scheme can carry its " + std::to_string(problem.layers[k].bytes) +
                               " B");
    captive += elsewhere ? 0 : problem.layers[k].bytes;
  }
  if (limited && captive > problem.lanes[*limited].capacity)
    return Status::badInput("joint problem: expected at most " +
                            std::to_string(problem.lanes[*limited].capacity) +
                            " B of gradients that only '" +
                            std::string(schemeName(problem.lanes[*limited].options[0].scheme)) +
                            "' can carry, got " + std::to_string(captive) + " B");
  return Status::ok();
}

} // namespace

std::size_t Lane::bestOption(std::int64_t bytes) const { return fastestOption(options, bytes); }

double Lane::seconds(std::int64_t bytes) const {
  return options[bestOption(bytes)].cost->seconds(bytes);
}

std::optional<std::size_t> JointProblem::limitedLane() const {
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    if (lanes[lane].capacity != unlimited)
      return lane;
  return std::nullopt;
}

bool JointProblem::allows(std::size_t layer, std::size_t lane) const {
  return (layers[layer].lanes >> lane & 1) && layers[layer].bytes <= lanes[lane].largestMessage;
}

std::optional<MergeProblem> plainProblem(const JointProblem &problem) {
  if (problem.lanes.size() != 1 || problem.lanes[0].largestMessage != unlimited ||
      problem.lanes[0].capacity != unlimited)
    return std::nullopt;
  MergeProblem plain;
  plain.layers.reserve(problem.layers.size());
  for (const JointLayer &layer : problem.layers) {
    if (!layer.solos.empty() || layer.lanes != 1)
      return std::nullopt;
    plain.layers.push_back({layer.bytes, layer.ready});
  }
  plain.options = problem.lanes[0].options;
  return plain;
}

double boundOf(const JointProblem &problem, const BoundProof &proof) {
  if (const auto *joint = std::get_if<JointCertificate>(&proof))
    return joint->bound;
  return std::max(std::get<Certificate>(proof).earliestFinish.back(), problem.computeFree);
}

bool JointProblem::isLaneless(std::size_t layer) const {
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    if (allows(layer, lane))
      return false;
  return true;
}

Status validate(const JointProblem &problem) {
  if (Status status = validateLanes(problem); !status)
    return status;
  std::int64_t total = 0;
  double previous = 0;
  for (std::size_t k = 0; k < problem.layers.size(); ++k) {
    const JointLayer &layer = problem.layers[k];
    if (layer.bytes < 0)
      return layerError(k, "expected bytes >= 0, got " + std::to_string(layer.bytes));
    if (layer.bytes >= maxBytes - total)
      return layerError(k, "expected less than 2^53 bytes in all");
    total += layer.bytes;
    if (!isTime(layer.ready) || layer.ready < previous)
      return layerError(k, "expected a finite ready time >= " + std::to_string(previous) +
                               ", got " + std::to_string(layer.ready));
    previous = layer.ready;
    if (Status status = validateChoices(problem, k); !status)
      return status;
  }
  if (!std::isfinite(problem.computeFree) || problem.computeFree < previous)
    return Status::badInput("joint problem: expected the backward pass to end at " +
                            std::to_string(previous) + " s or later, got " +
                            std::to_string(problem.computeFree) + " s");
  if (PairBits(problem).most > 64)
    return Status::badInput("joint problem: expected at most 64 carriers with riders at a time");
  return validateRoutes(problem);
}

Scheme JointPlan::scheme(const JointProblem &problem, const JointMessage &message) const {
  return message.isSolo ? problem.layers[message.layers.front()].solos[message.option].scheme
                        : problem.lanes[message.lane].options[message.option].scheme;
}

double JointPlan::traffic(const JointProblem &problem) const {
  double bytes = 0;
  for (const JointMessage &message : messages)
    bytes += message.isSolo
                 ? problem.layers[message.layers.front()].solos[message.option].traffic
                 : problem.lanes[message.lane].options[message.option].bytesMoved(message.bytes);
  return bytes;
}

PairBits::PairBits(const JointProblem &problem) : ofLayer(problem.layers.size()) {
  std::size_t n = problem.layers.size();
  std::vector<std::vector<std::size_t>> ridersOf(n);
  for (std::size_t k = 0; k < n; ++k)
    if (problem.layers[k].carrier)
      ridersOf[*problem.layers[k].carrier].push_back(k);

  std::vector<std::size_t> bitOfRider(n);
  std::vector<std::size_t> spare; // bits given back
  std::size_t used = 0;
  auto visit = [&](std::size_t k, std::size_t rider, bool carries, bool opens) {
    if (opens && spare.empty())
      spare.push_back(used++);
    if (opens) {
      bitOfRider[rider] = spare.back();
      spare.pop_back();
    }
    std::size_t bit = bitOfRider[rider];
    std::size_t other = carries ? rider : *problem.layers[rider].carrier;
    ofLayer[k].push_back({other, bit < 64 ? std::uint64_t{1} << bit : 0, opens, carries});
    return bit;
  };
  for (std::size_t k = 0; k < n; ++k) {
    std::vector<std::size_t> closing; // given back only once this layer's own pairs are open
    if (std::optional<std::size_t> carrier = problem.layers[k].carrier)
      if (std::size_t bit = visit(k, k, false, k < *carrier); *carrier < k)
        closing.push_back(bit);
    for (std::size_t rider : ridersOf[k])
      if (std::size_t bit = visit(k, rider, true, k < rider); rider < k)
        closing.push_back(bit);
    spare.insert(spare.end(), closing.begin(), closing.end());
  }
  most = used;
}

bool PairBits::settle(std::uint64_t &freedom, std::size_t k, Choice::Kind kind) const {
  for (const Pair &pair : ofLayer[k]) {
    // Of carrier and rider, only "the rider rides, the carrier has no solo message" is forbidden.
    bool harmless = pair.carries ? kind == Choice::Kind::solo : kind != Choice::Kind::ride;
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

} // namespace syncline::solver
