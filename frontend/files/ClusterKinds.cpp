// Tables of kinds: devices.yaml's devices, and links.
#include "frontend/files/ClusterKinds.h"

#include "frontend/files/DeviceTable.h"

#include <algorithm>
#include <array>

namespace syncline::files {
namespace {

constexpr double usualLaunchOverhead = 5e-6;

struct NamedLink {
  std::string_view name;
  double bandwidth; ///< bytes/s each way
  double latency;   ///< seconds
};

constexpr double gigabit = 1e9 / 8;

// Ethernet's latencies are TCP's, InfiniBand's those of RDMA. InfiniBand's rates are of data, after
// its encoding.
constexpr auto networkKinds = std::to_array<NamedLink>({
    {"ethernet-1g", 1 * gigabit, 100e-6},
    {"ethernet-10g", 10 * gigabit, 50e-6},
    {"ethernet-25g", 25 * gigabit, 30e-6},
    {"ethernet-40g", 40 * gigabit, 30e-6},
    {"ethernet-50g", 50 * gigabit, 30e-6},
    {"ethernet-100g", 100 * gigabit, 25e-6},
    {"ethernet-200g", 200 * gigabit, 25e-6},
    {"ethernet-400g", 400 * gigabit, 25e-6},
    {"infiniband-qdr", 32 * gigabit, 5e-6},
    {"infiniband-fdr", 54.54 * gigabit, 5e-6},
    {"infiniband-edr", 100 * gigabit, 5e-6},
    {"infiniband-hdr", 200 * gigabit, 5e-6},
    {"infiniband-ndr", 400 * gigabit, 5e-6},
    {"infiniband-xdr", 800 * gigabit, 5e-6},
});

// The rates add up all NVLinks of one device: 4 of 20 GB/s; 6, 12 and 18 of 25 GB/s. PCIe has 16
// lanes; its rates are those after encoding.
constexpr auto insideNode = std::to_array<NamedLink>({
    {"nvlink-p100", 80e9, 3e-6},
    {"nvlink-v100", 150e9, 3e-6},
    {"nvlink-a100", 300e9, 3e-6},
    {"nvlink-h100", 450e9, 3e-6},
    {"pcie-3", 15.754e9, 10e-6},
    {"pcie-4", 31.508e9, 10e-6},
    {"pcie-5", 63.015e9, 10e-6},
});

template <typename Row, std::size_t N>
constexpr std::array<std::string_view, N> namesOf(const std::array<Row, N> &rows) {
  std::array<std::string_view, N> names;
  std::ranges::transform(rows, names.begin(), &Row::name);
  return names;
}

constexpr auto betweenNames = namesOf(networkKinds);
constexpr auto insideNames = namesOf(insideNode);

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
  const std::span<const NamedLink> links = place == LinkPlace::betweenNodes
                                               ? std::span<const NamedLink>(networkKinds)
                                               : std::span<const NamedLink>(insideNode);
  const auto found = std::ranges::find(links, name, &NamedLink::name);
  if (found == links.end())
    return std::nullopt;
  return Link{.bandwidth = found->bandwidth, .latency = found->latency};
}

std::span<const std::string_view> linkKinds(LinkPlace place) {
  return place == LinkPlace::betweenNodes ? std::span<const std::string_view>(betweenNames)
                                          : std::span<const std::string_view>(insideNames);
}

} // namespace syncline::files
