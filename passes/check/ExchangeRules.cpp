// Rule P31: weights that travel in place of gradients.
#include "passes/check/PlanFacts.h"

#include "ir/FirstOf.h"
#include "ir/cluster/Cluster.h"
#include "ir/sync/Consistency.h"
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
    if (program.getOverlap())
      return program.emitOpError("P31: expected no overlap with a consistency");
    if (cluster::wireOf(program) != WirePrecision::fp32)
      return program.emitOpError("P31: expected no 'cluster.wire', since weights travel in fp32");
    if (failed(checkServers(spec)))
      return failure();
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
    return checkShards(spec);
  }

private:
  /// P31b: dedicated servers, where the form and the cluster have them.
  LogicalResult checkServers(cluster::SpecAttr spec) const {
    plan::ProgramOp program = facts.program;
    const auto count = static_cast<std::int64_t>(program.getServers().value_or(0));
    if (!consistency.isServed() && count > 0)
      return program.emitOpError("P31: expected no servers, since weights travel by all-reduces");
    if (!consistency.isServed() || !spec)
      return success();
    cluster::ServersAttr servers = spec.getServers();
    const std::int64_t expected = servers && servers.getDedicated() ? servers.getCount() : 0;
    if (count != expected)
      return program.emitOpError("P31: expected ") << expected << " servers, got " << count;
    return success();
  }

  LogicalResult checkTimes(plan::ExchangeOp exchange, std::int64_t number) const {
    if (static_cast<std::int64_t>(exchange.getId()) != number)
      return exchange.emitOpError("P31: expected exchange ") << number << " here";
    std::int64_t start = 0;
    std::optional<std::int64_t> wait;
    switch (consistency.getForm()) {
    case sync::ConsistencyForm::bsp: // has no exchanges
      break;
    case sync::ConsistencyForm::local:
    case sync::ConsistencyForm::diloco:
      wait = (number + 1) * (consistency.getPeriod() / consistency.getFragments());
      start = *wait - consistency.getDelay();
      break;
    case sync::ConsistencyForm::ssp:
    case sync::ConsistencyForm::dssp:
      wait = consistency.getUpper() + 1;
      start = 1;
      break;
    case sync::ConsistencyForm::asp:
      start = 1;
      break;
    case sync::ConsistencyForm::easgd:
      wait = isVariant(sync::EasgdVariant::sync1) || isVariant(sync::EasgdVariant::sync2) ? 0 : 1;
      break;
    }
    const std::optional<std::uint64_t> got = exchange.getWait();
    if (static_cast<std::int64_t>(exchange.getStart()) != start ||
        got.has_value() != wait.has_value() || (wait && static_cast<std::int64_t>(*got) != *wait))
      return exchange.emitOpError("P31: expected a start after ")
             << start << " and "
             << (wait ? "a wait after " + std::to_string(*wait) : std::string("no wait after any"))
             << " steps of the period";
    return success();
  }

  bool isVariant(sync::EasgdVariant variant) const {
    return consistency.getForm() == sync::ConsistencyForm::easgd &&
           consistency.getVariant() == variant;
  }

  /// P31h: the shards fill the weights, in equal parts. P31g: they keep to the cluster's limits.
  LogicalResult checkShards(cluster::SpecAttr spec) const {
    plan::ProgramOp program = facts.program;
    std::int64_t number = 0, end = 0, shortest = 0, longest = 0, first = 0;
    for (auto shard : program.getOps<plan::ShardOp>()) {
      const auto offset = static_cast<std::int64_t>(shard.getOffset()),
                 extent = static_cast<std::int64_t>(shard.getExtent());
      if (!consistency.isServed())
        return shard.emitOpError("P31: expected no shards, since weights travel by all-reduces");
      if (static_cast<std::int64_t>(shard.getServer()) != number)
        return shard.emitOpError("P31: expected the shard of server ") << number << " here";
      if (extent <= 0 || extent % 64 != 0 || (number > 0 && offset != end))
        return shard.emitOpError("P31: expected a multiple of 64 bytes behind the shard before");
      first = number == 0 ? offset : first;
      shortest = number == 0 ? extent : std::min(shortest, extent);
      longest = std::max(longest, extent);
      end = offset + extent;
      ++number;
    }
    if (!consistency.isServed())
      return success();
    const std::int64_t count = serverCount(spec, number);
    if (number == 0 || number != count)
      return program.emitOpError("P31: expected ") << count << " shards, got " << number;
    plan::TensorOp head = parameters.front(), tail = parameters.back();
    if (first != static_cast<std::int64_t>(head.getOffset()) || end != check::end(tail) ||
        longest - shortest > 64)
      return program.emitOpError("P31: expected equal shards that fill the weights");
    return checkLimits(spec, longest, end - first);
  }

  /// The number of servers; `found` where neither program nor cluster say it.
  std::int64_t serverCount(cluster::SpecAttr spec, std::int64_t found) const {
    plan::ProgramOp program = facts.program;
    if (spec)
      return spec.getServers() ? spec.getServers().getCount() : spec.getRanks();
    if (program.getServers())
      return static_cast<std::int64_t>(*program.getServers());
    return std::clamp<std::int64_t>(found, 1, static_cast<std::int64_t>(program.getRanks()));
  }

  LogicalResult checkLimits(cluster::SpecAttr spec, std::int64_t longest,
                            std::int64_t extent) const {
    if (!spec)
      return success();
    plan::ProgramOp program = facts.program;
    Result<cost::SchemeCatalog> catalog = cost::catalogOf(spec);
    if (!catalog)
      return program.emitOpError(catalog.status().message());
    if (longest > catalog->largestMessage.value_or(longest))
      return program.emitOpError(
                 "P31: expected shards of at most the cluster's largest message of ")
             << *catalog->largestMessage << " B, got " << longest << " B";
    if (extent > catalog->serverMemory.value_or(extent))
      return program.emitOpError("P31: expected weights of at most the ")
             << *catalog->serverMemory << " B that the servers hold, got " << extent << " B";
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

  /// P31f: whether the form's weights may travel by the scheme.
  bool mayTravelBy(Scheme scheme) const {
    if (consistency.isServed())
      return scheme == Scheme::parameterServer;
    return isVariant(sync::EasgdVariant::sync1) ? scheme == Scheme::tree : isAllReduce(scheme);
  }

  LogicalResult checkCost(plan::ExchangeOp exchange, cluster::SpecAttr spec) const {
    if (!mayTravelBy(exchange.getScheme()))
      return exchange.emitOpError("P31: '")
             << cluster::stringifyScheme(exchange.getScheme()) << "' cannot carry this consistency";
    if (!spec)
      return success();
    if (consistency.isServed() && spec.getNccl())
      return exchange.emitOpError("P31: NCCL has no servers that hold weights");
    Result<cost::SchemeCatalog> catalog = cost::catalogOf(sync::exchangeCluster(spec, consistency));
    if (!catalog)
      return exchange.emitOpError(catalog.status().message());
    const problem::SchemeOption *option = catalog->option(exchange.getScheme());
    if (!option)
      return exchange.emitOpError("P31: expected a scheme that the cluster offers");
    const auto extent = static_cast<std::int64_t>(exchange.getExtent());
    if (!consistency.isServed() && extent > catalog->largestMessage.value_or(extent))
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
  for (auto shard : program.getOps<plan::ShardOp>())
    return shard.emitOpError("P31: expected a consistency that travels by servers");
  return success();
}

} // namespace syncline::check
