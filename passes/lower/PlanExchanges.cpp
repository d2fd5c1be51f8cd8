// The pass `plan-exchanges`: which weights travel when, where gradients stay on their rank.
#include "ir/FirstOf.h"
#include "ir/Refusal.h"
#include "ir/Try.h"
#include "ir/sync/Consistency.h"
#include "passes/Passes.h"
#include "passes/cost/SchemeCatalog.h"
#include "passes/merge/LayerNames.h"

#include "mlir/IR/Builders.h"

namespace syncline {
#define GEN_PASS_DEF_PLANEXCHANGES
#include "passes/Passes.h.inc"
} // namespace syncline

using namespace mlir;
using namespace syncline;

namespace {

using Tensors = llvm::SmallVector<plan::TensorOp>;

/// The program's parameters in the order of their places.
Tensors parametersOf(plan::ProgramOp program) {
  Tensors found;
  for (auto tensor : program.getOps<plan::TensorOp>())
    if (tensor.getSpace() == plan::Space::parameters)
      found.push_back(tensor);
  llvm::stable_sort(
      found, [](plan::TensorOp a, plan::TensorOp b) { return a.getOffset() < b.getOffset(); });
  return found;
}

/// Cuts the parameters into `count` fragments: one ends where the next parameter would take the
/// bytes so far further from its share of all bytes. Precondition: at least `count` parameters.
std::vector<llvm::ArrayRef<plan::TensorOp>> cut(llvm::ArrayRef<plan::TensorOp> all,
                                                std::size_t count) {
  double total = 0, before = 0;
  for (plan::TensorOp tensor : all)
    total += static_cast<double>(tensor.getReserve());
  std::vector<llvm::ArrayRef<plan::TensorOp>> fragments;
  std::size_t begin = 0;
  for (std::size_t number = 1; number <= count; ++number) {
    const double share = total * static_cast<double>(number) / static_cast<double>(count);
    std::size_t end = begin;
    const std::size_t last = all.size() - (count - number); // one is left for each later fragment
    while (end < last) {
      const auto size = static_cast<double>(plan::TensorOp(all[end]).getReserve());
      if (end > begin && number < count && before + size - share > share - before)
        break;
      before += size;
      ++end;
    }
    fragments.push_back(all.slice(begin, end - begin));
    begin = end;
  }
  return fragments;
}

/// The steps of a period after which an exchange starts and has arrived; no arrival without bound.
struct Span {
  std::int64_t start;
  std::optional<std::int64_t> wait;
};

Span spanOf(sync::ConsistencyAttr consistency, std::int64_t number) {
  switch (consistency.getForm()) {
  case sync::ConsistencyForm::bsp:
    break;
  case sync::ConsistencyForm::local:
  case sync::ConsistencyForm::diloco: {
    const std::int64_t wait = (number + 1) * consistency.window();
    return {wait - consistency.getDelay(), wait};
  }
  case sync::ConsistencyForm::ssp:
  case sync::ConsistencyForm::dssp:
    return {1, 1 + consistency.getUpper()};
  case sync::ConsistencyForm::asp:
    return {1, std::nullopt};
  case sync::ConsistencyForm::easgd:
    const bool blocks = consistency.getVariant() == sync::EasgdVariant::sync1 ||
                        consistency.getVariant() == sync::EasgdVariant::sync2;
    return {0, blocks ? 0 : 1};
  }
  llvm_unreachable("no form");
}

/// Plans the exchanges of one program.
class Exchanges {
public:
  Exchanges(plan::ProgramOp program, sync::ConsistencyAttr consistency, cluster::SpecAttr spec,
            const cost::SchemeCatalog &catalog)
      : program(program), consistency(consistency), servers(spec.getServers()), catalog(catalog) {}

