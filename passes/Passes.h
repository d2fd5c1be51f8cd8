// All passes: constructors, options and registration, generated from Passes.td.
#pragma once

#include "ir/nn/NN.h"
#include "ir/plan/Plan.h"
#include "ir/sync/Sync.h"

#include "mlir/Pass/Pass.h"

#include <memory>

namespace syncline {

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

} // namespace syncline
