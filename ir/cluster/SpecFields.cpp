// From a spec to its fields and back.
#include "ir/cluster/SpecFields.h"

#include <set>

using namespace mlir;

namespace syncline::cluster {

SpecFields::SpecFields(SpecAttr spec)
    : name(spec.getName()), ranks(spec.getRanks()), devicesPerNode(spec.getDevicesPerNode()),
      cardsPerNode(spec.getCardsPerNode()), groups(spec.getGroups()), device(spec.getDevice()),
      link(spec.getLink()), inside(spec.getInside()), halfDuplex(spec.getHalfDuplex()),
      interference(spec.getInterference()), productsInterference(spec.getProductsInterference()),
      memoryInterference(spec.getMemoryInterference()),
      latencyInterference(spec.getLatencyInterference()),
      messageInterference(spec.getMessageInterference()), collectives(spec.getCollectives()),
      servers(spec.getServers()), largestMessage(spec.getLargestMessage()),
      overrides(spec.getOverrides()), nccl(spec.getNccl()) {}

LinkAttr withAlpha(LinkAttr link, double alpha) {
  ProtocolsAttr has = link.getProtocols();
  if (has && link.getAlpha() > 0) {
    const double times = alpha / link.getAlpha();
    std::optional<Real> inSwitch = has.getInSwitch();
    if (inSwitch)
      inSwitch = *inSwitch * times;
    has = ProtocolsAttr::get(link.getContext(), has.getLl() * times, has.getLlShare(),
                             has.getLl128() * times, has.getLl128Share(), has.getSimple() * times,
                             has.getSimpleShare(), inSwitch, has.getInSwitchShare());
  }
  return LinkAttr::get(link.getContext(), alpha, link.getBeta(), link.getGamma(), has);
}

ProtocolsAttr slowerOf(ProtocolsAttr a, ProtocolsAttr b) {
  if (!a || !b || a == b)
    return a && b ? a : ProtocolsAttr();
  const auto later = [](Real x, Real y) { return Real(std::max<double>(x, y)); };
  const auto less = [](Real x, Real y) { return Real(std::min<double>(x, y)); };
  std::optional<Real> inSwitch, inSwitchShare; // a switch counts where all have it
  if (a.getInSwitch() && b.getInSwitch()) {
    inSwitch = later(*a.getInSwitch(), *b.getInSwitch());
    inSwitchShare = less(*a.getInSwitchShare(), *b.getInSwitchShare());
  }
  return ProtocolsAttr::get(a.getContext(), later(a.getLl(), b.getLl()),
                            less(a.getLlShare(), b.getLlShare()), later(a.getLl128(), b.getLl128()),
                            less(a.getLl128Share(), b.getLl128Share()),
                            later(a.getSimple(), b.getSimple()),
                            less(a.getSimpleShare(), b.getSimpleShare()), inSwitch, inSwitchShare);
}

SpecAttr SpecFields::get(MLIRContext *context) const {
  return SpecAttr::get(context, name, ranks, devicesPerNode, cardsPerNode, groups, device, link,
                       inside, halfDuplex, interference, productsInterference, memoryInterference,
                       latencyInterference, messageInterference, collectives, servers,
                       largestMessage, overrides, nccl);
}

/// Replaces every formula by what `change` makes of it; measured costs stay.
static void changeFormulas(SpecFields &fields,
                           llvm::function_ref<FormulaAttr(FormulaAttr)> change) {
  for (CollectiveAttr &stated : fields.collectives)
    if (auto formula = dyn_cast<FormulaAttr>(stated.getCost()))
      stated = stated.withCost(change(formula));
}

void SpecFields::changeNetwork(llvm::function_ref<LinkAttr(LinkAttr)> change) {
  if (link)
    link = change(link);
  if (servers)
    servers = ServersAttr::get(servers.getContext(), servers.getCount(), servers.getDedicated(),
                               servers.getLink() ? change(servers.getLink()) : LinkAttr(),
                               servers.getMemory());
  for (OverrideAttr &own : overrides)
    own = OverrideAttr::get(own.getContext(), own.getNodes(), own.getSlowdown(),
                            own.getLink() ? change(own.getLink()) : LinkAttr());
  changeFormulas(*this, [&](FormulaAttr formula) {
    MLIRContext *context = formula.getContext();
    const LinkAttr rates = change(
        LinkAttr::get(context, formula.getAlpha(), formula.getBeta(), formula.getGamma(), {}));
    return FormulaAttr::get(context, formula.getAlgorithm(), formula.getRanks(), rates.getAlpha(),
                            rates.getBeta(), rates.getGamma());
  });
}

void SpecFields::setRanks(std::int64_t count) {
  ranks = count;
  changeFormulas(*this, [&](FormulaAttr formula) {
    return FormulaAttr::get(formula.getContext(), formula.getAlgorithm(), count, formula.getAlpha(),
                            formula.getBeta(), formula.getGamma());
  });
}

SpecAttr slowedBy(SpecAttr spec, double factor) {
  MLIRContext *const context = spec.getContext();
  SpecFields fields(spec);
  fields.overrides.clear();
  std::set<std::int64_t> others;
  const std::int64_t devices = spec.getDevicesPerNode();
  for (std::int64_t node = 0; node < (spec.getRanks() + devices - 1) / devices; ++node)
    others.insert(others.end(), node);
  for (OverrideAttr own : spec.getOverrides()) {
    for (const std::int64_t node : own.getNodes())
      others.erase(node);
    fields.overrides.push_back(OverrideAttr::get(
        context, own.getNodes(), double(own.getSlowdown()) * factor, own.getLink()));
  }
  if (!others.empty())
    fields.overrides.push_back(
        OverrideAttr::get(context, llvm::to_vector(others), factor, LinkAttr()));
  return fields.get(context);
}

Status expectRoom(SpecAttr spec, std::int64_t ranks, const std::string &what) {
  ServersAttr servers = spec.getServers();
  if (servers && !servers.getDedicated() && servers.getCount() > ranks)
    return Status::badInput(what + " has " + std::to_string(servers.getCount()) +
                            " servers beside the ranks, expected at most " + std::to_string(ranks) +
                            ", the ranks");
  const std::int64_t devices = spec.getDevicesPerNode(), nodes = (ranks + devices - 1) / devices;
  for (OverrideAttr own : spec.getOverrides())
    for (std::int64_t node : own.getNodes())
      if (node >= nodes)
        return Status::badInput(what + " overrides node " + std::to_string(node) +
                                ", expected nodes below " + std::to_string(nodes));
  return Status::ok();
}

} // namespace syncline::cluster
