// Compares a problem with what the cluster offers, number by number.
#include "passes/check/CheckSchemes.h"

#include "ir/cluster/UpdateAttr.h"
#include "ir/plan/Plan.h"
#include "passes/cost/CollectiveTime.h"
#include "passes/cost/CostModel.h"
#include "passes/cost/SchemeCatalog.h"
#include "passes/merge/Instance.h"
#include "passes/merge/LayerNames.h"
#include "passes/check/SameCost.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace syncline {

namespace {

using cluster::Scheme;

/// The lanes that a layer may take, as a set.
std::int64_t lanesFor(sync::ProblemOp problem, std::size_t layer) {
  return problem.getOnly() ? (*problem.getOnly())[layer]
                           : (std::int64_t{1} << problem.getLanes().size()) - 1;
}

class OfferCheck {
public:
  OfferCheck(sync::ProblemOp problem, const cost::Offer &offer,
             ArrayRef<std::optional<Scheme>> asked, std::optional<double> shardUpdate)
      : problem(problem), offer(offer), asked(asked), shardUpdate(shardUpdate) {
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

  /// A reduce-scatter's message also updates its rank's share of the parameters.
  bool isOffered(sync::OptionAttr claimed) const {
    sync::OptionAttr option = offer.option(claimed.getScheme());
    if (!option || claimed.getScheme() != Scheme::reduceScatter)
      return isSameOption(claimed, option);
    const auto collective = cost::collectiveTime(option.getCost());
    const auto whole = cost::collectiveTime(claimed.getCost());
    if (!collective || !whole)
      return false;
    const double perByte = shardUpdate.value_or(cost::extraPerByte(**whole, **collective));
    return isSameOption(claimed, perByte > 0 ? withUpdates(option, **collective, perByte) : option);
  }

  static sync::OptionAttr withUpdates(sync::OptionAttr option,
                                      const solver::CollectiveCost &collective, double perByte) {
    MLIRContext *context = option.getContext();
    return sync::OptionAttr::get(context, option.getScheme(),
                                 cost::costAttr(context, collective, perByte), option.getTraffic());
  }

  LogicalResult checkLane(std::size_t number, sync::LaneAttr lane) {
    const auto options = lane.getOptions();
    const bool isAsked = options.size() == 1 && isOffered(options.front());
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

  /// Whether the layer may travel as it was asked for, or by all that is offered, and no other way.
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
      if (!travels(layer, asked[layer]))
        return problem.emitOpError("S14: layer '")
               << name << "' may travel neither by all that the cluster offers nor by a scheme "
               << "asked for by name";
    return success();
  }

  sync::ProblemOp problem;
  const cost::Offer &offer;
  ArrayRef<std::optional<Scheme>> asked; ///< by layer
  std::optional<double> shardUpdate;     ///< seconds per byte of a reduce-scatter, where known
  llvm::DenseSet<std::int64_t> alone;    ///< layers that have a solo, or ride
  bool isTight = false;                  ///< servers cannot hold every gradient
};

} // namespace

/// S15: lanes and sets of them, solos and riders are those that the trace gives.
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
  const auto lanes = llvm::to_vector(problem.getLanes().getAsRange<sync::LaneAttr>());
  if (!llvm::equal(lanes, expected.lanes, isSameLane)) {
    InFlightDiagnostic diagnostic = problem.emitOpError("S15: expected lanes ");
    llvm::interleaveComma(expected.lanes, diagnostic);
    return diagnostic;
  }
  for (std::size_t k = 0; k < expected.only.size(); ++k)
    if (lanesFor(problem, k) != expected.only[k])
      return problem.emitOpError("S15: expected layer ")
             << k << " to have the set " << expected.only[k] << " of lanes, got "
             << lanesFor(problem, k);
  return success();
}

/// As the cost model has it, of a parameter of f32.
static double updateOf(std::int64_t bytes, cluster::SpecAttr spec, std::optional<double> rate) {
  const auto size = static_cast<double>(bytes);
  return cost::updateSeconds(size / 4, size, cluster::slowestDevice(spec), rate);
}

/// What all updates of the layers that are asked to go by reduce-scatter take, as the step, the
/// trace or the cost model of a program beside the problem say; nothing where there is none.
static std::optional<double> shardUpdates(sync::ProblemOp problem, cluster::SpecAttr spec,
                                          ArrayRef<std::optional<Scheme>> asked) {
  auto module = problem->getParentOfType<ModuleOp>();
  llvm::StringMap<double> known;
  for (auto trace : module.getOps<sync::TraceOp>())
    for (auto layer : trace.getOps<sync::LayerOp>())
      known[layer.getName()] = cost::updateOf(layer) * cluster::slowdown(spec);
  for (auto step : module.getOps<nn::StepOp>())
    for (auto update : step.getOps<nn::UpdateOp>())
      if (auto parameter = update.getParameter().getDefiningOp<nn::ParameterOp>())
        if (auto seconds = update->getAttrOfType<FloatAttr>(nn::secondsAttr))
          known[parameter.getName()] = seconds.getValueAsDouble();
  if (known.empty() && module.getOps<plan::ProgramOp>().empty())
    return std::nullopt;
  std::optional<double> rate;
  if (auto measured = module->getAttrOfType<FloatAttr>(cluster::updateAttr))
    rate = measured.getValueAsDouble() * cluster::slowdown(spec);
  double sum = 0;
  for (auto [layer, name] : llvm::enumerate(problem.getLayers().getAsValueRange<StringAttr>()))
    if (asked[layer] == Scheme::reduceScatter) {
      auto found = known.find(name);
      sum += found != known.end() ? found->second : updateOf(problem.getBytes()[layer], spec, rate);
    }
  return sum;
}

static std::optional<double> shardUpdateOf(sync::ProblemOp problem, cluster::SpecAttr spec,
                                           ArrayRef<std::optional<Scheme>> asked) {
  const std::optional<double> sum = shardUpdates(problem, spec, asked);
  double bytes = 0;
  for (std::size_t layer = 0; layer < asked.size(); ++layer)
    if (asked[layer] == Scheme::reduceScatter)
      bytes += static_cast<double>(problem.getBytes()[layer]);
  if (!sum || bytes == 0)
    return sum;
  return *sum / bytes / static_cast<double>(spec.getRanks());
}

LogicalResult checkOffer(sync::ProblemOp problem, cluster::SpecAttr spec) {
  Result<cost::Offer> offer = cost::offerOf(spec);
  if (!offer)
    return problem.emitOpError(offer.status().message());
  const auto asked = schemesAsked(problem);
  if (!asked)
    return problem.emitOpError("S14: ") << asked.status().message();
  return OfferCheck(problem, *offer, *asked, shardUpdateOf(problem, spec, *asked)).check();
}

LogicalResult checkTrace(sync::ProblemOp problem, sync::TraceOp trace, cluster::SpecAttr spec) {
  Result<cost::Offer> offer = cost::offerOf(spec);
  if (!offer)
    return failure(); // checkOffer said why, and read what was asked for
  llvm::SmallVector<ForcedScheme> asked;
  if (problem.getAsked())
    for (StringRef text : problem.getAskedAttr().getAsValueRange<StringAttr>())
      if (Result<ForcedScheme> pattern = parseForcedScheme(text))
        asked.push_back(*pattern);
  Result<Instance> instance =
      poseInstance(problem.getContext(), cost::timelineOf(trace, cluster::slowdown(spec)),
                   cluster::slowestDevice(spec), *offer, asked);
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
