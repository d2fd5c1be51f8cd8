// Reads layers off the timeline of a step.
#include "frontend/driver/StepTrace.h"

#include "frontend/ir/TraceModule.h"
#include "ir/FirstOf.h"
#include "ir/cluster/Cluster.h"
#include "ir/nn/NN.h"
#include "ir/sync/TraceSamples.h"
#include "passes/cost/Timeline.h"
#include "passes/merge/Factors.h"
#include "passes/merge/TimedFactors.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <algorithm>

using namespace mlir;

namespace syncline::driver {
namespace {

/// Whether the forward pass computes with the value, as with a layer's input.
bool isReadForward(Value value) {
  return llvm::any_of(merge::withoutReshapes(value).getUsers(), [](Operation *reader) {
    return !reader->hasAttr(nn::backwardAttr) && !isa<nn::UpdateOp>(reader);
  });
}

/// Inputs, outputs and samples of the product that the gradient is, where it is one.
std::optional<files::FactorShape> factorShape(sync::GradientOp gradient) {
  std::optional<merge::FactorPair> pair = merge::factorsOf(gradient);
  if (!pair || !isa<nn::MatmulOp>(pair->product))
    return std::nullopt;
  const bool isInputLeft = isReadForward(pair->left) || !isReadForward(pair->right);
  const auto leftType = cast<ShapedType>(pair->left.getType()),
             rightType = cast<ShapedType>(pair->right.getType());
  const std::int64_t m = leftType.getDimSize(1), n = rightType.getDimSize(1);
  return files::FactorShape{isInputLeft ? m : n, isInputLeft ? n : m, leftType.getDimSize(0)};
}

/// The first operation of the forward pass that takes time and reads the value or a reshape of it;
/// null where there is none.
Operation *firstReader(Value value) {
  Operation *first = nullptr;
  for (Operation *user : value.getUsers()) {
    if (user->hasAttr(nn::backwardAttr) || isa<nn::UpdateOp>(user))
      continue;
    Operation *reader = isa<nn::ReshapeOp>(user)         ? firstReader(user->getResult(0))
                        : user->hasAttr(nn::secondsAttr) ? user
                                                         : nullptr;
    if (reader && (!first || reader->isBeforeInBlock(first)))
      first = reader;
  }
  return first;
}

class StepLayers {
public:
  StepLayers(nn::StepOp step, double slowdown) : step(step), slowdown(slowdown) {}

  files::LayerTrace trace() {
    collectGradients();
    for (Operation &op : step.getBody().front())
      addBackward(op);
    joinRuns();
    std::ranges::reverse(layers);
    addForward();
    nameReaders();
    files::LayerTrace trace{.layers = {}, .isOfStep = true};
    for (Layer &layer : layers)
      trace.layers.push_back(std::move(layer.timed));
    return trace;
  }

private:
  struct Layer {
    files::TraceLayer timed;
    bool isParameter = false;
  };

  /// Seconds of an operation of the forward or backward pass; nothing for one that takes no time.
  std::optional<double> secondsOf(Operation &op) const {
    auto seconds = op.getAttrOfType<FloatAttr>(nn::secondsAttr);
    if (!seconds || isa<nn::UpdateOp>(op))
      return std::nullopt;
    return seconds.getValueAsDouble() / slowdown;
  }

  static std::string nodeOf(Operation &op) {
    const StringRef layer = nn::layerOf(&op);
    return layer.empty() ? op.getName().stripDialect().str() : layer.str();
  }

  /// The name of a node's layer. Parameters keep theirs, so a node of that name gets another.
  std::string unique(std::string name) const {
    while (parameterNames.contains(name))
      name += "_";
    return name;
  }

  void collectGradients() {
    auto timeline = cost::timelineOf(step);
    const auto factors = merge::timedFactors(*timeline, {});
    std::vector<files::TraceLayer> parameters;
    for (cost::ReadyGradient &gradient : timeline->gradients) {
      parameters.push_back({.name = gradient.name,
                            .bytes = gradient.bytes,
                            .factors = factorShape(gradient.local),
                            .update = gradient.updating / slowdown});
      parameterNames.insert(gradient.name);
    }
    for (std::size_t k = 0; k < factors.size(); ++k)
      if (factors[k])
        addGathered(*factors[k], parameters, k);
    for (std::size_t k = 0; k < parameters.size(); ++k)
      madeBy[timeline->gradients[k].local.getLocal().getDefiningOp()].push_back(
          std::move(parameters[k]));
  }

  /// The first layer whose factors a gradient can be computed from carries it, as in a step's plan.
  void addGathered(const merge::TimedFactors &factors, std::vector<files::TraceLayer> &parameters,
                   std::size_t k) const {
    parameters[k].gathered = {factors.scheme, factors.bytes};
    parameters[k].reconstruct = factors.reconstruct / slowdown;
    for (const merge::TimedFactors::Piggyback &piggyback : factors.piggybacks) {
      files::TraceLayer &carried = parameters[piggyback.gradient];
      if (!carried.carrier.empty())
        continue;
      carried.carrier = parameters[k].name;
      if (!carried.gathered)
        carried.reconstruct = piggyback.reconstruct / slowdown;
    }
  }

