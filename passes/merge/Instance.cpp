// Merge classes, factor options and piggybacks of an instance.
#include "passes/merge/Instance.h"

#include "passes/merge/LayerNames.h"
#include "passes/merge/TimedFactors.h"
#include "passes/problem/SchemeCost.h"
#include "syncline/RowsPart.h"

#include <algorithm>

using namespace mlir;

namespace syncline::merge {

namespace {

using cluster::Scheme;

std::string quoted(StringRef text) { return ("'" + text + "'").str(); }
std::string quoted(Scheme scheme) { return quoted(cluster::stringifyScheme(scheme)); }
std::string bytesText(std::int64_t bytes) { return std::to_string(bytes) + " B"; }

class Poser {
public:
  Poser(cost::Timeline timeline, cluster::DeviceAttr device, const cost::SchemeCatalog &catalog)
      : device(device), catalog(catalog) {
    instance.timeline = std::move(timeline);
  }

  Result<Instance> pose(ArrayRef<RequestedScheme> patterns) {
    SYNCLINE_TRY(force(patterns));
    addLayers();
    SYNCLINE_TRY(addFactorOptions());
    addPiggybacks();
    SYNCLINE_TRY(addMergeClasses());
    SYNCLINE_TRY(checkSizes());
    return std::move(instance);
  }

private:
  std::vector<cost::ReadyGradient> &gradients() { return instance.timeline.gradients; }
  std::vector<problem::Layer> &layers() { return instance.problem.layers; }
  std::vector<problem::MergeClass> &mergeClasses() { return instance.problem.mergeClasses; }
  bool isRequested(std::size_t k, Scheme scheme) const { return requested[k] == scheme; }
  Status refuse(std::size_t k, const std::string &why) {
    return Status::badInput("layer " + quoted(gradients()[k].name) + " cannot travel by " +
                            quoted(*requested[k]) + ": " + why);
  }

  Status match(ArrayRef<RequestedScheme> patterns) {
    std::vector<GradientNames> names;
    for (const cost::ReadyGradient &gradient : gradients())
      names.push_back(namesOf(gradient));
    auto matched = requestedSchemes(names, patterns);
    if (matched)
      requested = std::move(*matched);
    return matched.status();
  }

  /// Reads the requests. A reduce-scatter's message writes parameters, so it waits for their
  /// readers and takes over their updates.
  Status force(ArrayRef<RequestedScheme> patterns) {
    SYNCLINE_TRY(match(patterns));
    // Adds up the updates that remain: a difference would leave a residue where nothing remains.
    instance.timeline.updates = 0;
    for (std::size_t k = 0; k < requested.size(); ++k) {
      cost::ReadyGradient &gradient = gradients()[k];
      if (!isRequested(k, Scheme::reduceScatter)) {
        instance.timeline.updates += gradient.updating;
        continue;
      }
      if (hasRowsApart(gradient))
        return refuse(k, "its message would update before the gradient's rows are added, which "
                         "travel apart");
      gradient.ready = std::max(gradient.ready, gradient.lastRead);
      shardUpdates += gradient.updating;
      shardBytes += gradient.bytes;
      gradient.updating = 0;
    }
    std::ranges::stable_sort(gradients(), {}, &cost::ReadyGradient::ready);
    return match(patterns);
  }

  /// Whether the rows of this gradient are a layer of their own.
  bool hasRowsApart(const cost::ReadyGradient &gradient) {
    return llvm::any_of(gradients(), [&](const cost::ReadyGradient &other) {
      return isRowsPart(other.name) && parameterOf(other.name) == gradient.name;
    });
  }

  void addLayers() {
    instance.problem.computeFree = instance.timeline.backwardEnd;
    if (catalog.tellsClasses())
      instance.problem.memoryBound = instance.timeline.memoryBound;
    for (const cost::ReadyGradient &gradient : gradients())
      layers().push_back({gradient.bytes, gradient.ready, 0, {}, {}});
  }

  /// The reason why the cluster does not offer the scheme.
  std::string whyNot(Scheme scheme) const {
    if (catalog.byNccl && !isCarried(scheme, true))
      return "NCCL, which carries the messages, has " + listOf(carriedSchemes(true), " and ") +
             " only";
    if (scheme == Scheme::library)
      return catalog.byNccl
                 ? "the cluster file states no time of what NCCL chooses, which 'syncline "
                   "calibrate --backend cuda' measures"
                 : "it is the algorithm that NCCL chooses, and NCCL carries messages with "
                   "'--backend cuda' only";
    if (llvm::is_contained(catalog.unsupported, scheme))
      return "NCCL, which carries the messages, knows no dedicated servers";
    return "the cluster does not offer it";
  }

