// Choosing and setting environment variables.
#include "runtime/cuda/nccl/NcclEnvironment.h"
#include "runtime/cuda/tuner/Interface.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <ifaddrs.h>
#include <mutex>
#include <net/if.h>
#include <sys/socket.h>

namespace fs = std::filesystem;

namespace syncline::cuda {

namespace {

/// Variables that override the tuner.
constexpr std::array overriding{"NCCL_ALGO",          "NCCL_PROTO",         "NCCL_NCHANNELS",
                                "NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS", "NCCL_MIN_CTAS",
                                "NCCL_MAX_CTAS",      "NCCL_TUNER_PLUGIN"};

constexpr const char *tableVariable = "SYNCLINE_NCCL_TABLE";

std::string existing(const fs::path &path) {
  std::error_code ignored;
  return fs::exists(path, ignored) ? fs::absolute(path, ignored).string() : std::string();
}

/// The path of the tuner, beside the module that contains this code.
std::string tunerPlugin() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void *>(&prepareNcclEnvironment), &info) || !info.dli_fname)
    return {};
  return existing(fs::path(info.dli_fname).parent_path() / "libnccl-tuner-syncline.so");
}

/// NCCL copies a path to at most so many characters, and then finds no file.
constexpr std::size_t longestPath = 254;

/// The plan's tuner, if this process has told NCCL to load it.
std::string namedTuner;

} // namespace

TunerUse tunerUse(const std::string &path) {
  TunerUse use{path};
  void *const module = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (!module)
    return use;
  use.isLoaded = true;
  if (const auto *notes =
          static_cast<const SynclineNcclTunerNotes *>(dlsym(module, "synclineNcclTunerNotes"))) {
    use.asked = notes->asked;
    use.unable = notes->unable;
  }
  dlclose(module);
  return use;
}

std::string tunerWarning(const TunerUse &use) {
  if (!use.isLoaded)
    return "warning: NCCL has not loaded the plan's tuner '" + use.path +
           "' and sends messages as it chooses" +
           (use.path.size() > longestPath
                ? ": it takes paths of at most " + std::to_string(longestPath) +
                      " characters, this one has " + std::to_string(use.path.size())
                : "; NCCL_DEBUG=INFO says why");
  if (use.unable > 0)
    return "warning: NCCL could not use the plan's algorithm for " + std::to_string(use.unable) +
           " of " + std::to_string(use.asked) + " messages so far, and sends these as it chooses";
  return {};
}

Result<DevicePlaces> comparePlaces(const std::vector<std::string> &places, bool mayShare) {
  DevicePlaces found;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const auto machineOf = [](const std::string &place) {
      return place.substr(0, place.find(' '));
    };
    found.areOneMachine &= machineOf(places[rank]) == machineOf(places.front());
    const auto same = std::find(places.begin(), places.begin() + rank, places[rank]);
    if (same == places.begin() + rank)
      continue;
    found.areShared = true;
    if (!mayShare)
      return Status::badInput("ranks " + std::to_string(same - places.begin()) + " and " +
                              std::to_string(rank) +
                              " have one device: expected one each, or '--share-device'; MIG "
                              "instances of one GPU are one device, for NCCL too");
  }
  return found;
}

Status expectLoopback(const DevicePlaces &places, const GetVariable &get,
                      const std::set<std::string> &usable) {
  const char *named = get("NCCL_SOCKET_IFNAME");
  if (!places.areShared || !places.areOneMachine || (named && *named) || usable.contains("lo"))
    return Status::ok();
  return Status::badInput("'--share-device' sends messages through the interface 'lo', which is "
                          "down or has no IPv4 address: expected it up, or another interface in "
                          "NCCL_SOCKET_IFNAME");
}

std::set<std::string> usableInterfaces() {
  std::set<std::string> names;
  ifaddrs *all = nullptr;
  if (getifaddrs(&all) != 0)
    return names;
  for (const ifaddrs *each = all; each; each = each->ifa_next)
    if (each->ifa_addr && each->ifa_addr->sa_family == AF_INET && (each->ifa_flags & IFF_UP))
      names.insert(each->ifa_name);
  freeifaddrs(all);
  return names;
}

