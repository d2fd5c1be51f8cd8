// Kinds of devices.yaml and networks.yaml.
#include "frontend/files/ClusterKinds.h"

#include "frontend/files/DeviceTable.h"
#include "frontend/files/NetworkTable.h"

#include <algorithm>
#include <vector>

namespace syncline::files {
namespace {

constexpr double usualLaunchOverhead = 5e-6;

const std::vector<NamedLink> &linksOf(LinkPlace place) {
  return place == LinkPlace::betweenNodes ? linksBetweenNodes() : linksInsideNodes();
}

std::vector<std::string_view> namesOf(const std::vector<NamedLink> &links) {
  std::vector<std::string_view> names;
  for (const NamedLink &link : links)
    names.push_back(link.name);
  return names;
}

} // namespace

std::optional<DeviceRates> deviceKind(std::string_view name) {
  const DeviceKind *found = findDeviceKind(name);
  if (!found)
    return std::nullopt;
  DeviceRates rates{.compute = found->peaks.at("fp32"),
                    .memory = found->bandwidth,
                    .launchOverhead = usualLaunchOverhead,
                    .memorySize = std::nullopt};
  if (found->memorySize > 0)
    rates.memorySize = found->memorySize;
  return rates;
}

void predictByKind(DeviceRates &device, const std::string &precision, const std::string &like) {
  const DeviceKind *kind = findDeviceKind(device.kind);
  if (!kind || device.statesRates)
    return;
  if (kind->isGpu()) {
    device.kernels = KernelRates{like, kernelNumbers(*kind, like)};
    if (device.launchOverhead != usualLaunchOverhead)
      device.kernels->numbers["launch"] = device.launchOverhead;
  } else if (const auto peak = kind->peaks.find(precision); peak != kind->peaks.end()) {
    device.compute = peak->second;
  }
}

std::int64_t deviceCapability(std::string_view name) {
  const DeviceKind *found = findDeviceKind(name);
  return found ? found->capability : 0;
}

std::string_view deviceNvlink(std::string_view name) {
  const DeviceKind *found = findDeviceKind(name);
  return found ? std::string_view(found->nvlink) : std::string_view();
}

std::span<const std::string_view> deviceKinds() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const DeviceKind &kind : allDeviceKinds())
      all.push_back(kind.name);
    return all;
  }();
  return names;
}

std::optional<Link> linkKind(std::string_view name, LinkPlace place) {
  const auto &links = linksOf(place);
  const auto found = std::ranges::find(links, name, &NamedLink::name);
  return found == links.end() ? std::nullopt : std::optional(found->link);
}

bool isOfWholeNode(std::string_view name) {
  const auto &links = linksBetweenNodes();
  const auto found = std::ranges::find(links, name, &NamedLink::name);
  return found != links.end() && found->isOfWholeNode;
}

std::span<const std::string_view> linkKinds(LinkPlace place) {
  static const std::vector<std::string_view> between = namesOf(linksBetweenNodes()),
                                             inside = namesOf(linksInsideNodes());
  return place == LinkPlace::betweenNodes ? between : inside;
}

} // namespace syncline::files
