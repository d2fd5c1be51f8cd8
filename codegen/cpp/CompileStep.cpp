// Runs the C++ compiler.
#include "codegen/cpp/CompileStep.h"

#include "codegen/cpp/Interruption.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>
#include <vector>

namespace syncline {

using llvm::StringRef;

/// The first lines of the compiler's messages.
static std::string messages(StringRef file) {
  constexpr size_t most = 2000;
  auto buffer = llvm::MemoryBuffer::getFile(file);
  return buffer ? (*buffer)->getBuffer().take_front(most).rtrim().str() : std::string();
}

/// Runs the compiler. Its messages go to `log`, and its own temporary files beside that, so that
/// whoever removes the folder removes them. It leads a process group of its own, by which an
/// interruption ends it with its children. Returns the exit code.
static int runCompiler(StringRef program, llvm::ArrayRef<StringRef> arguments, StringRef log,
                       std::string &reason) {
  const std::string temporary = "TMPDIR=" + llvm::sys::path::parent_path(log).str();
  std::vector<StringRef> environment{temporary};
  for (char **entry = environ; *entry; ++entry)
    if (!StringRef(*entry).starts_with("TMPDIR="))
      environment.push_back(*entry);
  const std::optional<StringRef> redirects[] = {StringRef(), log, log};
  llvm::sys::ProcessInfo process = llvm::sys::ExecuteNoWait(
      program, arguments, llvm::ArrayRef<StringRef>(environment), redirects, 0, &reason,
      /*ExecutionFailed=*/nullptr, /*AffinityMask=*/nullptr, /*DetachProcess=*/true);
  if (process.Pid == llvm::sys::ProcessInfo::InvalidPid)
    return -1;
  Interruption::setCompiler(process.Pid);
  process = llvm::sys::Wait(process, std::nullopt, &reason);
  Interruption::setCompiler(0);
  return process.ReturnCode;
}

/// Does the compiler manage an empty function? One that does not is the user's, not our source's
/// fault.
static bool compilerWorks(StringRef program, llvm::ArrayRef<StringRef> prefix,
                          const std::string &folder) {
  const std::string source = folder + "/probe.cpp", object = folder + "/probe.so",
                    log = folder + "/probe.log";
  llvm::FileRemover removeSource(source), removeObject(object), removeLog(log);
  std::error_code error;
  {
    llvm::raw_fd_ostream out(source, error);
    if (!error)
      out << "extern \"C\" int probe() { return 0; }\n";
  }
  llvm::SmallVector<StringRef, 16> arguments(prefix);
  arguments.append({"-std=c++20", "-shared", "-fPIC", "-fopenmp", "-o", object, source});
  std::string reason;
  return !error && runCompiler(program, arguments, log, reason) == 0 &&
         llvm::sys::fs::exists(object);
}

Status compileStep(const std::string &source, const std::string &object,
                   const std::string &includeDirectory) {
  std::string compiler = llvm::sys::Process::GetEnv("CXX").value_or("");
  if (StringRef(compiler).trim().empty())
    compiler = "c++";
  llvm::SmallVector<StringRef, 16> prefix;
  llvm::SplitString(compiler, prefix); // "ccache g++" is usual
  llvm::ErrorOr<std::string> program = llvm::sys::findProgramByName(prefix.front());
  if (!program)
    return Status::badInput("cannot find the C++ compiler '" + compiler +
                            "': install one or set CXX");

  const std::string partial = object + ".partial", log = object + ".log";
  llvm::FileRemover removeLog(log), removePartial(partial);
  const std::string include = "-I" + includeDirectory;
  // No contraction: results must not depend on the vector width. Names inside the object must not
  // depend on the compiler's process.
  llvm::SmallVector<StringRef, 16> arguments(prefix);
  arguments.append({"-std=c++20", "-O3", "-shared", "-fPIC", "-fopenmp", "-ffp-contract=off",
                    "-fno-trapping-math", "-fno-math-errno", "-frandom-seed=step",
                    "-Wl,--strip-all", include, "-o", partial, source});
  std::string reason;
  const int code = runCompiler(*program, arguments, log, reason);
  if (Interruption::pending())
    return Status::badInput("interrupted while '" + compiler + "' compiled '" + source + "'");
  if (code != 0 || !llvm::sys::fs::exists(partial)) {
    const std::string said = reason.empty() ? messages(log) : reason;
    const std::string folder = llvm::sys::path::parent_path(object).str();
    if (!compilerWorks(*program, prefix, folder))
      return Status::badInput(
          "the C++ compiler '" + compiler + "' cannot compile even an empty function" +
          (said.empty() ? std::string() : ": " + said) + "; install a working one or set CXX");
    return Status::error(ErrorKind::internal,
                         "'" + compiler + "' cannot compile '" + source + "': " + said);
  }
  if (std::error_code error = llvm::sys::fs::rename(partial, object))
    return Status::badInput("cannot write '" + object + "': " + error.message());
  removePartial.releaseFile();
  return Status::ok();
}

} // namespace syncline
