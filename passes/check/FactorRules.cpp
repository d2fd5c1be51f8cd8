// Rule P23: the problem's factor options are those that the program's own products give, and none
// is missing.
#include "passes/check/PlanFacts.h"

#include "ir/cluster/Cluster.h"
#include "ir/nn/NN.h"
#include "ir/sync/Consistency.h"
#include "passes/check/SameCost.h"
#include "passes/check/SampleTime.h"
#include "passes/cost/SchemeCatalog.h"
#include "passes/merge/LayerNames.h"
#include "syncline/RowsPart.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

#include <utility>

using namespace mlir;

namespace syncline::check {

namespace {

using cluster::Scheme;

/// The product that makes a gradient in the program, over one rank's samples.
struct Product {
  std::int64_t step = 0;  ///< number of the step that computes it
  std::int64_t bytes = 0; ///< bytes of both factors
  double seconds = 0;     ///< seconds that one more rank adds to it and to its piggybacks' sums
  Scheme scheme = Scheme::factors;
};

class FactorRules {
public:
  FactorRules(const PlanFacts &facts, sync::ProblemOp problem, const cost::SchemeCatalog &catalog,
              llvm::ArrayRef<std::optional<Scheme>> requested)
      : facts(facts), problem(problem), catalog(catalog), requested(requested) {
    llvm::StringMap<plan::TensorOp> byName;
    for (plan::TensorOp tensor : facts.tensors)
      if (tensor.getSpace() == plan::Space::gradients)
        byName[tensor.getName()] = tensor;
    for (StringRef name : problem.getLayers().getAsValueRange<StringAttr>()) {
      const RowsPart *part = facts.rowsOf(parameterOf(name));
      gradients.push_back(part && isRowsPart(name) ? part->rows : byName.lookup(name));
      addedBy.push_back(part ? part->sum : static_cast<std::int64_t>(facts.steps.size()));
    }
    for (std::size_t k = 0; k < gradients.size(); ++k)
      if (gradients[k])
        indexSum(k);
  }

  LogicalResult check() {
    const std::size_t count = gradients.size();
    for (std::size_t k = 0; k < count; ++k)
      products.push_back(productOf(k));
    if (const std::optional<std::size_t> layer = findOtherReduction())
      return reject("P23h: expected the gradient '" +
                    cast<StringAttr>(problem.getLayers()[*layer]).getValue() +
                    "' to be a sum over samples, as the product beside it is, got another "
                    "reduction");
    carriers.resize(count);
    for (std::size_t k = 0; k < count; ++k)
      if (products[k] && !isRowsPart(cast<StringAttr>(problem.getLayers()[k]).getValue()))
        carry(k);
    llvm::SmallVector<std::int64_t> piggybacks;
    for (std::size_t k = 0; k < count; ++k)
      if (carriers[k] && hasFactorOption(*carriers[k]) && !hasFactorOption(k) &&
          mayUse(k, products[*carriers[k]]->scheme))
        piggybacks.append({static_cast<std::int64_t>(k), static_cast<std::int64_t>(*carriers[k])});
    if (failed(checkFactorOptions()))
      return failure();
    if (problem.getPiggybacks().value_or(llvm::ArrayRef<std::int64_t>()) !=
        llvm::ArrayRef(piggybacks))
      return reject(
                 "P23: expected as piggybacks the sums that the program computes beside products")
             << ", [" << piggybacks << "]";
    return success();
  }

private:
  InFlightDiagnostic reject(const llvm::Twine &message) {
    InFlightDiagnostic diagnostic = problem.emitOpError(message);
    diagnostic.attachNote(plan::ProgramOp(facts.program).getLoc()) << "the program";
    return diagnostic;
  }

  /// Whether the scheme is requested for the layer, or none is.
  bool mayUse(std::size_t layer, Scheme scheme) const {
    return requested[layer].value_or(scheme) == scheme;
  }

  /// Whether the layer may send factors. A single rank has nothing to gather, so it needs
  /// a request.
  bool hasFactorOption(std::size_t layer) const {
    return products[layer] && catalog.gatherOf(products[layer]->scheme) &&
           (catalog.ranks > 1 || requested[layer]) && mayUse(layer, products[layer]->scheme);
  }

