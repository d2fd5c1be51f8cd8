// Reads devices.yaml once. The text is the program's own: tests find mistakes in it.
#include "frontend/files/DeviceTable.h"

#include <algorithm>
#include <yaml-cpp/yaml.h>

namespace syncline::files {

extern const char *const devicesText; ///< CMake makes it of devices.yaml

namespace {

constexpr double tera = 1e12, giga = 1e9;

struct Devices {
  YAML::Node root;
  std::vector<DeviceKind> kinds;
};

DeviceKind readKind(const std::string &name, const YAML::Node &node) {
  DeviceKind kind;
  kind.name = name;
  kind.generation = node["generation"].as<std::string>("");
  for (const char *precision : {"fp32", "tf32", "bf16", "fp16"})
    if (node[precision])
      kind.peaks[precision] = node[precision].as<double>() * tera;
  kind.bandwidth = node["memory"].as<double>() * giga;
  kind.memorySize = node["size"].as<std::int64_t>(0) * static_cast<std::int64_t>(giga);
  kind.multiprocessors = node["multiprocessors"].as<double>(1);
  kind.capability = node["capability"].as<std::int64_t>(0);
  kind.nvlink = node["nvlink"].as<std::string>("");
  return kind;
}

const Devices &devices() {
  static const Devices read = [] {
    Devices table{.root = YAML::Load(devicesText), .kinds = {}};
    for (const auto &entry : table.root["kinds"])
      table.kinds.push_back(readKind(entry.first.as<std::string>(), entry.second));
    return table;
  }();
  return read;
}

} // namespace

const std::vector<DeviceKind> &allDeviceKinds() { return devices().kinds; }

const DeviceKind *findDeviceKind(std::string_view name) {
  const auto found = std::ranges::find(devices().kinds, name, &DeviceKind::name);
  return found == devices().kinds.end() ? nullptr : &*found;
}

std::map<std::string, double> kernelNumbers(const DeviceKind &kind, std::string_view like) {
  std::map<std::string, double> numbers = kind.peaks;
  numbers["bandwidth"] = kind.bandwidth;
  numbers["multiprocessors"] = kind.multiprocessors;
  const YAML::Node root = devices().root;
  for (const auto &entry : root["shares"])
    numbers[entry.first.as<std::string>()] = entry.second.as<double>();
  for (const YAML::Node &factors :
       {root["likes"][std::string(like)], root["generations"][kind.generation]})
    for (const auto &entry : factors) {
      const auto name = entry.first.as<std::string>();
      const double before = numbers.contains(name) ? numbers[name] : 1;
      numbers[name] = before * entry.second.as<double>();
    }
  return numbers;
}

std::optional<Doubt> doubtOf(std::string_view kind, std::string_view like) {
  const YAML::Node node = devices().root["judged"][std::string(kind)];
  if (!node || !like.starts_with("pytorch"))
    return std::nullopt;
  return Doubt{.runs = node["runs"].as<int>(),
               .median = node["median"].as<double>(),
               .ninth = node["ninth"].as<double>()};
}

} // namespace syncline::files
