// Timelines of a step and of a trace.
#include "passes/cost/Timeline.h"

#include "ir/plan/Plan.h"
#include "ir/sync/Sync.h"
#include "passes/cost/Counts.h"
#include "passes/cost/TiedGradients.h"
#include "passes/cost/WorkOf.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

using namespace mlir;

namespace syncline::cost {

static void sortByReady(Timeline &timeline) {
  std::stable_sort(
      timeline.gradients.begin(), timeline.gradients.end(),
      [](const ReadyGradient &a, const ReadyGradient &b) { return a.ready < b.ready; });
}

/// The end of the last operation that reads the value or a reshape of it; updates do not count.
static double lastRead(Value value, const llvm::DenseMap<Operation *, double> &endOf) {
  double last = 0;
  for (Operation *reader : value.getUsers())
    if (isa<nn::ReshapeOp>(reader))
      last = std::max(last, lastRead(reader->getResult(0), endOf));
    else if (!isa<nn::UpdateOp>(reader))
      last = std::max(last, endOf.lookup(reader));
  return last;
}

/// The start of the first operation that reads the value; updates do not count.
static double firstRead(Value value, const llvm::DenseMap<Operation *, double> &startOf) {
  double first = std::numeric_limits<double>::infinity();
  for (Operation *reader : value.getUsers())
    if (!isa<nn::UpdateOp>(reader))
      first = std::min(first, startOf.lookup(reader));
  return first;
}

/// The bytes of an embedding's rows and of their numbers, which stand for its gradient.
static std::int64_t rowBytes(Operation *rows) {
  std::int64_t bytes = 0;
  for (Value operand : rows->getOperands())
    bytes += plan::denseBytes(cast<ShapedType>(operand.getType()));
  return bytes;
}

/// The rows of the gradient whose dense part is `whole`. The update counts with the dense part,
/// whose bucket carries it out.
static ReadyGradient readyRows(ReadyGradient whole, sync::GradientOp rows,
                               const llvm::DenseMap<Operation *, double> &endOf) {
  Operation *producer = rows.getLocal().getDefiningOp();
  whole.name = rows.getParameter().str();
  whole.bytes = rowBytes(producer);
  whole.ready = endOf.lookup(producer);
  whole.updating = 0;
  whole.local = rows;
  return whole;
}

static ReadyGradient readyGradient(nn::UpdateOp update, sync::GradientOp synchronised,
                                   const llvm::DenseMap<Operation *, double> &startOf,
                                   const llvm::DenseMap<Operation *, double> &endOf) {
  Operation *producer =
      synchronised ? synchronised.getLocal().getDefiningOp() : update.getGradient().getDefiningOp();
  auto parameter = update.getParameter().getDefiningOp<nn::ParameterOp>();
  return {.name = parameter ? parameter.getName().str() : std::string(),
          .bytes = plan::denseBytes(cast<ShapedType>(update.getParameter().getType())),
          .ready = endOf.lookup(producer),
          .firstRead = firstRead(update.getParameter(), startOf),
          .lastRead = lastRead(update.getParameter(), endOf),
          .updating = update->getAttrOfType<FloatAttr>(nn::secondsAttr).getValueAsDouble(),
          .update = update,
          .local = synchronised,
          .layer = {}};
}

FailureOr<Timeline> timelineOf(nn::StepOp step) {
  Timeline timeline;
  timeline.memoryBound.emplace();
  llvm::DenseMap<Operation *, double> startOf, endOf;
  double clock = 0;
  for (Operation &op : step.getBody().front()) {
    startOf[&op] = clock;
    if (!countsOf(&op)) {
      endOf[&op] = clock;
      continue;
    }
    auto seconds = op.getAttrOfType<FloatAttr>(nn::secondsAttr);
    if (!seconds)
      return op.emitOpError("expected 'nn.seconds': the pass 'cost' did not run on this step");
    if (isa<nn::UpdateOp>(op)) {
      timeline.updates += seconds.getValueAsDouble();
      continue;
    }
    const double begin = clock;
    clock += seconds.getValueAsDouble();
    if (workOf(&op) == problem::WorkClass::memory)
      problem::appendSpan(*timeline.memoryBound, {begin, clock});
    endOf[&op] = clock;
    if (!op.hasAttr(nn::backwardAttr))
      timeline.forward += seconds.getValueAsDouble();
  }
  timeline.backwardEnd = clock;
  for (auto update : step.getOps<nn::UpdateOp>()) {
    const auto parts = synchronisedBy(update);
    const ReadyGradient first =
        readyGradient(update, parts.empty() ? sync::GradientOp() : parts.front(), startOf, endOf);
    timeline.gradients.push_back(first);
    if (parts.size() > 1)
      timeline.gradients.push_back(readyRows(first, parts.back(), endOf));
  }
  sortByReady(timeline);
  return timeline;
}

std::vector<double> readingOf(const Timeline &timeline) {
  std::vector<double> reading;
  for (const ReadyGradient &gradient : timeline.gradients)
    reading.push_back(gradient.firstRead < timeline.forward ? gradient.firstRead : 0);
  return reading;
}

std::vector<double> readingOf(const Timeline &timeline, const std::vector<std::string> &names) {
  llvm::StringMap<double> byName;
  for (auto [gradient, seconds] : llvm::zip(timeline.gradients, readingOf(timeline)))
    byName[gradient.name] = seconds;
  std::vector<double> reading;
  for (const std::string &name : names)
    reading.push_back(byName.lookup(name));
  return reading;
}

std::vector<double> tailsOf(const Timeline &timeline) {
  const std::vector<ReadyGradient> &gradients = timeline.gradients;
  const std::vector<double> reading = readingOf(timeline);
  std::vector<std::size_t> lastReadFirst(gradients.size());
  std::iota(lastReadFirst.begin(), lastReadFirst.end(), std::size_t{0});
  std::ranges::stable_sort(lastReadFirst, std::greater(),
                           [&](std::size_t k) { return reading[k]; });
  std::vector<double> tails(gradients.size());
  double updates = 0;
  for (std::size_t k : lastReadFirst) {
    tails[k] = timeline.forward - reading[k] + updates;
    updates += gradients[k].updating;
  }
  return tails;
}

static double orZero(FloatAttr seconds) { return seconds ? seconds.getValueAsDouble() : 0; }

double updateOf(sync::LayerOp layer) { return orZero(layer.getUpdateAttr()); }

Timeline timelineOf(sync::TraceOp trace, double slowdown) {
  Timeline timeline;
  auto layers = llvm::to_vector(trace.getOps<sync::LayerOp>());
  llvm::StringMap<double> startOf; // in the forward pass
  for (sync::LayerOp layer : layers) {
    startOf[layer.getName()] = timeline.forward;
    timeline.forward += slowdown * layer.getForward().convertToDouble();
  }
  timeline.backwardEnd = timeline.forward;
  for (sync::LayerOp layer : llvm::reverse(layers)) {
    const double backward = slowdown * layer.getBackward().convertToDouble();
    timeline.backwardEnd += backward;
    const auto bytes = static_cast<std::int64_t>(layer.getBytes());
    const double updating = slowdown * updateOf(layer);
    timeline.updates += bytes > 0 ? updating : 0;
    if (bytes > 0)
      timeline.gradients.push_back(
          {.name = layer.getName().str(),
           .bytes = bytes,
           .ready = timeline.backwardEnd,
           .firstRead = startOf.lookup(layer.getReader().value_or(layer.getName())),
           .lastRead = timeline.backwardEnd,
           .backward = backward,
           .updating = updating,
           .reconstruct = slowdown * orZero(layer.getReconstructAttr()),
           .update = {},
           .local = {},
           .layer = layer});
  }
  return timeline;
}

} // namespace syncline::cost
