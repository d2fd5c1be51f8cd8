// Compares a problem with what the cluster offers, number by number.
#include "passes/merge/CheckOffer.h"

#include "passes/cost/CollectiveTime.h"
#include "passes/cost/Offer.h"
#include "passes/merge/Instance.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace syncline {

namespace {

using cluster::Scheme;

/// Another machine may round otherwise.
bool differ(double a, double b) {
  return std::abs(a - b) > 1e-9 * std::max(std::abs(a), std::abs(b)) + 1e-18;
}

bool isSameCost(Attribute a, Attribute b) {
  if (a == b)
    return true;
  if (auto line = dyn_cast<cluster::AffineAttr>(a)) {
    auto other = dyn_cast<cluster::AffineAttr>(b);
    return other && !differ(line.getA(), other.getA()) && !differ(line.getB(), other.getB());
  }
  if (auto formula = dyn_cast<cluster::FormulaAttr>(a)) {
    auto other = dyn_cast<cluster::FormulaAttr>(b);
    return other && formula.getAlgorithm() == other.getAlgorithm() &&
           formula.getRanks() == other.getRanks() &&
           !differ(formula.getAlpha(), other.getAlpha()) &&
           !differ(formula.getBeta(), other.getBeta()) &&
           !differ(formula.getGamma(), other.getGamma());
  }
  auto table = dyn_cast<cluster::TableAttr>(a), other = dyn_cast<cluster::TableAttr>(b);
  return table && other &&
         llvm::equal(table.getPoints(), other.getPoints(), [](auto &mine, auto &theirs) {
           return mine.bytes == theirs.bytes && !differ(mine.seconds, theirs.seconds);
         });
}

/// A reduce-scatter's message also updates parameters, for as many seconds per byte as the problem
/// says: how long updates take is nothing the cluster knows.
Attribute withUpdates(Attribute offered, Attribute claimed) {
  const auto base = cost::collectiveTime(offered), all = cost::collectiveTime(claimed);
  if (!base || !all)
    return offered;
  constexpr std::int64_t large = std::int64_t{1} << 40;
  const double perByte = ((*all)->seconds(large) - (*base)->seconds(large)) / large;
  return perByte > 0 ? cost::costAttr(offered.getContext(), **base, perByte) : offered;
}

bool isSameOption(sync::OptionAttr claimed, sync::OptionAttr offered) {
  if (!offered || claimed.getScheme() != offered.getScheme() ||
      differ(claimed.getTraffic(), offered.getTraffic()))
    return false;
  return isSameCost(claimed.getCost(), offered.getCost()) ||
         (claimed.getScheme() == Scheme::reduceScatter &&
          isSameCost(claimed.getCost(), withUpdates(offered.getCost(), claimed.getCost())));
}

/// What was asked for by name.
FailureOr<llvm::SmallVector<ForcedScheme>> askedOf(sync::ProblemOp problem) {
  llvm::SmallVector<ForcedScheme> patterns;
  if (problem.getAsked())
    for (StringRef text : problem.getAskedAttr().getAsValueRange<StringAttr>()) {
      Result<ForcedScheme> pattern = parseForcedScheme(text);
      if (!pattern)
        return problem.emitOpError("S14: ") << pattern.status().message();
      patterns.push_back(*pattern);
    }
  return patterns;
}

/// The lanes that a layer may take, as a set.
std::int64_t lanesFor(sync::ProblemOp problem, std::size_t layer) {
  return problem.getOnly() ? (*problem.getOnly())[layer]
                           : (std::int64_t{1} << problem.getLanes().size()) - 1;
}

class OfferCheck {
public:
  OfferCheck(sync::ProblemOp problem, const cost::Offer &offer, ArrayRef<ForcedScheme> asked)
      : problem(problem), offer(offer), asked(asked) {
    std::int64_t total = 0;
    for (std::int64_t bytes : problem.getBytes())
      total += bytes;
    isTight = offer.serverMemory && total > *offer.serverMemory;
  }

