// Judges NVLinks by their number, their rate and what they join.
#include "frontend/files/NodeLinks.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace syncline::files {
namespace {

/// One direction of one NVLink, bytes/s, by compute capability; nothing for what has no NVLink or
/// is not known here.
std::optional<double> nvlinkRate(std::int64_t capability) {
  if (capability < 60)
    return std::nullopt;
  if (capability < 70)
    return 20e9;
  if (capability < 86)
    return 25e9;
  if (capability < 90)
    return 14.0625e9; // bridges of workstation boards
  if (capability < 100)
    return 25e9;
  if (capability < 110)
    return 50e9;
  return std::nullopt;
}

std::string counted(const NcclGpu &gpu) {
  return gpu.name + " has " + (gpu.nvlinks == 0 ? "no" : std::to_string(gpu.nvlinks)) +
         (gpu.nvlinks == 1 ? " NVLink" : " NVLinks");
}

/// What differs between the GPUs: one of the fewest links beside one of the most.
std::string unequal(const std::vector<NcclGpu> &gpus) {
  const auto fewest = std::ranges::min_element(gpus, {}, &NcclGpu::nvlinks);
  const auto most = std::ranges::max_element(gpus, {}, &NcclGpu::nvlinks);
  if (fewest->nvlinks != most->nvlinks)
    return counted(*fewest) + ", " + most->name + " has " + std::to_string(most->nvlinks);
  for (const NcclGpu &gpu : gpus)
    if (gpu.capability != gpus.front().capability)
      return gpu.name + " and " + gpus.front().name + " differ in 'sm'";
  return "";
}

/// Whether NVLinks lead from each GPU to all others. An end that is not a GPU of the file is taken
/// for the switch between all.
std::string apart(const std::vector<NcclGpu> &gpus) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < gpus.size(); ++i)
    places.emplace(gpus[i].busId, i);
  const std::size_t theSwitch = gpus.size();
  std::vector<std::size_t> island(gpus.size() + 1);
  std::iota(island.begin(), island.end(), 0);
  for (std::size_t i = 0; i < gpus.size(); ++i)
    for (const std::string &target : gpus[i].targets) {
      const auto found = places.find(target);
      const std::size_t from = island[i];
      const std::size_t to = island[found == places.end() ? theSwitch : found->second];
      std::ranges::replace(island, from, to);
    }
  for (std::size_t i = 1; i < gpus.size(); ++i)
    if (island[i] != island[0])
      return "no NVLinks lead from " + gpus[0].name + " to " + gpus[i].name;
  return "";
}

} // namespace

NodeLink nodeLink(const std::vector<NcclGpu> &gpus) {
  NodeLink link;
  link.isNvlink = std::ranges::any_of(gpus, [](const NcclGpu &gpu) { return gpu.nvlinks > 0; });
  if (link.isNvlink) {
    link.doubt = unequal(gpus);
    if (link.doubt.empty())
      link.doubt = apart(gpus);
    const std::optional<double> rate =
        link.doubt.empty() && gpus[0].capability ? nvlinkRate(*gpus[0].capability) : std::nullopt;
    if (rate)
      link.bandwidth = *rate * static_cast<double>(gpus[0].nvlinks);
    return link;
  }
  for (const NcclGpu &gpu : gpus) {
    if (gpu.hasOtherLinks || !gpu.lanes)
      return {};
    link.bandwidth = std::min(*gpu.lanes, link.bandwidth.value_or(*gpu.lanes));
  }
  return link;
}

} // namespace syncline::files
