// Finds a compiler, runs it, and tells faults of the user's compiler from faults of our source.
#include "codegen/step/RunCompiler.h"

#include "codegen/step/Interruption.h"
#include "syncline/ChildProcess.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

namespace syncline::codegen {

using llvm::StringRef;

/// Reserves room for the first of the compiler's messages, which may be that the disk is full.
/// Where the file system cannot reserve room, hasRoom() must suffice.
static void reserve(const std::string &file) {
  constexpr off_t bytes = 4096;
  const int log = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (log < 0)
    return;
  (void)fallocate(log, FALLOC_FL_KEEP_SIZE, 0, bytes);
  close(log);
}

/// The first lines of the compiler's messages.
static std::string messages(StringRef file) {
  constexpr size_t most = 2000;
  auto buffer = llvm::MemoryBuffer::getFile(file);
  return buffer ? (*buffer)->getBuffer().take_front(most).rtrim().str() : std::string();
}

/// Runs the compiler. Its messages go to `log`. Its temporary files go to the same folder, and are
/// removed with it. An interruption ends it and what it started; so does the end of this process.
static Result<ProcessEnd> execute(const std::string &program, llvm::ArrayRef<StringRef> arguments,
                                  const std::string &log) {
  SYNCLINE_TRY_GET(
      compiler,
      ChildProcess::start({.path = program,
                           .arguments = {arguments.begin(), arguments.end()},
                           .variables = {{"TMPDIR", llvm::sys::path::parent_path(log).str()}},
                           .input = "/dev/null",
                           .output = log,
                           .errors = log,
                           .hasGuard = true}));
  Interruption::setCompiler(compiler->id());
  const ProcessEnd end = compiler->wait();
  Interruption::setCompiler(0);
  return end;
}

namespace {

/// A compiler found on this machine.
struct Found {
  std::string name;                       ///< as the user or the list of candidates gives it
  std::string program;                    ///< the program's path
  llvm::SmallVector<std::string> command; ///< the words of the name
};

Result<Found> find(const Compiler &compiler) {
  std::vector<std::string> names;
  if (std::string chosen = llvm::sys::Process::GetEnv(compiler.variable).value_or("");
      !StringRef(chosen).trim().empty())
    names = {chosen};
  else
    for (StringRef candidate : compiler.candidates)
      names.push_back(candidate.str());
  for (const std::string &name : names) {
    llvm::SmallVector<StringRef> words;
    llvm::SplitString(name, words); // "ccache g++" is usual
    llvm::ErrorOr<std::string> program = llvm::sys::findProgramByName(words.front());
    if (program && llvm::sys::fs::can_execute(*program)) // findProgramByName does not check paths
      return Found{name, *program, llvm::SmallVector<std::string>(words.begin(), words.end())};
  }
  return Status::badInput("cannot find the " + compiler.language.str() + " compiler '" +
                          names.front() + "': install one or set " + compiler.variable.str());
}

llvm::SmallVector<StringRef, 32> argumentsOf(const Found &found, const Compiler &compiler,
                                             std::initializer_list<StringRef> more) {
  llvm::SmallVector<StringRef, 32> arguments(found.command.begin(), found.command.end());
  arguments.append(compiler.options.begin(), compiler.options.end());
  arguments.append(more);
  return arguments;
}

bool isFull(std::error_code error) {
  return error == std::errc::no_space_on_device || error.value() == EDQUOT;
}

/// Whether a file of a megabyte, a usual size of generated code, can be written to the folder.
bool hasRoom(const std::string &folder) {
  const std::string name = folder + "/room";
  llvm::FileRemover remove(name);
  std::error_code error;
  llvm::raw_fd_ostream out(name, error);
  if (!error) {
    out.write_zeros(1 << 20);
    out.close();
    error = out.error();
    out.clear_error();
  }
  return !isFull(error);
}

/// The error number why the compiler found no room, from its messages or by trying; 0 where there
/// is room.
int fullness(StringRef said, const std::string &folder) {
  for (int error : {ENOSPC, EDQUOT})
    if (said.contains(std::strerror(error)))
      return error;
  return hasRoom(folder) ? 0 : ENOSPC;
}

/// Whether the compiler compiles an empty function. If it does not, the user's compiler is at
/// fault, not the generated source.
bool works(const Found &found, const Compiler &compiler, const std::string &folder) {
  const std::string source = folder + "/probe" + compiler.extension.str(),
                    object = folder + "/probe.so", log = folder + "/probe.log";
  llvm::FileRemover removeSource(source), removeObject(object), removeLog(log);
  std::error_code error;
  {
    llvm::raw_fd_ostream out(source, error);
    if (!error) {
      out << "extern \"C\" int probe() { return 0; }\n";
      out.close();
      error = out.error();
      out.clear_error();
    }
  }
  if (error)
    return false;
  const Result<ProcessEnd> end =
      execute(found.program, argumentsOf(found, compiler, {"-o", object, source}), log);
  return end && end->isSuccess() && llvm::sys::fs::exists(object);
}

} // namespace

Status findCompiler(const Compiler &compiler) { return find(compiler).status(); }

Status runCompiler(const Compiler &compiler, const std::string &source, const std::string &object,
                   const std::string &includeDirectory) {
  SYNCLINE_TRY_GET(found, find(compiler));
  const std::string partial = object + ".partial", log = object + ".log";
  llvm::FileRemover removeLog(log), removePartial(partial);
  reserve(log);
  const std::string include = "-I" + includeDirectory;
  const Result<ProcessEnd> end =
      execute(found->program, argumentsOf(*found, compiler, {include, "-o", partial, source}), log);
  if (Interruption::pending())
    return Status::badInput("interrupted while '" + found->name + "' compiled '" + source + "'");
  if (!end || !end->isSuccess() || !llvm::sys::fs::exists(partial)) {
    const std::string said = !end               ? "cannot start it: " + end.status().message()
                             : end->signal != 0 ? "it " + end->text()
                                                : messages(log);
    const std::string folder = llvm::sys::path::parent_path(object).str();
    if (const int error = fullness(said, folder))
      return Status::badInput("cannot write '" + object + "': " + std::strerror(error));
    if (!works(*found, compiler, folder))
      return Status::badInput("the " + compiler.language.str() + " compiler '" + found->name +
                              "' cannot compile even an empty function" +
                              (said.empty() ? std::string() : ": " + said) +
                              "; install a working one or set " + compiler.variable.str());
    return Status::error(ErrorKind::internal,
                         "'" + found->name + "' cannot compile '" + source + "': " + said);
  }
  if (std::error_code error = llvm::sys::fs::rename(partial, object))
    return Status::badInput("cannot write '" + object + "': " + error.message());
  removePartial.releaseFile();
  return Status::ok();
}

} // namespace syncline::codegen
