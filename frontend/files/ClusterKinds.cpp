// Tables of kinds. Devices have the values of their data sheets; memory sizes count in units of
// 1000, since every device has at least that much.
#include "frontend/files/ClusterKinds.h"

#include <algorithm>
#include <array>

namespace syncline::files {
namespace {

struct Device {
  std::string_view name;
  double teraflops;         ///< fp32, without tensor cores
  double gigabytes;         ///< a second
  std::int64_t gigabytesOf; ///< memory; 0: nothing is said of it
  std::int64_t capability;  ///< compute capability times ten; 0: no GPU
  std::string_view nvlink;  ///< kind of link; empty: it has PCIe only
};

constexpr auto devices = std::to_array<Device>({
    {"k80", 2.8, 240, 12, 37, ""}, // one of the board's two processors, without boost
    {"titan-x", 6.6, 336.5, 12, 52, ""},
    {"p100", 10.6, 732, 16, 60, "nvlink-p100"},
    {"p100-pcie", 9.3, 732, 16, 60, ""},
    {"v100", 15.7, 900, 16, 70, "nvlink-v100"},
    {"v100-32g", 15.7, 900, 32, 70, "nvlink-v100"},
    {"v100-pcie", 14, 900, 16, 70, ""},
    {"t4", 8.1, 320, 16, 75, ""},
    {"a10", 31.2, 600, 24, 86, ""},
    {"a100", 19.5, 1555, 40, 80, "nvlink-a100"},
    {"a100-80g", 19.5, 2039, 80, 80, "nvlink-a100"},
    {"l4", 30.3, 300, 24, 89, ""},
    {"l40s", 91.6, 864, 48, 89, ""},
    {"h100", 67, 3350, 80, 90, "nvlink-h100"},
    {"h100-pcie", 51, 2000, 80, 90, ""},
    {"h200", 67, 4800, 141, 90, "nvlink-h100"},
    {"cpu", 0.06, 10, 0, 0, ""}, // one thread of a server's processor
});
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

constexpr auto deviceNames = namesOf(devices);
constexpr auto betweenNames = namesOf(networkKinds);
constexpr auto insideNames = namesOf(insideNode);

} // namespace

std::optional<DeviceRates> deviceKind(std::string_view name) {
  const auto *found = std::ranges::find(devices, name, &Device::name);
  if (found == devices.end())
    return std::nullopt;
  DeviceRates rates{.compute = found->teraflops * 1e12,
                    .memory = found->gigabytes * 1e9,
                    .launchOverhead = usualLaunchOverhead,
                    .memorySize = std::nullopt};
  if (found->gigabytesOf > 0)
    rates.memorySize = found->gigabytesOf * 1'000'000'000;
  return rates;
}

std::int64_t deviceCapability(std::string_view name) {
  const auto *found = std::ranges::find(devices, name, &Device::name);
  return found == devices.end() ? 0 : found->capability;
}

std::string_view deviceNvlink(std::string_view name) {
  const auto *found = std::ranges::find(devices, name, &Device::name);
  return found == devices.end() ? std::string_view() : found->nvlink;
}

std::span<const std::string_view> deviceKinds() { return deviceNames; }

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
