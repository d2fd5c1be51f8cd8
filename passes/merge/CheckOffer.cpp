// Compares a problem with what the cluster offers, number by number.
#include "passes/merge/CheckOffer.h"

#include "passes/cost/CollectiveTime.h"
#include "passes/cost/Offer.h"
#include "passes/cost/Timeline.h"

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

class OfferCheck {
public:
  OfferCheck(sync::ProblemOp problem, const cost::Offer &offer) : problem(problem), offer(offer) {
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
    return success();
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

  sync::ProblemOp problem;
  const cost::Offer &offer;
  bool isTight = false; ///< servers cannot hold every gradient
};

} // namespace

LogicalResult checkOffer(sync::ProblemOp problem, cluster::SpecAttr spec) {
  Result<cost::Offer> offer = cost::offerOf(spec);
  if (!offer)
    return problem.emitOpError(offer.status().message());
  return OfferCheck(problem, *offer).check();
}

LogicalResult checkTrace(sync::ProblemOp problem, sync::TraceOp trace, cluster::SpecAttr spec) {
  const cost::Timeline timeline = cost::timelineOf(trace, cluster::slowdown(spec));
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
  return success();
}

} // namespace syncline
