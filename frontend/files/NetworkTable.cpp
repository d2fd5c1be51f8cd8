// Reads networks.yaml once. The text is the program's own: tests find mistakes in it.
#include "frontend/files/NetworkTable.h"

#include <yaml-cpp/yaml.h>

namespace syncline::files {

extern const char *const networksText; ///< CMake makes it of networks.yaml

namespace {

constexpr double gigabit = 1e9 / 8, gigabyte = 1e9;

/// Divides, so that 5 microseconds are 5e-6 s to the last bit.
double microseconds(const YAML::Node &node) { return node.as<double>() / 1e6; }

Protocols readProtocols(const YAML::Node &node, double latency) {
  const auto time = [&](const char *key) { return microseconds(node[key]); };
  const auto share = [&](const char *key) { return node[key].as<double>(); };
  Protocols read{.latency = latency,
                 .ll = time("ll"),
                 .llShare = share("ll-share"),
                 .ll128 = time("ll128"),
                 .ll128Share = share("ll128-share"),
                 .simple = time("simple"),
                 .simpleShare = share("simple-share"),
                 .inSwitch = {},
                 .inSwitchShare = {}};
  if (node["switch"]) {
    read.inSwitch = time("switch");
    read.inSwitchShare = share("switch-share");
  }
  return read;
}

std::vector<NamedLink> readLinks(const YAML::Node &kinds, const YAML::Node &protocols,
                                 double unit) {
  std::vector<NamedLink> links;
  for (const auto &entry : kinds) {
    const YAML::Node &kind = entry.second;
    Link link{.bandwidth = kind["rate"].as<double>() * unit,
              .latency = microseconds(kind["latency"])};
    link.protocols = readProtocols(protocols[kind["protocols"].as<std::string>()], link.latency);
    links.push_back({entry.first.as<std::string>(), link, kind["node"].as<bool>(false)});
  }
  return links;
}

struct Networks {
  std::vector<NamedLink> between, inside;
};

const Networks &networks() {
  static const Networks read = [] {
    const YAML::Node root = YAML::Load(networksText);
    return Networks{readLinks(root["between"], root["protocols"], gigabit),
                    readLinks(root["inside"], root["protocols"], gigabyte)};
  }();
  return read;
}

} // namespace

const std::vector<NamedLink> &linksBetweenNodes() { return networks().between; }

const std::vector<NamedLink> &linksInsideNodes() { return networks().inside; }

} // namespace syncline::files
