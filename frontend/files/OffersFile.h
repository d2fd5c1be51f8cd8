// OffersFile: what clusters cost that could be rented, as the user states it.
#pragma once

#include "syncline/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace syncline::files {

/// One cluster, and what all of it costs.
struct Offer {
  std::string name;
  std::string cluster;               ///< a path or a sample's name, as typed
  std::optional<std::int64_t> nodes; ///< in place of the cluster file's
  double price = 0;                  ///< an hour, of the whole cluster, in the user's currency
};

struct OffersFile {
  std::int64_t samples = 0;    ///< to train with, of all ranks and epochs
  std::optional<double> doubt; ///< by which part a step may be longer or shorter than predicted
  std::vector<Offer> offers;   ///< at least one; names differ
};

/// Parses the YAML text of a file of offers (README.md, "Offers"). Fails as parseClusterFile does.
Result<OffersFile> parseOffers(std::string_view text, std::string_view fileName);

/// Reads and parses `path`, which holds at most 1 MiB.
Result<OffersFile> readOffers(const std::string &path);

} // namespace syncline::files
