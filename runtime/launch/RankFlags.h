// The flags that set the rank in every program of the runtime.
#pragma once

#include "runtime/launch/Identity.h"

#include <string>

namespace CLI {
class App;
} // namespace CLI

namespace syncline::launch {

/// The parts of the flags' help that differ between programs.
struct RankFlagTexts {
  std::string group;        ///< the group's heading, with the behaviour without flags
  std::string localRanks;   ///< help of -n
  std::string ranksPerNode; ///< the default of --ranks-per-node for local ranks
  int fewestRanks = 1;      ///< the smallest value of -n
};

/// Adds -n, --pin, --ranks-per-node, --rank and --ranks. `flags` must
/// outlive the parsing.
void addRankFlags(CLI::App &app, IdentityFlags &flags, const RankFlagTexts &texts);

/// The command that the user typed, for the usage line: "syncline run" where `syncline` started
/// this program and set commandVariable; otherwise `program`.
std::string typedCommand(const char *program);

} // namespace syncline::launch
