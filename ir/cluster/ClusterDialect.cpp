// Registers the cluster dialect and verifies the rules of its attributes (SPEC.md).
#include "ir/cluster/Cluster.h"
#include "ir/cluster/SpecFields.h"
#include "syncline/PlanConstants.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace syncline::cluster;

/// Reads attributes without their mnemonic: "[<ring, #cluster.affine<...>>, ...]".
template <typename Attr> static FailureOr<SmallVector<Attr>> parseBracketed(AsmParser &parser) {
  SmallVector<Attr> attributes;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
        return parser.parseCustomAttributeWithFallback(attributes.emplace_back());
      }))
    return failure();
  return attributes;
}

template <typename Attr> static void printBracketed(AsmPrinter &printer, ArrayRef<Attr> list) {
  printer << "[";
  llvm::interleaveComma(list, printer,
                        [&](Attr attribute) { printer.printStrippedAttrOrType(attribute); });
  printer << "]";
}

/// Reads a list of nodes: "[0, 3]".
static FailureOr<SmallVector<int64_t>> parseNodes(AsmParser &parser) {
  SmallVector<int64_t> nodes;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&] { return parser.parseInteger(nodes.emplace_back()); }))
    return failure();
  return nodes;
}

static void printNodes(AsmPrinter &printer, ArrayRef<int64_t> nodes) {
  printer << "[";
  llvm::interleaveComma(nodes, printer);
  printer << "]";
}

#include "ir/cluster/ClusterDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/cluster/ClusterAttrs.cpp.inc"

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

void ClusterDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/cluster/ClusterAttrs.cpp.inc"
      >();
}

/// The text of a double in a diagnostic.
static std::string text(Real value) {
  std::string result;
  llvm::raw_string_ostream(result) << value;
  return result;
}

/// Checks that a time or constant is finite and not negative. Minus zero is refused, because it
/// prints differently.
static LogicalResult checkTime(EmitError emitError, StringRef rule, StringRef name, Real value) {
  if (std::isfinite(value) && !std::signbit(value))
    return success();
  return emitError() << rule << ": expected '" << name << "' finite and not negative, got "
                     << text(value);
}

static LogicalResult checkCount(EmitError emitError, StringRef rule, StringRef name, int64_t count,
                                int64_t limit = syncline::maxRanks) {
  if (count >= 1 && count <= limit)
    return success();
  return emitError() << rule << ": expected '" << name << "' from 1 to " << limit << ", got "
                     << count;
}

static LogicalResult checkBytes(EmitError emitError, StringRef rule, StringRef name,
                                std::optional<int64_t> bytes) {
  if (!bytes || *bytes >= 1)
    return success();
  return emitError() << rule << ": expected '" << name << "' of at least one byte, got " << *bytes;
}

/// C15: interference is at least 1, because messages make nothing faster.
static LogicalResult checkInterference(EmitError emitError, StringRef name,
                                       std::optional<Real> times) {
  if (!times || (*times >= 1 && *times <= maxInterference))
    return success();
  return emitError() << "C15: expected '" << name << "' from 1 to " << text(maxInterference)
                     << ", got " << text(*times);
}

LogicalResult KernelsAttr::verify(EmitError emitError, StringRef like, DictionaryAttr numbers) {
  if (!llvm::is_contained(allLikes, like))
    return emitError() << "C16: expected 'like' as pytorch, pytorch-nchw, compiled or best, got '"
                       << like << "'";
  for (const NamedAttribute &entry : numbers) {
    auto number = llvm::dyn_cast<FloatAttr>(entry.getValue());
    if (!number || !number.getType().isF64() || !std::isfinite(number.getValueAsDouble()) ||
        number.getValueAsDouble() < 0)
      return emitError() << "C16: expected '" << entry.getName().getValue()
                         << "' as an f64 that is finite and not negative, got " << entry.getValue();
  }
  return success();
}

LogicalResult DeviceAttr::verify(EmitError emitError, std::optional<Real> compute,
                                 std::optional<Real> memory, Real launchOverhead,
                                 std::optional<int64_t> memorySize, KernelsAttr) {
  const std::pair<StringRef, std::optional<Real>> rates[] = {{"compute", compute},
                                                             {"memory", memory}};
  for (const auto &[name, rate] : rates)
    if (rate && !(std::isfinite(*rate) && *rate > 0))
      return emitError() << "C2: expected '" << name << "' finite and above zero, got "
                         << text(*rate);
  return failure(failed(checkTime(emitError, "C2", "launchOverhead", launchOverhead)) ||
                 failed(checkBytes(emitError, "C2", "memorySize", memorySize)));
}

