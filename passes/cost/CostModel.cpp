// Shares measured times out among operations and predicts the rest.
#include "passes/cost/CostModel.h"

#include "ir/Refusal.h"
#include "ir/nn/NN.h"
#include "ir/plan/Plan.h"
#include "passes/cost/StepKernels.h"

#include "mlir/IR/Builders.h"

#include <algorithm>
#include <map>

using namespace mlir;

namespace syncline::cost {

std::optional<double> roofline(const Counts &counts, cluster::DeviceAttr device) {
  if ((counts.flops > 0 && !device.getCompute()) || (counts.bytes > 0 && !device.getMemory()))
    return std::nullopt;
  const double computing = counts.flops > 0 ? counts.flops / *device.getCompute() : 0;
  const double moving = counts.bytes > 0 ? counts.bytes / *device.getMemory() : 0;
  return std::max(computing, moving) + device.getLaunchOverhead();
}

DeviceNumbers numbersOf(cluster::KernelsAttr kernels) {
  DeviceNumbers numbers;
  for (const auto &[name, field] : deviceNumbers)
    if (auto number = kernels.getNumbers().getAs<FloatAttr>(name))
      numbers.*field = number.getValueAsDouble();
  return numbers;
}

Precision precisionOf(ModuleOp module) { return *parsePrecision(nn::precisionOf(module)); }

double updateSeconds(double elements, double bytes, cluster::DeviceAttr device,
                     std::optional<double> rate, OptimizerKind kind, Precision precision) {
  const Counts counts = updateCounts(elements, bytes, kind);
  if (!rate && device && device.getKernels()) {
    const DeviceNumbers numbers = numbersOf(device.getKernels());
    const KernelStyle style = KernelStyle::of(device.getKernels().getLike(), precision);
    return kernelSeconds(updateKernel(elements, bytes, kind, style), precision, numbers);
  }
  if (!rate)
    return roofline(counts, device).value_or(0);
  return *rate * bytes * (counts.bytes / updateCounts(elements, bytes, OptimizerKind::sgd).bytes);
}

namespace {

/// The balance of the device that weighs operations where rates are unknown; it lies between those
/// of the machines that most profiles come from.
constexpr double nominalFlopsPerByte = 10;

struct TimedOp {
  Operation *op;
  Counts counts;
  std::optional<double> predicted;

  /// The operation's share of a measured time is in proportion to this.
  double weight() const {
    return predicted.value_or(std::max(counts.flops / nominalFlopsPerByte, counts.bytes));
  }
};

/// The measured seconds of an operation's layer in its phase; nothing where there are none.
std::optional<double> measured(DictionaryAttr profile, StringRef layer, bool backward) {
  if (!profile || layer.empty())
    return std::nullopt;
  auto times = profile.getAs<cluster::TimesAttr>(layer);
  if (!times)
    return std::nullopt;
  if (!backward)
    return static_cast<double>(times.getForward());
  return times.getBackward() ? std::optional<double>(*times.getBackward()) : std::nullopt;
}

class Annotator {
public:
  Annotator(nn::StepOp step, cluster::DeviceAttr device, DictionaryAttr profile, double slowdown,
            std::optional<double> updateRate)
      : step(step), device(device), profile(profile), slowdown(slowdown),
        precision(precisionOf(step->getParentOfType<ModuleOp>())) {
    if (updateRate)
      this->updateRate = *updateRate * slowdown;
  }

  LogicalResult run() {
    if (device && device.getKernels() && failed(readKernels()))
      return failure();
    for (Operation &op : step.getBody().front())
      if (const std::optional<Counts> counts = countsOf(&op))
        add(&op, *counts);
    if (profile && !profile.empty() && groups.empty())
      return refuse(step.getLoc())
             << "expected a profile of this step's layers, got one that names none of them (it "
                "starts with '"
             << profile.begin()->getName().getValue() << "')";
    for (const auto &[key, group] : groups)
      share(group);
    issueFactor = kernelNumbers ? cost::issueFactor(busy, launches, *kernelNumbers) : 1;
    return success(llvm::all_of(unmeasured, [&](const TimedOp &timed) { return predict(timed); }));
  }

private:
  struct Group {
    double seconds = 0;
    SmallVector<TimedOp> members;
  };