  LogicalResult check() {
    for (auto [number, lane] : llvm::enumerate(problem.getLanes().getAsRange<sync::LaneAttr>()))
      if (failed(checkLane(number, lane)))
        return failure();
    for (sync::SoloAttr solo : problem.soloList())
      if (failed(checkSolo(solo)))
        return failure();
    return checkWays();
  }

private:
  /// Every all-reduce, and the servers where they have room.
  bool isShared(sync::LaneAttr lane) const {
    llvm::SmallVector<sync::OptionAttr> shared(offer.collectives);
    if (offer.servers && !isTight)
      shared.push_back(offer.servers);
    return llvm::equal(lane.getOptions(), shared, isSameOption);
  }

  LogicalResult checkLane(std::size_t number, sync::LaneAttr lane) {
    const auto options = lane.getOptions();
    const bool isAsked = options.size() == 1 &&
                         isSameOption(options.front(), offer.option(options.front().getScheme()));
    if (!isAsked && !isShared(lane))
      return problem.emitOpError("S14: lane ") << number
                                               << " is not what the cluster offers: expected all "
                                                  "of its schemes or one, with its cost "
                                               << "and traffic";
    const bool isServers =
        options.size() == 1 && options.front().getScheme() == Scheme::parameterServer;
    const std::optional<std::int64_t> capacity =
        isServers && isTight ? offer.serverMemory : std::nullopt;
    if (lane.getLargest() != offer.largestMessage || lane.getCapacity() != capacity)
      return problem.emitOpError("S14: lane ") << number << " has other limits than the cluster";
    return success();
  }

  LogicalResult checkSolo(sync::SoloAttr solo) {
    if (solo.getScheme() != Scheme::factors || !offer.gather || !solo.getFactorBytes())
      return problem.emitOpError("S14: the cluster offers no ") << solo;
    const std::int64_t bytes = *solo.getFactorBytes();
    const double seconds = cost::gatherSeconds(offer, bytes),
                 traffic = cost::gatherTraffic(offer, bytes);
    if (differ(solo.getSeconds(), seconds) || differ(solo.getTraffic(), traffic))
      return problem.emitOpError("S14: expected ")
             << seconds << " s and " << traffic << " B of traffic on the cluster, got " << solo;
    return success();
  }

  /// The set of lanes that any layer may take; nothing where they are not there.
  std::optional<std::int64_t> sharedLanes() const {
    const bool hasServers = offer.servers && isTight,
               hasOthers = !offer.collectives.empty() || (offer.servers && !isTight);
    const auto lanes =
        llvm::to_vector(sync::ProblemOp(problem).getLanes().getAsRange<sync::LaneAttr>());
    const std::size_t count = (hasOthers ? 1 : 0) + (hasServers ? 1 : 0);
    if (lanes.size() < count || (hasOthers && !isShared(lanes.front())))
      return std::nullopt;
    if (hasServers && (lanes[count - 1].getOptions().size() != 1 ||
                       !isSameOption(lanes[count - 1].getOptions().front(), offer.servers)))
      return std::nullopt;
    return (std::int64_t{1} << count) - 1;
  }

  /// The ways that a layer may have to travel; nothing is any way. The name of a layer that reads
  /// the parameter may match too, and is not known here.
  llvm::SmallVector<std::optional<Scheme>> waysOf(StringRef gradient) const {
    llvm::SmallVector<std::optional<Scheme>> ways{std::nullopt};
    for (const ForcedScheme &entry : asked) {
      llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(entry.glob);
      if (!pattern)
        llvm::consumeError(pattern.takeError());
      else if (pattern->match(gradient) || pattern->match(gradient.rsplit('.').first))
        ways.clear();
      ways.push_back(entry.scheme);
    }
    return ways;
  }

  bool travels(std::size_t layer, std::optional<Scheme> way) {
    const std::int64_t lanes = lanesFor(problem, layer);
    if (!way)
      return sharedLanes() == lanes;
    const bool isAlone = alone.contains(static_cast<std::int64_t>(layer));
    if (*way == Scheme::factors)
      return lanes == 0 && isAlone;
    if (isAlone || !llvm::isPowerOf2_64(lanes))
      return false;
    const auto options =
        cast<sync::LaneAttr>(problem.getLanes()[llvm::Log2_64(lanes)]).getOptions();
    return options.size() == 1 && options.front().getScheme() == *way;
  }

