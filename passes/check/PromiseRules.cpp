// Rules about what stands beside a program: that it carries out its solution, and that the problem
// speaks of its operations. P19, P20.
#include "passes/check/PlanFacts.h"

#include "ir/cluster/Cluster.h"
#include "ir/sync/Sync.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace syncline::check {

namespace {

/// Sums of the same seconds in another order, or of a share of them.
bool isBefore(double a, double b) { return a < b - 1e-9 * std::abs(b) - 1e-15; }
bool differ(double a, double b) { return isBefore(a, b) || isBefore(b, a); }

class PromiseRules {
public:
  PromiseRules(const PlanFacts &facts, sync::ProblemOp problem, sync::SolutionOp solution,
               cluster::SpecAttr spec)
      : facts(facts), problem(problem), solution(solution), spec(spec) {
    for (plan::TensorOp tensor : facts.tensors)
      if (tensor.getSpace() == plan::Space::gradients)
        gradients[tensor.getName()] = tensor;
      else if (tensor.getSpace() == plan::Space::parameters)
        parameters[tensor.getName()] = tensor;
  }

  LogicalResult check() {
    if (failed(checkCluster()) || failed(checkBuckets()))
      return failure();
    runClock();
    return failure(failed(checkEnds()) || failed(checkUpdates()) || failed(checkReady()));
  }

private:
  InFlightDiagnostic reject(Operation *at, const llvm::Twine &message, Operation *other,
                            const llvm::Twine &note) const {
    InFlightDiagnostic diagnostic = at->emitOpError(message);
    diagnostic.attachNote(other->getLoc()) << note;
    return diagnostic;
  }

  sync::MessageAttr messageOf(std::int64_t bucket) {
    return cast<sync::MessageAttr>(solution.getMessages()[bucket]);
  }

  StringRef layerName(std::int64_t layer) {
    return cast<StringAttr>(problem.getLayers()[layer]).getValue();
  }

  /// P19: ranks and servers.
  LogicalResult checkCluster() {
    plan::ProgramOp program = facts.program;
    if (!spec)
      return success();
    if (static_cast<std::int64_t>(program.getRanks()) != spec.getRanks())
      return program.emitOpError("P19: expected the cluster's ")
             << spec.getRanks() << " ranks, got " << program.getRanks();
    cluster::ServersAttr servers = spec.getServers();
    const bool isServed = llvm::any_of(
        solution.getMessages().getAsRange<sync::MessageAttr>(), [](sync::MessageAttr message) {
          return message.getScheme() == cluster::Scheme::parameterServer;
        });
    const std::int64_t expected =
        isServed && servers && servers.getDedicated() ? servers.getCount() : 0;
    if (static_cast<std::int64_t>(program.getServers().value_or(0)) != expected)
      return program.emitOpError("P19: expected ")
             << expected << " servers, got " << program.getServers().value_or(0);
    return success();
  }

  /// P19: message N is bucket N.
  LogicalResult checkBuckets() {
    const auto count = static_cast<std::int64_t>(solution.getMessages().size());
    if (static_cast<std::int64_t>(facts.buckets.size()) != count)
      return reject(facts.program,
                    "P19: expected a bucket for each of the solution's " + llvm::Twine(count) +
                        " messages, got " + llvm::Twine(facts.buckets.size()),
                    solution, "the solution");
    std::int64_t expected = 0;
    for (auto [number, bucket] : facts.buckets) {
      if (number != expected++)
        return bucket.emitOpError("P19: expected bucket ") << expected - 1 << ", got " << number;
      if (failed(checkBucket(number, bucket)))
        return failure();
    }
    return success();
  }

  LogicalResult checkBucket(std::int64_t number, plan::BucketOp bucket) {
    sync::MessageAttr message = messageOf(number);
    const StringRef scheme = cluster::stringifyScheme(message.getScheme());
    if (bucket.getScheme() != scheme)
      return reject(bucket,
                    "P19: expected scheme '" + scheme + "', got '" + bucket.getScheme() + "'",
                    solution, "as the solution says");
    if (bucket.getChannel() != 0)
      return reject(bucket, "P19: expected channel 0, got " + llvm::Twine(bucket.getChannel()),
                    solution, "whose messages go one after the other");
    const auto isTime = [](FloatAttr got, double expected) {
      return got.getValueAsDouble() == expected;
    };
    if (!isTime(bucket.getReadyAttr(), message.getReady()) ||
        !isTime(bucket.getStartAttr(), message.getStart()) ||
        !isTime(bucket.getEndAttr(), message.getEnd()))
      return reject(bucket, "P19: expected the message's times", solution, "in this solution");
    const FailureOr<llvm::SmallVector<std::int64_t>> layers = layersOf(message);
    return failure(failed(layers) || failed(checkMembers(bucket, *layers)) ||
                   failed(checkFactors(number, bucket, message)));
  }

