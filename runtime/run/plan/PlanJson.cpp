// Reading plan.json's values.
#include "runtime/run/plan/PlanJson.h"

#include "syncline/PlanConstants.h"

#include <cmath>
#include <limits>

namespace syncline::run {

const Json &member(const Json &object, const char *key) {
  if (!object.is_object() || !object.contains(key))
    throw SchemaError{"missing '" + std::string(key) + "'"};
  return object.at(key);
}

std::int64_t integer(const Json &value, const char *key) {
  if (!value.is_number_integer())
    throw SchemaError{"'" + std::string(key) + "': expected a whole number, got " + value.dump()};
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max())
    throw SchemaError{"'" + std::string(key) + "': " + value.dump() + " is out of range"};
  return value.get<std::int64_t>();
}

std::int64_t size(const Json &object, const char *key, std::int64_t min, std::int64_t max) {
  const std::int64_t value = integer(member(object, key), key);
  if (value < min || value > max)
    throw SchemaError{"'" + std::string(key) + "': " + std::to_string(value) + " is out of range"};
  return value;
}

double prediction(const Json &object, const char *key) {
  const auto value = get<double>(object, key);
  if (!std::isfinite(value) || value < 0)
    throw SchemaError{"'" + std::string(key) + "': " + member(object, key).dump() +
                      " is no prediction"};
  return value;
}

int count(const Json &object, const char *key, int min) {
  std::int64_t value = size(object, key, min);
  if (value > maxRanks)
    throw SchemaError{"'" + std::string(key) + "': " + std::to_string(value) + " is out of range"};
  return static_cast<int>(value);
}

} // namespace syncline::run
