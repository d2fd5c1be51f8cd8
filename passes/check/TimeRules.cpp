// Rule P20: the problem beside a program has the times of the program's operations.
#include "passes/check/PlanFacts.h"

#include "passes/check/SameCost.h"
#include "passes/check/SampleTime.h"
#include "passes/cost/WorkOf.h"
#include "passes/problem/Problem.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace syncline::check {

namespace {

/// Whether a is less than b by more than rounding. A NaN is neither before nor after a time.
bool isBefore(double a, double b) { return a < b && differ(a, b); }
bool isWithin(double time, double earliest, double latest) {
  return std::isfinite(time) && !isBefore(time, earliest) && !isBefore(latest, time);
}

class TimeRules {
public:
  TimeRules(const PlanFacts &facts, sync::ProblemOp problem, sync::SolutionOp solution)
      : facts(facts), problem(problem), solution(solution) {
    for (plan::TensorOp tensor : facts.tensors)
      if (tensor.getSpace() == plan::Space::gradients)
        gradients[tensor.getName()] = tensor;
      else if (tensor.getSpace() == plan::Space::parameters)
        parameters[tensor.getName()] = tensor;
  }

  LogicalResult check() {
    runClock();
    return failure(failed(checkEnds()) || failed(checkUpdates()) || failed(checkReady()) ||
                   failed(checkTails()) || failed(checkReconstruction()) ||
                   failed(checkMemoryBound()));
  }

private:
  /// Computes when each operation ends, from the seconds written at it. The problem counts
  /// computation after a message as part of the backward pass, for one rank's samples.
  void runClock() {
    plan::ProgramOp program = facts.program;
    llvm::DenseMap<Operation *, std::int64_t> gathered; // the bucket of each gathered tensor
    for (const auto &[bucket, steps] : facts.issues)
      for (plan::TensorOp all : facts.steps[steps.front()].writes)
        gathered[all] = bucket;
    double clock = 0;
    for (auto [number, step] : llvm::enumerate(facts.steps)) {
      const double taken = plan::secondsOf(step.op);
      const auto sources = unshaped(static_cast<std::int64_t>(number));
      const auto all =
          llvm::find_if(sources, [&](plan::TensorOp read) { return gathered.contains(read); });
      if (isa<plan::UpdateOp>(step.op))
        updates += taken;
      else if (step.phase == plan::Phase::update && all == sources.end())
        moved += taken;
      else if (step.phase == plan::Phase::update) {
        const double own =
            taken / timesOfOne(step.op, static_cast<std::int64_t>(program.getRanks()));
        moved += own;
        reconstruction[gathered.lookup(*all)] += taken - own;
      } else {
        if (cost::workOf(step.op) == problem::WorkClass::memory)
          problem::appendSpan(memoryBound, {clock, clock + taken});
        clock += taken;
      }
      if (step.phase == plan::Phase::forward)
        forward += taken;
      ends.push_back(clock);
    }
  }

  static bool isKernel(Operation *op, plan::Kernel kernel) {
    auto call = dyn_cast<plan::CallOp>(op);
    return call && call.getCallee() == kernel;
  }

  /// The tensors that a step reads, looking through reshapes.
  llvm::SmallVector<plan::TensorOp> unshaped(std::int64_t step) const {
    llvm::SmallVector<plan::TensorOp> sources;
    for (plan::TensorOp read : facts.steps[step].reads)
      sources.push_back(facts.sourceOf(facts.readBy(step, read)).tensor);
    return sources;
  }

  double endOf(llvm::ArrayRef<std::int64_t> steps) const {
    double last = 0;
    for (std::int64_t step : steps)
      last = std::max(last, ends[step]);
    return last;
  }

  /// The steps that compute a gradient, without the one that adds rows to the sum over ranks (P35).
  llvm::SmallVector<std::int64_t, 4> writersOf(StringRef gradient) const {
    llvm::SmallVector<std::int64_t, 4> steps = facts.writers.lookup(gradients.lookup(gradient));
    if (const RowsPart *rows = facts.rowsOf(gradient))
      llvm::erase(steps, rows->sum);
    return steps;
  }

  LogicalResult reject(InFlightDiagnostic diagnostic) const {
    diagnostic.attachNote(plan::ProgramOp(facts.program).getLoc()) << "the program";
    return diagnostic;
  }

  LogicalResult judge(const llvm::Twine &what, double got, double earliest, double latest) {
    if (isWithin(got, earliest, latest))
      return success();
    const bool isEarly = isBefore(got, earliest);
    InFlightDiagnostic diagnostic =
        problem.emitOpError("P20: ")
        << what << " " << got << " s, but by the program's operations not "
        << (isEarly ? "before " : "after ") << (isEarly ? earliest : latest) << " s";
    return reject(std::move(diagnostic));
  }

  /// Rule P20: the ends of forward and backward.
  LogicalResult checkEnds() {
    const double backward = ends.empty() ? 0 : ends.back();
    const double claimed = problem.getForwardEnd().convertToDouble();
    if (!isWithin(claimed, forward, forward))
      return judge("the forward pass ends at", claimed, forward, forward);
    return judge("the backward pass ends at", problem.getBackwardEnd().convertToDouble(), backward,
                 backward + moved);
  }

  /// Rule P20: the seconds of all updates, without those that reduce-scatters take over.
  LogicalResult checkUpdates() {
    const double claimed = problem.getUpdates().convertToDouble();
    if (!differ(claimed, updates))
      return success();
    InFlightDiagnostic diagnostic = problem.emitOpError("P20: the updates take ")
                                    << claimed << " s, but by the program's operations " << updates
                                    << " s";
    return reject(std::move(diagnostic));
  }

