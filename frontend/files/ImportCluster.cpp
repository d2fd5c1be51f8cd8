// Makes a cluster file's text from a topology, a host file and the user's options.
#include "frontend/files/ImportCluster.h"

#include "frontend/files/ClusterFile.h"
#include "frontend/files/ClusterKinds.h"

#include <algorithm>
#include <charconv>

namespace syncline::files {
namespace {

/// Latencies between devices of a node, in seconds; a topology gives rates only.
constexpr double nvlinkLatency = 3e-6, pcieLatency = 10e-6;

/// The shortest decimal that reads back to the same double.
std::string decimal(double value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general);
  return {buffer, end.ptr};
}

std::string bits(double bytesPerSecond) { return decimal(bytesPerSecond * 8 / 1e9) + " Gb/s"; }
std::string bytes(double bytesPerSecond) { return decimal(bytesPerSecond / 1e9) + " GB/s"; }
std::string microseconds(double seconds) { return decimal(seconds * 1e6) + "us"; }

/// `text` in double quotes, for YAML.
std::string inQuotes(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result + "\"";
}

/// `text` on one line, for a YAML comment.
std::string plain(std::string text) {
  std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return text;
}

class Importer {
public:
  explicit Importer(const ClusterSources &sources) : sources(sources) {}

  Result<ImportedCluster> cluster() {
    SYNCLINE_TRY(countDevices());
    countNodes();
    SYNCLINE_TRY(nameDevice());
    // In a single node the link between its devices is the network.
    const bool isOneNode = nodes == 1 && devices > 1;
    if (sources.inside && devices == 1)
      return withoutEffect("--inside", "a node has one device");
    if (devices > 1)
      describeInside(isOneNode);
    const bool isOpen = devices == 0 && nodes == 1; // several need a link inside, not a network
    if (!isOpen && (!isOneNode || inside.empty()))
      describeNetwork();
    if (isOneNode && !inside.empty())
      SYNCLINE_TRY(refuseNetwork());
    if (!missing.empty())
      return Status::error(ErrorKind::badUsage, missingText());
    return ImportedCluster{written(isOneNode && !inside.empty()), std::move(notes)};
  }

private:
  /// Sets the devices of every node: the host file's slots, which must equal the topology's GPUs.
  Status countDevices() {
    const bool isCounted = sources.topology && sources.topology->devices > 0;
    const bool hasSlots =
        std::ranges::any_of(sources.hosts, [](const Host &host) { return host.slots.has_value(); });
    if (sources.devicesPerNode && (isCounted || hasSlots))
      return Status::error(ErrorKind::badUsage,
                           "--devices-per-node: the file says how many devices a node has");
    devices = isCounted ? sources.topology->devices : sources.devicesPerNode.value_or(1);
    if (sources.topology && !isCounted && !hasSlots && !sources.devicesPerNode) {
      missing.push_back("how many devices a node has (--devices-per-node)");
      devices = 0;
    }
    std::optional<Host> first;
    for (const Host &host : sources.hosts) {
      const std::int64_t slots = host.slots.value_or(devices);
      const std::string place = sources.hostfileName + ":" + std::to_string(host.line) + ": ";
      if (isCounted && slots != devices)
        return Status::badInput(place + "expected " + std::to_string(devices) +
                                " slots, one for each GPU of '" + sources.topologyName + "', got " +
                                std::to_string(slots) + " on '" + host.name + "'");
      if (first && slots != devices)
        return Status::badInput(place + "expected as many slots on every host, got " +
                                std::to_string(slots) + " on '" + host.name + "' and " +
                                std::to_string(devices) + " on '" + first->name + "'");
      devices = slots;
      if (!first)
        first = host;
    }
    return Status::ok();
  }

  void countNodes() {
    if (!sources.hosts.empty())
      nodes = static_cast<std::int64_t>(sources.hosts.size());
    else if (sources.nodes)
      nodes = *sources.nodes;
    else
      missing.push_back("how many nodes there are (--nodes or --from-hostfile)");
  }

