// Rule P31: weights that travel in place of gradients.
#include "passes/check/PlanFacts.h"

#include "ir/FirstOf.h"
#include "passes/check/SameCost.h"
#include "passes/cost/SchemeCatalog.h"

using namespace mlir;

namespace syncline::check {

namespace {

class ExchangeRules {
public:
  ExchangeRules(const PlanFacts &facts, sync::ConsistencyAttr consistency)
      : facts(facts), consistency(consistency) {
    for (plan::TensorOp tensor : facts.tensors)
      if (tensor.getSpace() == plan::Space::parameters)
        parameters.push_back(tensor);
    llvm::stable_sort(parameters, [](plan::TensorOp a, plan::TensorOp b) {
      return a.getOffset() < b.getOffset();
    });
  }

  LogicalResult check(cluster::SpecAttr spec) {
    plan::ProgramOp program = facts.program;
    if (program.getOverlap() || program.getServers())
      return program.emitOpError("P31: expected neither overlap nor servers with a consistency");
    for (auto [number, bucket] : facts.buckets)
      if (plan::travelsByFactors(bucket) || plan::updatesItself(bucket))
        return bucket.emitOpError("P31: expected a bucket that stays on its rank, got one by '")
               << cluster::stringifyScheme(bucket.getScheme()) << "'";
    std::int64_t number = 0;
    for (auto exchange : program.getOps<plan::ExchangeOp>())
      if (failed(checkTimes(exchange, number++)) || failed(checkMembers(exchange)) ||
          failed(checkCost(exchange, spec)))
        return failure();
    if (number != consistency.getFragments())
      return program.emitOpError("P31: expected ")
             << consistency.getFragments() << " exchanges, got " << number;
    if (next != parameters.size())
      return parameters[next].emitOpError("P31: '")
             << parameters[next].getName() << "' travels in no exchange";
    return success();
  }

private:
  LogicalResult checkTimes(plan::ExchangeOp exchange, std::int64_t number) const {
    const std::int64_t wait = (number + 1) * consistency.window(),
                       start = wait - consistency.getDelay();
    if (static_cast<std::int64_t>(exchange.getId()) != number)
      return exchange.emitOpError("P31: expected exchange ") << number << " here";
    if (static_cast<std::int64_t>(exchange.getStart()) != start ||
        static_cast<std::int64_t>(exchange.getWait()) != wait)
      return exchange.emitOpError("P31: expected a start after ")
             << start << " and a wait after " << wait << " steps of the period";
    return success();
  }

  /// The members are the next parameters in the order of their places.
  LogicalResult checkMembers(plan::ExchangeOp exchange) {
    const auto begin = static_cast<std::int64_t>(exchange.getOffset());
    std::int64_t bytes = 0, end = begin;
    for (StringRef name : exchange.getMembers().getAsValueRange<StringAttr>()) {
      if (next == parameters.size() || parameters[next].getName() != name)
        return exchange.emitOpError("P31: expected member '")
               << (next < parameters.size() ? parameters[next].getName() : "none")
               << "' in the order of places, got '" << name << "'";
      plan::TensorOp tensor = parameters[next++];
      if (bytes == 0 && static_cast<std::int64_t>(tensor.getOffset()) != begin)
        return reject(exchange, "P31: expected to begin with its first member", tensor, "here");
      bytes += plan::denseBytes(cast<MemRefType>(tensor.getType()));
      end = check::end(tensor);
    }
    if (bytes == 0 || bytes != static_cast<std::int64_t>(exchange.getBytes()) ||
        end != begin + static_cast<std::int64_t>(exchange.getExtent()))
      return exchange.emitOpError("P31: expected the members' ")
             << bytes << " bytes, in an extent of " << end - begin;
    return success();
  }

  static LogicalResult checkCost(plan::ExchangeOp exchange, cluster::SpecAttr spec) {
    if (!spec)
      return success();
    Result<cost::SchemeCatalog> catalog = cost::catalogOf(spec);
    if (!catalog)
      return exchange.emitOpError(catalog.status().message());
    const problem::SchemeOption *option = cluster::isAllReduce(exchange.getScheme())
                                              ? catalog->option(exchange.getScheme())
                                              : nullptr;
    if (!option || catalog->byNccl)
      return exchange.emitOpError("P31: expected an all-reduce that the cluster offers, on CPUs");
    const auto extent = static_cast<std::int64_t>(exchange.getExtent());
    if (extent > catalog->largestMessage.value_or(extent))
      return exchange.emitOpError("P31: expected at most the cluster's largest message of ")
             << *catalog->largestMessage << " B, got " << extent << " B";
    const double seconds = option->cost->seconds(extent), traffic = option->bytesMoved(extent);
    if (differ(exchange.getSeconds().convertToDouble(), seconds) ||
        differ(exchange.getTraffic().convertToDouble(), traffic))
      return exchange.emitOpError("P31: expected ")
             << seconds << " s and " << traffic << " B of traffic on the cluster";
    return success();
  }

  const PlanFacts &facts;
  sync::ConsistencyAttr consistency;
  llvm::SmallVector<plan::TensorOp> parameters; ///< in the order of their places
  std::size_t next = 0;                         ///< the first parameter that no exchange has had
};

} // namespace

LogicalResult checkExchanges(const PlanFacts &facts, ModuleOp module) {
  plan::ProgramOp program = facts.program;
  sync::ConsistencyAttr consistency = program.getConsistencyAttr();
  if (auto problem = firstOf<sync::ProblemOp>(module);
      problem && problem.getConsistencyAttr() != consistency)
    return reject(program, "P31: has another consistency than the problem beside it", problem,
                  "the problem");
  if (consistency)
    return ExchangeRules(facts, consistency)
        .check(module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr));
  for (auto exchange : program.getOps<plan::ExchangeOp>())
    return exchange.emitOpError("P31: expected a consistency that says when weights travel");
  return success();
}

} // namespace syncline::check
