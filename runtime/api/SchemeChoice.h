// The scheme of a message that is not in the plan.
#pragma once

#include "syncline/Scheme.h"
#include "syncline/Status.h"

#include <cstdint>
#include <memory>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace syncline::api {

struct SchemeCosts;

/// Chooses the all-reduce that costs least for its bytes. Immutable; equal plans choose alike.
class SchemeChoice {
public:
  /// Reads a plan's `cluster`: the costs that it states for all-reduces which Syncline's transport
  /// has, or those by formula over its slowest link. Errors: badInput.
  static Result<SchemeChoice> create(const nlohmann::json &cluster, int ranks);

  struct Chosen {
    Scheme scheme = Scheme::ring;
    double seconds = 0;
  };
  Chosen of(std::int64_t bytes) const;
  /// All schemes that of() returns.
  std::vector<Scheme> schemes() const;

private:
  std::shared_ptr<const SchemeCosts> costs;
};

} // namespace syncline::api