NcclEnvironment ncclEnvironment(const core::ChannelOptions &options, const DevicePlaces &places,
                                Channels channels, int rank, const std::string &plugin,
                                const std::string &table, const GetVariable &get) {
  NcclEnvironment made;
  const auto isSet = [&](const char *name) {
    const char *value = get(name);
    return value && *value;
  };
  const auto set = [&](const char *name, const std::string &value) {
    if (!isSet(name))
      made.settings.emplace_back(name, value);
  };
  for (const char *name : overriding)
    if (isSet(name))
      made.warnings.push_back("warning: " + std::string(name) + "=" + get(name) +
                              " keeps NCCL from sending messages as the plan says");
  // Kernels of several channels start in the order in which ranks enqueue them, so that they cannot
  // wait for each other. A single channel needs no order, which costs an event for each message.
  constexpr const char *order = "NCCL_LAUNCH_ORDER_IMPLICIT";
  if (channels == Channels::several) {
    if (isSet(order) && std::string(get(order)) == "0")
      made.warnings.push_back("warning: " + std::string(order) +
                              "=0 lets messages of different channels wait for each other");
    set(order, "1");
  }
  if (places.areShared) {
    // NCCL refuses two ranks of one host on one device. Each rank therefore gets its own host name,
    // and messages between these hosts travel by sockets; in one machine they do not leave it.
    set("NCCL_HOSTID", "syncline-" + std::to_string(rank));
    set("NCCL_NET", "Socket");
    // Across hosts that NVLink joins, NCCL would take these names of hosts for one machine again.
    set("NCCL_MNNVL_ENABLE", "0");
    if (places.areOneMachine)
      set("NCCL_SOCKET_IFNAME", "=lo");
  }
  if (options.wire != core::WirePrecision::fp32)
    made.settings.emplace_back("SYNCLINE_NCCL_ELEMENT_BYTES", "2");
  if (!plugin.empty() && !table.empty() && !isSet("NCCL_TUNER_PLUGIN")) {
    made.settings.emplace_back("NCCL_TUNER_PLUGIN", plugin);
    made.settings.emplace_back(tableVariable, table);
  }
  return made;
}

std::vector<std::pair<std::string, std::string>>
NcclEnvironment::forTable(const std::string &table) const {
  for (const auto &[name, value] : settings)
    if (name == tableVariable && !table.empty())
      return {{name, table}};
  return {};
}

void prepareNcclMemory() { setenv("NCCL_CUMEM_HOST_ENABLE", "0", /*overwrite=*/0); }

void prepareNcclEnvironment(const core::ChannelOptions &options, const DevicePlaces &places,
                            Channels channels, int rank) {
  static std::once_flag once;
  static NcclEnvironment made;
  const std::string table = existing(fs::path(options.planFolder) / "nccl-tuner.csv");
  const auto setAll = [](const auto &settings) {
    for (const auto &[name, value] : settings)
      setenv(name.c_str(), value.c_str(), /*overwrite=*/1);
  };
  std::call_once(once, [&] {
    made = ncclEnvironment(options, places, channels, rank, tunerPlugin(), table, std::getenv);
    setAll(made.settings);
    for (const auto &[name, value] : made.settings)
      if (name == "NCCL_TUNER_PLUGIN")
        namedTuner = value;
    if (rank == 0)
      for (const std::string &warning : made.warnings)
        std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, warning.c_str());
  });
  setAll(made.forTable(table));
}

void warnOfTuner() {
  static bool isSaid = false;
  if (namedTuner.empty() || isSaid)
    return;
  const std::string warning = tunerWarning(tunerUse(namedTuner));
  isSaid = !warning.empty();
  if (isSaid)
    std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, warning.c_str());
}

} // namespace syncline::cuda
