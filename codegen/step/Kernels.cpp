// Names loops and writes each once.
#include "codegen/step/Kernels.h"

#include "codegen/step/LoopNest.h"
#include "ir/Try.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace syncline::codegen {

/// "addf, maximumf" → "addMaximum".
static std::string shortName(const std::string &summary) {
  std::string name;
  llvm::SmallVector<StringRef> words;
  StringRef(summary).split(words, ", ");
  for (StringRef word : llvm::ArrayRef(words).take_front(3)) {
    word.consume_back("f");
    name += name.empty() ? word.str() : llvm::toUpper(word.front()) + word.drop_front().str();
  }
  return name + (words.size() > 3 ? "Etc" : "");
}

/// The text with every '$' replaced.
static std::string named(StringRef text, StringRef name) {
  std::string result;
  for (char c : text)
    result += c == '$' ? name.str() : std::string(1, c);
  return result;
}

FailureOr<std::string> Kernels::nameOf(plan::PointwiseOp loop) {
  SYNCLINE_TRY_MLIR(body, printBody(loop));
  for (Value operand : loop.getOperands())
    if (elementType(operand).empty()) {
      loop.emitError("generated loops do not compute with 16-bit floats");
      return failure();
    }
  const LoopText text = target.writeLoop(loop, *body);
  auto [name, isNew] = known.try_emplace(text.definition);
  if (isNew) {
    name->second = names.unique("", shortName(body->summary));
    texts.push_back("// " + body->summary + "\n" + named(text.definition, name->second));
    extrema |= body->usesExtrema;
  }
  const std::string rounded = text.rounded.empty() ? "nullptr" : named(text.rounded, name->second);
  const std::string form = text.form.empty() ? "" : ", " + text.form;
  const std::string row = "{" + named(text.kernel, name->second) + ", " + rounded + form + "},";
  auto [place, isNewRow] = knownRows.try_emplace(row);
  if (isNewRow) {
    place->second = names.unique("", name->second + "Loop");
    tableRows.push_back(row);
    tableNames.push_back(place->second);
  }
  return place->second;
}

} // namespace syncline::codegen
