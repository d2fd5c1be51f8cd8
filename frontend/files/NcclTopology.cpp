// Reads topologies by tinyxml2, whose types stay in this file.
#include "frontend/files/NcclTopology.h"

#include "frontend/files/TextFile.h"
#include "syncline/PlanConstants.h"

#include <tinyxml2.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <vector>

namespace syncline::files {
namespace {

using tinyxml2::XMLElement;

constexpr std::size_t maxTopologyBytes = 16u << 20;
/// NCCL's own limit; elements are walked recursively.
constexpr int maxDepth = 256;
/// GPUs of a node: no launcher starts more ranks on one, and NCCL's graph holds no more.
constexpr std::int64_t maxDevices = maxLocalRanks;

/// Bytes/s each way of PCIe lanes of `gigatransfers` each, after encoding: 8 of 10 bits up to the
/// second generation, 128 of 130 bits later.
double pcieRate(double gigatransfers, std::int64_t lanes) {
  const double data = gigatransfers < 6 ? 0.8 : 128.0 / 130;
  return gigatransfers * 1e9 / 8 * data * static_cast<double>(lanes);
}

class TopologyReader {
public:
  explicit TopologyReader(std::string_view fileName) : fileName(fileName) {}

  Result<NcclTopology> read(const XMLElement &system) {
    SYNCLINE_TRY(walk(system, 0));
    if (hosts.size() > 1)
      return error(system, "expected the topology of one host, got those of " +
                               std::to_string(hosts.size()) + " ('host_hash')");
    NcclTopology topology;
    topology.devices = gpus.empty() ? displayClasses : static_cast<std::int64_t>(gpus.size());
    if (gpus.empty() && unnamed > 0)
      topology.devices = 0;
    else if (topology.devices == 0)
      return error(system, "expected at least one GPU, as 'gpu' or by its PCI class, got none");
    if (topology.devices > maxDevices)
      return error(system, "expected the topology of one host, with at most " +
                               std::to_string(maxDevices) + " GPUs, got " +
                               std::to_string(topology.devices));
    addCards(topology);
    topology.inside = nodeLink(gpus);
    topology.gpus = std::move(gpus);
    return topology;
  }

  Status error(const XMLElement &element, const std::string &message) const {
    return Status::badInput(fileName + ":" + std::to_string(element.GetLineNum()) + ": '" +
                            element.Name() + "': " + message);
  }

private:
  Status walk(const XMLElement &element, int depth) {
    if (depth > maxDepth)
      return error(element, "expected at most " + std::to_string(maxDepth) + " levels");
    const std::string_view name = element.Name();
    Status s = Status::ok();
    if (name == "cpu")
      hosts.insert(element.Attribute("host_hash") ? element.Attribute("host_hash") : "");
    else if (name == "pci")
      countClass(element);
    else if (name == "gpu")
      s = readGpu(element);
    else if (name == "net")
      s = readNet(element);
    if (!s)
      return s;
    for (const XMLElement *child = element.FirstChildElement(); child;
         child = child->NextSiblingElement())
      SYNCLINE_TRY(walk(*child, depth + 1));
    return Status::ok();
  }

  /// Files for a kind of machine name GPUs and network cards by PCI class: display, network. Where
  /// they leave the class out, NCCL asks the machine, which nobody can here.
  void countClass(const XMLElement &pci) {
    const std::string_view kind = pci.Attribute("class") ? pci.Attribute("class") : "";
    unnamed += kind.empty() && !pci.FirstChildElement();
    displayClasses += kind.starts_with("0x0300") || kind.starts_with("0x0302");
    networkClasses += kind.starts_with("0x0200") || kind.starts_with("0x0207");
  }

  Status readGpu(const XMLElement &element) {
    NcclGpu gpu;
    gpu.name = "GPU " + (element.Attribute("dev") ? std::string(element.Attribute("dev"))
                                                  : std::to_string(gpus.size()));
    const tinyxml2::XMLNode *above = element.Parent();
    const XMLElement *pci = above ? above->ToElement() : nullptr;
    if (pci && pci->Attribute("busid"))
      gpu.busId = pci->Attribute("busid");
    if (!gpu.busId.empty() && !busIds.insert(gpu.busId).second)
      return error(*pci, "expected one GPU with 'busid' '" + gpu.busId.substr(0, 60) +
                             "' on one host, got another");
    for (const XMLElement *link = element.FirstChildElement("nvlink"); link;
         link = link->NextSiblingElement("nvlink")) {
      SYNCLINE_TRY_GET(count, number(*link, "count", 1, 1024));
      gpu.nvlinks += *count;
      gpu.targets.emplace_back(link->Attribute("target") ? link->Attribute("target") : "");
    }
    if (gpu.nvlinks > 0 || element.Attribute("sm")) {
      SYNCLINE_TRY_GET(capability, number(element, "sm", 10, 1000));
      gpu.capability = *capability;
    }
    gpu.hasOtherLinks = element.FirstChildElement("xgmi") != nullptr;
    gpu.lanes = slowestLanes(pci);
    gpus.push_back(std::move(gpu));
    return Status::ok();
  }

