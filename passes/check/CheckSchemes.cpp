// Compares a problem with what the cluster offers, number by number.
#include "passes/check/CheckSchemes.h"

#include "ir/cluster/UpdateAttr.h"
#include "ir/plan/Plan.h"
#include "passes/check/SameCost.h"
#include "passes/cost/CollectiveTime.h"
#include "passes/cost/CostModel.h"
#include "passes/cost/SchemeCatalog.h"
#include "passes/merge/Instance.h"
#include "passes/merge/LayerNames.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace syncline {

namespace {

using cluster::Scheme;

/// The set of merge classes that a layer may use, as bits.
std::int64_t mergeClassesFor(sync::ProblemOp problem, std::size_t layer) {
  return problem.getOnly() ? (*problem.getOnly())[layer]
                           : (std::int64_t{1} << problem.getMergeClasses().size()) - 1;
}

class SchemeCheck {
public:
  SchemeCheck(sync::ProblemOp problem, const cost::SchemeCatalog &catalog,
              ArrayRef<std::optional<Scheme>> requested, std::optional<double> shardUpdate)
      : problem(problem), catalog(catalog), requested(requested), shardUpdate(shardUpdate) {
    std::int64_t total = 0;
    for (std::int64_t bytes : problem.getBytes())
      total += bytes;
    isTight = catalog.serverMemory && total > *catalog.serverMemory;
  }

  LogicalResult check() {
    for (auto [number, mergeClass] :
         llvm::enumerate(problem.getMergeClasses().getAsRange<sync::MergeClassAttr>()))
      if (failed(checkMergeClass(number, mergeClass)))
        return failure();
    for (sync::FactorOptionAttr factorOption : problem.factorOptionList())
      if (failed(checkFactorOption(factorOption)))
        return failure();
    return checkWays();
  }

private:
  /// Whether the merge class holds every all-reduce, and the servers where they can hold
  /// all gradients.
  bool isShared(sync::MergeClassAttr mergeClass) const {
    llvm::SmallVector<sync::OptionAttr> shared(catalog.collectives);
    if (catalog.servers && !isTight)
      shared.push_back(catalog.servers);
    return llvm::equal(mergeClass.getOptions(), shared, isSameOption);
  }

  /// Whether the cluster offers the claimed option. A reduce-scatter's message may take longer,
  /// since it also updates its rank's share of the parameters.
  bool isOffered(sync::OptionAttr claimed) const {
    sync::OptionAttr option = catalog.option(claimed.getScheme());
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
                                      const problem::CollectiveCost &collective, double perByte) {
    MLIRContext *context = option.getContext();
    return sync::OptionAttr::get(context, option.getScheme(),
                                 cost::costAttr(context, collective, perByte), option.getTraffic());
  }

  LogicalResult checkMergeClass(std::size_t number, sync::MergeClassAttr mergeClass) {
    const auto options = mergeClass.getOptions();
    const bool isRequested = options.size() == 1 && isOffered(options.front());
    if (!isRequested && !isShared(mergeClass))
      return problem.emitOpError("S14: merge class ")
             << number
             << " is not what the cluster offers: expected all "
                "of its schemes or one, with its cost "
             << "and traffic";
    const bool isServers =
        options.size() == 1 && options.front().getScheme() == Scheme::parameterServer;
    const std::optional<std::int64_t> capacity = mergeClass.getCapacity();
    const bool isCapacityRight =
        isServers && isTight ? capacity == catalog.serverMemory : !capacity.has_value();
    if (mergeClass.getLargest() != catalog.largestMessage || !isCapacityRight)
      return problem.emitOpError("S14: merge class ")
             << number << " has other limits than the cluster";
    return success();
  }

