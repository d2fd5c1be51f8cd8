// NCCL's environment variables: those that a run sets, and those of the user that override the
// plan's choices.
#pragma once

#include "runtime/core/Backend.h"

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace syncline::cuda {

/// How the ranks' devices are placed.
struct DevicePlaces {
  bool areShared = false;    ///< some ranks share a device
  bool areOneMachine = true; ///< all devices are in one machine
};

/// Compares the places of all ranks, each of which is the machine's name, a blank and the device's
/// name. Errors: badInput that names two ranks on one device, unless `mayShare`.
Result<DevicePlaces> comparePlaces(const std::vector<std::string> &places, bool mayShare);

/// The host's interfaces that are up and have an IPv4 address.
std::set<std::string> usableInterfaces();

/// The number of a run's channels, each of which has a communicator.
enum class Channels { one, several };

struct NcclEnvironment {
  std::vector<std::pair<std::string, std::string>> settings; ///< variables and their values
  std::vector<std::string> warnings;                         ///< one line each

  /// The settings for another channel, whose table is at `table`; a tuner reads it when its
  /// communicator is created. Empty where there is no table, or where the user has set the tuner.
  std::vector<std::pair<std::string, std::string>> forTable(const std::string &table) const;
};

/// What a process knows of the plan's tuner once messages have been enqueued.
struct TunerUse {
  std::string path;
  bool isLoaded = false; ///< by NCCL
  std::int64_t asked = 0, unable = 0;
};

/// Looks for the tuner at `path` among the modules of this process.
TunerUse tunerUse(const std::string &path);

/// The warning for the user that NCCL sends messages in other ways than the plan says. Empty where
/// it follows the plan.
std::string tunerWarning(const TunerUse &use);

/// Returns the value of a variable, or null if it is not set.
using GetVariable = std::function<const char *(const char *name)>;

/// Ranks that share a device of one machine talk through its interface "lo", unless the user names
/// another one. Errors: badInput where "lo" is not among the `usable` interfaces.
Status expectLoopback(const DevicePlaces &places, const GetVariable &get,
                      const std::set<std::string> &usable);

/// The environment for rank `rank`. It never contains variables that the user has set. `plugin`
/// and `table` are the paths of the tuner and of the plan's table for it, or empty if these do
/// not exist.
NcclEnvironment ncclEnvironment(const core::ChannelOptions &options, const DevicePlaces &places,
                                Channels channels, int rank, const std::string &plugin,
                                const std::string &table, const GetVariable &get);

/// Sets what NCCL reads at its first call, which is the allocation of an executable's memory where
/// there are several ranks. NCCL then probes memory of the host's NUMA nodes, which ends the
/// process on some machines with drivers before 595 (NVIDIA/nccl issue 2106). The variable
/// NCCL_CUMEM_HOST_ENABLE=0 leaves that out; ranks of one machine then share files in /dev/shm, as
/// up to NCCL 2.23. What the user has set stands.
void prepareNcclMemory();

/// Sets the environment of this process. Called before each channel is opened, because each
/// channel has its own table; NCCL reads these variables when a communicator is created. Rank 0
/// prints the warnings on stderr.
void prepareNcclEnvironment(const core::ChannelOptions &options, const DevicePlaces &places,
                            Channels channels, int rank);

/// Prints tunerWarning() on stderr, once in this process, if the environment that was set names the
/// plan's tuner. Called on rank 0 when messages have been enqueued and while communicators exist,
/// because NCCL unloads the tuner with the last one.
void warnOfTuner();

} // namespace syncline::cuda
