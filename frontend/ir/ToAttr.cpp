// Turns structs into attributes; the files' readers have checked the values.
#include "frontend/ir/ToAttr.h"

#include "ir/cluster/SpecFields.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace syncline::frontend {

using namespace files;

/// Both enums spell their schemes alike.
static Attribute costAttr(const CollectiveTime &time, int64_t ranks, MLIRContext *context) {
  if (const auto *formula = std::get_if<FormulaCost>(&time))
    return cluster::FormulaAttr::get(context, formula->algorithm, ranks, formula->alpha,
                                     formula->beta, formula->gamma);
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

/// The seconds of the link's kind, in proportion to the latency that the link states.
static cluster::ProtocolsAttr protocolsAttr(const Link &link, MLIRContext *context) {
  if (!link.protocols)
    return {};
  const Protocols &has = *link.protocols;
  const double times = link.latency / has.latency;
  const std::optional<double> inSwitch =
      has.inSwitch ? std::optional(*has.inSwitch * times) : std::nullopt;
  return cluster::ProtocolsAttr::get(context, has.ll * times, has.llShare, has.ll128 * times,
                                     has.ll128Share, has.simple * times, has.simpleShare,
                                     real(inSwitch), real(has.inSwitchShare));
}

static cluster::LinkAttr linkAttr(const Link &link, MLIRContext *context) {
  return cluster::LinkAttr::get(context, link.latency, 1 / link.bandwidth, link.secondsPerReduce,
                                protocolsAttr(link, context));
}

static cluster::LinkAttr linkAttr(const std::optional<Link> &link, MLIRContext *context) {
  return link ? linkAttr(*link, context) : cluster::LinkAttr();
}

/// Peaks and bandwidth count as much of the data sheet's as `efficiency` says.
static cluster::KernelsAttr kernelsAttr(const DeviceRates &device, MLIRContext *context) {
  if (!device.kernels)
    return {};
  Builder builder(context);
  SmallVector<NamedAttribute> numbers;
  for (const auto &[name, number] : device.kernels->numbers) {
    const bool isRate =
        llvm::is_contained({"fp32", "tf32", "bf16", "fp16", "bandwidth"}, StringRef(name));
    numbers.push_back(builder.getNamedAttr(
        name, builder.getF64FloatAttr(isRate ? number * device.efficiency : number)));
  }
  return cluster::KernelsAttr::get(context, device.kernels->like,
                                   builder.getDictionaryAttr(numbers));
}

cluster::SpecAttr toAttr(const ClusterFile &file, MLIRContext *context) {
  const auto reached = [&](const std::optional<double> &rate) {
    return rate ? real(*rate * file.device.efficiency) : std::nullopt;
  };
  cluster::SpecFields spec;
  spec.name = file.name;
  spec.ranks = file.ranks;
  spec.devicesPerNode = file.devicesPerNode;
  spec.cardsPerNode = file.cardsPerNode;
  spec.groups = file.groups;
  spec.device = cluster::DeviceAttr::get(context, reached(file.device.compute),
                                         reached(file.device.memory), file.device.launchOverhead,
                                         file.device.memorySize, kernelsAttr(file.device, context));
  spec.link = linkAttr(file.network, context);
  spec.inside = linkAttr(file.inside, context);
  spec.halfDuplex = file.halfDuplex;
  spec.interference = file.interference;
  spec.productsInterference = file.interferenceBy.products;
  spec.memoryInterference = file.interferenceBy.memory;
  spec.latencyInterference = file.latencyInterference;
  spec.messageInterference = file.messageInterference;
  for (const StatedCost &stated : file.collectives)
    spec.collectives.push_back(cluster::CollectiveAttr::get(
        context, stated.scheme, costAttr(stated.time, file.ranks, context),
        real(stated.interference), real(stated.interferenceBy.products),
        real(stated.interferenceBy.memory)));
  if (file.servers)
    spec.servers =
        cluster::ServersAttr::get(context, file.servers->count, file.servers->dedicated,
                                  linkAttr(file.servers->link, context), file.servers->memory);
  spec.largestMessage = file.largestMessage;
  for (const NodeOverride &change : file.overrides)
    spec.overrides.push_back(cluster::OverrideAttr::get(context, change.nodes, change.slowdown,
                                                        linkAttr(change.network, context)));
  return spec.get(context);
}

static SmallVector<NamedAttribute> provenanceOfRates(const ClusterFile &cluster, Builder builder) {
  SmallVector<NamedAttribute> entries;
  if (!cluster.device.kind.empty())
    entries.push_back(builder.getNamedAttr("device", builder.getStringAttr(cluster.device.kind)));
  if (cluster.device.efficiency != 1)
    entries.push_back(
        builder.getNamedAttr("efficiency", builder.getF64FloatAttr(cluster.device.efficiency)));
  return entries;
}

DictionaryAttr provenanceAttr(const ClusterFile &cluster, MLIRContext *context) {
  return DictionaryAttr::get(context, provenanceOfRates(cluster, Builder(context)));
}

DictionaryAttr provenanceAttr(const ClusterFile &cluster, const Profile &profile,
                              const std::string &file, MLIRContext *context) {
  Builder builder(context);
  SmallVector<NamedAttribute> entries = provenanceOfRates(cluster, builder);
  entries.push_back(builder.getNamedAttr("profile", builder.getStringAttr(file)));
  if (profile.threads)
    entries.push_back(builder.getNamedAttr("threads", builder.getI64IntegerAttr(*profile.threads)));
  return builder.getDictionaryAttr(entries);
}

DictionaryAttr toAttr(const Profile &profile, MLIRContext *context) {
  Builder builder(context);
  SmallVector<NamedAttribute> layers;
  for (const auto &[name, times] : profile.operations)
    layers.push_back(builder.getNamedAttr(
        name, cluster::TimesAttr::get(context, times.forward, real(times.backward))));
  return builder.getDictionaryAttr(layers);
}

ArrayAttr scatterAttr(const Profile &profile, MLIRContext *context) {
  Builder builder(context);
  SmallVector<Attribute> ranks;
  for (const std::vector<double> &factors : profile.scatter)
    ranks.push_back(builder.getF64ArrayAttr(factors));
  return builder.getArrayAttr(ranks);
}

} // namespace syncline::frontend