  void add(Operation *op, const Counts &counts) {
    const TimedOp timed{op, counts, kernelNumbers ? byKernels(op) : roofline(counts, device)};
    const StringRef layer = nn::layerOf(op);
    const bool backward = op->hasAttr(nn::backwardAttr);
    const auto seconds = isa<nn::UpdateOp>(op) ? std::nullopt : measured(profile, layer, backward);
    if (!seconds) {
      unmeasured.push_back(timed);
      return;
    }
    Group &group = groups[{layer, backward}];
    group.seconds = *seconds * slowdown;
    group.members.push_back(timed);
  }

  void share(const Group &group) {
    double total = 0;
    for (const TimedOp &timed : group.members)
      total += timed.weight();
    const double equal = 1.0 / static_cast<double>(group.members.size());
    for (const TimedOp &timed : group.members)
      set(timed.op, group.seconds * (total > 0 ? timed.weight() / total : equal));
  }

  bool predict(const TimedOp &timed) {
    if (auto update = dyn_cast<nn::UpdateOp>(timed.op)) {
      auto type = cast<ShapedType>(update.getParameter().getType());
      set(update, updateSeconds(static_cast<double>(type.getNumElements()),
                                static_cast<double>(plan::denseBytes(type)), device, updateRate,
                                nn::optimizerOf(step), precision));
      return true;
    }
    if (!timed.predicted) {
      refuseOp(timed.op) << "expected a profile with the layer '" << nn::layerOf(timed.op)
                         << "' or a device with compute and memory rates, got neither";
      return false;
    }
    set(timed.op, *timed.predicted * issueFactor);
    return true;
  }

  /// Reads the device's numbers, which must have what the step's precision needs.
  LogicalResult readKernels() {
    const StringRef name = nn::precisionOf(step->getParentOfType<ModuleOp>());
    kernelNumbers = numbersOf(device.getKernels());
    style = KernelStyle::of(device.getKernels().getLike(), precision);
    if (kernelNumbers->peak(precision) > 0 && kernelNumbers->bandwidth > 0)
      return success();
    return refuse(step.getLoc()) << "expected a device with a bandwidth and a peak in " << name
                                 << " among the numbers of its kernels, got none";
  }

  /// Seconds of the kernels of `op`. Updates are predicted later, and issued after all others.
  double byKernels(Operation *op) {
    double seconds = 0;
    for (const Kernel &kernel : kernelsOf(op, style)) {
      seconds += kernelSeconds(kernel, precision, *kernelNumbers);
      launches += kernel.launches;
    }
    busy += seconds;
    return seconds;
  }

  void set(Operation *op, double seconds) {
    op->setAttr(nn::secondsAttr, Builder(op->getContext()).getF64FloatAttr(seconds));
  }

  nn::StepOp step;
  cluster::DeviceAttr device;
  DictionaryAttr profile;
  double slowdown;
  Precision precision;
  std::optional<double> updateRate; ///< seconds a byte, on the slowest node
  std::optional<DeviceNumbers> kernelNumbers;
  KernelStyle style;
  double busy = 0, launches = 0; ///< of all kernels but those of updates
  double issueFactor = 1;
  std::map<std::pair<StringRef, bool>, Group> groups;
  SmallVector<TimedOp> unmeasured;
};

} // namespace

LogicalResult annotate(nn::StepOp step, cluster::DeviceAttr device, DictionaryAttr profile,
                       double slowdown, std::optional<double> updateRate) {
  return Annotator(step, device, profile, slowdown, updateRate).run();
}

} // namespace syncline::cost
