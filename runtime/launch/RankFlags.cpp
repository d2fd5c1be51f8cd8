// The flags that set the rank, each documented once.
#include "runtime/launch/RankFlags.h"

#include "runtime/launch/CliChecks.h"

#include <CLI/CLI.hpp>

#include <cstdlib>

namespace syncline::launch {

void addRankFlags(CLI::App &app, IdentityFlags &flags, const RankFlagTexts &texts) {
  auto *local = app.add_option("-n,--local-ranks", flags.localRanks, texts.localRanks)
                    ->check(wholeNumber(texts.fewestRanks, "ranks"))
                    ->type_name("N")
                    ->group(texts.group);
  app.add_flag("--pin", flags.pins,
               "Keep each local rank on as many processors as it has threads: rank i on the i-th "
               "such block of those that this process may use, modulo their number")
      ->needs(local)
      ->group(texts.group);
  app.add_option("--ranks-per-node", flags.ranksPerNode,
                 "Count N consecutive ranks as one node, wherever they run (default: the "
                 "launcher's number; " +
                     texts.ranksPerNode + ")")
      ->check(wholeNumber(1, "ranks"))
      ->type_name("N")
      ->group(texts.group);
  app.add_option("--rank", flags.rank,
                 "Run as rank R, counted from 0; the variables MASTER_ADDR and MASTER_PORT say "
                 "where rank 0 is (default 127.0.0.1 and 29500)")
      ->type_name("R")
      ->group(texts.group);
  app.add_option("--ranks", flags.ranks, "State the number of ranks on all hosts, servers included")
      ->type_name("P")
      ->group(texts.group);
}

std::string typedCommand(const char *program) {
  const char *typed = std::getenv(commandVariable);
  return typed ? typed : program;
}

} // namespace syncline::launch
