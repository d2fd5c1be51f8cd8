// Compares a problem with what the cluster offers, number by number.
#include "passes/check/CheckSchemes.h"

#include "ir/cluster/Cluster.h"
#include "ir/nn/NN.h"
#include "ir/plan/Plan.h"
#include "passes/check/SameCost.h"
#include "passes/cost/CostModel.h"
#include "passes/cost/SchemeCatalog.h"
#include "passes/merge/Instance.h"
#include "passes/merge/LayerNames.h"
#include "passes/merge/ReadProblem.h"
#include "passes/merge/WriteProblem.h"
#include "passes/problem/SchemeCost.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace syncline::check {

namespace {

using cluster::Scheme;

class SchemeCheck {
public:
  SchemeCheck(sync::ProblemOp op, const problem::Problem &problem,
              const cost::SchemeCatalog &catalog, ArrayRef<std::optional<Scheme>> requested,
              std::optional<double> shardUpdate)
      : op(op), problem(problem), catalog(catalog), requested(requested), shardUpdate(shardUpdate) {
    std::int64_t total = 0;
    for (const problem::Layer &layer : problem.layers)
      total += layer.bytes;
    isTight = catalog.serverMemory && total > *catalog.serverMemory;
  }

  LogicalResult check() {
    for (auto [number, mergeClass] : llvm::enumerate(problem.mergeClasses))
      if (failed(checkMergeClass(number, mergeClass)))
        return failure();
    for (auto [layer, claimed] : llvm::enumerate(problem.layers))
      for (const problem::FactorOption &option : claimed.factorOptions)
        if (failed(checkFactorOption(layer, option)))
          return failure();
    return checkWays();
  }

private:
  /// Whether the merge class holds every all-reduce, and the servers where they can hold
  /// all gradients.
  bool isShared(const problem::MergeClass &mergeClass) const {
    std::vector<problem::SchemeOption> shared = catalog.collectives;
    if (catalog.servers && !isTight)
      shared.push_back(*catalog.servers);
    return llvm::equal(mergeClass.options, shared, isSameOption);
  }

  /// Whether the cluster offers the claimed option. A reduce-scatter's message may take longer,
  /// since it also updates its rank's share of the parameters.
  bool isOffered(const problem::SchemeOption &claimed) const {
    const problem::SchemeOption *option = catalog.option(claimed.scheme);
    if (!option)
      return false;
    problem::SchemeOption expected = *option;
    if (claimed.scheme == Scheme::reduceScatter) {
      const double perByte =
          shardUpdate.value_or(problem::extraPerByte(*claimed.cost, *option->cost));
      if (perByte > 0)
        expected.cost = problem::withExtraPerByte(*option->cost, perByte);
      problem::setLost(expected, catalog.interferenceOf(expected.scheme));
    }
    return isSameOption(claimed, expected);
  }

  LogicalResult checkMergeClass(std::size_t number, const problem::MergeClass &mergeClass) {
    const std::vector<problem::SchemeOption> &options = mergeClass.options;
    const bool isRequested = options.size() == 1 && isOffered(options.front());
    if (!isRequested && !isShared(mergeClass))
      return op.emitOpError("S14: merge class ") << number
                                                 << " is not what the cluster offers: expected all "
                                                    "of its schemes or one, with its cost, "
                                                 << "interference and traffic";
    const bool isServers = options.size() == 1 && options.front().scheme == Scheme::parameterServer;
    const std::int64_t capacity = isServers && isTight ? *catalog.serverMemory : problem::unlimited;
    if (mergeClass.largestMessage != catalog.largestMessage.value_or(problem::unlimited) ||
        mergeClass.capacity != capacity)
      return op.emitOpError("S14: merge class ") << number << " has other limits than the cluster";
    return success();
  }

  LogicalResult checkFactorOption(std::size_t layer, const problem::FactorOption &option) {
    const auto asText = [&] { return merge::factorOptionAttr(op.getContext(), layer, option); };
    if (!isGathered(option.scheme) || !catalog.gatherOf(option.scheme) || option.factorBytes == 0)
      return op.emitOpError("S14: the cluster offers no ") << asText();
    const double seconds = cost::gatherSeconds(catalog, option.scheme, option.factorBytes),
                 traffic = cost::gatherTraffic(catalog, option.scheme, option.factorBytes);
    problem::FactorOption expected = option;
    expected.seconds = seconds;
    cost::setGatherLost(catalog, expected);
    const auto &[products, memory] = expected.lostBy.of;
    if (differ(option.seconds, seconds) || differ(option.lost, expected.lost) ||
        differ(option.lostBy.of[0], products) || differ(option.lostBy.of[1], memory) ||
        differ(option.traffic, traffic)) {
      InFlightDiagnostic diagnostic = op.emitOpError("S14: expected ") << seconds << " s";
      if (expected.lost > 0 || products > 0 || memory > 0)
        diagnostic << ", which take " << expected.lost << " s from computation,";
      if (catalog.tellsClasses())
        diagnostic << " from products " << products << " s, from others " << memory << " s,";
      return diagnostic << " and " << traffic << " B of traffic on the cluster, got " << asText();
    }
    return success();
  }

