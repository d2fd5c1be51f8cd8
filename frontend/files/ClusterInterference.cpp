// How much slower operations and messages are beside messages.
#include "frontend/files/ClusterInterference.h"

#include "frontend/files/YamlQuantity.h"
#include "syncline/Suggestion.h"

#include <array>

namespace syncline::files {
namespace {

constexpr std::array<std::string_view, 5> interferenceKeys = {"computation", "products", "memory",
                                                              "latency", "messages"};
constexpr std::array<std::string_view, 3> schemeKeys = {"computation", "products", "memory"};

/// Sets the factor that the key states, where it stands there.
template <typename Factor> Status readFactor(const YamlMap &map, const char *key, Factor &factor) {
  const auto value = map.find(key);
  if (!value)
    return Status::ok();
  Result<double> times = readMultiple(*value, maxInterference);
  if (times)
    factor = *times;
  return times.status();
}

/// The keys that a cluster and a scheme share.
template <typename Of> Status readOperations(const YamlMap &map, Of &of) {
  SYNCLINE_TRY(readFactor(map, "computation", of.interference));
  SYNCLINE_TRY(readFactor(map, "products", of.interferenceBy.products));
  return readFactor(map, "memory", of.interferenceBy.memory);
}

} // namespace

Status readInterference(const YamlMap &root, ClusterFile &cluster) {
  const auto value = root.find("interference");
  if (!value)
    return Status::ok();
  SYNCLINE_TRY_GET(map, YamlMap::open(*value, interferenceKeys));
  SYNCLINE_TRY(readOperations(*map, cluster));
  SYNCLINE_TRY(readFactor(*map, "latency", cluster.latencyInterference));
  return readFactor(*map, "messages", cluster.messageInterference);
}

Status readInterference(const YamlValue &value, StatedCost &cost) {
  if (!value.isMap()) {
    Result<double> times =
        readMultiple(value, maxInterference, ", or a map with the keys " + quotedList(schemeKeys));
    if (times)
      cost.interference = *times;
    return times.status();
  }
  Result<YamlMap> map = YamlMap::open(value, schemeKeys);
  return map ? readOperations(*map, cost) : map.status();
}

} // namespace syncline::files