  /// The message's layers and those that ride with it.
  FailureOr<llvm::SmallVector<std::int64_t>> layersOf(sync::MessageAttr message) {
    llvm::SmallVector<std::int64_t> layers(message.getLayers());
    const auto pairs = problem.getRiders().value_or(llvm::ArrayRef<std::int64_t>());
    const auto riding = solution.getRiders().value_or(llvm::ArrayRef<std::int64_t>());
    if (message.isSolo() && !layers.empty())
      for (std::size_t i = 0; i + 1 < pairs.size(); i += 2)
        if (pairs[i + 1] == message.getLayers().front() && llvm::is_contained(riding, pairs[i]))
          layers.push_back(pairs[i]);
    const auto count = static_cast<std::int64_t>(problem.getLayers().size());
    for (std::int64_t layer : layers)
      if (layer >= count)
        return solution.emitOpError("layer ") << layer << " is none of the problem's " << count;
    return layers;
  }

  LogicalResult checkMembers(plan::BucketOp bucket, llvm::ArrayRef<std::int64_t> layers) {
    llvm::SmallVector<StringRef> expected;
    for (std::int64_t layer : layers)
      expected.push_back(layerName(layer));
    if (!llvm::equal(bucket.getMembers().getAsValueRange<StringAttr>(), expected))
      return reject(bucket, "P19: expected members '" + llvm::join(expected, "', '") + "'",
                    solution, "as the solution says");
    for (std::int64_t layer : layers) {
      plan::TensorOp gradient = gradients.lookup(layerName(layer));
      const std::int64_t bytes = plan::denseBytes(cast<MemRefType>(gradient.getType()));
      if (bytes != problem.getBytes()[layer])
        return reject(gradient,
                      "P19: has " + llvm::Twine(bytes) + " B, where the problem has " +
                          llvm::Twine(problem.getBytes()[layer]),
                      problem, "the problem");
    }
    return success();
  }

  /// P19: a rank gives as many bytes as the problem prices.
  LogicalResult checkFactors(std::int64_t number, plan::BucketOp bucket,
                             sync::MessageAttr message) {
    if (!plan::travelsByFactors(bucket))
      return success();
    const Step &gather = facts.steps[PlanFacts::only(facts.issues, number)];
    std::int64_t bytes = 0;
    for (plan::TensorOp factor : gather.reads)
      bytes += plan::denseBytes(cast<MemRefType>(factor.getType()));
    for (sync::SoloAttr solo : problem.soloList())
      if (solo.getLayer() == message.getLayers().front() &&
          solo.getScheme() == message.getScheme() && solo.getFactorBytes().value_or(bytes) != bytes)
        return reject(gather.op,
                      "P19: gathers " + llvm::Twine(bytes) +
                          " B of each rank, where the problem has " +
                          llvm::Twine(*solo.getFactorBytes()),
                      problem, "the problem");
    return success();
  }

  /// When each operation ends by the seconds written at it; what is computed after a message stood
  /// in the backward pass of the problem, for one rank's samples.
  void runClock() {
    plan::ProgramOp program = facts.program;
    llvm::DenseSet<Operation *> gathered;
    for (auto [bucket, steps] : facts.issues)
      for (plan::TensorOp all : facts.steps[steps.front()].writes)
        gathered.insert(all);
    double clock = 0;
    for (const Step &step : facts.steps) {
      auto seconds = step.op->getAttrOfType<FloatAttr>("seconds");
      const double taken = seconds ? seconds.getValueAsDouble() : 0;
      const bool ofAllRanks =
          llvm::any_of(step.reads, [&](plan::TensorOp read) { return gathered.contains(read); });
      if (isa<plan::UpdateOp>(step.op))
        updates += taken;
      else if (step.phase == plan::Phase::update)
        moved += ofAllRanks ? taken / static_cast<double>(program.getRanks()) : taken;
      else
        clock += taken;
      if (step.phase == plan::Phase::forward)
        forward += taken;
      ends.push_back(clock);
    }
  }

