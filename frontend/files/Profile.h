// A profile: measured forward and backward times of a model's operations, by name. See README.md.
#pragma once

#include "syncline/Status.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace syncline::files {

/// Times of one operation of the model, in seconds. Backward covers everything its gradient needs
/// (of data and of weights).
struct OperationTimes {
  double forward = 0;
  std::optional<double> backward; ///< absent where the operation has no backward
  std::optional<double> spread;   ///< between the quartiles of forward and backward together
};

struct Profile {
  std::string name;                    ///< name of the measured device; may be empty
  std::optional<std::int64_t> batch;   ///< samples per rank it was measured with
  std::string precision;               ///< it was measured in; empty where unknown
  std::optional<std::int64_t> threads; ///< that computed in each rank
  std::optional<double> update;        ///< the optimizer's seconds a parameter's byte
  std::optional<double> overhead;      ///< seconds of a step beside its operations
  /// How many times as long as usual measured steps took, by rank that ran beside the others and by
  /// step; as many steps of each. Empty where nothing is known of it.
  std::vector<std::vector<double>> scatter;
  std::map<std::string, OperationTimes> operations; ///< by the node's name in the model
};

/// Parses profile JSON of schema 1. Every failure is badInput with file and line, or file and key.
Result<Profile> parseProfile(std::string_view text, std::string_view fileName);

/// Reads and parses `path`, which may hold at most 64 MiB.
Result<Profile> readProfile(const std::string &path);

/// The profile as JSON of schema 1, times with six digits. Precondition: times are finite and not
/// negative, names are UTF-8.
std::string formatProfile(const Profile &profile);

} // namespace syncline::files
