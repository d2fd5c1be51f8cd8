// The module's only exported symbol: a Backend named "cuda".
#include "runtime/core/Backend.h"
#include "runtime/core/BackendModule.h"
#include "runtime/cuda/CudaExecutable.h"
#include "runtime/cuda/nccl/NcclChannel.h"
#include "runtime/cuda/nccl/NcclEnvironment.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <unistd.h>

namespace syncline::cuda {

namespace {

/// How many channels the ranks of this executable open. Where weights travel, gradients are those
/// of one rank, and the weights have a channel beside the loss's.
Channels channelsOf(const CudaExecutable &executable, int ranks) {
  const auto isFirst = [](const core::Bucket &bucket) { return bucket.channel == 0; };
  return executable.options().ranks == ranks && std::ranges::all_of(executable.buckets(), isFirst)
             ? Channels::one
             : Channels::several;
}

/// The boot identifier of the machine. Containers of one machine have different host names but
/// share it.
std::string machineName() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  if (!boot.empty())
    return boot;
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return host;
}

/// comparePlaces() for all ranks, which call it together with the same key; a key is used once.
/// `device` is the caller's device. Further errors: peerLost.
Result<DevicePlaces> meetPlaces(core::Peers &peers, const std::string &key, int device,
                                bool mayShare) {
  cudaDeviceProp properties{};
  SYNCLINE_TRY(statusOf("", [&] { SYNCLINE_CHECK(cudaGetDeviceProperties(&properties, device)); }));
  SYNCLINE_TRY_GET(places, peers.exchange(key, machineName() + " " +
                                                   std::to_string(properties.pciDomainID) + ":" +
                                                   std::to_string(properties.pciBusID) + ":" +
                                                   std::to_string(properties.pciDeviceID)));
  return comparePlaces(*places, mayShare);
}

class CudaBackend final : public core::Backend {
public:
  std::string_view name() const override { return "cuda"; }
  Status available() const override { return cuda::available(); }
  int devices() const override { return deviceCount(); }
  std::string description() const override { return libraryVersions() + ", " + ncclVersion(); }
  std::string deviceName(int device) const override { return cuda::deviceName(device); }

  Result<std::unique_ptr<core::Executable>>
  createExecutable(const core::ExecutableOptions &options) const override {
    SYNCLINE_TRY(available());
    if (options.shares)
      return Status::badInput("steps of several lengths: expected backend 'cpu', got 'cuda'");
    if (options.ranks > 1)
      prepareNcclMemory();
    std::unique_ptr<core::Executable> executable;
    const Status made =
        statusOf("", [&] { executable = std::make_unique<CudaExecutable>(options); });
    if (!made)
      return made;
    return executable;
  }

  bool choosesKernels() const override { return true; }
  Result<core::KernelChoice> chooseKernels(core::Executable &executable, const std::string &table,
                                           bool times) const override {
    return static_cast<CudaExecutable &>(executable).chooseEngines(table, times);
  }

  bool hasChannels() const override { return true; }
  Result<std::unique_ptr<core::Channel>>
  openChannel(core::Executable &made, core::Peers &peers,
              const core::ChannelOptions &options) const override {
    SYNCLINE_TRY(checkNcclVersion());
    auto &executable = static_cast<CudaExecutable &>(made);
    SYNCLINE_TRY_GET(places, meetPlaces(peers, "places/" + std::to_string(options.channel),
                                        executable.device().index, options.sharesDevice));
    SYNCLINE_TRY(expectLoopback(*places, std::getenv, usableInterfaces()));
    prepareNcclEnvironment(options, *places, channelsOf(executable, peers.size()), peers.rank());
    std::shared_ptr<NcclLinks> links = executable.links.lock();
    if (!links)
      executable.links = links = std::make_shared<NcclLinks>(executable, peers);
    return NcclChannel::open(executable, links, peers, options);
  }
};

} // namespace

} // namespace syncline::cuda

extern "C" __attribute__((visibility("default"))) const syncline::core::Backend *
synclineBackend(int interface) {
  static const syncline::cuda::CudaBackend backend;
  return interface == syncline::core::backendInterface ? &backend : nullptr;
}
