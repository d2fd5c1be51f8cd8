// Rule P19: a program carries out the solution that stands beside it. P20 follows.
#include "passes/check/PlanFacts.h"

#include "ir/cluster/Cluster.h"
#include "ir/sync/Sync.h"
#include "syncline/RowsPart.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace syncline::check {

namespace {

class SolutionRules {
public:
  SolutionRules(const PlanFacts &facts, sync::ProblemOp problem, sync::SolutionOp solution,
                cluster::SpecAttr spec)
      : facts(facts), problem(problem), solution(solution), spec(spec) {
    for (plan::TensorOp tensor : facts.tensors)
      if (tensor.getSpace() == plan::Space::gradients)
        gradients[tensor.getName()] = tensor;
  }

  LogicalResult check() {
    return failure(failed(checkCluster()) || failed(checkBuckets()) || failed(checkHalves()));
  }

private:
  InFlightDiagnostic reject(Operation *at, const llvm::Twine &message, Operation *other,
                            const llvm::Twine &note) const {
    InFlightDiagnostic diagnostic = at->emitOpError(message);
    diagnostic.attachNote(other->getLoc()) << note;
    return diagnostic;
  }

  /// Rule P19: the ranks and the servers.
  LogicalResult checkCluster() {
    plan::ProgramOp program = facts.program;
    if (!spec)
      return success();
    if (static_cast<std::int64_t>(program.getRanks()) != spec.getRanks())
      return program.emitOpError("P19: expected the cluster's ")
             << spec.getRanks() << " ranks, got " << program.getRanks();
    if (program.getConsistency())
      return success(); // P31 judges its servers
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

  /// Rule P19: message N is bucket N.
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
    sync::MessageAttr message = messageOf(solution, number);
    if (bucket.getScheme() != message.getScheme())
      return reject(bucket,
                    "P19: expected scheme '" + llvm::Twine(schemeName(message.getScheme())) +
                        "', got '" + schemeName(bucket.getScheme()) + "'",
                    solution, "as the solution says");
    if (static_cast<std::int64_t>(bucket.getChannel()) != message.getChannel())
      return reject(bucket,
                    "P19: expected channel " + llvm::Twine(message.getChannel()) + ", got " +
                        llvm::Twine(bucket.getChannel()),
                    solution, "as the solution says");
    const FailureOr<llvm::SmallVector<std::int64_t>> layers = layersOf(message);
    return failure(failed(layers) || failed(checkMembers(bucket, *layers)) ||
                   failed(checkCut(bucket, message)) ||
                   failed(checkGathered(number, bucket, message)));
  }

  /// Rule P19: the bucket begins and ends inside its gradients where the message does.
  LogicalResult checkCut(plan::BucketOp bucket, sync::MessageAttr message) {
    if (message.isFactors() || message.getLayers().empty())
      return success();
    plan::TensorOp first = gradients.lookup(layerName(problem, message.getLayers().front())),
                   last = gradients.lookup(layerName(problem, message.getLayers().back()));
    const std::int64_t before = bucket.getOffset() - first.getOffset(),
                       behind = std::max<std::int64_t>(end(last) - end(bucket), 0),
                       padding =
                           last.getReserve() - plan::denseBytes(cast<MemRefType>(last.getType()));
    if (before == message.cutBefore() &&
        std::max<std::int64_t>(behind - padding, 0) == message.cutBehind())
      return success();
    return reject(bucket,
                  "P19: expected a bucket that leaves out " + llvm::Twine(message.cutBefore()) +
                      " B before it and " + llvm::Twine(message.cutBehind()) + " B behind it",
                  solution, "as the solution says");
  }

