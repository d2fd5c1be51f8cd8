// Rule about the ways that gradients have to travel alone: those that the program's own products
// give, no fewer. P23.
#include "passes/check/PlanFacts.h"

#include "ir/cluster/Cluster.h"
#include "ir/nn/NN.h"
#include "ir/sync/Sync.h"
#include "passes/cost/Offer.h"
#include "passes/merge/LayerNames.h"
#include "passes/merge/SameCost.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace syncline::check {

namespace {

using cluster::Scheme;

/// What a gradient is made of by the program, over one rank's samples.
struct Product {
  plan::CallOp call;
  std::int64_t bytes = 0; ///< of both factors
  double seconds = 0;     ///< of the product, and of the sums that ride with it
  struct Rider {
    std::size_t layer = 0; ///< of the problem
    double seconds = 0;    ///< of its sum besides
  };
  llvm::SmallVector<Rider> riders; ///< all that could ride
};

class FactorRules {
public:
  FactorRules(const PlanFacts &facts, sync::ProblemOp problem, const cost::Offer &offer,
              llvm::ArrayRef<std::optional<Scheme>> asked)
      : facts(facts), problem(problem), offer(offer), asked(asked) {
    for (const Step &step : facts.steps)
      if (auto gather = dyn_cast<plan::GatherOp>(step.op))
        for (auto [own, all] : llvm::zip(gather.getIns(), gather.getOuts()))
          gathered[all] = own;
    llvm::StringMap<Value> byName;
    for (plan::TensorOp tensor : facts.tensors)
      if (tensor.getSpace() == plan::Space::gradients)
        byName[tensor.getName()] = tensor.getResult();
    for (StringRef name : problem.getLayers().getAsValueRange<StringAttr>())
      gradients.push_back(byName.lookup(name));
  }

  LogicalResult check() {
    const std::size_t count = gradients.size();
    for (std::size_t k = 0; k < count; ++k)
      products.push_back(productOf(k));
    llvm::SmallVector<std::optional<std::size_t>> carriers(count);
    for (std::size_t k = 0; k < count; ++k)
      if (std::optional<Product> &product = products[k])
        for (const Product::Rider &rider : product->riders)
          if (!carriers[rider.layer]) {
            carriers[rider.layer] = k;
            product->seconds += rider.seconds;
          }
    llvm::SmallVector<std::int64_t> riders;
    for (std::size_t k = 0; k < count; ++k)
      if (carriers[k] && hasSolo(*carriers[k]) && !hasSolo(k) && mayTakeFactors(k))
        riders.append({static_cast<std::int64_t>(k), static_cast<std::int64_t>(*carriers[k])});
    if (failed(checkSolos()))
      return failure();
    if (problem.getRiders().value_or(llvm::ArrayRef<std::int64_t>()) != llvm::ArrayRef(riders))
      return reject("P23: expected as riders the sums that the program computes beside products")
             << ", [" << riders << "]";
    return success();
  }

private:
  InFlightDiagnostic reject(const llvm::Twine &message) {
    InFlightDiagnostic diagnostic = problem.emitOpError(message);
    diagnostic.attachNote(plan::ProgramOp(facts.program).getLoc()) << "the program";
    return diagnostic;
  }

  bool mayTakeFactors(std::size_t layer) const {
    return asked[layer].value_or(Scheme::factors) == Scheme::factors;
  }

  /// Whether the layer may travel alone by factors. A lone rank has nothing to gather, unless
  /// asked.
  bool hasSolo(std::size_t layer) const {
    return products[layer] && offer.gather && (offer.ranks > 1 || asked[layer]) &&
           mayTakeFactors(layer);
  }