  LogicalResult plan(llvm::ArrayRef<std::string> requested) {
    const Tensors parameters = parametersOf(program);
    const auto count = static_cast<std::size_t>(consistency.getFragments());
    if (parameters.size() < count)
      return refuse(program.getLoc()) << "P31: expected at most as many fragments as the "
                                      << parameters.size() << " parameters, got " << count;
    if (failed(readRequests(parameters, requested)))
      return failure();
    program.setConsistencyAttr(consistency);
    OpBuilder builder(program);
    for (plan::BucketOp bucket : program.getOps<plan::BucketOp>())
      builder.setInsertionPointAfter(bucket);
    for (auto [number, fragment] : llvm::enumerate(cut(parameters, count)))
      if (failed(add(builder, static_cast<std::int64_t>(number), fragment)))
        return failure();
    return consistency.isServed() ? addShards(builder, parameters) : success();
  }

private:
  std::string text() const { return sync::consistencyText(consistency); }

  LogicalResult readRequests(const Tensors &parameters, llvm::ArrayRef<std::string> requested) {
    llvm::SmallVector<merge::GradientNames> names;
    llvm::SmallVector<merge::RequestedScheme> patterns;
    for (plan::TensorOp parameter : parameters)
      names.push_back(merge::namesOf(parameter));
    for (const std::string &text : requested) {
      Result<merge::RequestedScheme> pattern = merge::parseRequestedScheme(text);
      if (!pattern)
        return refuse(program.getLoc()) << pattern.status().message();
      patterns.push_back(*pattern);
    }
    Result<std::vector<std::optional<Scheme>>> found = merge::requestedSchemes(names, patterns);
    if (!found)
      return refuse(program.getLoc()) << found.status().message();
    for (auto [parameter, scheme] : llvm::zip(parameters, *found))
      requests[parameter] = scheme;
    return success();
  }

  /// The scheme that all members of the fragment are requested to travel by. Without a request it
  /// is the servers', or the fastest all-reduce; for EASGD it is the tree, so that its synchronous
  /// variants sum in one order.
  FailureOr<problem::SchemeOption> schemeOf(llvm::ArrayRef<plan::TensorOp> fragment,
                                            std::int64_t extent) {
    plan::TensorOp first = fragment.front();
    const std::optional<Scheme> scheme = requests[first];
    for (plan::TensorOp other : fragment)
      if (requests[other] != scheme)
        return refuse(program.getLoc())
               << "P31: '" << first.getName() << "' and '" << other.getName()
               << "' travel in one message, expected one scheme for both";
    const bool isElastic = consistency.getForm() == sync::ConsistencyForm::easgd;
    if (!scheme && !consistency.isServed() && !isElastic)
      return catalog.collectives[problem::fastestOption(catalog.collectives, extent)];
    const Scheme wanted =
        scheme.value_or(consistency.isServed() ? Scheme::parameterServer : Scheme::tree);
    const problem::SchemeOption *option = canCarry(wanted) ? catalog.option(wanted) : nullptr;
    if (!option)
      return refuse(program.getLoc())
             << "P31: '" << cluster::stringifyScheme(wanted) << "' cannot carry '" << text()
             << "', expected " << expectedScheme();
    return *option;
  }

  bool isTreeOnly() const {
    return consistency.getForm() == sync::ConsistencyForm::easgd &&
           consistency.getVariant() == sync::EasgdVariant::sync1;
  }

  bool canCarry(Scheme scheme) const {
    if (consistency.isServed())
      return scheme == Scheme::parameterServer;
    return isTreeOnly() ? scheme == Scheme::tree : isAllReduce(scheme);
  }

  StringRef expectedScheme() const {
    if (consistency.isServed())
      return "'parameter-server' and a cluster that has servers or a network";
    return isTreeOnly() ? "'tree' and a cluster that offers it"
                        : "an all-reduce that the cluster offers";
  }

  /// Refuses a message beyond the cluster's limit.
  LogicalResult fits(const llvm::Twine &what, std::int64_t extent) {
    if (extent <= catalog.largestMessage.value_or(extent))
      return success();
    return refuse(program.getLoc())
           << "P31: " << what << " has " << extent << " B, expected at most the cluster's largest "
           << "message of " << *catalog.largestMessage << " B; more "
           << (consistency.isServed() ? "servers have smaller shards" : "fragments are smaller");
  }

