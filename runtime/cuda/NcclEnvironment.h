// The environment that NCCL reads: what a run sets for it, and which of the user's variables keep
// messages from travelling as the plan says.
#pragma once

#include "runtime/core/Backend.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace syncline::cuda {

/// Which of the ranks' devices are the same, and where they are.
struct DevicePlaces {
  bool areShared = false;    ///< some ranks have one device
  bool areOneMachine = true; ///< all of them
};

/// Of all ranks, by what each says of its own: the machine's and the device's names, with a blank
/// between. badInput that names two ranks on one device unless `mayShare`.
Result<DevicePlaces> comparePlaces(const std::vector<std::string> &places, bool mayShare);

struct NcclEnvironment {
  std::vector<std::pair<std::string, std::string>> settings; ///< variables and their values
  std::vector<std::string> warnings;                         ///< one line each

  /// The settings of another channel, whose table is at `table`: a tuner reads it as its
  /// communicator is made. Nothing where there is none, or where the user names the tuner.
  std::vector<std::pair<std::string, std::string>> forTable(const std::string &table) const;
};

/// What a variable holds; null where it is not set.
using GetVariable = std::function<const char *(const char *name)>;

/// For rank `rank`. Never sets what the user has set. `plugin` and `table`: the paths of the tuner
/// and of the plan's choices for it; empty where they are not there.
NcclEnvironment ncclEnvironment(const ChannelOptions &options, const DevicePlaces &places, int rank,
                                const std::string &plugin, const std::string &table,
                                const GetVariable &get);

/// Sets it for this process, once, before NCCL's first call; rank 0 tells the warnings on stderr.
/// Each channel's table is its own: to be called before each is opened.
void prepareNcclEnvironment(const ChannelOptions &options, const DevicePlaces &places, int rank);

} // namespace syncline::cuda
