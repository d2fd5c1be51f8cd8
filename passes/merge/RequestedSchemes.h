// Schemes that somebody requested by name: "fc*=factors".
#pragma once

#include "ir/cluster/Cluster.h"
#include "syncline/Status.h"

#include <optional>
#include <string>
#include <vector>

namespace syncline {

/// Gradients of which a name matches must travel by a scheme.
struct RequestedScheme {
  std::string glob; ///< as llvm::GlobPattern: * ? [a-z] {a,b}
  cluster::Scheme scheme = cluster::Scheme::ring;
};

/// Reads "GLOB=SCHEME"; besides the schemes' names, `ps` is parameter-server and `sfb` factors. The
/// last '=' divides. badInput, naming what was given.
Result<RequestedScheme> parseRequestedScheme(llvm::StringRef text);

/// What one gradient is called: its parameter "fc.weight", that without its last part "fc", and the
/// layers that read it "/fc/Gemm"; of a trace only its layer.
using GradientNames = llvm::SmallVector<std::string>;

/// The scheme that each gradient must travel by, nothing where no pattern matches one of its names;
/// where several match, the last counts. badInput for a pattern that matches nothing, or that
/// parseRequestedScheme refuses.
Result<std::vector<std::optional<cluster::Scheme>>>
requestedSchemes(llvm::ArrayRef<GradientNames> gradients, llvm::ArrayRef<RequestedScheme> patterns);

} // namespace syncline