  LogicalResult checkSolos() {
    llvm::DenseMap<std::int64_t, sync::SoloAttr> claimed;
    for (sync::SoloAttr solo : problem.soloList())
      claimed[solo.getLayer()] = solo;
    for (std::size_t k = 0; k < gradients.size(); ++k) {
      const StringRef name = cast<StringAttr>(problem.getLayers()[k]).getValue();
      sync::SoloAttr solo = claimed.lookup(static_cast<std::int64_t>(k));
      if (hasSolo(k) != static_cast<bool>(solo))
        return reject("P23: expected " + llvm::Twine(solo ? "no way" : "a way") + " for '" + name +
                      "' to travel alone by factors, which the program's operations " +
                      (solo ? "or what was asked for do not give" : "give"));
      if (!solo)
        continue;
      const Product &product = *products[k];
      const double rebuild = static_cast<double>(offer.ranks - 1) * product.seconds;
      if (solo.getFactorBytes() != product.bytes || differ(solo.getRebuild(), rebuild))
        return reject("P23: expected '" + name + "' to have factors of " +
                      llvm::Twine(product.bytes) + " B that are rebuilt in ")
               << rebuild << " s, got " << solo;
    }
    return success();
  }

  /// The call that writes the tensor, where one alone does.
  plan::CallOp writerOf(Value tensor) const {
    auto found = facts.writers.find(tensor.getDefiningOp());
    if (found == facts.writers.end() || found->second.size() != 1)
      return {};
    return dyn_cast<plan::CallOp>(facts.steps[found->second.front()].op);
  }

  /// What the tensor is a copy of, in another shape or, if so wanted, transposed. One rank's own in
  /// place of what is gathered.
  Value sourceOf(Value tensor, bool throughTransposes) const {
    for (;;) {
      if (Value own = gathered.lookup(tensor)) {
        tensor = own;
        continue;
      }
      plan::CallOp writer = writerOf(tensor);
      if (!writer || (writer.getCallee() != plan::Kernel::reshape &&
                      !(throughTransposes && writer.getCallee() == plan::Kernel::transpose)))
        return tensor;
      tensor = writer.getIns().front();
    }
  }

  static StringRef roleOf(plan::CallOp call, Value out) {
    const auto place = llvm::find(call.getOuts(), out) - call.getOuts().begin();
    return cast<StringAttr>(call.getRoles()[call.getIns().size() + place]).getValue();
  }

  /// Whether `out` is the sum over dimension 0 of two tensors' products, and nothing else.
  static bool sumsOverSamples(plan::CallOp call, Value out) {
    if (call.getCallee() == plan::Kernel::convBackwardWeights)
      return roleOf(call, out) == "dw";
    const auto isMatrix = [](Value value) {
      return cast<MemRefType>(value.getType()).getRank() == 2;
    };
    auto activation = call->getAttrOfType<nn::ActivationAttr>("activation");
    return call.getCallee() == plan::Kernel::matmul && call.getIns().size() == 2 &&
           llvm::all_of(call.getIns(), isMatrix) && call->hasAttr("transpose_a") &&
           !call->hasAttr("transpose_b") &&
           (!activation || activation.getValue() == nn::Activation::none);
  }

  /// Updates may write it while it travels.
  bool isStored(Value factor) const {
    auto tensor = sourceOf(factor, false).getDefiningOp<plan::TensorOp>();
    return tensor.getSpace() == plan::Space::parameters || tensor.getSpace() == plan::Space::state;
  }

  static double secondsOf(plan::CallOp call) {
    auto seconds = call ? call->getAttrOfType<FloatAttr>("seconds") : FloatAttr();
    return seconds ? seconds.getValueAsDouble() : 0;
  }

  /// Of one rank's samples, where a product or a sum may be of all ranks'.
  double ownSeconds(plan::CallOp call) const {
    const bool isOfSamples = call && call.getCallee() != plan::Kernel::reshape &&
                             call.getCallee() != plan::Kernel::transpose;
    const bool isOfAll = isOfSamples && llvm::any_of(call.getIns(), [&](Value in) {
                           return gathered.contains(throughReshapes(in));
                         });
    return secondsOf(call) / (isOfAll ? static_cast<double>(offer.ranks) : 1);
  }