/// C17: NCCL's times over a link are finite and not negative, its shares of the rate above zero.
LogicalResult ProtocolsAttr::verify(EmitError emitError, Real ll, Real llShare, Real ll128,
                                    Real ll128Share, Real simple, Real simpleShare,
                                    std::optional<Real> inSwitch,
                                    std::optional<Real> inSwitchShare) {
  if (inSwitch.has_value() != inSwitchShare.has_value())
    return emitError() << "C17: expected both 'inSwitch' and 'inSwitchShare' or neither, got one";
  const std::pair<StringRef, Real> times[] = {
      {"ll", ll}, {"ll128", ll128}, {"simple", simple}, {"inSwitch", inSwitch.value_or(Real(0))}};
  for (const auto &[name, time] : times)
    if (failed(checkTime(emitError, "C17", name, time)))
      return failure();
  const std::pair<StringRef, Real> shares[] = {{"llShare", llShare},
                                               {"ll128Share", ll128Share},
                                               {"simpleShare", simpleShare},
                                               {"inSwitchShare", inSwitchShare.value_or(Real(1))}};
  for (const auto &[name, share] : shares)
    if (!(std::isfinite(share) && share > 0))
      return emitError() << "C17: expected '" << name << "' finite and above zero, got "
                         << text(share);
  return success();
}

LogicalResult LinkAttr::verify(EmitError emitError, Real alpha, Real beta, Real gamma,
                               ProtocolsAttr) {
  if (!(std::isfinite(beta) && beta > 0))
    return emitError() << "C9: expected 'beta' finite and above zero, got " << text(beta);
  return failure(failed(checkTime(emitError, "C9", "alpha", alpha)) ||
                 failed(checkTime(emitError, "C9", "gamma", gamma)));
}

LogicalResult ServersAttr::verify(EmitError emitError, int64_t count, bool, LinkAttr,
                                  std::optional<int64_t> memory) {
  return failure(failed(checkCount(emitError, "C10", "count", count)) ||
                 failed(checkBytes(emitError, "C10", "memory", memory)));
}

LogicalResult FormulaAttr::verify(EmitError emitError, Scheme algorithm, int64_t ranks, Real alpha,
                                  Real beta, Real gamma) {
  if (!hasFormula(algorithm))
    return emitError() << "C3: expected 'algorithm' " << listOf(schemesWhere<hasFormula>)
                       << ", got " << stringifyScheme(algorithm);
  return failure(failed(checkCount(emitError, "C3", "ranks", ranks)) ||
                 failed(checkTime(emitError, "C3", "alpha", alpha)) ||
                 failed(checkTime(emitError, "C3", "beta", beta)) ||
                 failed(checkTime(emitError, "C3", "gamma", gamma)));
}

LogicalResult AffineAttr::verify(EmitError emitError, Real a, Real b) {
  return failure(failed(checkTime(emitError, "C4", "a", a)) ||
                 failed(checkTime(emitError, "C4", "b", b)));
}

LogicalResult TableAttr::verify(EmitError emitError, ArrayRef<Point> points) {
  if (points.empty())
    return emitError() << "C5: expected at least one point, got none";
  int64_t previous = -1;
  for (const Point &point : points) {
    if (point.bytes <= previous)
      return emitError() << "C5: expected sizes from zero in ascending order, got " << point.bytes
                         << " after " << previous;
    if (failed(checkTime(emitError, "C5", "seconds", point.seconds)))
      return failure();
    previous = point.bytes;
  }
  return success();
}

LogicalResult CollectiveAttr::verify(EmitError emitError, Scheme scheme, Attribute cost,
                                     std::optional<Real> interference, std::optional<Real> products,
                                     std::optional<Real> memory) {
  if (failed(checkInterference(emitError, "interference", interference)) ||
      failed(checkInterference(emitError, "products", products)) ||
      failed(checkInterference(emitError, "memory", memory)))
    return failure();
  if (!isCost(cost))
    return emitError() << "C11: expected the cost of '" << stringifyScheme(scheme)
                       << "' to be #cluster.formula, #cluster.affine or #cluster.table, got "
                       << cost;
  if (pricedAs(scheme) != scheme)
    return emitError() << "C11: expected no cost of '" << stringifyScheme(scheme)
                       << "', whose all-gather costs what that of '"
                       << stringifyScheme(pricedAs(scheme)) << "' does";
  if (auto formula = llvm::dyn_cast<FormulaAttr>(cost); formula && formula.getAlgorithm() != scheme)
    return emitError() << "C11: expected the cost of '" << stringifyScheme(scheme)
                       << "', got the formula of '" << stringifyScheme(formula.getAlgorithm())
                       << "'";
  return success();
}

