// Reads offers from YAML and checks them key by key.
#include "frontend/files/OffersFile.h"

#include "frontend/files/TextFile.h"
#include "frontend/files/Units.h"
#include "frontend/files/YamlQuantity.h"
#include "syncline/PlanConstants.h"

#include <algorithm>
#include <array>

namespace syncline::files {
namespace {

constexpr std::size_t maxOffersBytes = 1u << 20;
/// Every offer is planned.
constexpr std::size_t maxOffers = 100;
constexpr std::int64_t maxSamples = std::int64_t{1} << 50;

constexpr std::array<std::string_view, 3> fileKeys = {"samples", "doubt", "offers"};
constexpr std::array<std::string_view, 4> offerKeys = {"name", "cluster", "nodes", "price"};

Result<Offer> readOffer(const YamlValue &value, const std::vector<Offer> &before) {
  SYNCLINE_TRY_GET(map, YamlMap::open(value, offerKeys));
  Offer offer;
  SYNCLINE_TRY_GET(name, readText(*map, "name", "a name"));
  offer.name = *name;
  if (std::ranges::find(before, offer.name, &Offer::name) != before.end())
    return map->find("name")->error("'" + offer.name + "' is offered twice");
  SYNCLINE_TRY_GET(cluster, readText(*map, "cluster", "a cluster file or a sample's name"));
  offer.cluster = *cluster;
  if (const auto nodes = map->find("nodes")) {
    SYNCLINE_TRY_GET(count, readCount(*nodes, "nodes", maxRanks));
    offer.nodes = *count;
  }
  SYNCLINE_TRY_GET(price, map->require("price"));
  SYNCLINE_TRY_GET(amount, quantity<double>(*price, "a price", parseFactor));
  offer.price = *amount;
  return offer;
}

} // namespace

Result<OffersFile> parseOffers(std::string_view text, std::string_view fileName) {
  SYNCLINE_TRY_GET(map, openYaml(text, fileName, fileKeys));
  OffersFile file;
  SYNCLINE_TRY_GET(samples, map->require("samples"));
  SYNCLINE_TRY_GET(count, readCount(*samples, "samples", maxSamples));
  file.samples = *count;
  if (const auto doubt = map->find("doubt")) {
    SYNCLINE_TRY_GET(share, readShare(*doubt));
    file.doubt = *share;
  }
  SYNCLINE_TRY_GET(offers, map->require("offers"));
  SYNCLINE_TRY_GET(list, offers->list("a list of offers"));
  if (list->empty() || list->size() > maxOffers)
    return offers->error("expected from 1 to " + std::to_string(maxOffers) + " offers, got " +
                         std::to_string(list->size()));
  for (const YamlValue &value : *list) {
    SYNCLINE_TRY_GET(offer, readOffer(value, file.offers));
    file.offers.push_back(std::move(*offer));
  }
  return file;
}

Result<OffersFile> readOffers(const std::string &path) {
  SYNCLINE_TRY_GET(text, readTextFile(path, maxOffersBytes));
  return parseOffers(*text, path);
}

} // namespace syncline::files