  LogicalResult checkFactorOptions() {
    llvm::DenseMap<std::int64_t, sync::FactorOptionAttr> claimed;
    for (sync::FactorOptionAttr factorOption : problem.factorOptionList())
      claimed[factorOption.getLayer()] = factorOption;
    for (std::size_t k = 0; k < gradients.size(); ++k) {
      const StringRef name = cast<StringAttr>(problem.getLayers()[k]).getValue();
      sync::FactorOptionAttr factorOption = claimed.lookup(static_cast<std::int64_t>(k));
      if (hasFactorOption(k) != static_cast<bool>(factorOption))
        return reject("P23: expected " + llvm::Twine(factorOption ? "no way" : "a way") + " for '" +
                      name + "' to travel alone by factors, which the program's operations " +
                      (factorOption ? "or what was requested do not give" : "give"));
      if (!factorOption)
        continue;
      const Product &product = *products[k];
      const double reconstruct = static_cast<double>(catalog.ranks - 1) * product.seconds;
      if (factorOption.getScheme() != product.scheme)
        return reject("P23: expected '" + name + "' to travel alone by '" +
                      schemeName(product.scheme) + "', got ")
               << factorOption;
      if (factorOption.getFactorBytes() != product.bytes ||
          differ(factorOption.getReconstruct(), reconstruct))
        return reject("P23: expected '" + name + "' to have " +
                      (hasRows(product.scheme) ? "rows of " : "factors of ") +
                      llvm::Twine(product.bytes) + " B that are reconstructed in ")
               << reconstruct << " s, got " << factorOption;
    }
    return success();
  }

  /// The gradient's version at the end of the step, whichever way it was computed. Of a gradient in
  /// two parts, both as they are before they are added.
  Version finalOf(std::size_t layer) const {
    return facts.readBy(addedBy[layer], gradients[layer]);
  }
  Version computedOf(std::size_t layer) const {
    return facts.sourceOf(finalOf(layer), {.transposes = true, .gathers = true});
  }

  /// One rank's own version of an operand, in whatever shape.
  Version ownOf(std::int64_t step, plan::TensorOp operand) const {
    return facts.sourceOf(facts.readBy(step, operand), {.gathers = true});
  }

  static StringRef roleOf(plan::CallOp call, plan::TensorOp out) {
    const auto place = llvm::find(call.getOuts(), out.getResult()) - call.getOuts().begin();
    return cast<StringAttr>(call.getRoles()[call.getIns().size() + place]).getValue();
  }

  /// Whether `out` is the sum over dimension 0 of two tensors' products, and nothing else.
  static bool sumsOverSamples(plan::CallOp call, plan::TensorOp out) {
    if (call.getCallee() == plan::Kernel::convBackwardWeights)
      return roleOf(call, out) == "dw";
    if (call.getCallee() == plan::Kernel::embeddingBackward)
      return call.getIns().size() == 2; // else they are added onto another gradient
    const auto isMatrix = [](Value value) {
      return cast<MemRefType>(value.getType()).getRank() == 2;
    };
    auto activation = call->getAttrOfType<nn::ActivationAttr>("activation");
    return call.getCallee() == plan::Kernel::matmul && call.getIns().size() == 2 &&
           llvm::all_of(call.getIns(), isMatrix) && call->hasAttr("transpose_a") &&
           !call->hasAttr("transpose_b") &&
           (!activation || activation.getValue() == nn::Activation::none);
  }

  /// Whether the factor is stored: updates may then write it while it travels.
  bool isStored(Version factor) const {
    const plan::Space space = factor.tensor.getSpace();
    return space == plan::Space::parameters || space == plan::Space::state;
  }

  /// Seconds of the step for one rank's samples; a product or a sum may be over all ranks' samples.
  double ownSeconds(std::int64_t step) const {
    Operation *op = facts.steps[step].op;
    return plan::secondsOf(op) / (isOfAllRanks(step) ? timesOfOne(op, catalog.ranks) : 1);
  }

  /// Whether the step computes from all ranks' samples.
  bool isOfAllRanks(std::int64_t step) const {
    auto call = dyn_cast<plan::CallOp>(facts.steps[step].op);
    const bool isOfSamples = call && call.getCallee() != plan::Kernel::reshape &&
                             call.getCallee() != plan::Kernel::transpose;
    return isOfSamples && llvm::any_of(facts.steps[step].reads, [&](plan::TensorOp in) {
             return facts.gatheredFrom(facts.sourceOf(facts.readBy(step, in))).has_value();
           });
  }

  std::optional<Product> productOf(std::size_t layer) const {
    if (!gradients[layer])
      return std::nullopt;
    const Version out = computedOf(layer);
    plan::CallOp call = facts.writerOf(out);
    if (!call || !sumsOverSamples(call, out.tensor))
      return std::nullopt;
    const llvm::ArrayRef<plan::TensorOp> factors = facts.steps[out.writer].reads;
    if (llvm::any_of(factors, [&](auto factor) { return isStored(ownOf(out.writer, factor)); }))
      return std::nullopt;
    const double part = partOfOneMore(call, isOfAllRanks(out.writer) ? catalog.ranks : 1);
    Product product{.step = out.writer, .seconds = part * ownSeconds(out.writer)};
    if (call.getCallee() == plan::Kernel::embeddingBackward)
      product.scheme = Scheme::sparse;
    for (plan::TensorOp factor : factors) {
      const Version all = facts.readBy(out.writer, factor);
      plan::TensorOp own = facts.gatheredFrom(all).value_or(all).tensor;
      product.bytes += plan::denseBytes(cast<MemRefType>(own.getType()));
    }
    return product;
  }