  /// Rule P19: on each channel, all-gathers stand among its messages where the solution's places
  /// have them.
  LogicalResult checkHalves() {
    using Half = std::pair<std::int64_t, bool>; // message, and whether it is the second half
    const auto messages = solution.getMessages().getAsRange<sync::MessageAttr>();
    std::map<std::int64_t, std::int64_t> secondAt; // messages by the place of their all-gather
    for (auto [number, message] : llvm::enumerate(messages))
      if (sync::GatherAttr gather = message.getGather())
        secondAt[gather.getPlace()] = static_cast<std::int64_t>(number);
    std::map<std::int64_t, llvm::SmallVector<Half>> expected; // by channel
    std::int64_t place = 0;
    for (auto [number, message] : llvm::enumerate(messages)) {
      for (auto second = secondAt.find(place); second != secondAt.end();
           second = secondAt.find(++place))
        expected[messageOf(solution, second->second).getChannel()].push_back(
            {second->second, true});
      expected[message.getChannel()].push_back({static_cast<std::int64_t>(number), false});
      ++place;
    }
    for (auto second = secondAt.lower_bound(place); second != secondAt.end(); ++second)
      expected[messageOf(solution, second->second).getChannel()].push_back({second->second, true});
    std::map<std::int64_t, std::size_t> handedOver; // messages by channel
    for (const Step &step : facts.steps) {
      Half found{0, isa<plan::AllGatherOp>(step.op)};
      if (auto second = dyn_cast<plan::AllGatherOp>(step.op))
        found.first = static_cast<std::int64_t>(second.getBucket());
      else if (auto issue = dyn_cast<plan::IssueOp>(step.op))
        found.first = static_cast<std::int64_t>(issue.getBucket());
      else if (auto gather = dyn_cast<plan::GatherOp>(step.op))
        found.first = static_cast<std::int64_t>(gather.getBucket());
      else
        continue;
      plan::BucketOp bucket = facts.buckets.at(found.first);
      const bool isHalved = bool(messageOf(solution, found.first).getGather());
      if (isHalved != bucket.getHalved())
        return reject(bucket,
                      "P19: expected a bucket " +
                          llvm::Twine(isHalved ? "in halves" : "that is one message"),
                      solution, "as the solution says");
      const auto channel = static_cast<std::int64_t>(bucket.getChannel());
      const Half wanted = expected[channel][handedOver[channel]++];
      if (wanted != found)
        return reject(step.op,
                      "P19: expected " +
                          llvm::Twine(wanted.second ? "the all-gather of" : "the issue of") +
                          " bucket " + llvm::Twine(wanted.first) + " here",
                      solution, "as the solution says");
    }
    return success();
  }

  /// The message's layers and their piggybacks.
  FailureOr<llvm::SmallVector<std::int64_t>> layersOf(sync::MessageAttr message) {
    llvm::SmallVector<std::int64_t> layers(message.getLayers());
    const auto pairs = problem.getPiggybacks().value_or(llvm::ArrayRef<std::int64_t>());
    const auto piggybacked = solution.getPiggybacks().value_or(llvm::ArrayRef<std::int64_t>());
    if (message.isFactors() && !layers.empty())
      for (std::size_t i = 0; i + 1 < pairs.size(); i += 2)
        if (pairs[i + 1] == message.getLayers().front() &&
            llvm::is_contained(piggybacked, pairs[i]))
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
      expected.push_back(layerName(problem, layer));
    if (!llvm::equal(bucket.getMembers().getAsValueRange<StringAttr>(), expected))
      return reject(bucket, "P19: expected members '" + llvm::join(expected, "', '") + "'",
                    solution, "as the solution says");
    for (std::int64_t layer : layers) {
      const bool isRows = isRowsPart(layerName(problem, layer));
      plan::TensorOp gradient = gradients.lookup(parameterOf(layerName(problem, layer)));
      const std::int64_t bytes = isRows ? static_cast<std::int64_t>(bucket.getBytes())
                                        : plan::denseBytes(cast<MemRefType>(gradient.getType()));
      if (bytes != problem.getBytes()[layer])
        return reject(gradient,
                      "P19: has " + llvm::Twine(bytes) + " B, where the problem has " +
                          llvm::Twine(problem.getBytes()[layer]),
                      problem, "the problem");
    }
    return success();
  }

  /// Rule P19: a rank gathers as many bytes as the problem says. P23 judges the factors themselves,
  /// but only where a cluster is known.
  LogicalResult checkGathered(std::int64_t number, plan::BucketOp bucket,
                              sync::MessageAttr message) {
    if (!plan::travelsByFactors(bucket))
      return success();
    const Step &gather = facts.steps[PlanFacts::only(facts.issues, number)];
    std::int64_t bytes = 0;
    for (plan::TensorOp factor : gather.reads)
      bytes += plan::denseBytes(cast<MemRefType>(factor.getType()));
    for (sync::FactorOptionAttr factorOption : problem.factorOptionList())
      if (factorOption.getLayer() == message.getLayers().front() &&
          factorOption.getScheme() == message.getScheme() &&
          factorOption.getFactorBytes().value_or(bytes) != bytes)
        return reject(gather.op,
                      "P19: gathers " + llvm::Twine(bytes) +
                          " B of each rank, where the problem has " +
                          llvm::Twine(*factorOption.getFactorBytes()),
                      problem, "the problem");
    return success();
  }

  const PlanFacts &facts;
  sync::ProblemOp problem;
  sync::SolutionOp solution;
  cluster::SpecAttr spec; ///< null where the module has no cluster
  llvm::StringMap<plan::TensorOp> gradients;
};

} // namespace

LogicalResult checkAgainstSolution(const PlanFacts &facts, ModuleOp module) {
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
  return failure(failed(SolutionRules(facts, problem, solution, spec).check()) ||
                 failed(checkTimes(facts, problem, solution)));
}

} // namespace syncline::check
