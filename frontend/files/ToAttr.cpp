// Structs to attributes; values were checked when the files were read.
#include "frontend/files/ToAttr.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace syncline::files {

static cluster::Scheme algorithmOf(AllReduceAlgorithm algorithm) {
  switch (algorithm) {
  case AllReduceAlgorithm::ring:
    return cluster::Scheme::ring;
  case AllReduceAlgorithm::recursiveDoubling:
    return cluster::Scheme::recursiveDoubling;
  case AllReduceAlgorithm::halvingDoubling:
    return cluster::Scheme::halvingDoubling;
  case AllReduceAlgorithm::tree:
    return cluster::Scheme::tree;
  }
  llvm_unreachable("every algorithm is named above");
}

static Attribute costAttr(const CollectiveTime &time, int64_t ranks, MLIRContext *context) {
  if (const auto *formula = std::get_if<FormulaCost>(&time))
    return cluster::FormulaAttr::get(context, algorithmOf(formula->algorithm), ranks,
                                     formula->alpha, formula->beta, formula->gamma);
  if (const auto *line = std::get_if<AffineCost>(&time))
    return cluster::AffineAttr::get(context, line->a, line->b);
  SmallVector<cluster::Point> points;
  for (const TableCost::Point &point : std::get<TableCost>(time).points)
    points.push_back({point.bytes, point.seconds});
  return cluster::TableAttr::get(context, points);
}

static std::optional<cluster::Real> real(const std::optional<double> &value) {
  return value ? std::optional<cluster::Real>(*value) : std::nullopt;
}

cluster::SpecAttr toAttr(const ClusterFile &file, MLIRContext *context) {
  auto device = cluster::DeviceAttr::get(context, real(file.device.compute),
                                         real(file.device.memory), file.device.launchOverhead);
  Attribute cost = costAttr(file.allReduce, file.ranks, context);
  auto formula = dyn_cast<cluster::FormulaAttr>(cost);
  auto collective = cluster::CollectiveAttr::get(
      context, formula ? formula.getAlgorithm() : cluster::Scheme::ring, cost);
  cluster::LinkAttr link;
  if (file.network)
    link = cluster::LinkAttr::get(context, file.network->latency, 1 / file.network->bandwidth,
                                  file.network->secondsPerReduce);
  return cluster::SpecAttr::get(context, file.name, file.ranks, 1, device, link, {}, false,
                                {collective}, {}, std::nullopt);
}

DictionaryAttr toAttr(const Profile &profile, MLIRContext *context) {
  Builder builder(context);
  SmallVector<NamedAttribute> layers;
  for (const auto &[name, times] : profile.operations)
    layers.push_back(builder.getNamedAttr(
        name, cluster::TimesAttr::get(context, times.forward, real(times.backward))));
  return builder.getDictionaryAttr(layers);
}

} // namespace syncline::files
