// The runtime's enum of schemes as a parameter of attributes. One declaration serves files, IR,
// solver and runtime: syncline/Scheme.h.
#pragma once

#include "syncline/Scheme.h"

#include "mlir/IR/DialectImplementation.h"

namespace syncline {

/// Prints the name: as a keyword, or quoted where it has a hyphen.
llvm::raw_ostream &operator<<(llvm::raw_ostream &stream, Scheme scheme);

namespace cluster {

using syncline::Scheme;

inline llvm::StringRef stringifyScheme(Scheme scheme) { return schemeName(scheme); }
inline std::optional<Scheme> symbolizeScheme(llvm::StringRef name) { return parseScheme(name); }

} // namespace cluster
} // namespace syncline

namespace mlir {

/// Reads a name, as a keyword or quoted; an error lists the known ones.
template <> struct FieldParser<syncline::Scheme> {
  static FailureOr<syncline::Scheme> parse(AsmParser &parser);
};

} // namespace mlir
