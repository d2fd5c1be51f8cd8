// The pass `plan-exchanges`: which weights travel when, where gradients stay on their rank.
#include "ir/FirstOf.h"
#include "ir/Refusal.h"
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

/// Plans the exchanges of one program.
class Exchanges {
public:
  Exchanges(plan::ProgramOp program, sync::ConsistencyAttr consistency,
            const cost::SchemeCatalog &catalog)
      : program(program), consistency(consistency), catalog(catalog) {}

  LogicalResult plan(llvm::ArrayRef<std::string> requested) {
    if (catalog.byNccl)
      return refuse(program.getLoc())
             << "P31: local updates run on CPUs, expected '--backend cpu' with '--consistency "
             << sync::consistencyText(consistency) << "'";
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
    return success();
  }

private:
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

  /// The all-reduce that all members of the fragment are requested to travel by, or else the
  /// fastest one.
  FailureOr<problem::SchemeOption> schemeOf(llvm::ArrayRef<plan::TensorOp> fragment,
                                            std::int64_t extent) {
    plan::TensorOp first = fragment.front();
    const std::optional<Scheme> scheme = requests[first];
    for (plan::TensorOp other : fragment)
      if (requests[other] != scheme)
        return refuse(program.getLoc())
               << "P31: '" << first.getName() << "' and '" << other.getName()
               << "' travel in one message, expected one scheme for both";
    if (!scheme)
      return catalog.collectives[problem::fastestOption(catalog.collectives, extent)];
    const problem::SchemeOption *option =
        cluster::isAllReduce(*scheme) ? catalog.option(*scheme) : nullptr;
    if (!option)
      return refuse(program.getLoc())
             << "P31: '" << cluster::stringifyScheme(*scheme)
             << "' cannot carry weights, expected an all-reduce that the cluster offers";
    return *option;
  }

  LogicalResult add(OpBuilder &builder, std::int64_t number,
                    llvm::ArrayRef<plan::TensorOp> fragment) {
    plan::TensorOp first = fragment.front(), last = fragment.back();
    const auto begin = static_cast<std::int64_t>(first.getOffset());
    const std::int64_t extent = last.getOffset() + last.getReserve() - begin;
    if (extent > catalog.largestMessage.value_or(extent))
      return refuse(program.getLoc())
             << "P31: fragment " << number << " has " << extent
             << " B, expected at most the cluster's largest message of " << *catalog.largestMessage
             << " B; more fragments are smaller";
    FailureOr<problem::SchemeOption> option = schemeOf(fragment, extent);
    if (failed(option))
      return failure();
    std::int64_t bytes = 0;
    llvm::SmallVector<StringRef> members;
    for (plan::TensorOp tensor : fragment) {
      bytes += plan::denseBytes(cast<MemRefType>(tensor.getType()));
      members.push_back(tensor.getName());
    }
    const std::int64_t wait = (number + 1) * consistency.window();
    builder.create<plan::ExchangeOp>(
        program.getLoc(), builder.getI64IntegerAttr(number), builder.getStrArrayAttr(members),
        cluster::SchemeAttr::get(builder.getContext(), option->scheme),
        builder.getI64IntegerAttr(begin), builder.getI64IntegerAttr(extent),
        builder.getI64IntegerAttr(bytes), builder.getI64IntegerAttr(wait - consistency.getDelay()),
        builder.getI64IntegerAttr(wait), builder.getF64FloatAttr(option->cost->seconds(extent)),
        builder.getF64FloatAttr(option->bytesMoved(extent)));
    return success();
  }

  plan::ProgramOp program;
  sync::ConsistencyAttr consistency;
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
    Result<cost::SchemeCatalog> catalog = cost::catalogOf(spec);
    if (catalog && catalog->collectives.empty())
      catalog = Status::badInput("P31: expected an all-reduce that the cluster offers");
    if (!catalog) {
      refuse(problem.getLoc()) << catalog.status().message();
      return signalPassFailure();
    }
    for (auto program : module.getOps<plan::ProgramOp>())
      if (failed(Exchanges(program, problem.getConsistencyAttr(), *catalog).plan(requested)))
        return signalPassFailure();
  }
};

} // namespace