  Status addFactorOptions() {
    factors = timedFactors(instance.timeline, device);
    carriers.resize(factors.size());
    for (std::size_t k = 0; k < factors.size(); ++k)
      if (factors[k])
        for (const TimedFactors::Piggyback &piggyback : factors[k]->piggybacks)
          if (!carriers[piggyback.gradient])
            carriers[piggyback.gradient] = k;
    for (std::size_t k = 0; k < factors.size(); ++k) {
      if (requested[k] && isGathered(*requested[k]))
        SYNCLINE_TRY(checkFactors(k, *requested[k]));
      if (factors[k] && catalog.gatherOf(factors[k]->scheme) &&
          (catalog.ranks > 1 || requested[k]) && mayUse(k, factors[k]->scheme))
        layers()[k].factorOptions.push_back(factorOptionOf(k));
    }
    return Status::ok();
  }

  /// Whether the scheme is requested for the gradient, or none is.
  bool mayUse(std::size_t k, Scheme scheme) const {
    return requested[k].value_or(scheme) == scheme;
  }

  Status checkFactors(std::size_t k, Scheme scheme) {
    if (catalog.byNccl && !isCarried(scheme, true))
      return refuse(k, whyNot(scheme));
    if (!catalog.gatherOf(scheme))
      return refuse(k, "the cluster has neither a network nor the cost of an all-gather");
    if (factors[k] && factors[k]->scheme == scheme)
      return Status::ok();
    if (!carriers[k] || factors[*carriers[k]]->scheme != scheme)
      return refuse(k, hasRows(scheme)
                           ? "its gradient is not the sums of one embedding's rows alone"
                           : "its gradient is no product of two factors that sums over samples");
    if (!isRequested(*carriers[k], scheme))
      return refuse(k, "it is computed from the factors of " +
                           quoted(gradients()[*carriers[k]].name) + ", which need not travel so");
    return Status::ok();
  }

  /// Seconds that one more rank adds to the product, and to the sums of its piggybacks.
  double reconstructOf(std::size_t k) const {
    double seconds = factors[k]->reconstruct;
    for (const TimedFactors::Piggyback &piggyback : factors[k]->piggybacks)
      seconds += carriers[piggyback.gradient] == k ? piggyback.reconstruct : 0;
    return seconds;
  }

  problem::FactorOption factorOptionOf(std::size_t k) const {
    const std::int64_t bytes = factors[k]->bytes;
    const Scheme scheme = factors[k]->scheme;
    problem::FactorOption option{scheme, cost::gatherSeconds(catalog, scheme, bytes),
                                 static_cast<double>(catalog.ranks - 1) * reconstructOf(k),
                                 cost::gatherTraffic(catalog, scheme, bytes), bytes};
    cost::setGatherLost(catalog, option);
    return option;
  }

  void addPiggybacks() {
    for (std::size_t k = 0; k < carriers.size(); ++k)
      if (carriers[k] && !layers()[*carriers[k]].factorOptions.empty() &&
          layers()[k].factorOptions.empty() && mayUse(k, factors[*carriers[k]]->scheme))
        layers()[k].carrier = carriers[k];
  }

  Status addMergeClasses() {
    std::int64_t total = 0;
    for (const cost::ReadyGradient &gradient : gradients())
      total += gradient.bytes;
    isTight = catalog.serverMemory && total > *catalog.serverMemory;
    std::uint32_t free = 0;
    if (requested.empty() || llvm::is_contained(requested, std::nullopt))
      free = addSharedMergeClasses();
    for (std::size_t k = 0; k < requested.size(); ++k) {
      if (!requested[k] || isGathered(*requested[k])) {
        layers()[k].mergeClasses = requested[k] ? 0 : free;
        continue;
      }
      const problem::SchemeOption *option = catalog.option(*requested[k]);
      if (!option)
        return refuse(k, whyNot(*requested[k]));
      layers()[k].mergeClasses = 1u << mergeClassOf(*option);
    }
    if (mergeClasses().empty()) // every layer must send factors
      addSharedMergeClasses();
    if (mergeClasses().size() > problem::maxMergeClasses)
      return Status::badInput(
          "expected schemes requested by name that make at most " +
          std::to_string(problem::maxMergeClasses) +
          " merge classes, one a scheme besides what all other layers share, got " +
          std::to_string(mergeClasses().size()));
    return Status::ok();
  }