  /// The set of merge classes that any layer may use; nothing where the problem lacks one of them.
  std::optional<std::uint32_t> sharedMergeClasses() const {
    const bool hasServers = catalog.servers && isTight,
               hasOthers = !catalog.collectives.empty() || (catalog.servers && !isTight);
    const std::vector<problem::MergeClass> &mergeClasses = problem.mergeClasses;
    const std::size_t count = (hasOthers ? 1 : 0) + (hasServers ? 1 : 0);
    if (mergeClasses.size() < count || (hasOthers && !isShared(mergeClasses.front())))
      return std::nullopt;
    if (hasServers && (mergeClasses[count - 1].options.size() != 1 ||
                       !isSameOption(mergeClasses[count - 1].options.front(), *catalog.servers)))
      return std::nullopt;
    return (1u << count) - 1;
  }

  /// The scheme of the factor option of a layer that travels alone, or of its carrier's.
  Scheme gatheredBy(const problem::Layer &layer) const {
    const bool isOwn = !layer.factorOptions.empty();
    return (isOwn ? layer : problem.layers[*layer.carrier]).factorOptions.front().scheme;
  }

  /// Whether the layer may use exactly its requested scheme, or without a request all
  /// shared classes.
  bool travels(const problem::Layer &layer, std::optional<Scheme> way) const {
    if (!way)
      return sharedMergeClasses() == layer.mergeClasses;
    const bool isAlone = !layer.factorOptions.empty() || layer.carrier;
    if (isGathered(*way))
      return layer.mergeClasses == 0 && isAlone && gatheredBy(layer) == *way;
    if (isAlone || !llvm::isPowerOf2_32(layer.mergeClasses))
      return false;
    const std::vector<problem::SchemeOption> &options =
        problem.mergeClasses[llvm::Log2_32(layer.mergeClasses)].options;
    return options.size() == 1 && options.front().scheme == *way;
  }

  LogicalResult checkWays() {
    for (auto [layer, name] : llvm::enumerate(op.getLayers().getAsValueRange<StringAttr>()))
      if (!travels(problem.layers[layer], requested[layer]))
        return op.emitOpError("S14: layer '")
               << name << "' may travel neither by all that the cluster offers nor by a scheme "
               << "requested by name";
    return success();
  }

  sync::ProblemOp op;
  const problem::Problem &problem; ///< what `op` states
  const cost::SchemeCatalog &catalog;
  ArrayRef<std::optional<Scheme>> requested; ///< scheme of each layer, where one is requested
  std::optional<double> shardUpdate;         ///< seconds per byte of a reduce-scatter, where known
  bool isTight = false;                      ///< whether servers cannot hold every gradient
};

} // namespace

/// Rule S15: merge classes, the classes of each layer, factor options and piggybacks are
/// the trace's.
static LogicalResult checkInstance(sync::ProblemOp op, const problem::Problem &problem,
                                   const problem::Problem &expected) {
  const auto sum = [](const problem::Problem &of) {
    std::size_t options = 0;
    for (const problem::Layer &layer : of.layers)
      options += layer.factorOptions.size();
    return options;
  };
  if (!llvm::equal(problem.layers, expected.layers, [](auto &got, auto &wanted) {
        return llvm::equal(got.factorOptions, wanted.factorOptions, isSameFactorOption);
      }))
    return op.emitOpError("S15: expected the ways to travel alone that the trace has")
           << ", got " << sum(problem) << " where it has " << sum(expected);
  if (!llvm::equal(problem.layers, expected.layers,
                   [](auto &got, auto &wanted) { return got.carrier == wanted.carrier; }))
    return op.emitOpError("S15: expected the trace's piggybacks");
  if (!llvm::equal(problem.mergeClasses, expected.mergeClasses, isSameMergeClass)) {
    InFlightDiagnostic diagnostic = op.emitOpError("S15: expected merge classes ");
    llvm::interleaveComma(expected.mergeClasses, diagnostic,
                          [&](const problem::MergeClass &wanted) {
                            diagnostic << merge::mergeClassAttr(op.getContext(), wanted);
                          });
    return diagnostic;
  }
  for (auto [k, layer] : llvm::enumerate(problem.layers))
    if (layer.mergeClasses != expected.layers[k].mergeClasses)
      return op.emitOpError("S15: expected layer ")
             << k << " to have the set " << expected.layers[k].mergeClasses
             << " of merge classes, got " << layer.mergeClasses;
  return success();
}

