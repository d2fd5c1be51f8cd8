// Reading plan.json's values.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

namespace syncline::run {

using Json = nlohmann::json;

/// How a value differs from the schema. The functions below throw it, and Plan.cpp catches it.
struct SchemaError {
  std::string message;
};

const Json &member(const Json &object, const char *key);

template <typename T> T get(const Json &object, const char *key) {
  try {
    return member(object, key).get<T>();
  } catch (const Json::exception &) {
    throw SchemaError{"'" + std::string(key) + "' is of the wrong type"};
  }
}

/// Reads a whole number. The JSON library would also convert fractions, and numbers out of range,
/// to some integer.
std::int64_t integer(const Json &value, const char *key);

/// Reads a whole number from `min` to `max`.
std::int64_t size(const Json &object, const char *key, std::int64_t min,
                  std::int64_t max = std::int64_t{1} << 46);

/// Reads a whole number from `min` to maxRanks.
int count(const Json &object, const char *key, int min);

/// Reads a number that is finite and not negative, such as predicted seconds or bytes.
double prediction(const Json &object, const char *key);

} // namespace syncline::run
