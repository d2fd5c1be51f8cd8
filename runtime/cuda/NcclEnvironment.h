// The environment that NCCL reads: what a run sets for it, and which of the user's variables keep
// messages from travelling as the plan says.
#pragma once

#include "runtime/core/Backend.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace syncline::cuda {

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
NcclEnvironment ncclEnvironment(const ChannelOptions &options, int rank, const std::string &plugin,
                                const std::string &table, const GetVariable &get);

/// Sets it for this process, once, before NCCL's first call; rank 0 tells the warnings on stderr.
/// Each channel's table is its own: to be called before each is opened.
void prepareNcclEnvironment(const ChannelOptions &options, int rank);

} // namespace syncline::cuda
