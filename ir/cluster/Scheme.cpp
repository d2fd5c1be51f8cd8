// Schemes as text of attributes.
#include "ir/cluster/Scheme.h"

using namespace mlir;
using namespace syncline;

llvm::raw_ostream &syncline::operator<<(llvm::raw_ostream &stream, Scheme scheme) {
  const llvm::StringRef name = schemeName(scheme);
  return name.contains('-') ? stream << '"' << name << '"' : stream << name;
}

FailureOr<Scheme> FieldParser<Scheme>::parse(AsmParser &parser) {
  std::string name;
  const llvm::SMLoc place = parser.getCurrentLocation();
  if (parser.parseKeywordOrString(&name))
    return failure();
  if (std::optional<Scheme> scheme = parseScheme(name))
    return *scheme;
  InFlightDiagnostic error = parser.emitError(place, "expected a scheme, one of ");
  llvm::interleaveComma(allSchemes(), error, [&](Scheme known) { error << schemeName(known); });
  return error << ", got '" << name << "'";
}