  /// Refuses a kind of device that the topology's GPUs are not.
  Status nameDevice() {
    if (!sources.device)
      missing.push_back(
          "what a rank computes with (--device; 'cpu', or 'none' where a profile will say)");
    else if (*sources.device != "none")
      device = "device: {kind: " + *sources.device + "}\n";
    if (device.empty() || !sources.topology)
      return Status::ok();
    const std::int64_t wanted = deviceCapability(*sources.device);
    if (wanted == 0)
      return Status::ok(); // ranks may compute on the processors beside the GPUs
    for (const NcclGpu &gpu : sources.topology->gpus)
      if (gpu.capability && *gpu.capability != wanted)
        return Status::badInput(sources.topologyName + ": expected GPUs with sm " +
                                std::to_string(wanted) + ", which " + *sources.device +
                                " has (--device), got sm " + std::to_string(*gpu.capability) +
                                " of " + gpu.name);
    return Status::ok();
  }

  void describeInside(bool isNeeded) {
    const std::string named = sources.inside ? *sources.inside : insideOfTopology();
    if (!named.empty() && named != "none") {
      const Link link = *linkKind(named, LinkPlace::insideNode);
      inside = isNeeded ? linkText(link, named) : "  kind: " + named + "\n";
    }
  }

  /// What the topology, with the kind of device, says of the link between devices: the kind of
  /// link; or "" where it wrote the topology's rate, or asks for the option.
  std::string insideOfTopology() {
    if (!sources.topology)
      return "";
    const NodeLink &link = sources.topology->inside;
    const std::string kind(device.empty() ? "" : deviceNvlink(*sources.device));
    if (link.bandwidth && (link.isNvlink || !mayHaveNvlink())) {
      inside = linkText(
          {.bandwidth = *link.bandwidth, .latency = link.isNvlink ? nvlinkLatency : pcieLatency},
          link.isNvlink ? "all NVLinks of a device" : "a device's PCIe lanes");
      if (link.isNvlink && !kind.empty())
        compare(*link.bandwidth, kind);
      return "";
    }
    const std::string none = "'" + sources.topologyName + "' lists no NVLinks";
    if (!link.isNvlink && !kind.empty() && isCertain()) {
      notes.push_back(none + ": the devices of a node are joined by those of " + *sources.device +
                      " (" + kind + "); --inside names another link");
      return kind;
    }
    std::string reason = link.doubt;
    if (reason.empty() && !link.isNvlink && link.bandwidth)
      reason = none + (kind.empty() ? "" : ", " + *sources.device + " may have " + kind);
    missing.push_back("what joins the devices of a node (--inside" +
                      (reason.empty() ? "" : "; " + plain(reason)) + ")");
    return "";
  }

  /// Whether devices for which the topology lists no NVLinks may have them all the same: files of
  /// virtual machines leave them out.
  bool mayHaveNvlink() const {
    if (!device.empty())
      return !deviceNvlink(*sources.device).empty();
    return std::ranges::any_of(sources.topology->gpus, [](const NcclGpu &gpu) {
      const std::int64_t sm = gpu.capability.value_or(0);
      return sm == 0 || sm == 60 || sm == 70 || sm == 80 || (sm >= 90 && sm < 110);
    });
  }

  /// Whether the device's kind has NVLinks for sure: boards without have a kind of their own, or
  /// the file describes a kind of machine, and such files never list NVLinks.
  bool isCertain() const {
    return sources.topology->gpus.empty() || deviceKind(*sources.device + "-pcie").has_value();
  }

  /// Says where the topology's NVLinks are not all that the device's kind has.
  void compare(double bandwidth, const std::string &kind) {
    const double usual = linkKind(kind, LinkPlace::insideNode)->bandwidth;
    if (bandwidth != usual)
      notes.push_back("'" + sources.topologyName + "' lists NVLinks of " + bytes(bandwidth) +
                      " a device, " + *sources.device + " usually has " + bytes(usual) +
                      "; --inside names another link");
  }

  /// Precondition: there is one node, whose devices are joined by what is inside.
  Status refuseNetwork() const {
    const char *reason = "there is one node, whose devices are joined by what is inside";
    if (sources.network)
      return withoutEffect("--network", reason);
    if (sources.bandwidth)
      return withoutEffect("--bandwidth", reason);
    return sources.latency ? withoutEffect("--latency", reason) : Status::ok();
  }

