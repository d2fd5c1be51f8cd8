// The pass `form-buckets`: carries a solution out. Each of its messages becomes one collective.
#include "ir/Try.h"
#include "ir/cluster/Cluster.h"
#include "passes/Passes.h"
#include "passes/cost/TiedGradients.h"
#include "passes/merge/GatherFactors.h"
#include "passes/merge/ReadProblem.h"

#include "llvm/ADT/StringMap.h"

namespace syncline {
#define GEN_PASS_DEF_FORMBUCKETS
#include "passes/Passes.h.inc"
} // namespace syncline

using namespace mlir;
using namespace syncline;
using namespace syncline::merge;

namespace {

using Gradients = llvm::SmallVector<sync::GradientOp>;

class BucketFormer {
public:
  BucketFormer(nn::StepOp step, sync::SolutionOp solution, sync::ProblemOp problem)
      : step(step), solution(solution), problem(problem), builder(step->getContext()) {
    for (auto gradient : step.getOps<sync::GradientOp>())
      waiting[gradient.getParameter()] = gradient;
    for (auto message : solution.getMessages().getAsRange<sync::MessageAttr>())
      countParts(message);
  }

  LogicalResult form() {
    moveUpdatesToEnd();
    std::int64_t number = 0;
    for (auto message : solution.getMessages().getAsRange<sync::MessageAttr>()) {
      SYNCLINE_TRY_MLIR(members, take(message.getLayers()));
      if (members->empty())
        return solution.emitOpError("message ") << number << " has no layers";
      if (failed(isGathered(message.getScheme()) ? formFactors(message, *members, number)
                                                 : formBucket(message, *members, number)))
        return failure();
      ++number;
    }
    for (auto gradient : step.getOps<sync::GradientOp>())
      if (waiting.count(gradient.getParameter()))
        return gradient.emitOpError("no bucket of the solution holds this gradient");
    return success();
  }

private:
  /// Moves updates to the end, behind the sums of parts that travel apart, so that every message
  /// fits between its members and what reads them.
  void moveUpdatesToEnd() {
    mlir::Block &body = step.getBody().front();
    llvm::SmallVector<nn::UpdateOp> updates(step.getOps<nn::UpdateOp>());
    llvm::SmallVector<Operation *> last;
    for (nn::UpdateOp update : updates)
      if (cost::synchronisedBy(update).size() > 1)
        last.push_back(cost::tiedGradientOf(update)->sum);
    llvm::append_range(last, updates);
    for (Operation *op : last)
      op->moveBefore(&body, body.end());
    if (!last.empty())
      builder.setInsertionPoint(last.front());
  }

  /// Counts the messages that carry a part of a gradient.
  void countParts(sync::MessageAttr message) {
    const llvm::ArrayRef<std::int64_t> layers = message.getLayers();
    for (auto [i, layer] : llvm::enumerate(layers))
      if ((i == 0 && message.cutBefore() > 0) ||
          (i + 1 == layers.size() && message.cutBehind() > 0))
        ++parts[layer];
  }

  /// Takes the layers' gradients from `waiting`, so that no other message can take them. The last
  /// message that carries a part of a gradient takes it.
  FailureOr<Gradients> take(llvm::ArrayRef<std::int64_t> layers) {
    Gradients members;
    const auto count = static_cast<std::int64_t>(problem.getLayers().size());
    for (std::int64_t layer : layers) {
      if (layer < 0 || layer >= count)
        return solution.emitOpError("layer ") << layer << " is none of the problem's " << count;
      auto name = cast<StringAttr>(problem.getLayers()[layer]).getValue();
      sync::GradientOp gradient = waiting.lookup(name);
      if (!gradient)
        return solution.emitOpError("layer '") << name << "' has no 'sync.gradient' in the step";
      members.push_back(gradient);
      if (--parts[layer] <= 0)
        waiting.erase(name);
    }
    return members;
  }