  /// Adds the operation to the run of its node, and a layer for each gradient that it makes.
  void addBackward(Operation &op) {
    const std::optional<double> seconds =
        op.hasAttr(nn::backwardAttr) ? secondsOf(op) : std::nullopt;
    auto made = madeBy.find(&op);
    double own = 0; // of the last operation before the gradients, which make them
    if (seconds && made != madeBy.end())
      own = *seconds;
    else if (seconds)
      addToRun(unique(nodeOf(op)), *seconds);
    else if (made != madeBy.end())
      own = takeLast();
    if (seconds || made != madeBy.end())
      last = seconds && made == madeBy.end() ? *seconds : 0;
    if (made == madeBy.end())
      return;
    for (files::TraceLayer &parameter : made->second) {
      parameter.backward = std::exchange(own, 0);
      layers.push_back({std::move(parameter), true});
    }
  }

  void addToRun(std::string node, double seconds) {
    if (layers.empty() || layers.back().isParameter || layers.back().timed.name != node)
      layers.push_back({{.name = std::move(node)}});
    layers.back().timed.backward += seconds;
  }

  /// Takes the last operation out of its run: the gradient is a reshape of what it makes.
  double takeLast() {
    if (last > 0 && !layers.empty() && !layers.back().isParameter)
      layers.back().timed.backward -= last;
    return last;
  }

  /// Leaves each node one run, the last, which stands before its parameters in forward order. The
  /// time of other runs goes to the layer behind them, so that no gradient is ready earlier.
  void joinRuns() {
    llvm::StringMap<std::size_t> lastRun;
    for (std::size_t i = 0; i < layers.size(); ++i)
      if (!layers[i].isParameter)
        lastRun[layers[i].timed.name] = i;
    std::vector<Layer> joined;
    double carried = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (!layers[i].isParameter && lastRun[layers[i].timed.name] != i) {
        carried += layers[i].timed.backward;
        continue;
      }
      layers[i].timed.backward += std::exchange(carried, 0);
      joined.push_back(std::move(layers[i]));
    }
    layers = std::move(joined);
  }

  /// Adds the forward pass: nodes without backward work stand behind the node before them.
  void addForward() {
    std::vector<Layer> all;
    llvm::StringMap<double> forward;
    std::vector<std::string> order;
    for (Operation &op : step.getBody().front())
      if (auto seconds = op.hasAttr(nn::backwardAttr) ? std::nullopt : secondsOf(op)) {
        const std::string node = unique(nodeOf(op));
        if (forward.try_emplace(node, 0).second)
          order.push_back(node);
        forward[node] += *seconds;
      }
    llvm::StringMap<std::vector<std::string>> behind; // nodes without backward, by the one before
    llvm::StringSet<> known;
    for (const Layer &layer : layers)
      known.insert(layer.timed.name);
    std::string before;
    for (const std::string &node : order)
      if (known.contains(node))
        before = node;
      else
        behind[before].push_back(node);
    const auto addBehind = [&](StringRef node) {
      for (const std::string &name : behind[node])
        all.push_back({{.name = name, .forward = forward[name]}});
    };
    addBehind("");
    for (Layer &layer : layers) {
      const std::string name = layer.timed.name;
      if (!layer.isParameter)
        layer.timed.forward = forward.lookup(name);
      all.push_back(std::move(layer));
      addBehind(name);
    }
    layers = std::move(all);
  }

  /// Names the node that reads each parameter first. Where none of the forward pass does, the
  /// parameter is updated before that pass.
  void nameReaders() {
    for (auto parameter : step.getOps<nn::ParameterOp>()) {
      Operation *reader = firstReader(parameter.getResult());
      readers[parameter.getName()] = reader ? unique(nodeOf(*reader)) : layers.front().timed.name;
    }
    for (Layer &layer : layers)
      if (layer.isParameter)
        layer.timed.reader = readers.lookup(layer.timed.name);
  }

  nn::StepOp step;
  const double slowdown;
  std::vector<Layer> layers; ///< in backward order at first
  double last = 0;           ///< seconds of the last operation, where it is part of a run
  llvm::StringSet<> parameterNames;
  llvm::StringMap<std::string> readers;                               ///< by parameter
  llvm::DenseMap<Operation *, std::vector<files::TraceLayer>> madeBy; ///< without their backward
};

} // namespace

files::LayerTrace traceOfStep(nn::StepOp step, double slowdown) {
  return StepLayers(step, slowdown).trace();
}

Result<files::LayerTrace> replaceStep(OwningOpRef<ModuleOp> &module, const std::string &path,
                                      const std::function<void(const std::string &)> &enter) {
  SYNCLINE_TRY(runPasses(*module, buildTimedStep, {}, enter));
  auto spec = (*module)->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  auto step = firstOf<nn::StepOp>(*module);
  files::LayerTrace trace = traceOfStep(step, cluster::slowdown(spec));
  OwningOpRef<ModuleOp> replaced = frontend::traceModule(trace, path, *module->getContext());
  sync::setSamples(firstOf<sync::TraceOp>(*replaced), static_cast<std::int64_t>(step.getBatch()));
  (*replaced)->setAttrs((*module)->getAttrDictionary());
  (*replaced)->removeAttr(nn::precisionAttr); // a trace computes nothing
  module = std::move(replaced);
  return trace;
}

} // namespace syncline::driver
