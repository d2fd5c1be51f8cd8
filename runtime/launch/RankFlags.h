// The flags by which every program of the runtime is told which rank it is.
#pragma once

#include "runtime/launch/Identity.h"

#include <CLI/CLI.hpp>

#include <string>

namespace syncline {

/// What differs between programs in the flags' help.
struct RankFlagTexts {
  std::string group;        ///< heading, with what holds without flags
  std::string localRanks;   ///< of -n
  std::string ranksPerNode; ///< what --ranks-per-node is without the flag
  int fewestRanks = 1;      ///< of -n
};

/// Adds -n, --ranks-per-node, --rank, --ranks, --master-addr and --master-port; `flags` must
/// outlive the parsing.
void addRankFlags(CLI::App &app, IdentityFlags &flags, const RankFlagTexts &texts);

/// What was typed to start this program, for its usage: "syncline run" where `syncline` starts
/// `program`, which it tells by commandVariable; else `program`.
std::string typedCommand(const char *program);

} // namespace syncline