/// C6: each scheme has one cost, and formulas are for the spec's ranks.
static LogicalResult checkCollectives(EmitError emitError, ArrayRef<CollectiveAttr> collectives,
                                      int64_t ranks) {
  llvm::SmallSet<Scheme, 8> seen;
  for (CollectiveAttr collective : collectives) {
    if (!seen.insert(collective.getScheme()).second)
      return emitError() << "C6: expected one cost of '" << stringifyScheme(collective.getScheme())
                         << "', got two";
    auto formula = llvm::dyn_cast<FormulaAttr>(collective.getCost());
    if (formula && formula.getRanks() != ranks)
      return emitError() << "C6: expected a formula for " << ranks << " ranks, got one for "
                         << formula.getRanks();
  }
  return success();
}

LogicalResult OverrideAttr::verify(EmitError emitError, ArrayRef<int64_t> nodes, Real slowdown,
                                   LinkAttr) {
  if (nodes.empty())
    return emitError() << "C14: expected at least one node, got none";
  int64_t previous = -1;
  for (int64_t node : nodes) {
    if (node <= previous)
      return emitError() << "C14: expected nodes from zero in ascending order, got " << node
                         << " after " << previous;
    previous = node;
  }
  if (!(std::isfinite(slowdown) && slowdown > 0))
    return emitError() << "C14: expected 'slowdown' finite and above zero, got " << text(slowdown);
  return success();
}

/// C14: overrides name nodes of the cluster, none twice, and replace a link that the spec has.
static LogicalResult checkOverrides(EmitError emitError, ArrayRef<OverrideAttr> overrides,
                                    int64_t nodeCount, LinkAttr link) {
  llvm::SmallSet<int64_t, 8> seen;
  for (OverrideAttr change : overrides) {
    for (int64_t node : change.getNodes()) {
      if (node >= nodeCount)
        return emitError() << "C14: expected nodes below " << nodeCount << ", got " << node;
      if (!seen.insert(node).second)
        return emitError() << "C14: expected every node in one override, got node " << node
                           << " in two";
    }
    if (change.getLink() && !link)
      return emitError()
             << "C14: expected the spec to have a 'link' where an override has, got none";
  }
  return success();
}

static int64_t nodesOf(int64_t ranks, int64_t devicesPerNode) {
  return (ranks + devicesPerNode - 1) / devicesPerNode;
}

LogicalResult
SpecAttr::verify(EmitError emitError, StringRef, int64_t ranks, int64_t devicesPerNode,
                 int64_t cardsPerNode, int64_t groups, DeviceAttr, LinkAttr link, LinkAttr, bool,
                 Real interference, std::optional<Real> productsInterference,
                 std::optional<Real> memoryInterference, std::optional<Real> latencyInterference,
                 std::optional<Real> messageInterference, ArrayRef<CollectiveAttr> collectives,
                 ServersAttr servers, std::optional<int64_t> largestMessage,
                 ArrayRef<OverrideAttr> overrides, bool) {
  if (failed(checkCount(emitError, "C1", "ranks", ranks)) ||
      failed(checkCount(emitError, "C1", "devicesPerNode", devicesPerNode, ranks)) ||
      failed(checkCount(emitError, "C1", "cardsPerNode", cardsPerNode)) ||
      failed(checkCount(emitError, "C1", "groups", groups)) ||
      failed(checkInterference(emitError, "interference", interference)) ||
      failed(checkInterference(emitError, "productsInterference", productsInterference)) ||
      failed(checkInterference(emitError, "memoryInterference", memoryInterference)) ||
      failed(checkInterference(emitError, "latencyInterference", latencyInterference)) ||
      failed(checkInterference(emitError, "messageInterference", messageInterference)) ||
      failed(checkCollectives(emitError, collectives, ranks)) ||
      failed(checkBytes(emitError, "C12", "largestMessage", largestMessage)) ||
      failed(checkOverrides(emitError, overrides, nodesOf(ranks, devicesPerNode), link)))
    return failure();
  if (servers && !servers.getDedicated() && servers.getCount() > ranks)
    return emitError() << "C10: expected at most one colocated server a rank, got "
                       << servers.getCount() << " for " << ranks << " ranks";
  if (!link && llvm::all_of(collectives, [](CollectiveAttr collective) {
        return collective.getScheme() == Scheme::factors;
      }))
    return emitError() << "C13: expected a 'link' or the cost of a collective that takes every "
                          "gradient, got neither";
  return success();
}