/// Rule S15: tails and updates are the trace's, where the problem is that of an order.
static LogicalResult checkTails(sync::ProblemOp op, const cost::Timeline &timeline) {
  if (!op.getTails())
    return success();
  const std::vector<double> tails = cost::tailsOf(timeline);
  for (auto [index, gradient] : llvm::enumerate(timeline.gradients)) {
    const double tail = op.getTails()->getValues()[index],
                 update = op.getOwnUpdates()->getValues()[index];
    if (differ(tail, tails[index]) || differ(update, gradient.updating))
      return op.emitOpError("S15: expected gradient ")
             << index << " to have a tail of " << tails[index] << " s and an update of "
             << gradient.updating << " s as the trace's '" << gradient.name << "', got " << tail
             << " and " << update << " s";
  }
  return success();
}

/// Seconds to update a parameter of f32 of the module's step by the cost model.
static double updateOf(std::int64_t bytes, cluster::SpecAttr spec, std::optional<double> rate,
                       ModuleOp module) {
  const auto size = static_cast<double>(bytes);
  return cost::updateSeconds(size / 4, size, cluster::slowestDevice(spec), rate,
                             nn::optimizerOf(module), cost::precisionOf(module));
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
      sum += found != known.end() ? found->second
                                  : updateOf(problem.getBytes()[layer], spec, rate, module);
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

LogicalResult checkSchemes(sync::ProblemOp op, const problem::Problem &problem,
                           cluster::SpecAttr spec) {
  Result<cost::SchemeCatalog> catalog = cost::catalogOf(spec, cluster::wireOf(op));
  if (!catalog)
    return op.emitOpError(catalog.status().message());
  const bool hasProgram = !op->getParentOfType<ModuleOp>().getOps<plan::ProgramOp>().empty();
  if (catalog->tellsClasses() ? hasProgram && !op.getMemoryBound() : bool(op.getMemoryBound()))
    return op.emitOpError("S14: expected ")
           << (catalog->tellsClasses() ? "'memory_bound', as messages slow classes of operations "
                                         "unequally on the cluster"
                                       : "no 'memory_bound', as messages slow all operations alike "
                                         "on the cluster");
  const auto requested = merge::requestedSchemes(op);
  if (!requested)
    return op.emitOpError("S14: ") << requested.status().message();
  return SchemeCheck(op, problem, *catalog, *requested, shardUpdateOf(op, spec, *requested))
      .check();
}

LogicalResult checkTrace(sync::ProblemOp op, const problem::Problem &problem, sync::TraceOp trace,
                         cluster::SpecAttr spec) {
  Result<cost::SchemeCatalog> catalog = cost::catalogOf(spec, cluster::wireOf(op));
  if (!catalog)
    return failure(); // checkSchemes has reported why, and has read the requests
  llvm::SmallVector<merge::RequestedScheme> requested;
  if (op.getRequested())
    for (StringRef text : op.getRequestedAttr().getAsValueRange<StringAttr>())
      if (Result<merge::RequestedScheme> pattern = merge::parseRequestedScheme(text))
        requested.push_back(*pattern);
  Result<merge::Instance> instance =
      merge::poseInstance(cost::timelineOf(trace, cluster::slowdown(spec)),
                          cluster::slowestDevice(spec), *catalog, requested);
  if (!instance)
    return op.emitOpError("S15: ") << instance.status().message();
  const cost::Timeline &timeline = instance->timeline;
  if (timeline.gradients.size() != problem.layers.size() ||
      differ(timeline.forward, op.getForwardEnd().convertToDouble()) ||
      differ(timeline.backwardEnd, problem.computeFree) ||
      differ(timeline.updates, op.getUpdates().convertToDouble()))
    return op.emitOpError("S15: expected the trace's ")
           << timeline.gradients.size() << " gradients, and passes that end at " << timeline.forward
           << " and " << timeline.backwardEnd << " s";
  for (auto [index, gradient] : llvm::enumerate(timeline.gradients))
    if (cast<StringAttr>(op.getLayers()[index]).getValue() != gradient.name ||
        problem.layers[index].bytes != gradient.bytes ||
        differ(problem.layers[index].ready, gradient.ready))
      return op.emitOpError("S15: expected gradient ")
             << index << " to be the trace's '" << gradient.name << "', " << gradient.bytes
             << " B ready at " << gradient.ready << " s";
  return failure(failed(checkTails(op, timeline)) ||
                 failed(checkInstance(op, problem, instance->problem)));
}

} // namespace syncline::check