  /// The tensor that reshapes made this one of; of all ranks where they were gathered.
  Value throughReshapes(Value tensor) const {
    for (plan::CallOp writer = writerOf(tensor);
         writer && writer.getCallee() == plan::Kernel::reshape; writer = writerOf(tensor))
      tensor = writer.getIns().front();
    return tensor;
  }

  std::optional<Product> productOf(std::size_t layer) const {
    if (!gradients[layer])
      return std::nullopt;
    const Value out = sourceOf(gradients[layer], true);
    plan::CallOp call = writerOf(out);
    if (!call || !sumsOverSamples(call, out) ||
        llvm::any_of(call.getIns(), [&](Value factor) { return isStored(factor); }))
      return std::nullopt;
    Product product{.call = call, .seconds = ownSeconds(call), .riders = {}};
    for (Value factor : call.getIns()) {
      const Value own = gathered.contains(factor) ? gathered.lookup(factor) : factor;
      product.bytes += plan::denseBytes(cast<MemRefType>(own.getType()));
    }
    addRiders(product, layer);
    return product;
  }

  void addRiders(Product &product, std::size_t layer) const {
    llvm::DenseSet<Operation *> counted{product.call};
    for (std::size_t other = 0; other < gradients.size(); ++other) {
      if (other == layer || !gradients[other] || !ridesWith(gradients[other], product))
        continue;
      plan::CallOp writer = writerOf(gradients[other]);
      // Who schedules may copy a gradient that somebody else reads as well: that is not timed.
      while (writer && writer.getCallee() == plan::Kernel::reshape && !writer->hasAttr("seconds"))
        writer = writerOf(writer.getIns().front());
      const bool isOther = writer && counted.insert(writer).second;
      product.riders.push_back({other, isOther ? ownSeconds(writer) : 0});
    }
  }

  /// Whether the gradient is a sum of one of the factors over dimension 0, and others.
  bool ridesWith(Value gradient, const Product &product) const {
    const Value sum = sourceOf(gradient, true);
    plan::CallOp writer = writerOf(sum);
    if (!writer)
      return false;
    plan::CallOp call = product.call;
    if (writer == call)
      return call.getCallee() == plan::Kernel::convBackwardWeights && roleOf(call, sum) == "dbias";
    auto kind = writer->getAttrOfType<nn::ReductionAttr>("kind");
    auto axes = writer->getAttrOfType<DenseI64ArrayAttr>("axes");
    if (writer.getCallee() != plan::Kernel::reduce || !kind || !axes ||
        kind.getValue() != nn::Reduction::sum || !llvm::is_contained(axes.asArrayRef(), 0))
      return false;
    const Value source = sourceOf(writer.getIns().front(), false);
    return llvm::any_of(call.getIns(),
                        [&](Value factor) { return sourceOf(factor, false) == source; });
  }

  const PlanFacts &facts;
  sync::ProblemOp problem;
  const cost::Offer &offer;
  llvm::ArrayRef<std::optional<Scheme>> asked;
  llvm::DenseMap<Value, Value> gathered; ///< of all ranks, to one rank's own
  llvm::SmallVector<Value> gradients;    ///< by layer of the problem
  std::vector<std::optional<Product>> products;
};

} // namespace

LogicalResult checkFactors(const PlanFacts &facts, ModuleOp module) {
  auto spec = module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  const auto problems = module.getOps<sync::ProblemOp>();
  if (!spec || problems.empty())
    return success();
  sync::ProblemOp problem = *problems.begin();
  Result<cost::Offer> offer = cost::offerOf(spec);
  if (!offer)
    return problem.emitOpError(offer.status().message());
  const auto asked = schemesAsked(problem);
  if (!asked)
    return problem.emitOpError("P23: ") << asked.status().message();
  return FactorRules(facts, problem, *offer, *asked).check();
}

} // namespace syncline::check