LogicalResult TimesAttr::verify(EmitError emitError, Real forward, std::optional<Real> backward) {
  return failure(failed(checkTime(emitError, "C8", "forward", forward)) ||
                 (backward && failed(checkTime(emitError, "C8", "backward", *backward))));
}

SpecAttr syncline::cluster::withNccl(SpecAttr spec, bool nccl) {
  SpecFields fields(spec);
  fields.nccl = nccl;
  if (nccl)
    return fields.get(spec.getContext());
  const auto withoutProtocols = [](LinkAttr link) {
    return LinkAttr::get(link.getContext(), link.getAlpha(), link.getBeta(), link.getGamma(), {});
  };
  fields.changeNetwork(withoutProtocols);
  if (fields.inside)
    fields.inside = withoutProtocols(fields.inside);
  return fields.get(spec.getContext());
}

/// The largest value of all nodes. `value` gives that of an override, or nothing where the override
/// has the common one. Nodes without an override have `common`.
static double largest(SpecAttr spec, double common,
                      llvm::function_ref<std::optional<double>(OverrideAttr)> value) {
  int64_t others = nodesOf(spec.getRanks(), spec.getDevicesPerNode());
  std::optional<double> most;
  for (OverrideAttr change : spec.getOverrides())
    if (const std::optional<double> own = value(change)) {
      others -= static_cast<int64_t>(change.getNodes().size());
      most = std::max(most.value_or(*own), *own);
    }
  return others > 0 ? std::max(most.value_or(common), common) : *most;
}

double syncline::cluster::slowdown(SpecAttr spec) {
  return largest(spec, 1,
                 [](OverrideAttr change) { return std::optional<double>(change.getSlowdown()); });
}

/// The kernels of a node that takes `times` as long; null stays null.
static KernelsAttr slowed(KernelsAttr kernels, double times) {
  if (!kernels || times == 1)
    return kernels;
  NamedAttrList numbers(kernels.getNumbers());
  auto before = dyn_cast_or_null<FloatAttr>(numbers.get(slowdownNumber));
  numbers.set(slowdownNumber,
              Builder(kernels.getContext())
                  .getF64FloatAttr(times * (before ? before.getValueAsDouble() : 1)));
  return KernelsAttr::get(kernels.getContext(), kernels.getLike(),
                          numbers.getDictionary(kernels.getContext()));
}

DeviceAttr syncline::cluster::slowestDevice(SpecAttr spec) {
  const double times = slowdown(spec);
  DeviceAttr device = spec.getDevice();
  auto slower = [&](std::optional<Real> rate) {
    return rate ? std::optional<Real>(*rate / times) : std::nullopt;
  };
  return DeviceAttr::get(spec.getContext(), slower(device.getCompute()), slower(device.getMemory()),
                         device.getLaunchOverhead() * times, device.getMemorySize(),
                         slowed(device.getKernels(), times));
}

LinkAttr syncline::cluster::slowestLink(SpecAttr spec) {
  LinkAttr link = spec.getLink();
  if (!link)
    return link;
  auto most = [&](Real (LinkAttr::*part)() const) {
    return largest(spec, (link.*part)(), [&](OverrideAttr change) {
      return change.getLink() ? std::optional<double>((change.getLink().*part)()) : std::nullopt;
    });
  };
  ProtocolsAttr protocols = link.getProtocols();
  for (OverrideAttr change : spec.getOverrides())
    if (change.getLink())
      protocols = slowerOf(protocols, change.getLink().getProtocols());
  return LinkAttr::get(spec.getContext(), most(&LinkAttr::getAlpha), most(&LinkAttr::getBeta),
                       most(&LinkAttr::getGamma), protocols);
}