  /// Rule P20: every gradient's ready time.
  LogicalResult checkReady() {
    const double backwardEnd = problem.getBackwardEnd().convertToDouble();
    for (auto [number, bucket] : facts.buckets)
      for (std::int64_t layer : messageOf(solution, number).getLayers()) {
        const StringRef name = layerName(problem, layer);
        double earliest = 0, latest = backwardEnd;
        if (plan::travelsByFactors(bucket)) {
          for (plan::TensorOp factor : facts.steps[PlanFacts::only(facts.issues, number)].reads)
            earliest = std::max(earliest, endOf(facts.writers.lookup(factor)));
        } else {
          earliest = endOf(writersOf(name));
          latest = earliest + moved;
        }
        if (plan::updatesItself(bucket)) {
          earliest = std::max(earliest, endOf(facts.readers.lookup(parameters.lookup(name))));
          latest = backwardEnd; // copies of the parameter may have readers too
        }
        if (failed(judge("gradient '" + name + "' is ready at",
                         problem.getReady().getValues()[layer], earliest, latest)))
          return failure();
      }
    return success();
  }

  /// Rule P20: the computation from the first operation that reads a parameter to the end of the
  /// forward pass, with some of the updates. It is the whole pass where that has no such operation.
  LogicalResult checkTails() {
    if (!problem.getTails())
      return success();
    for (auto [name, tail] : llvm::zip(problem.getLayers().getAsValueRange<StringAttr>(),
                                       problem.getTails()->getValues())) {
      double start = forward;
      for (std::int64_t step : facts.readers.lookup(parameters.lookup(name)))
        start = std::min(start, ends[step] - plan::secondsOf(facts.steps[step].op));
      const double least = forward - (start < forward ? start : 0);
      if (failed(judge("the tail of gradient '" + name + "' is", tail, least, least + updates)))
        return failure();
    }
    double own = 0;
    for (double update : problem.getOwnUpdates()->getValues())
      own += update;
    return isWithin(own, updates, updates)
               ? success()
               : judge("the layers' own updates take", own, updates, updates);
  }

  /// Rule P20: when operations that live on the memory's bandwidth run. Computation that moved
  /// behind messages leaves only how long.
  LogicalResult checkMemoryBound() {
    if (!problem.getMemoryBound())
      return success();
    const auto claimed = problem.getMemoryBound()->getValues();
    double got = 0, least = 0;
    bool isSame = claimed.size() == 2 * memoryBound.size();
    for (std::size_t i = 0; i < claimed.size() / 2; ++i) {
      got += claimed[2 * i + 1] - claimed[2 * i];
      isSame = isSame && !differ(claimed[2 * i], memoryBound[i].begin) &&
               !differ(claimed[2 * i + 1], memoryBound[i].end);
    }
    for (const problem::WorkSpan &span : memoryBound)
      least += span.end - span.begin;
    if (moved > 0 || isSame)
      return judge("memory-bound operations take", got, least, least + moved);
    return reject(problem.emitOpError("P20: expected the program's ")
                  << memoryBound.size() << " spans of memory-bound operations, got "
                  << claimed.size() / 2 << ", or at other times");
  }

  /// Rule P20: reconstruction takes the other ranks' shares of a product; the rank's own share is
  /// part of the backward pass.
  LogicalResult checkReconstruction() {
    const auto ranks = static_cast<double>(plan::ProgramOp(facts.program).getRanks());
    for (auto [number, bucket] : facts.buckets) {
      if (!plan::travelsByFactors(bucket))
        continue;
      sync::MessageAttr message = messageOf(solution, number);
      const double least = reconstruction.lookup(number);
      for (sync::FactorOptionAttr factorOption : problem.factorOptionList())
        if (factorOption.getLayer() == message.getLayers().front() &&
            factorOption.getScheme() == message.getScheme() &&
            !isWithin(factorOption.getReconstruct(), least, least + (ranks - 1) * sumsOf(number)))
          return reject(problem.emitOpError("P20: gradient '")
                        << layerName(problem, factorOption.getLayer()) << "' is reconstructed in "
                        << double(factorOption.getReconstruct())
                        << " s, but by the program's operations in " << least << " s");
    }
    return success();
  }

  /// Seconds of sums of a bucket's factors over this rank's samples alone: gradients that could be
  /// its piggybacks, but travel in other messages.
  double sumsOf(std::int64_t bucket) const {
    llvm::DenseSet<Operation *> factors;
    for (plan::TensorOp factor : unshaped(PlanFacts::only(facts.issues, bucket)))
      factors.insert(factor);
    double seconds = 0;
    for (auto [number, step] : llvm::enumerate(facts.steps))
      if (isKernel(step.op, plan::Kernel::reduce) && !step.reads.empty() &&
          factors.contains(unshaped(static_cast<std::int64_t>(number)).front()))
        seconds += plan::secondsOf(step.op);
    return seconds;
  }

  const PlanFacts &facts;
  sync::ProblemOp problem;
  sync::SolutionOp solution;
  llvm::StringMap<plan::TensorOp> gradients, parameters;
  std::vector<double> ends;      ///< end of each step in seconds from the first one's beginning
  double forward = 0, moved = 0; ///< seconds of the forward pass; seconds of computation
                                 ///< after messages
  double updates = 0;            ///< seconds of all updates
  std::vector<problem::WorkSpan> memoryBound;
  llvm::DenseMap<std::int64_t, double>
      reconstruction; ///< seconds of other ranks' shares, by bucket
};

} // namespace

LogicalResult checkTimes(const PlanFacts &facts, sync::ProblemOp problem,
                         sync::SolutionOp solution) {
  return TimeRules(facts, problem, solution).check();
}

} // namespace syncline::check
