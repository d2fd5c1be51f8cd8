// OrderJson: the certificate of an order as JSON.
#pragma once

#include "ir/sync/Sync.h"

#include <nlohmann/json_fwd.hpp>

namespace syncline::codegen {

/// The certificate's case that proves least, with the gradients on which it rests, and its other
/// cases. Precondition: the certificate is a #sync.order, and has been checked.
nlohmann::json orderProofJson(sync::ProblemOp problem, sync::SolutionOp solution);

} // namespace syncline::codegen