  /// Cuts the weights into units of 64 B, and deals these out to the servers.
  LogicalResult addShards(OpBuilder &builder, const Tensors &parameters) {
    constexpr std::int64_t unit = 64;
    plan::TensorOp first = parameters.front(), last = parameters.back();
    const auto begin = static_cast<std::int64_t>(first.getOffset());
    const std::int64_t extent = last.getOffset() + last.getReserve() - begin,
                       units = (extent + unit - 1) / unit,
                       count = servers ? servers.getCount() : catalog.ranks;
    if (units < count)
      return refuse(program.getLoc()) << "P31: expected at least 64 B of weights for each of "
                                      << count << " servers, got " << extent << " B for all";
    if (extent > catalog.serverMemory.value_or(extent))
      return refuse(program.getLoc())
             << "P31: the weights have " << extent << " B, expected at most the "
             << *catalog.serverMemory << " B that all servers can hold";
    if (servers && servers.getDedicated())
      program.setServers(count);
    for (std::int64_t server = 0; server < count; ++server) {
      const std::int64_t from = units * server / count * unit,
                         to = std::min(units * (server + 1) / count * unit, extent);
      if (failed(fits("the shard of server " + llvm::Twine(server), to - from)))
        return failure();
      builder.create<plan::ShardOp>(program.getLoc(), server, begin + from, to - from);
    }
    return success();
  }

  LogicalResult add(OpBuilder &builder, std::int64_t number,
                    llvm::ArrayRef<plan::TensorOp> fragment) {
    plan::TensorOp first = fragment.front(), last = fragment.back();
    const auto begin = static_cast<std::int64_t>(first.getOffset());
    const std::int64_t extent = last.getOffset() + last.getReserve() - begin;
    if (!consistency.isServed() && failed(fits("fragment " + llvm::Twine(number), extent)))
      return failure();
    SYNCLINE_TRY_MLIR(option, schemeOf(fragment, extent));
    std::int64_t bytes = 0;
    llvm::SmallVector<StringRef> members;
    for (plan::TensorOp tensor : fragment) {
      bytes += plan::denseBytes(cast<MemRefType>(tensor.getType()));
      members.push_back(tensor.getName());
    }
    const auto [start, wait] = spanOf(consistency, number);
    builder.create<plan::ExchangeOp>(
        program.getLoc(), builder.getI64IntegerAttr(number), builder.getStrArrayAttr(members),
        cluster::SchemeAttr::get(builder.getContext(), option->scheme),
        builder.getI64IntegerAttr(begin), builder.getI64IntegerAttr(extent),
        builder.getI64IntegerAttr(bytes), builder.getI64IntegerAttr(start),
        wait ? builder.getI64IntegerAttr(*wait) : IntegerAttr(),
        builder.getF64FloatAttr(option->cost->seconds(extent)),
        builder.getF64FloatAttr(option->bytesMoved(extent)));
    return success();
  }

  plan::ProgramOp program;
  sync::ConsistencyAttr consistency;
  cluster::ServersAttr servers; ///< null where the cluster states none
  const cost::SchemeCatalog &catalog;
  llvm::DenseMap<Operation *, std::optional<Scheme>> requests; ///< by parameter
};

struct PlanExchanges : syncline::impl::PlanExchangesBase<PlanExchanges> {
  using PlanExchangesBase::PlanExchangesBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto problem = firstOf<sync::ProblemOp>(module);
    auto spec = module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
    if (!problem || !problem.getConsistency() || !spec)
      return;
    sync::ConsistencyAttr consistency = problem.getConsistencyAttr();
    if (spec.getNccl() && consistency.isServed()) {
      refuse(problem.getLoc()) << "P31: the weights of '" << sync::consistencyText(consistency)
                               << "' travel by servers, which GPUs do not have; expected "
                                  "'--backend cpu', or 'local', 'diloco' or 'easgd' by sync1, "
                                  "sync2 or sync3";
      return signalPassFailure();
    }
    Result<cost::SchemeCatalog> catalog = cost::catalogOf(sync::exchangeCluster(spec, consistency));
    if (catalog && catalog->collectives.empty() && !consistency.isServed())
      catalog = Status::badInput("P31: expected an all-reduce that the cluster offers");
    if (!catalog) {
      refuse(problem.getLoc()) << catalog.status().message();
      return signalPassFailure();
    }
    for (auto program : module.getOps<plan::ProgramOp>())
      if (failed(Exchanges(program, consistency, spec, *catalog).plan(requested)))
        return signalPassFailure();
  }
};

} // namespace