  /// Records a layer whose gradient is a sum over dimension 0 (and maybe others) by the sum's
  /// source, and a convolution's bias by the convolution.
  void indexSum(std::size_t layer) {
    const Version sum = computedOf(layer);
    plan::CallOp writer = facts.writerOf(sum);
    if (!writer)
      return;
    if (writer.getCallee() == plan::Kernel::convBackwardWeights) {
      if (roleOf(writer, sum.tensor) == "dbias")
        biases[sum.writer].push_back(layer);
      return;
    }
    auto kind = writer->getAttrOfType<nn::ReductionAttr>("kind");
    auto axes = writer->getAttrOfType<DenseI64ArrayAttr>("axes");
    if (writer.getCallee() == plan::Kernel::reduce && !writer.getIns().empty() && kind && axes &&
        llvm::is_contained(axes.asArrayRef(), 0))
      (kind.getValue() == nn::Reduction::sum
           ? sums
           : otherReductions)[ownOf(sum.writer, facts.steps[sum.writer].reads.front()).key()]
          .push_back(layer);
  }

  /// The first gradient that is another reduction of a product's tensor than the sum.
  std::optional<std::size_t> findOtherReduction() const {
    for (const std::optional<Product> &product : products)
      if (product)
        for (plan::TensorOp factor : facts.steps[product->step].reads)
          if (auto found = otherReductions.find(ownOf(product->step, factor).key());
              found != otherReductions.end())
            return found->second.front();
    return std::nullopt;
  }

  /// Makes the layer the carrier of every gradient that can piggyback on its product and has
  /// no carrier yet. The first product takes all sums of a source, so that no other product
  /// visits them.
  void carry(std::size_t layer) {
    Product &product = *products[layer];
    llvm::SmallVector<std::size_t> piggybacks = std::exchange(biases[product.step], {});
    for (plan::TensorOp factor : facts.steps[product.step].reads)
      llvm::append_range(piggybacks, std::exchange(sums[ownOf(product.step, factor).key()], {}));
    llvm::DenseSet<std::int64_t> counted{product.step};
    for (std::size_t piggyback : piggybacks) {
      // A gradient may be a copy of the sum, which has a time of its own.
      const std::int64_t writer = computedOf(piggyback).writer;
      carriers[piggyback] = layer;
      product.seconds += writer >= 0 && counted.insert(writer).second ? ownSeconds(writer) : 0;
    }
  }

  const PlanFacts &facts;
  sync::ProblemOp problem;
  const cost::SchemeCatalog &catalog;
  llvm::ArrayRef<std::optional<Scheme>> requested;
  llvm::SmallVector<plan::TensorOp> gradients; ///< gradient of each of the problem's layers
  llvm::SmallVector<std::int64_t> addedBy;     ///< by layer: the step before which it is whole, or
                                               ///< that adds its parts
  using Layers = llvm::SmallVector<std::size_t>;
  llvm::DenseMap<std::pair<Operation *, std::int64_t>, Layers> sums; ///< keyed by the version that
                                                                     ///< is summed
  llvm::DenseMap<std::pair<Operation *, std::int64_t>, Layers> otherReductions; ///< likewise
  llvm::DenseMap<std::int64_t, Layers> biases;                                  ///< keyed by the
      ///< convolution's step
  std::vector<std::optional<Product>> products;
  std::vector<std::optional<std::size_t>> carriers; ///< carrier of each piggyback
};

} // namespace

LogicalResult checkFactors(const PlanFacts &facts, ModuleOp module) {
  const cluster::SpecAttr spec = sync::gradientCluster(module);
  const auto problems = module.getOps<sync::ProblemOp>();
  if (!spec || problems.empty())
    return success();
  sync::ProblemOp problem = *problems.begin();
  Result<cost::SchemeCatalog> catalog = cost::catalogOf(spec);
  if (!catalog)
    return problem.emitOpError(catalog.status().message());
  const auto requested = merge::requestedSchemes(problem);
  if (!requested)
    return problem.emitOpError("P23: ") << requested.status().message();
  return FactorRules(facts, problem, *catalog, *requested).check();
}

} // namespace syncline::check
