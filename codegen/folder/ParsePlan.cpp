// Parses in a child process first, because MLIR's parser trusts its text (MLIR 19.1). It recurses
// for each nested bracket, so that 100,000 of them overflow the stack. Some values that are used
// before the region that defines them leave it with freed operations once another line is wrong.
// Checking for this beforehand would take a second parser, which handles strings, comments, scopes
// and every fault still unknown. The child begins with this process's memory and parses the same
// bytes, so this process can parse all that the child parsed to the end. It does not parse at all
// what the child refuses, because a refusal can leave the parser's memory broken.
#include "codegen/folder/ParsePlan.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
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

/// Lets the child end by the signal itself, without a message. It also ends early: it has a quarter
/// of the stack, so that a text which it can parse leaves this process a reserve.
void prepareToDie() {
  for (int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE})
    std::signal(signal, SIG_DFL);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  rlimit stack{};
  getrlimit(RLIMIT_STACK, &stack);
  stack.rlim_cur = std::min<rlim_t>(stack.rlim_cur, 8 << 20) / 4;
  setrlimit(RLIMIT_STACK, &stack);
  if (const int nowhere = open("/dev/null", O_WRONLY); nowhere >= 0)
    dup2(nowhere, STDERR_FILENO);
}

[[noreturn]] void parseInChild(const std::string &path, llvm::StringRef text, MLIRContext &context,
                               int answer) {
  prepareToDie();
  std::string error;
  try {
    parse(path, text, context, error);
  } catch (const std::exception &thrown) { // a child must not return to its parent's handlers
    error = "'" + path + "': " + thrown.what();
  }
  llvm::StringRef rest = error;
  while (!rest.empty()) {
    const ssize_t written = write(answer, rest.data(), rest.size());
    if (written < 0)
      break;
    rest = rest.drop_front(static_cast<std::size_t>(written));
  }
  _exit(0);
}

std::string readAll(int from) {
  std::string text;
  char chunk[4096];
  for (;;) {
    const ssize_t got = read(from, chunk, sizeof chunk);
    if (got > 0)
      text.append(chunk, static_cast<std::size_t>(got));
    else if (got == 0 || errno != EINTR)
      return text;
  }
}

/// Tries in a child whether the text can be parsed.
Status tryInChild(const std::string &path, llvm::StringRef text, MLIRContext &context) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return bad(path, std::string("cannot make a pipe to parse it: ") + std::strerror(errno));
  const pid_t child = fork();
  if (child == 0)
    parseInChild(path, text, context, ends[1]);
  const int reason = errno;
  close(ends[1]);
  const std::string error = child < 0 ? "" : readAll(ends[0]);
  close(ends[0]);
  if (child < 0)
    return bad(path, std::string("cannot start a process to parse it: ") + std::strerror(reason));
  int state = 0;
  while (waitpid(child, &state, 0) < 0 && errno == EINTR)
    ;
  if (WIFSIGNALED(state))
    return bad(path, "nests too deeply or is broken: MLIR's parser ended by signal " +
                         std::to_string(WTERMSIG(state)));
  return error.empty() ? Status::ok() : Status::badInput(error);
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
