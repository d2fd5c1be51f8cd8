// Finds and times the factors of steps and of traces.
#include "passes/merge/TimedFactors.h"

#include "ir/sync/Sync.h"
#include "passes/merge/Factors.h"
#include "syncline/RowsPart.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace syncline::merge {

static double seconds(Operation *op) {
  auto predicted = op ? op->getAttrOfType<FloatAttr>(nn::secondsAttr) : FloatAttr();
  return predicted ? predicted.getValueAsDouble() : 0;
}

/// The index in the timeline of each `sync.gradient` of a step.
using Places = llvm::DenseMap<Operation *, std::size_t>;

static std::optional<TimedFactors> ofGradient(sync::GradientOp gradient, const Places &places,
                                              const Piggybacks &piggybacks) {
  std::optional<FactorPair> pair = factorsOf(gradient);
  if (!pair)
    return std::nullopt;
  TimedFactors factors{.scheme = pair->scheme(),
                       .bytes = pair->bytes,
                       .reconstruct = pair->share() * seconds(pair->product),
                       .piggybacks = {}};
  if (isRowsPart(gradient.getParameter()))
    return factors; // they travel alone, since another bucket's update waits for them
  llvm::SmallPtrSet<Operation *, 4> counted{pair->product};
  for (sync::GradientOp piggyback : piggybacks.of(gradient, *pair)) {
    Operation *producer = withoutCopies(piggyback.getLocal()).getDefiningOp();
    factors.piggybacks.push_back(
        {places.lookup(piggyback), counted.insert(producer).second ? seconds(producer) : 0});
  }
  return factors;
}

static std::optional<TimedFactors> ofLayer(const cost::ReadyGradient &gradient,
                                           cluster::DeviceAttr device) {
  constexpr double elementBytes = 4, maxBytes = 0x1p53;
  sync::LayerOp layer = gradient.layer;
  if (sync::GatheredAttr form = layer.getGatheredAttr())
    return TimedFactors{.scheme = form.getScheme(),
                        .bytes = form.getBytes(),
                        .reconstruct = gradient.reconstruct,
                        .piggybacks = {}};
  if (!layer.getMatmul())
    return std::nullopt;
  // These are doubles: products of a trace's numbers may exceed any integer, but then match
  // no bytes.
  const auto m = static_cast<double>((*layer.getMatmul())[0]),
             n = static_cast<double>((*layer.getMatmul())[1]),
             k = static_cast<double>((*layer.getMatmul())[2]),
             bytes = static_cast<double>(layer.getBytes()),
             factorBytes = k * (m + n) * elementBytes;
  if ((bytes != m * n * elementBytes && bytes != (m * n + n) * elementBytes) ||
      factorBytes >= maxBytes)
    return std::nullopt;
  return TimedFactors{.bytes = static_cast<std::int64_t>(factorBytes),
                      .reconstruct = device.getCompute() ? 2 * m * n * k / *device.getCompute()
                                                         : gradient.backward / 2,
                      .piggybacks = {}};
}

/// Adds the gradients of a trace that can be computed from another's factors.
static void addPiggybacks(const cost::Timeline &timeline,
                          std::vector<std::optional<TimedFactors>> &all) {
  llvm::StringMap<std::size_t> places;
  for (std::size_t k = 0; k < all.size(); ++k)
    places[timeline.gradients[k].name] = k;
  for (std::size_t k = 0; k < all.size(); ++k) {
    sync::LayerOp layer = timeline.gradients[k].layer;
    auto carrier = layer ? layer.getCarrierAttr() : StringAttr();
    const auto place = carrier ? places.find(carrier.getValue()) : places.end();
    if (place != places.end() && all[place->second])
      all[place->second]->piggybacks.push_back({k, timeline.gradients[k].reconstruct});
  }
}

std::vector<std::optional<TimedFactors>> timedFactors(const cost::Timeline &timeline,
                                                      cluster::DeviceAttr device) {
  Places places;
  for (std::size_t k = 0; k < timeline.gradients.size(); ++k)
    if (const cost::ReadyGradient &gradient = timeline.gradients[k]; gradient.local)
      places[gradient.local] = k;
  std::optional<Piggybacks> piggybacks;
  std::vector<std::optional<TimedFactors>> all;
  for (const cost::ReadyGradient &gradient : timeline.gradients) {
    std::optional<TimedFactors> factors;
    if (gradient.layer) {
      factors = ofLayer(gradient, device);
    } else if (gradient.local) {
      if (!piggybacks) // all gradients of a timeline belong to one step
        piggybacks.emplace(sync::GradientOp(gradient.local)->getParentOfType<nn::StepOp>());
      factors = ofGradient(gradient.local, places, *piggybacks);
    }
    all.push_back(std::move(factors));
  }
  addPiggybacks(timeline, all);
  return all;
}

} // namespace syncline::merge
