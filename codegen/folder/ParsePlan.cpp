// Parses in a child process first, because MLIR's parser trusts its text (MLIR 19.1). It recurses
// for each nested bracket, so that 100,000 of them overflow the stack. Some values that are used
// before the region that defines them leave it with freed operations once another line is wrong.
// Checking for this beforehand would take a second parser, which handles strings, comments, scopes
// and every fault still unknown. The child begins with this process's memory and parses the same
// bytes, so this process can parse all that the child parsed to the end. It does not parse at all
// what the child refuses, because a refusal can leave the parser's memory broken.
#include "codegen/folder/ParsePlan.h"

#include "syncline/ChildProcess.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace mlir;

namespace syncline::codegen {

namespace {

Status bad(const std::string &path, const std::string &what) {
  return Status::badInput("'" + path + "': " + what);
}

/// Returns the module, or the first error, which begins with its place.
OwningOpRef<ModuleOp> parse(const std::string &path, llvm::StringRef text, MLIRContext &context,
                            std::string &error) {
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error || !error.empty())
      return;
    auto place = dyn_cast<FileLineColLoc>(diagnostic.getLocation());
    error = place ? path + ":" + std::to_string(place.getLine()) + ":" +
                        std::to_string(place.getColumn()) + ": "
                  : "'" + path + "': ";
    error += diagnostic.str();
  });
  llvm::SourceMgr source;
  source.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text, path), llvm::SMLoc());
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(source, ParserConfig(&context));
  if (!module && error.empty())
    error = "'" + path + "': not MLIR";
  return module;
}

/// Tries in a child whether the text can be parsed. The child has a quarter of the stack, so that a
/// text which it can parse leaves this process a reserve.
Status tryInChild(const std::string &path, llvm::StringRef text, MLIRContext &context) {
  const Result<ChildAnswer> answer = answerOfChild([&] {
    rlimit stack{};
    getrlimit(RLIMIT_STACK, &stack);
    stack.rlim_cur = std::min<rlim_t>(stack.rlim_cur, 8 << 20) / 4;
    setrlimit(RLIMIT_STACK, &stack);
    if (const int nowhere = open("/dev/null", O_WRONLY); nowhere >= 0)
      dup2(nowhere, STDERR_FILENO);
    std::string error;
    parse(path, text, context, error);
    return error;
  });
  if (!answer)
    return bad(path, answer.status().message() + " to parse it");
  if (answer->end.signal != 0)
    return bad(path, "nests too deeply or is broken: MLIR's parser " + answer->end.text());
  return answer->text.empty() ? Status::ok() : Status::badInput(answer->text);
}

} // namespace

Result<OwningOpRef<ModuleOp>> parsePlan(const std::string &path, MLIRContext &context) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return bad(path, "cannot open: " + buffer.getError().message());
  const bool hasThreads = context.isMultithreadingEnabled();
  context.disableMultithreading(); // a child has no threads of the context, but would wait for them
  const Status parses = tryInChild(path, (*buffer)->getBuffer(), context);
  context.enableMultithreading(hasThreads);
  if (!parses)
    return parses;
  std::string error;
  OwningOpRef<ModuleOp> module = parse(path, (*buffer)->getBuffer(), context, error);
  if (!module)
    return Status::badInput(error);
  return module;
}

} // namespace syncline::codegen