  double endOf(llvm::ArrayRef<std::int64_t> steps) const {
    double last = 0;
    for (std::int64_t step : steps)
      last = std::max(last, ends[step]);
    return last;
  }

  LogicalResult judge(const llvm::Twine &what, double got, double earliest, double latest) {
    if (!isBefore(got, earliest) && !isBefore(latest, got))
      return success();
    const bool isEarly = isBefore(got, earliest);
    InFlightDiagnostic diagnostic =
        problem.emitOpError("P20: ")
        << what << " at " << got << " s, but by the program's operations not "
        << (isEarly ? "before " : "after ") << (isEarly ? earliest : latest) << " s";
    diagnostic.attachNote(plan::ProgramOp(facts.program).getLoc()) << "the program";
    return diagnostic;
  }

  /// P20: the ends of forward and backward.
  LogicalResult checkEnds() {
    const double backward = ends.empty() ? 0 : ends.back();
    const double claimed = problem.getForwardEnd().convertToDouble();
    if (differ(claimed, forward))
      return judge("the forward pass ends", claimed, forward, forward);
    return judge("the backward pass ends", problem.getBackwardEnd().convertToDouble(), backward,
                 backward + moved);
  }

  /// P20: all updates; those that reduce-scatters take over are in their messages.
  LogicalResult checkUpdates() {
    const double claimed = problem.getUpdates().convertToDouble();
    if (!differ(claimed, updates))
      return success();
    InFlightDiagnostic diagnostic = problem.emitOpError("P20: the updates take ")
                                    << claimed << " s, but by the program's operations " << updates
                                    << " s";
    diagnostic.attachNote(plan::ProgramOp(facts.program).getLoc()) << "the program";
    return diagnostic;
  }

  /// P20: every gradient's ready time.
  LogicalResult checkReady() {
    const double backwardEnd = problem.getBackwardEnd().convertToDouble();
    for (auto [number, bucket] : facts.buckets)
      for (std::int64_t layer : messageOf(number).getLayers()) {
        const StringRef name = layerName(layer);
        double earliest = 0, latest = backwardEnd;
        if (plan::travelsByFactors(bucket)) {
          for (plan::TensorOp factor : facts.steps[PlanFacts::only(facts.issues, number)].reads)
            earliest = std::max(earliest, endOf(facts.writers.lookup(factor)));
        } else {
          earliest = endOf(facts.writers.lookup(gradients.lookup(name)));
          latest = earliest + moved;
        }
        if (plan::updatesItself(bucket)) {
          earliest = std::max(earliest, endOf(facts.readers.lookup(parameters.lookup(name))));
          latest = backwardEnd; // a copy of the parameter may have readers of its own
        }
        if (failed(judge("gradient '" + name + "' is ready", problem.getReady().getValues()[layer],
                         earliest, latest)))
          return failure();
      }
    return success();
  }

  const PlanFacts &facts;
  sync::ProblemOp problem;
  sync::SolutionOp solution;
  cluster::SpecAttr spec; ///< null where there is none
  llvm::StringMap<plan::TensorOp> gradients, parameters;
  std::vector<double> ends;      ///< by step, seconds from the first one's beginning
  double forward = 0, moved = 0; ///< seconds of the forward pass, and of what follows messages
  double updates = 0;            ///< seconds
};

} // namespace

LogicalResult checkPromises(const PlanFacts &facts, ModuleOp module) {
  const auto problems = module.getOps<sync::ProblemOp>();
  const auto solutions = module.getOps<sync::SolutionOp>();
  if (problems.empty() && solutions.empty())
    return success();
  plan::ProgramOp program = facts.program;
  if (!llvm::hasSingleElement(problems) || !llvm::hasSingleElement(solutions))
    return program.emitOpError("P19: expected one problem and one solution beside it");
  sync::SolutionOp solution = *solutions.begin();
  sync::ProblemOp problem = *problems.begin();
  if (solution.getProblem() != problem.getSymName())
    return solution.emitOpError("P19: expected a solution of '")
           << problem.getSymName() << "', got one of '" << solution.getProblem() << "'";
  auto spec = module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  return PromiseRules(facts, problem, solution, spec).check();
}

} // namespace syncline::check
