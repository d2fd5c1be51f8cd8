// What a new plan may take the place of.
#pragma once

#include "syncline/Status.h"

#include <string>

namespace syncline::codegen {

/// Ok where `folder` is nothing, an empty folder, or a plan's folder with nothing in it that
/// Syncline did not write itself: people save models and checkpoints into plans. Files are told by
/// their names, so that a damaged plan can be compiled anew. Errors: badInput, naming what is in
/// the way.
Status expectReplaceable(const std::string &folder);

} // namespace syncline::codegen
