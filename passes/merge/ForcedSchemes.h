// Schemes that somebody asked for by name: "fc*=factors".
#pragma once

#include "ir/cluster/Cluster.h"
#include "syncline/Status.h"

#include <optional>
#include <string>
#include <vector>

namespace syncline {

/// Layers whose name matches must travel by a scheme.
struct ForcedScheme {
  std::string glob; ///< as llvm::GlobPattern: * ? [a-z] {a,b}
  cluster::Scheme scheme = cluster::Scheme::ring;
};

/// Reads "GLOB=SCHEME"; besides the schemes' names, `ps` is parameter-server and `sfb` factors. The
/// last '=' divides. badInput, naming what was given.
Result<ForcedScheme> parseForcedScheme(llvm::StringRef text);

/// The scheme that each name must travel by, nothing where no pattern matches; where several match,
/// the last counts. badInput for a pattern that matches no name, or that parseForcedScheme refuses.
Result<std::vector<std::optional<cluster::Scheme>>>
forcedSchemes(llvm::ArrayRef<std::string> names, llvm::ArrayRef<ForcedScheme> patterns);

} // namespace syncline