  LogicalResult checkWays() {
    for (sync::SoloAttr solo : problem.soloList())
      alone.insert(solo.getLayer());
    const auto pairs = problem.getRiders().value_or(ArrayRef<std::int64_t>());
    for (std::size_t i = 0; i < pairs.size(); i += 2)
      alone.insert(pairs[i]);
    for (auto [layer, name] : llvm::enumerate(problem.getLayers().getAsValueRange<StringAttr>()))
      if (llvm::none_of(waysOf(name), [&](auto way) { return travels(layer, way); }))
        return problem.emitOpError("S14: layer '")
               << name << "' may travel neither by all that the cluster offers nor by a scheme "
               << "asked for by name";
    return success();
  }

  sync::ProblemOp problem;
  const cost::Offer &offer;
  ArrayRef<ForcedScheme> asked;
  llvm::DenseSet<std::int64_t> alone; ///< layers that have a solo, or ride
  bool isTight = false;               ///< servers cannot hold every gradient
};

} // namespace

/// S15: sets of lanes, solos and riders are those that the trace gives.
static LogicalResult checkInstance(sync::ProblemOp problem, const Instance &expected) {
  const auto solos = problem.soloList();
  const bool isSame =
      llvm::equal(solos, expected.solos, [](sync::SoloAttr got, sync::SoloAttr wanted) {
        return got.getLayer() == wanted.getLayer() && got.getScheme() == wanted.getScheme() &&
               got.getFactorBytes() == wanted.getFactorBytes() &&
               !differ(got.getRebuild(), wanted.getRebuild());
      });
  if (!isSame)
    return problem.emitOpError("S15: expected the ways to travel alone that the trace has")
           << ", got " << solos.size() << " where it has " << expected.solos.size();
  if (problem.getRiders().value_or(ArrayRef<std::int64_t>()) != ArrayRef(expected.riders))
    return problem.emitOpError("S15: expected the trace's riders");
  for (std::size_t k = 0; k < expected.only.size(); ++k)
    if (lanesFor(problem, k) != expected.only[k])
      return problem.emitOpError("S15: expected layer ")
             << k << " to have the set " << expected.only[k] << " of lanes, got "
             << lanesFor(problem, k);
  return success();
}

LogicalResult checkOffer(sync::ProblemOp problem, cluster::SpecAttr spec) {
  Result<cost::Offer> offer = cost::offerOf(spec);
  if (!offer)
    return problem.emitOpError(offer.status().message());
  const auto asked = askedOf(problem);
  return failure(failed(asked) || failed(OfferCheck(problem, *offer, *asked).check()));
}

LogicalResult checkTrace(sync::ProblemOp problem, sync::TraceOp trace, cluster::SpecAttr spec) {
  Result<cost::Offer> offer = cost::offerOf(spec);
  const auto asked = askedOf(problem);
  if (!offer || failed(asked))
    return failure(); // checkOffer said why
  Result<Instance> instance =
      poseInstance(problem.getContext(), cost::timelineOf(trace, cluster::slowdown(spec)),
                   cluster::slowestDevice(spec), *offer, *asked);
  if (!instance)
    return problem.emitOpError("S15: ") << instance.status().message();
  const cost::Timeline &timeline = instance->timeline;
  const auto ready = problem.getReady().getValues();
  if (timeline.gradients.size() != problem.getLayers().size() ||
      differ(timeline.forward, problem.getForwardEnd().convertToDouble()) ||
      differ(timeline.backwardEnd, problem.getBackwardEnd().convertToDouble()) ||
      differ(timeline.updates, problem.getUpdates().convertToDouble()))
    return problem.emitOpError("S15: expected the trace's ")
           << timeline.gradients.size() << " gradients, and passes that end at " << timeline.forward
           << " and " << timeline.backwardEnd << " s";
  for (auto [index, gradient] : llvm::enumerate(timeline.gradients))
    if (cast<StringAttr>(problem.getLayers()[index]).getValue() != gradient.name ||
        problem.getBytes()[index] != gradient.bytes || differ(ready[index], gradient.ready))
      return problem.emitOpError("S15: expected gradient ")
             << index << " to be the trace's '" << gradient.name << "', " << gradient.bytes
             << " B ready at " << gradient.ready << " s";
  return checkInstance(problem, *instance);
}

} // namespace syncline