  static Status withoutEffect(const char *option, const char *reason) {
    return Status::error(ErrorKind::badUsage,
                         std::string(option) + ": would have no effect, as " + reason);
  }

  static std::string linkText(const Link &link, const std::string &what) {
    return "  bandwidth: " + bytes(link.bandwidth) + " # " + what +
           "\n  latency: " + microseconds(link.latency) + " # typical\n";
  }

  void describeNetwork() {
    const std::optional<Link> kind =
        sources.network ? linkKind(*sources.network, LinkPlace::betweenNodes) : std::nullopt;
    const std::optional<double> listed =
        sources.topology ? sources.topology->cardBandwidth : std::nullopt;
    if (!kind && !sources.bandwidth && !listed)
      missing.push_back("how fast the network is (--network or --bandwidth)");
    if (!kind && !sources.latency)
      missing.push_back("how long a message takes at least (--network or --latency)");
    if (kind)
      network += "  kind: " + *sources.network + "\n";
    const std::optional<double> rate = sources.bandwidth ? sources.bandwidth : listed;
    if (rate && (!kind || kind->bandwidth != *rate))
      network += "  bandwidth: " + bits(*rate) + "\n";
    if (sources.latency)
      network += "  latency: " + microseconds(*sources.latency) + "\n";
    if (sources.topology)
      describeCards(sources.topology->cards);
  }

  /// A node has a card whether or not the topology lists it.
  void describeCards(std::int64_t cards) {
    if (cards > 1)
      network += "  cards: " + std::to_string(cards) + "\n";
    if (cards == 0)
      notes.push_back("'" + sources.topologyName +
                      "' lists no network cards: a node is taken to have one; 'cards' of 'network' "
                      "in the cluster file says how many it has");
  }

  std::string missingText() const {
    std::string text = hasFiles() ? "the files do not say " : "nothing says ";
    for (std::size_t i = 0; i < missing.size(); ++i)
      text += (i == 0 ? "" : i + 1 == missing.size() ? " and " : ", ") + missing[i];
    return text;
  }

  bool hasFiles() const { return sources.topology || !sources.hosts.empty(); }

  std::string sourceNames() const {
    if (sources.topology && !sources.hosts.empty())
      return sources.topologyName + " and " + sources.hostfileName;
    return sources.topology ? sources.topologyName : sources.hostfileName;
  }

  /// The cluster's name, where no file has one: "8 x 4 v100, ethernet-10g".
  std::string ownName() const {
    if (hasFiles())
      return sourceNames();
    std::string text = std::to_string(nodes) + (devices > 1 ? " x " + std::to_string(devices) : "");
    if (!device.empty())
      text += " " + *sources.device;
    const auto &link = network.empty() ? sources.inside : sources.network;
    return link ? text + ", " + *link : text;
  }

  std::string written(bool insideIsNetwork) const {
    std::string text = "# Written by 'syncline cluster' from " +
                       (hasFiles() ? plain(sourceNames()) : "its options") +
                       ".\n# Nothing here was measured: rates are nominal, latencies typical.\n";
    text += "name: " + inQuotes(ownName()) + "\n";
    if (insideIsNetwork)
      return text + "ranks: " + std::to_string(devices) + "\n" + device +
             "network: # the devices of the one node are joined by what is inside\n" + inside;
    text += "nodes: " + std::to_string(nodes) + "\n";
    if (devices > 1)
      text += "devices-per-node: " + std::to_string(devices) + "\n";
    text += device + "network:\n" + network;
    return inside.empty() ? text : text + "inside:\n" + inside;
  }

  const ClusterSources &sources;
  std::int64_t devices = 1, nodes = 0; ///< 0: nothing says it
  std::string device, network, inside; ///< YAML, empty where there is none
  std::vector<std::string> missing, notes;
};

} // namespace

Result<ImportedCluster> importedCluster(const ClusterSources &sources) {
  SYNCLINE_TRY_GET(cluster, Importer(sources).cluster());
  // Errors such as too many ranks are reported now, not by the command that reads the file.
  Result<ClusterFile> readBack = parseClusterFile(cluster->text, "the cluster file");
  return readBack ? cluster : Result<ImportedCluster>(readBack.status());
}

} // namespace syncline::files
