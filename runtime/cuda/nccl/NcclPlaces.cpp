// Names of machines and devices.
#include "runtime/cuda/nccl/NcclPlaces.h"

#include "runtime/cuda/Check.h"

#include <fstream>
#include <unistd.h>

namespace syncline::cuda {

namespace {

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

} // namespace

Result<DevicePlaces> meetPlaces(core::Peers &peers, const std::string &key, int device,
                                bool mayShare) {
  cudaDeviceProp properties{};
  const Status known =
      statusOf("", [&] { SYNCLINE_CHECK(cudaGetDeviceProperties(&properties, device)); });
  if (!known)
    return known;
  const auto places = peers.exchange(
      key, machineName() + " " + std::to_string(properties.pciDomainID) + ":" +
               std::to_string(properties.pciBusID) + ":" + std::to_string(properties.pciDeviceID));
  return places ? comparePlaces(*places, mayShare) : places.status();
}

} // namespace syncline::cuda