  LogicalResult checkFactorOption(sync::FactorOptionAttr factorOption) {
    if (factorOption.getScheme() != Scheme::factors || !catalog.gather ||
        !factorOption.getFactorBytes())
      return problem.emitOpError("S14: the cluster offers no ") << factorOption;
    const std::int64_t bytes = *factorOption.getFactorBytes();
    const double seconds = cost::gatherSeconds(catalog, bytes),
                 traffic = cost::gatherTraffic(catalog, bytes);
    if (differ(factorOption.getSeconds(), seconds) || differ(factorOption.getTraffic(), traffic))
      return problem.emitOpError("S14: expected ")
             << seconds << " s and " << traffic << " B of traffic on the cluster, got "
             << factorOption;
    return success();
  }

  /// The set of merge classes that any layer may use; nothing where the problem lacks one of them.
  std::optional<std::int64_t> sharedMergeClasses() const {
    const bool hasServers = catalog.servers && isTight,
               hasOthers = !catalog.collectives.empty() || (catalog.servers && !isTight);
    const auto mergeClasses = llvm::to_vector(
        sync::ProblemOp(problem).getMergeClasses().getAsRange<sync::MergeClassAttr>());
    const std::size_t count = (hasOthers ? 1 : 0) + (hasServers ? 1 : 0);
    if (mergeClasses.size() < count || (hasOthers && !isShared(mergeClasses.front())))
      return std::nullopt;
    if (hasServers &&
        (mergeClasses[count - 1].getOptions().size() != 1 ||
         !isSameOption(mergeClasses[count - 1].getOptions().front(), catalog.servers)))
      return std::nullopt;
    return (std::int64_t{1} << count) - 1;
  }

  /// Whether the layer may use exactly its requested scheme, or without a request all
  /// shared classes.
  bool travels(std::size_t layer, std::optional<Scheme> way) {
    const std::int64_t mergeClasses = mergeClassesFor(problem, layer);
    if (!way)
      return sharedMergeClasses() == mergeClasses;
    const bool isAlone = alone.contains(static_cast<std::int64_t>(layer));
    if (*way == Scheme::factors)
      return mergeClasses == 0 && isAlone;
    if (isAlone || !llvm::isPowerOf2_64(mergeClasses))
      return false;
    const auto options =
        cast<sync::MergeClassAttr>(problem.getMergeClasses()[llvm::Log2_64(mergeClasses)])
            .getOptions();
    return options.size() == 1 && options.front().getScheme() == *way;
  }

  LogicalResult checkWays() {
    for (sync::FactorOptionAttr factorOption : problem.factorOptionList())
      alone.insert(factorOption.getLayer());
    const auto pairs = problem.getPiggybacks().value_or(ArrayRef<std::int64_t>());
    for (std::size_t i = 0; i < pairs.size(); i += 2)
      alone.insert(pairs[i]);
    for (auto [layer, name] : llvm::enumerate(problem.getLayers().getAsValueRange<StringAttr>()))
      if (!travels(layer, requested[layer]))
        return problem.emitOpError("S14: layer '")
               << name << "' may travel neither by all that the cluster offers nor by a scheme "
               << "requested by name";
    return success();
  }

  sync::ProblemOp problem;
  const cost::SchemeCatalog &catalog;
  ArrayRef<std::optional<Scheme>> requested; ///< scheme of each layer, where one is requested
  std::optional<double> shardUpdate;         ///< seconds per byte of a reduce-scatter, where known
  llvm::DenseSet<std::int64_t> alone;        ///< layers that have a factor option or are piggybacks
  bool isTight = false;                      ///< whether servers cannot hold every gradient
};

} // namespace