  /// Replaces the `sync.gradient` operations of a message's members by one all-reduce.
  LogicalResult formBucket(sync::MessageAttr message,
                           llvm::MutableArrayRef<sync::GradientOp> members, std::int64_t number) {
    llvm::SmallVector<Value> local;
    llvm::SmallVector<StringRef> names;
    llvm::SmallVector<Type> types;
    for (sync::GradientOp member : members) {
      Value &sum = summed.try_emplace(member, member.getLocal()).first->second;
      local.push_back(sum);
      names.push_back(member.getParameter());
      types.push_back(member.getType());
    }
    auto bucket = builder.create<sync::AllReduceOp>(
        members.front().getLoc(), types, local, builder.getStrArrayAttr(names),
        builder.getI64IntegerAttr(number), builder.getI64IntegerAttr(message.getChannel()),
        cluster::SchemeAttr::get(builder.getContext(), message.getScheme()),
        message.getCut().empty() ? DenseI64ArrayAttr()
                                 : builder.getDenseI64ArrayAttr(message.getCut()),
        message.getGather() ? builder.getI64IntegerAttr(message.getGather().getPlace())
                            : IntegerAttr());
    for (auto [member, agreed] : llvm::zip(members, bucket.getAgreed())) {
      summed[member] = agreed;
      if (waiting.count(member.getParameter()))
        continue; // another message carries the rest
      member.getAgreed().replaceAllUsesWith(agreed);
      member.erase();
    }
    return success();
  }

  LogicalResult formFactors(sync::MessageAttr message, llvm::ArrayRef<sync::GradientOp> members,
                            std::int64_t number) {
    auto cluster =
        step->getParentOfType<ModuleOp>()->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
    if (!cluster)
      return solution.emitOpError("travels by factors, but the module has no '")
             << cluster::specAttr << "' that says how many ranks gather them";
    if (members.size() != 1)
      return solution.emitOpError("message ")
             << number << " by factors has " << members.size() << " layers, expected one";
    SYNCLINE_TRY_MLIR(piggybacks, take(piggybacksOf(message.getLayers().front())));
    return gatherFactors(builder,
                         {.scheme = message.getScheme(),
                          .carrier = members.front(),
                          .piggybacks = std::move(*piggybacks),
                          .number = number,
                          .channel = message.getChannel()},
                         cluster.getRanks());
  }

  /// The layers that the solution makes piggybacks of this carrier.
  llvm::SmallVector<std::int64_t> piggybacksOf(std::int64_t carrier) {
    llvm::SmallVector<std::int64_t> piggybacks;
    auto pairs = problem.getPiggybacks().value_or(llvm::ArrayRef<std::int64_t>());
    auto piggybacked = solution.getPiggybacks().value_or(llvm::ArrayRef<std::int64_t>());
    for (std::size_t i = 0; i + 1 < pairs.size(); i += 2)
      if (pairs[i + 1] == carrier && llvm::is_contained(piggybacked, pairs[i]))
        piggybacks.push_back(pairs[i]);
    return piggybacks;
  }

  nn::StepOp step;
  sync::SolutionOp solution;
  sync::ProblemOp problem;
  OpBuilder builder;
  llvm::StringMap<sync::GradientOp> waiting; ///< by parameter: gradients that are in no message yet
  llvm::DenseMap<std::int64_t, int> parts;   ///< by layer: messages to come that carry a part of it
  llvm::DenseMap<Operation *, Value> summed; ///< by sync.gradient: the result of the last message
};

struct FormBuckets : syncline::impl::FormBucketsBase<FormBuckets> {
  void runOnOperation() override {
    auto steps = getOperation().getOps<nn::StepOp>();
    auto solutions = getOperation().getOps<sync::SolutionOp>();
    if (steps.empty())
      return; // a trace has no step to rewrite
    if (solutions.empty()) {
      (*steps.begin()).emitError("expected a 'sync.solution' beside the step");
      return signalPassFailure();
    }
    FailureOr<sync::ProblemOp> problem = problemOf(*solutions.begin());
    if (failed(problem) ||
        failed(BucketFormer(*steps.begin(), *solutions.begin(), *problem).form()))
      signalPassFailure();
  }
};
} // namespace
