// Verifies problems, solutions and predictions (S5 to S13 and S16 of SPEC.md).
#include "ir/sync/Sync.h"

#include "ir/sync/Cases.h"
#include "syncline/PlanConstants.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallSet.h"

#include <cmath>

using namespace mlir;
using namespace syncline;
using namespace syncline::sync;

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

static bool isTime(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

LogicalResult OptionAttr::verify(EmitError emitError, cluster::Scheme scheme, Attribute cost,
                                 cluster::Real traffic, Attribute lost, Attribute products,
                                 Attribute memory) {
  if (!cluster::isCost(cost))
    return emitError() << "S7: expected the cost of '" << cluster::stringifyScheme(scheme)
                       << "' to be #cluster.formula, #cluster.affine or #cluster.table, got "
                       << cost;
  for (Attribute taken : {lost, products, memory})
    if (taken && !cluster::isCost(taken))
      return emitError() << "S7: expected what '" << cluster::stringifyScheme(scheme)
                         << "' takes from computation to be #cluster.formula, #cluster.affine or "
                            "#cluster.table, got "
                         << taken;
  if (!isTime(traffic))
    return emitError() << "S7: expected the traffic of '" << cluster::stringifyScheme(scheme)
                       << "' finite and not negative, got " << static_cast<double>(traffic);
  return success();
}

LogicalResult MergeClassAttr::verify(EmitError emitError, ArrayRef<OptionAttr> options,
                                     std::optional<int64_t> largest,
                                     std::optional<int64_t> capacity) {
  llvm::SmallSet<cluster::Scheme, 8> seen;
  for (OptionAttr option : options) {
    if (isGathered(option.getScheme()))
      return emitError() << "S8: '" << cluster::stringifyScheme(option.getScheme())
                         << "' carry one gradient: expected them among the factor options";
    if (!seen.insert(option.getScheme()).second)
      return emitError() << "S8: expected one option a scheme, got two of '"
                         << cluster::stringifyScheme(option.getScheme()) << "'";
  }
  if (largest.value_or(0) < 0 || capacity.value_or(0) < 0)
    return emitError() << "S8: expected limits that are not negative";
  return success();
}

LogicalResult FactorOptionAttr::verify(EmitError emitError, int64_t layer, cluster::Scheme,
                                       cluster::Real seconds, cluster::Real reconstruct,
                                       cluster::Real traffic, std::optional<int64_t> factorBytes,
                                       std::optional<cluster::Real> lost,
                                       std::optional<cluster::Real> products,
                                       std::optional<cluster::Real> memory) {
  const bool areTimes = llvm::all_of(std::array{lost, products, memory}, [](const auto &taken) {
    return isTime(taken.value_or(cluster::Real(0)));
  });
  if (layer < 0 || factorBytes.value_or(0) < 0 || !isTime(seconds) || !isTime(reconstruct) ||
      !isTime(traffic) || !areTimes)
    return emitError() << "S9: expected a layer, bytes and finite times that are not negative";
  return success();
}

LogicalResult MessageAttr::verify(EmitError emitError, ArrayRef<int64_t> layers, cluster::Scheme,
                                  std::optional<int64_t> mergeClass, int64_t, ArrayRef<int64_t> cut,
                                  int64_t channel, cluster::Real, cluster::Real, cluster::Real,
                                  std::optional<cluster::Real>, GatherAttr) {
  if (llvm::any_of(layers, [](int64_t layer) { return layer < 0; }) || mergeClass.value_or(0) < 0)
    return emitError() << "S10: expected layers and a merge class that are not negative";
  if (!cut.empty() && (cut.size() != 2 || cut[0] < 0 || cut[1] < 0))
    return emitError() << "S10: expected a cut of two numbers that are not negative";
  if (channel < 0 || channel >= maxChannels)
    return emitError() << "S10: expected a channel from 0 to " << maxChannels - 1 << ", got "
                       << channel;
  return success();
}

LogicalResult GatherAttr::verify(EmitError emitError, int64_t place, cluster::Real, cluster::Real) {
  if (place < 0)
    return emitError() << "S10: expected a place that is not negative, got " << place;
  return success();
}

/// S5, S6: the layers' sizes and times.
static LogicalResult verifyLayers(ProblemOp op) {
  const size_t n = op.getLayers().size();
  if (op.getBytes().size() != n || op.getReady().getValues().size() != n ||
      (op.getOnly() && op.getOnly()->size() != n))
    return op.emitOpError(
               "S5: expected one size, one ready time and, where merge classes are restricted, "
               "one set of merge classes a layer, got ")
           << op.getBytes().size() << ", " << op.getReady().getValues().size() << " and "
           << (op.getOnly() ? op.getOnly()->size() : n) << " for " << n;
  double last = 0;
  for (size_t k = 0; k < n; ++k) {
    if (op.getBytes()[k] < 0)
      return op.emitOpError("S6: expected bytes that are not negative, got ") << op.getBytes()[k];
    if (!isTime(op.getReady().getValues()[k]) || op.getReady().getValues()[k] < last)
      return op.emitOpError("S6: expected finite ascending ready times, got ")
             << static_cast<double>(op.getReady().getValues()[k]) << " after " << last;
    last = op.getReady().getValues()[k];
  }
  const double forward = op.getForwardEnd().convertToDouble(),
               backward = op.getBackwardEnd().convertToDouble(),
               updates = op.getUpdates().convertToDouble();
  if (!isTime(forward) || !isTime(updates) || !isTime(backward) || backward < last)
    return op.emitOpError("S6: expected finite times that are not negative and a backward pass "
                          "that ends with the last gradient or later, got ")
           << forward << ", " << backward << " and " << updates;
  return success();
}

/// S5, S6: the computation behind each layer's update.
static LogicalResult verifyTails(ProblemOp op) {
  if (!op.getTails() && !op.getOwnUpdates())
    return success();
  const size_t n = op.getLayers().size();
  if (!op.getTails() || !op.getOwnUpdates() || op.getTails()->getValues().size() != n ||
      op.getOwnUpdates()->getValues().size() != n)
    return op.emitOpError("S5: expected one tail and one update of its own a layer");
  const double forward = op.getForwardEnd().convertToDouble();
  for (auto times : {op.getTails()->getValues(), op.getOwnUpdates()->getValues()})
    for (double time : times)
      if (!isTime(time))
        return op.emitOpError("S6: expected finite tails and updates that are not negative, got ")
               << time;
  if (!op.getReady().getValues().empty() && op.getReady().getValues().front() < forward)
    return op.emitOpError(
               "S6: expected gradients that are ready after the forward pass, which ends "
               "at ")
           << forward << ", got " << static_cast<double>(op.getReady().getValues().front());
  return success();
}

/// S24: memory-bound operations.
static LogicalResult verifyMemoryBound(ProblemOp op) {
  if (!op.getMemoryBound())
    return success();
  const ArrayRef<cluster::Real> ends = op.getMemoryBound()->getValues();
  if (ends.size() % 2 != 0)
    return op.emitOpError("S24: expected a beginning and an end of each span, got ")
           << ends.size() << " times";
  double last = 0;
  for (double end : ends) {
    if (!isTime(end) || end < last)
      return op.emitOpError("S24: expected finite ascending times, got ")
             << end << " after " << last;
    last = end;
  }
  if (last > op.getBackwardEnd().convertToDouble())
    return op.emitOpError("S24: expected times up to the end of the backward pass, ")
           << op.getBackwardEnd().convertToDouble() << ", got " << last;
  return success();
}

/// S11: the merge classes, and which layers may use which.
static LogicalResult verifyMergeClasses(ProblemOp op) {
  const size_t mergeClasses = op.getMergeClasses().size();
  if (mergeClasses < 1 || mergeClasses > maxMergeClasses)
    return op.emitOpError("S11: expected 1 to ")
           << maxMergeClasses << " merge classes, got " << mergeClasses;
  for (int64_t mask : op.getOnly().value_or(ArrayRef<int64_t>()))
    if (mask < 0 || mask >= int64_t{1} << mergeClasses)
      return op.emitOpError("S11: expected sets of ")
             << mergeClasses << " merge classes, got " << mask;
  return success();
}

/// S12: the factor options and piggybacks.
static LogicalResult verifyFactorOptions(ProblemOp op) {
  const auto n = static_cast<int64_t>(op.getLayers().size());
  llvm::SmallSet<std::pair<int64_t, cluster::Scheme>, 16> seen;
  llvm::SmallSet<int64_t, 16> alone, piggybacked;
  for (FactorOptionAttr factorOption : op.factorOptionList()) {
    if (factorOption.getLayer() >= n)
      return op.emitOpError("S12: expected factor options of ")
             << n << " layers, got " << factorOption.getLayer();
    if (!seen.insert({factorOption.getLayer(), factorOption.getScheme()}).second)
      return op.emitOpError("S12: expected one factor option a layer and scheme, got two of layer ")
             << factorOption.getLayer() << " by '"
             << cluster::stringifyScheme(factorOption.getScheme()) << "'";
    alone.insert(factorOption.getLayer());
  }
  const ArrayRef<int64_t> piggybacks = op.getPiggybacks().value_or(ArrayRef<int64_t>());
  if (piggybacks.size() % 2 != 0)
    return op.emitOpError("S12: expected pairs of piggyback and carrier, got ")
           << piggybacks.size() << " layers";
  for (size_t i = 0; i < piggybacks.size(); i += 2)
    if (piggybacks[i] < 0 || piggybacks[i] >= n || piggybacks[i] == piggybacks[i + 1] ||
        !alone.contains(piggybacks[i + 1]) || !piggybacked.insert(piggybacks[i]).second)
      return op.emitOpError("S12: expected one carrier a piggyback, another layer that can travel "
                            "alone, got layer ")
             << piggybacks[i] << " with " << piggybacks[i + 1];
  return success();
}

/// S20: gradients that do not travel.
static LogicalResult verifyLocal(ProblemOp op) {
  if (!op.getConsistency() || (!op.getTails() && !op.getFactorOptions() && !op.getRequested()))
    return success();
  return op.emitOpError("S20: expected neither tails nor factor options nor requested schemes, "
                        "since no gradient travels");
}

SmallVector<FactorOptionAttr> ProblemOp::factorOptionList() {
  SmallVector<FactorOptionAttr> list;
  if (getFactorOptions())
    llvm::append_range(list, getFactorOptionsAttr().getAsRange<FactorOptionAttr>());
  return list;
}

LogicalResult ProblemOp::verify() {
  return failure(failed(verifyLayers(*this)) || failed(verifyTails(*this)) ||
                 failed(verifyMemoryBound(*this)) || failed(verifyMergeClasses(*this)) ||
                 failed(verifyFactorOptions(*this)) || failed(verifyLocal(*this)));
}

int64_t SolutionOp::channels() {
  int64_t last = 0;
  for (auto message : getMessages().getAsRange<MessageAttr>())
    last = std::max(last, message.getChannel());
  return last + 1;
}

LogicalResult SolutionOp::verify() {
  for (int64_t piggyback : getPiggybacks().value_or(ArrayRef<int64_t>()))
    if (piggyback < 0)
      return emitOpError("S13: expected piggybacks that are not negative, got ") << piggyback;
  std::size_t rows = 2 * maxCases - 1; // of a binary tree with so many leaves
  if (ArrayAttr cases = getCasesAttr(); cases && !isCase(cases, rows))
    return emitOpError("S18: expected 'cases' to be at most ")
           << maxCases
           << " cases, each a bound and a #sync.order, or one or two layers and two cases";
  return success();
}

double PredictionOp::exposedSeconds() {
  double seconds = 0;
  for (double waited : getExposed().getValues())
    seconds += waited;
  return seconds;
}

size_t SolutionOp::placeOfGather(size_t message) {
  size_t place = getMessages().size();
  for (Attribute before : getMessages().getValue().take_front(message))
    place += cast<MessageAttr>(before).getGather() ? 1 : 0;
  return place;
}

LogicalResult PredictionOp::verify() {
  const auto ready = getReady().getValues(), start = getStart().getValues(),
             end = getEnd().getValues(), reconstructed = getReconstructed().getValues(),
             exposed = getExposed().getValues();
  const size_t n = ready.size();
  if (start.size() != n || end.size() != n || reconstructed.size() != n || exposed.size() != n)
    return emitOpError("S16: expected as many times of each kind, got ")
           << n << ", " << start.size() << ", " << end.size() << ", " << reconstructed.size()
           << " and " << exposed.size();
  for (size_t i = 0; i < n; ++i)
    if (!isTime(ready[i]) ||
        !(ready[i] <= start[i] && start[i] <= end[i] && end[i] <= reconstructed[i]) ||
        !isTime(reconstructed[i]) || !isTime(exposed[i]))
      return emitOpError("S16: expected 0 <= ready <= start <= end <= reconstructed of message ")
             << i << ", and all finite";
  const double forward = getForwardEnd().convertToDouble(),
               backward = getBackwardEnd().convertToDouble(), step = getStep().convertToDouble();
  for (double time : {forward, backward})
    if (!isTime(time) || !(time <= step) || !isTime(step))
      return emitOpError("S16: expected finite times from 0 to the step's ")
             << step << ", got " << time;
  for (double time :
       {getCommunicationEnd().convertToDouble(), getReconstructionEnd().convertToDouble()})
    if (!isTime(time))
      return emitOpError("S16: expected finite ends of messages that are not negative, got ")
             << time;
  if (const double updates = getUpdates().convertToDouble(); !isTime(updates))
    return emitOpError("S16: expected finite updates that are not negative, got ") << updates;
  if (!(forward <= backward))
    return emitOpError("S16: expected a backward pass that ends after the forward pass, got ")
           << backward << " and " << forward;
  return success();
}
