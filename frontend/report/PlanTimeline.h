// What a plan's picture shows: its messages, and what a rank computes when.
#pragma once

#include "syncline/Scheme.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace syncline::report {

/// A message of plan.json.
struct PlottedBucket {
  std::int64_t id = 0, bytes = 0, channel = 0;
  std::string members, scheme;
  double ready = 0, start = 0, end = 0, reconstructed = 0, exposed = 0; ///< seconds
  double gatherStart = 0, gatherEnd = 0; ///< of the second half; 0 where it is one message

  bool isReconstructed() const { return gatherEnd == 0 && reconstructed > end; }
  double lastStart() const { return gatherEnd > 0 ? gatherStart : start; }
  double lastEnd() const { return gatherEnd > 0 ? gatherEnd : end; }
  /// A reduce-scatter updates the parameters itself.
  bool isUpdated() const { return scheme != schemeName(Scheme::reduceScatter); }
};

/// An interval of the row of computation; times in seconds.
struct Phase {
  const char *name, *colour;
  double start, end;
  std::string what; ///< tooltip's first words; empty for the name
};

/// The seconds of `object`'s `key`. Throws SchemaError where they are negative.
double secondsOf(const nlohmann::json &object, const char *key);

/// Reads one of plan.json's buckets. Throws SchemaError, or nlohmann's exceptions, where it does
/// not follow the plan schema.
PlottedBucket bucketOf(const nlohmann::json &json);

/// What a rank computes: behind the backward pass, bucket by bucket, it waits for the message,
/// reconstructs its gradients and updates its parameters. A plan that clips gradients updates all
/// at the end of the step; of one whose messages may end in the next step, the forward pass
/// contains waits, reconstruction and updates. Throws as bucketOf().
std::vector<Phase> phasesOf(const nlohmann::json &plan, const std::vector<PlottedBucket> &buckets);

} // namespace syncline::report
