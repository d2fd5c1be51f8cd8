// A compute backend makes Executables, and channels for them where it has its own links between
// devices. The CPU backend is linked in; other backends are modules, which BackendModule.h loads.
#pragma once

#include "runtime/core/Channel.h"
#include "runtime/core/Executable.h"
#include "runtime/core/Peers.h"
#include "runtime/core/WirePrecision.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace syncline::core {

struct ChannelOptions {
  int channel = 0;
  std::vector<Scheme> schemes; ///< schemes of its buckets, in the order of first use
  WirePrecision wire = WirePrecision::fp32;
  bool sharesDevice = false;   ///< several ranks share one device; messages go through sockets
  std::string planFolder = {}; ///< folder of the plan's choices for the links' library
};

/// Kernels that were chosen by time.
struct KernelChoice {
  /// The kernel of one operation of the step.
  struct Kernel {
    std::string operation, layer;
    std::string kernel; ///< as OperationInfo::implementation
    double seconds = 0; ///< when it was timed
  };
  std::string table;           ///< the choice as text
  std::vector<Kernel> kernels; ///< in the step's order
  int timed = 0;               ///< how many of them were not in the given table
  std::string machine;         ///< what the choice is for: the device and the library's version
};

class Backend {
public:
  virtual ~Backend() = default;

  /// The name that plans and command lines use: "cpu", "cuda".
  virtual std::string_view name() const = 0;
  /// Ok where this machine can run the backend; otherwise badInput that says what is missing, such
  /// as a driver.
  virtual Status available() const = 0;
  /// The number of devices that this process sees; ExecutableOptions::device is one of them. 0 for
  /// a backend without a choice of devices. Precondition: available().
  virtual int devices() const { return 0; }
  /// The libraries that compute and carry messages, with versions, to be printed: "CUDA 13.0, NCCL
  /// 2.28.3". Precondition: available().
  virtual std::string description() const { return std::string(name()); }
  /// The name of one of the devices(), to be printed: "NVIDIA H100 80GB HBM3". Empty where it
  /// is unknown.
  virtual std::string deviceName(int) const { return {}; }
  /// Whether this machine computes products in this precision. An executable with a precision that
  /// it does not have computes in fp32, and the caller says so. Precondition: available().
  virtual bool hasPrecision(Precision) const { return true; }
  /// Allocates the spaces, zeroed, and returns an executable that is ready to be built. Errors:
  /// badInput when the device is missing or memory is short.
  virtual Result<std::unique_ptr<Executable>>
  createExecutable(const ExecutableOptions &options) const = 0;

  /// Whether operations have kernels of unequal speed, among which chooseKernels() chooses.
  virtual bool choosesKernels() const { return false; }
  /// Chooses the kernels of an executable of this backend that has not run yet. An operation takes
  /// the kernel that `table` has for it on this machine; without one, its kernels are timed on the
  /// device if `times`, and the first that the library names is taken otherwise. The result's
  /// table is `table` with what was timed. Errors: badInput for text that is no such table, naming
  /// the line; the device's.
  virtual Result<KernelChoice> chooseKernels(Executable &, const std::string &table,
                                             bool times) const;

  /// Whether buckets travel through channels of openChannel(). Otherwise they lie in the host's
  /// memory, and the run's transport carries them.
  virtual bool hasChannels() const { return false; }
  /// Opens a channel for an executable of this backend. The executable and `peers` outlive
  /// the channel. All ranks call it together, in the channels' order. Errors: badInput for
  /// a scheme that the backend cannot carry, or for devices or environment variables that
  /// do not fit; peerLost.
  virtual Result<std::unique_ptr<Channel>> openChannel(Executable &executable, Peers &peers,
                                                       const ChannelOptions &options) const;
};

} // namespace syncline::core
