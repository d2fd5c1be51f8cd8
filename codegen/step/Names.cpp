// Turns tensor names into identifiers.
#include "codegen/step/Names.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace syncline::codegen {

/// Whether the name is a keyword or macro that a tensor's name might equal.
static bool isReserved(llvm::StringRef name) {
  static constexpr llvm::StringRef words[] = {
      "and",      "auto",     "bool",     "break",  "case",    "catch",   "char",      "class",
      "const",    "default",  "delete",   "do",     "double",  "else",    "enum",      "errno",
      "explicit", "export",   "extern",   "false",  "float",   "for",     "friend",    "goto",
      "if",       "inline",   "int",      "linux",  "long",    "mutable", "namespace", "new",
      "none",     "not",      "operator", "or",     "private", "public",  "register",  "requires",
      "return",   "short",    "signed",   "sizeof", "static",  "std",     "step",      "struct",
      "switch",   "template", "this",     "throw",  "true",    "try",     "typedef",   "typename",
      "union",    "unix",     "unsigned", "using",  "virtual", "void",    "volatile",  "while",
      "xor",      "NAN",      "NULL",     "EOF",    "INFINITY"};
  return std::find(std::begin(words), std::end(words), name) != std::end(words);
}

std::string Names::unique(llvm::StringRef prefix, llvm::StringRef wanted) {
  std::string base = prefix.str();
  for (char c : wanted) {
    const bool isKept = llvm::isAlnum(c) && static_cast<unsigned char>(c) < 0x80;
    if (isKept || (!base.empty() && base.back() != '_')) // C++ reserves double underscores
      base += isKept ? c : '_';
  }
  while (!base.empty() && base.back() == '_')
    base.pop_back();
  if (base.empty() || llvm::isDigit(base.front()))
    base = "t" + base;
  std::string name = base;
  // Names are never released, so the search for a free number continues where it ended.
  unsigned &again = numbers.try_emplace(base, 2).first->second;
  for (; isReserved(name) || !taken.insert(name).second; ++again)
    name = base + "_" + std::to_string(again);
  return name;
}

} // namespace syncline::codegen
