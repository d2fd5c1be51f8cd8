// Schemes that the user requests by name, such as "fc*=factors".
#pragma once

#include "ir/cluster/Cluster.h"
#include "syncline/Status.h"

#include <optional>
#include <string>
#include <vector>

namespace syncline::merge {

/// A request: gradients with a matching name must use the scheme.
struct RequestedScheme {
  std::string glob; ///< pattern as of llvm::GlobPattern: * ? [a-z] {a,b}
  cluster::Scheme scheme = cluster::Scheme::ring;
};

/// Reads "GLOB=SCHEME", split at the last '='. Besides the schemes' names, `ps` means
/// parameter-server and `sfb` factors. Returns badInput, naming what was given.
Result<RequestedScheme> parseRequestedScheme(llvm::StringRef text);

/// The names of one gradient: its parameter "fc.weight", that without its last part "fc", and the
/// layers that read it, "/fc/Gemm". A gradient of a trace has only its layer's name.
using GradientNames = llvm::SmallVector<std::string>;

/// The requested scheme of each gradient, nothing where no pattern matches one of its names; where
/// several match, the last counts. Returns badInput for a pattern that matches no gradient, or that
/// parseRequestedScheme refuses.
Result<std::vector<std::optional<cluster::Scheme>>>
requestedSchemes(llvm::ArrayRef<GradientNames> gradients, llvm::ArrayRef<RequestedScheme> patterns);

} // namespace syncline::merge
