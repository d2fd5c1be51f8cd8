// `syncline compile --offers FILE`: one model on clusters that could be rented.
#pragma once

#include "frontend/driver/Exclusions.h"

#include "CLI/CLI.hpp"

namespace syncline::driver {

/// Adds `--offers`, with which neither of the two options is required.
void addOffers(CLI::App &command, CompileOptions &options, CLI::Option *cluster,
               CLI::Option *output);

/// Plans the model on each offer's cluster, prints a table of time, memory and money, and writes no
/// plan. An offer without room or without a plan is left out, with the reason. Errors: badInput
/// where the file is faulty, a cluster cannot be read or no offer is left; badUsage where options
/// exclude each other on an offer's cluster.
Status compileOffers(const CompileOptions &options, const IsGiven &isGiven);

} // namespace syncline::driver
