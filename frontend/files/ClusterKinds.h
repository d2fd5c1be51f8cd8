// Kinds of devices and links that a cluster file may name in place of rates. README.md lists them.
#pragma once

#include "frontend/files/ClusterFile.h"

#include <optional>
#include <span>
#include <string_view>

namespace syncline::files {

/// The places that a kind of link is for.
enum class LinkPlace { betweenNodes, insideNode };

/// Data sheets' rates: fp32 without tensor cores, memory's bandwidth and size; the overhead is
/// typical, as are the rates of 'cpu'. Nothing for a kind that is not in deviceKinds().
std::optional<DeviceRates> deviceKind(std::string_view name);
/// Names of all device kinds, in the order of README.md. The span stays valid.
std::span<const std::string_view> deviceKinds();

/// Predicts a GPU of a kind by the kernels of `like` (cluster::allLikes), and a processor of a kind
/// by its rate in `precision`, where it has one. A device whose file states rates itself, or names
/// no kind, stays as it is.
void predictByKind(DeviceRates &device, const std::string &precision, const std::string &like);

/// The compute capability times ten, as 'sm' in NCCL's topology; 0 for an unknown kind, and for one
/// that is no GPU.
std::int64_t deviceCapability(std::string_view name);
/// The kind of link of all its NVLinks; empty for a kind that has none, or is unknown.
std::string_view deviceNvlink(std::string_view name);

/// Nominal bandwidth each way; the latency is typical of a message of a collective, with its
/// software. NCCL has numbers of its own there. Nothing is said of reducing. Nothing for a kind
/// that is not in linkKinds(place).
std::optional<Link> linkKind(std::string_view name, LinkPlace place);
std::span<const std::string_view> linkKinds(LinkPlace place);

/// Whether the kind of a link between nodes is all network cards of a node together.
bool isOfWholeNode(std::string_view name);

} // namespace syncline::files
