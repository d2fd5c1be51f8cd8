// What the kernel scatterRows (Kernels.inc) does with its updates, as their numbers.
#pragma once

namespace syncline {

enum class ScatterKind {
  add,
  replace, ///< the last of several updates stays
  multiply,
  maximum,
  minimum,
};

} // namespace syncline