  /// Adds the merge classes that any layer may use; returns their set.
  std::uint32_t addSharedMergeClasses() {
    std::vector<problem::SchemeOption> shared = catalog.collectives;
    if (catalog.servers && !isTight)
      shared.push_back(*catalog.servers);
    if (!shared.empty())
      addMergeClass(std::move(shared));
    if (catalog.servers && isTight)
      addMergeClass({*catalog.servers});
    return (1u << mergeClasses().size()) - 1;
  }

  void addMergeClass(std::vector<problem::SchemeOption> options) {
    const bool isServers = options.front().scheme == Scheme::parameterServer;
    mergeClasses().push_back({std::move(options),
                              catalog.largestMessage.value_or(problem::unlimited),
                              isServers && isTight ? *catalog.serverMemory : problem::unlimited});
  }

  /// The merge class that has this option of the catalog alone; added where it does not exist.
  std::size_t mergeClassOf(const problem::SchemeOption &option) {
    auto found = llvm::find_if(mergeClasses(), [&](const problem::MergeClass &mergeClass) {
      return mergeClass.options.size() == 1 && mergeClass.options[0].scheme == option.scheme;
    });
    if (found == mergeClasses().end()) {
      addMergeClass({withUpdates(option)});
      return mergeClasses().size() - 1;
    }
    return static_cast<std::size_t>(found - mergeClasses().begin());
  }

  /// The option with the seconds in which a reduce-scatter's message updates a rank's share of
  /// the parameters.
  problem::SchemeOption withUpdates(problem::SchemeOption option) const {
    if (option.scheme == Scheme::reduceScatter && shardUpdates > 0) {
      option.cost =
          problem::withExtraPerByte(*option.cost, shardUpdates / static_cast<double>(shardBytes) /
                                                      static_cast<double>(catalog.ranks));
      problem::setLost(option, catalog.interferenceOf(option.scheme));
    }
    return option;
  }

  /// Checks that every gradient fits one of its options, and that servers can hold the gradients
  /// that only they can take.
  Status checkSizes() {
    std::int64_t captive = 0;
    for (std::size_t k = 0; k < requested.size(); ++k) {
      if (!layers()[k].factorOptions.empty() || layers()[k].mergeClasses == 0)
        continue;
      const cost::ReadyGradient &gradient = gradients()[k];
      if (catalog.largestMessage && gradient.bytes > *catalog.largestMessage)
        return Status::badInput("layer " + quoted(gradient.name) + " has " +
                                bytesText(gradient.bytes) + ", the cluster's largest message " +
                                bytesText(*catalog.largestMessage));
      const bool hasOnlyServers =
          llvm::all_of(llvm::enumerate(mergeClasses()), [&](auto mergeClass) {
            return !(layers()[k].mergeClasses >> mergeClass.index() & 1) ||
                   mergeClass.value().capacity != problem::unlimited;
          });
      captive += hasOnlyServers ? gradient.bytes : 0;
    }
    if (isTight && captive > *catalog.serverMemory)
      return Status::badInput("servers hold " + bytesText(*catalog.serverMemory) +
                              ", gradients that must go through them are " + bytesText(captive));
    return Status::ok();
  }

  cluster::DeviceAttr device;
  const cost::SchemeCatalog &catalog;
  Instance instance;
  std::vector<std::optional<Scheme>> requested;     ///< by gradient, like the next two lists
  std::vector<std::optional<TimedFactors>> factors; ///< also where they are not offered
  std::vector<std::optional<std::size_t>> carriers;
  double shardUpdates = 0;     ///< seconds of the updates that reduce-scatters take over
  std::int64_t shardBytes = 0; ///< bytes of the gradients of these updates
  bool isTight = false;        ///< whether servers cannot hold every gradient
};

} // namespace

Result<Instance> poseInstance(cost::Timeline timeline, cluster::DeviceAttr device,
                              const cost::SchemeCatalog &catalog,
                              ArrayRef<RequestedScheme> requested) {
  return Poser(std::move(timeline), device, catalog).pose(requested);
}

} // namespace syncline::merge