  /// The rate of the slowest PCIe lanes between a GPU and its processor: its own, and those of the
  /// bridges above it. Bridges often state none, a GPU without a rate leaves all open.
  static std::optional<double> slowestLanes(const XMLElement *pci) {
    std::optional<double> slowest = pci ? lanesOf(*pci) : std::nullopt;
    while (slowest && (pci = pci->Parent()->ToElement()))
      slowest = std::min(*slowest, lanesOf(*pci).value_or(*slowest));
    return slowest;
  }

  /// The rate of PCIe lanes, from attributes such as "16.0 GT/s PCIe" and "16". Both are
  /// often empty.
  static std::optional<double> lanesOf(const XMLElement &pci) {
    const char *speed = pci.Attribute("link_speed");
    const std::int64_t width = pci.Int64Attribute("link_width", 0);
    if (!speed || width < 1 || width > 32)
      return std::nullopt;
    const std::string_view text = speed;
    double gigatransfers = 0;
    const auto [end, failure] =
        std::from_chars(text.data(), text.data() + text.size(), gigatransfers);
    if (failure != std::errc() || !std::string_view(end).starts_with(" GT/s") ||
        !(gigatransfers >= 1 && gigatransfers <= 1024))
      return std::nullopt;
    return pcieRate(gigatransfers, width);
  }

  Status readNet(const XMLElement &net) {
    Result<std::int64_t> speed = number(net, "speed", 1, 100'000'000);
    if (speed)
      speeds.push_back(*speed);
    return speed.status();
  }

  /// NCCL sends over the fastest interfaces; a slow one beside them serves management.
  void addCards(NcclTopology &topology) const {
    topology.cards = networkClasses;
    if (speeds.empty())
      return;
    const std::int64_t fastest = *std::ranges::max_element(speeds);
    topology.cards = std::ranges::count(speeds, fastest);
    topology.cardBandwidth = static_cast<double>(fastest) * 1e6 / 8;
  }

  Result<std::int64_t> number(const XMLElement &element, const char *attribute, std::int64_t least,
                              std::int64_t most) const {
    const char *written = element.Attribute(attribute);
    const std::string wanted = "expected '" + std::string(attribute) + "' from " +
                               std::to_string(least) + " to " + std::to_string(most) + ", got ";
    if (!written)
      return error(element, wanted + "none");
    const std::string_view text = written;
    std::int64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || end != text.data() + text.size() || value < least || value > most)
      return error(element, wanted + "'" + std::string(text.substr(0, 60)) + "'");
    return value;
  }

  std::string fileName;
  std::set<std::string> hosts;
  std::set<std::string> busIds; ///< of GPUs
  std::int64_t displayClasses = 0, networkClasses = 0;
  std::int64_t unnamed = 0; ///< PCI devices without a class
  std::vector<NcclGpu> gpus;
  std::vector<std::int64_t> speeds; ///< Mb/s, a net
};

/// tinyxml2's reason without its prefix, which repeats the line.
std::string reason(const tinyxml2::XMLDocument &document) {
  std::string_view name = document.ErrorName();
  constexpr std::string_view prefix = "XML_ERROR_";
  if (name.starts_with(prefix))
    name.remove_prefix(prefix.size());
  std::string text(name);
  std::ranges::transform(text, text.begin(), [](char c) {
    return c == '_' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return text;
}

} // namespace

Result<NcclTopology> parseNcclTopology(std::string_view text, std::string_view fileName) {
  const std::string name(fileName);
  SYNCLINE_TRY_GET(checked, checkText(text, name));
  tinyxml2::XMLDocument document;
  if (document.Parse(checked->data(), checked->size()) != tinyxml2::XML_SUCCESS)
    return Status::badInput(name + ":" + std::to_string(std::max(1, document.ErrorLineNum())) +
                            ": not valid XML: " + reason(document));
  const XMLElement *system = document.RootElement();
  if (!system)
    return Status::badInput(name + ": expected a topology of NCCL, got an empty document");
  const TopologyReader errors(name);
  if (std::string_view(system->Name()) != "system")
    return errors.error(*system, "expected the element 'system' of an NCCL topology");
  const char *version = system->Attribute("version");
  if (!version || (std::string_view(version) != "1" && std::string_view(version) != "2"))
    return errors.error(*system, "expected version 1 (NCCL) or 2 (RCCL), got " +
                                     (version ? "'" + std::string(version).substr(0, 60) + "'"
                                              : std::string("none")));
  return TopologyReader(name).read(*system);
}

Result<NcclTopology> readNcclTopology(const std::string &path) {
  Result<std::string> text = readTextFile(path, maxTopologyBytes);
  return text ? parseNcclTopology(*text, path) : Result<NcclTopology>(text.status());
}

} // namespace syncline::files
