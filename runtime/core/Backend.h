// A compute backend: makes Executables, and channels for them where it has links of its own. The
// CPU's is linked in; others are modules, which BackendModule.h loads.
#pragma once

#include "runtime/core/Channel.h"
#include "runtime/core/Executable.h"
#include "runtime/core/Peers.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace syncline {

/// How gradients travel: rounded for the way, and wide again behind it.
enum class WirePrecision { fp32, bf16, fp16 };

struct ChannelOptions {
  int channel = 0;
  std::vector<Scheme> schemes; ///< of its buckets, in the order of first use
  WirePrecision wire = WirePrecision::fp32;
  bool sharesDevice = false;   ///< several ranks on one device, by sockets
  std::string planFolder = {}; ///< where the plan's choices for the links' library lie
};

class Backend {
public:
  virtual ~Backend() = default;

  /// As plans and command lines spell it: "cpu", "cuda".
  virtual std::string_view name() const = 0;
  /// Whether this machine can run it: badInput that says what is missing, such as a driver.
  virtual Status available() const = 0;
  /// How many devices this process sees; ExecutableOptions::device is one of them. 0 where there is
  /// nothing to choose. Precondition: available().
  virtual int devices() const { return 0; }
  /// What computes and carries messages, with versions, for people: "CUDA 13.0, NCCL 2.28.3".
  /// Precondition: available().
  virtual std::string description() const { return std::string(name()); }
  /// What one of the devices() is, for people: "NVIDIA H100 80GB HBM3". Empty where nobody knows.
  virtual std::string deviceName(int) const { return {}; }
  /// Allocates the spaces (zeroed) and gives an executable ready to be built. Errors: badInput when
  /// the device or the memory is not there.
  virtual Result<std::unique_ptr<Executable>>
  createExecutable(const ExecutableOptions &options) const = 0;

  /// Whether buckets travel by openChannel(). Otherwise they are in the host's memory, and the
  /// run's transport carries them.
  virtual bool hasChannels() const { return false; }
  /// A channel for an executable of this backend, which outlives it, as does `peers`. All ranks
  /// together, in the channels' order. Errors: badInput for a scheme that it cannot carry, or for
  /// devices or variables of the environment that do not fit; peerLost.
  virtual Result<std::unique_ptr<Channel>> openChannel(Executable &executable, Peers &peers,
                                                       const ChannelOptions &options) const;
};

} // namespace syncline