/// Rule S15: merge classes, the classes of each layer, factor options and piggybacks are
/// the trace's.
static LogicalResult checkInstance(sync::ProblemOp problem, const Instance &expected) {
  const auto factorOptions = problem.factorOptionList();
  const bool isSame = llvm::equal(factorOptions, expected.factorOptions,
                                  [](sync::FactorOptionAttr got, sync::FactorOptionAttr wanted) {
                                    return got.getLayer() == wanted.getLayer() &&
                                           got.getScheme() == wanted.getScheme() &&
                                           got.getFactorBytes() == wanted.getFactorBytes() &&
                                           !differ(got.getReconstruct(), wanted.getReconstruct());
                                  });
  if (!isSame)
    return problem.emitOpError("S15: expected the ways to travel alone that the trace has")
           << ", got " << factorOptions.size() << " where it has " << expected.factorOptions.size();
  if (problem.getPiggybacks().value_or(ArrayRef<std::int64_t>()) != ArrayRef(expected.piggybacks))
    return problem.emitOpError("S15: expected the trace's piggybacks");
  const auto mergeClasses =
      llvm::to_vector(problem.getMergeClasses().getAsRange<sync::MergeClassAttr>());
  if (!llvm::equal(mergeClasses, expected.mergeClasses, isSameMergeClass)) {
    InFlightDiagnostic diagnostic = problem.emitOpError("S15: expected merge classes ");
    llvm::interleaveComma(expected.mergeClasses, diagnostic);
    return diagnostic;
  }
  for (std::size_t k = 0; k < expected.only.size(); ++k)
    if (mergeClassesFor(problem, k) != expected.only[k])
      return problem.emitOpError("S15: expected layer ")
             << k << " to have the set " << expected.only[k] << " of merge classes, got "
             << mergeClassesFor(problem, k);
  return success();
}

/// Seconds to update a parameter of f32 by the cost model.
static double updateOf(std::int64_t bytes, cluster::SpecAttr spec, std::optional<double> rate) {
  const auto size = static_cast<double>(bytes);
  return cost::updateSeconds(size / 4, size, cluster::slowestDevice(spec), rate);
}

/// Seconds to update all layers that are requested to use reduce-scatter, from the step, the trace,
/// or the cost model of a program beside the problem; nothing where there is none of these.
static std::optional<double> shardUpdates(sync::ProblemOp problem, cluster::SpecAttr spec,
                                          ArrayRef<std::optional<Scheme>> requested) {
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
    if (requested[layer] == Scheme::reduceScatter) {
      auto found = known.find(name);
      sum += found != known.end() ? found->second : updateOf(problem.getBytes()[layer], spec, rate);
    }
  return sum;
}

static std::optional<double> shardUpdateOf(sync::ProblemOp problem, cluster::SpecAttr spec,
                                           ArrayRef<std::optional<Scheme>> requested) {
  const std::optional<double> sum = shardUpdates(problem, spec, requested);
  double bytes = 0;
  for (std::size_t layer = 0; layer < requested.size(); ++layer)
    if (requested[layer] == Scheme::reduceScatter)
      bytes += static_cast<double>(problem.getBytes()[layer]);
  if (!sum || bytes == 0)
    return sum;
  return *sum / bytes / static_cast<double>(spec.getRanks());
}

LogicalResult checkSchemes(sync::ProblemOp problem, cluster::SpecAttr spec) {
  Result<cost::SchemeCatalog> catalog = cost::catalogOf(spec);
  if (!catalog)
    return problem.emitOpError(catalog.status().message());
  const auto requested = requestedSchemes(problem);
  if (!requested)
    return problem.emitOpError("S14: ") << requested.status().message();
  return SchemeCheck(problem, *catalog, *requested, shardUpdateOf(problem, spec, *requested))
      .check();
}

LogicalResult checkTrace(sync::ProblemOp problem, sync::TraceOp trace, cluster::SpecAttr spec) {
  Result<cost::SchemeCatalog> catalog = cost::catalogOf(spec);
  if (!catalog)
    return failure(); // checkSchemes has reported why, and has read the requests
  llvm::SmallVector<RequestedScheme> requested;
  if (problem.getRequested())
    for (StringRef text : problem.getRequestedAttr().getAsValueRange<StringAttr>())
      if (Result<RequestedScheme> pattern = parseRequestedScheme(text))
        requested.push_back(*pattern);
  Result<Instance> instance =
      poseInstance(problem.getContext(), cost::timelineOf(trace, cluster::slowdown(spec)),
                   cluster::slowestDevice(spec), *catalog, requested);
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
