// Runs the C++ compiler.
#include "codegen/cpp/CompileStep.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

namespace syncline {

using llvm::StringRef;

/// The first lines of the compiler's messages.
static std::string messages(StringRef file) {
  constexpr size_t most = 2000;
  auto buffer = llvm::MemoryBuffer::getFile(file);
  return buffer ? (*buffer)->getBuffer().take_front(most).rtrim().str() : std::string();
}

Status compileStep(const std::string &source, const std::string &object,
                   const std::string &includeDirectory) {
  const std::string compiler = llvm::sys::Process::GetEnv("CXX").value_or("c++");
  llvm::SmallVector<StringRef, 16> arguments;
  llvm::SplitString(compiler, arguments); // "ccache g++" is usual
  llvm::ErrorOr<std::string> program =
      llvm::sys::findProgramByName(arguments.empty() ? StringRef() : arguments.front());
  if (!program)
    return Status::badInput("cannot find the C++ compiler '" + compiler +
                            "': install one or set CXX");

  const std::string partial = object + ".partial";
  llvm::SmallString<128> log;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("syncline-step", "log", log))
    return Status::badInput("cannot make a temporary file: " + error.message());
  llvm::FileRemover removeLog(log), removePartial(partial);
  const std::string include = "-I" + includeDirectory;
  // No contraction: results must not depend on the vector width. Names inside the object must not
  // depend on the compiler's process.
  arguments.append({"-std=c++20", "-O3", "-shared", "-fPIC", "-fopenmp", "-ffp-contract=off",
                    "-fno-trapping-math", "-fno-math-errno", "-frandom-seed=step",
                    "-Wl,--strip-all", include, "-o", partial, source});
  const std::optional<StringRef> redirects[] = {std::nullopt, StringRef(log), StringRef(log)};
  std::string reason;
  const int code =
      llvm::sys::ExecuteAndWait(*program, arguments, std::nullopt, redirects, 0, 0, &reason);
  if (code != 0)
    return Status::error(ErrorKind::internal,
                         "'" + compiler + "' cannot compile '" + source +
                             "': " + (reason.empty() ? messages(log) : reason));
  if (std::error_code error = llvm::sys::fs::rename(partial, object))
    return Status::badInput("cannot write '" + object + "': " + error.message());
  removePartial.releaseFile();
  return Status::ok();
}

} // namespace syncline
