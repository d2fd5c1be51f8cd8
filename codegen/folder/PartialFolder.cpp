// Makes, locks, exchanges and removes partial folders.
#include "codegen/folder/PartialFolder.h"

#include "codegen/step/Text.h"
#include "syncline/EndOfLinks.h"
#include "syncline/JsonDepth.h"
#include "syncline/PlanFiles.h"

#include "llvm/Support/Process.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace syncline::codegen {

namespace {

constexpr int attempts = 100; ///< to take a name that other processes take at the same time
constexpr std::size_t digits = 6;
constexpr const char *unfinished = "/.unfinished"; ///< a file in partial folders only

Status bad(const std::string &path, const std::string &what) {
  return Status::badInput("'" + path + "': " + what);
}

fs::path folderOf(const std::string &path) {
  fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

/// The prefix of the names of partial folders for `target`: its own name, cut where the rest would
/// have no room.
std::string prefixOf(const std::string &target) {
  static constexpr char mark[] = ".partial-";
  const long limit = pathconf(folderOf(target).c_str(), _PC_NAME_MAX);
  const std::size_t room = static_cast<std::size_t>(limit > 0 ? limit : NAME_MAX);
  std::string name = fs::path(target).filename().string();
  const std::size_t more = std::strlen(mark) + digits;
  if (name.size() + more > room) {
    name.resize(room - more);
    while (!name.empty() && (static_cast<unsigned char>(name.back()) & 0xC0) == 0x80)
      name.pop_back(); // the rest of a character of UTF-8, and then its first byte
    if (!name.empty() && static_cast<unsigned char>(name.back()) >= 0x80)
      name.pop_back();
  }
  return name + mark;
}

/// Why this process has no lock of a folder. isTaken: another process has the lock, or the folder
/// is gone. hasNoLocks: the file system knows none, or the folder may not be opened.
enum : int { isTaken = -1, hasNoLocks = -2 };

/// Opens and locks a folder. The lock is held until this process closes the folder or ends.
int lockFolder(const std::string &path) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0)
    return errno == ENOENT ? isTaken : hasNoLocks;
  const bool isLocked = flock(folder, LOCK_EX | LOCK_NB) == 0;
  const int failure = isLocked || errno == EWOULDBLOCK ? isTaken : hasNoLocks;
  struct stat opened{}, named{};
  if (isLocked && fstat(folder, &opened) == 0 && stat(path.c_str(), &named) == 0 &&
      opened.st_ino == named.st_ino && opened.st_dev == named.st_dev)
    return folder;
  close(folder);
  return failure;
}

/// Whether a folder was made by a PartialFolder of this user: an unfinished one, or an old plan
/// that stepped aside. People may have folders of such names.
bool isOurs(const std::string &path) {
  struct stat folder{}, mark{};
  if (lstat(path.c_str(), &folder) != 0 || folder.st_uid != geteuid())
    return false;
  return lstat((path + unfinished).c_str(), &mark) == 0 || expectReplaceable(path).isOk();
}

/// Removes the partial folders for `target` that killed processes left.
void removeAbandoned(const std::string &target) {
  const std::string prefix = prefixOf(target);
  std::error_code ignored;
  for (const auto &entry : fs::directory_iterator(folderOf(target), ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.size() != prefix.size() + digits || name.compare(0, prefix.size(), prefix) != 0 ||
        name.find_first_not_of("0123456789abcdef", prefix.size()) != std::string::npos)
      continue;
    if (const int lock = lockFolder(entry.path().string()); lock >= 0) {
      if (isOurs(entry.path().string()))
        fs::remove_all(entry.path(), ignored);
      close(lock);
    }
  }
}

int renameWith(const std::string &from, const std::string &to, unsigned flags) {
  return renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags) == 0 ? 0 : errno;
}

/// Whether the file system does not know the flag.
bool isUnknown(int error) { return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP; }

int exchange(const std::string &from, const std::string &to) {
  int error = renameWith(from, to, RENAME_EXCHANGE);
  if (error == ENOENT) // there is nothing to exchange
    error = renameWith(from, to, RENAME_NOREPLACE);
  if (error == 0) {
    std::error_code ignored;
    fs::remove_all(from, ignored); // after the exchange, this is the old folder if there was one
  }
  return error;
}

int moveAside(const std::string &from, const std::string &to) {
  std::error_code ignored;
  const std::string old = from + ".old";
  const bool replaces = renameWith(to, old, 0) == 0;
  const int error = renameWith(from, to, 0);
  if (error == 0)
    fs::remove_all(old, ignored);
  else if (replaces && renameWith(old, to, 0) != 0)
    fs::remove_all(old, ignored); // another process's folder came, which would have replaced it too
  return error;
}

/// Sleeps for a random time, longer on average after each failure, so that processes that want the
/// same name take turns: at most 20 ms, and 2 s in all attempts together.
void backOff(int failures) {
  constexpr unsigned shortest = 50, longest = 20'000; // µs
  const unsigned limit = std::min(shortest << std::min(failures, 9), longest);
  usleep(llvm::sys::Process::GetRandomNumber() % limit);
}

} // namespace

int replaceFolder(const std::string &from, const std::string &to, Swap swap) {
  int error = 0;
  for (int i = 0; i < attempts; ++i) {
    error = swap == Swap::exchange ? exchange(from, to) : moveAside(from, to);
    if (swap == Swap::exchange && isUnknown(error))
      return replaceFolder(from, to, Swap::aside);
    if (error != EEXIST && error != ENOTEMPTY) // another process's folder came in between
      return error;
    backOff(i);
  }
  return error;
}

PartialFolder::~PartialFolder() {
  std::error_code ignored;
  if (!path.empty())
    fs::remove_all(path, ignored);
  if (lock >= 0)
    close(lock);
}

Status PartialFolder::create(const std::string &place) {
  wanted = place;
  SYNCLINE_TRY_GET(end, endOfLinks(place));
  target = *end;
  removeAbandoned(target);
  return claim(0777);
}

Status PartialFolder::createTemporary() {
  std::error_code error;
  const fs::path temporary = fs::temp_directory_path(error);
  if (error)
    return Status::badInput("cannot make a temporary folder: " + error.message());
  wanted = target = (temporary / "syncline").string(); // a link there is not followed
  removeAbandoned(target);
  return claim(0700);
}

/// A folder counts as abandoned until it is locked. Where another process removes it before that, a
/// second one is made.
Status PartialFolder::claim(unsigned mode) {
  const std::string prefix = (fs::path(target).parent_path() / prefixOf(target)).string();
  for (int i = 0; i < attempts; ++i) {
    char number[digits + 1];
    std::snprintf(number, sizeof number, "%06x", llvm::sys::Process::GetRandomNumber() & 0xFFFFFFu);
    const std::string name = prefix + number;
    if (mkdir(name.c_str(), mode) != 0) {
      if (errno == EEXIST)
        continue;
      return bad(wanted, std::string("cannot make a folder there: ") + std::strerror(errno));
    }
    lock = lockFolder(name);
    if (lock == isTaken)
      continue;
    path = name;
    const int mark =
        open((path + unfinished).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (mark < 0) {
      const int error = errno;
      rmdir(
          path.c_str()); // a umask may forbid this user to read it, and so to remove it with files
      path.clear();
      return bad(wanted, std::string("cannot write in a new folder: ") + std::strerror(error));
    }
    close(mark);
    return Status::ok();
  }
  return bad(wanted, "cannot make a folder there: other processes remove it");
}

Status PartialFolder::rename() {
  if (Interruption::pending())
    return bad(wanted, "interrupted");
  if (unlink((path + unfinished).c_str()) != 0)
    return bad(wanted, std::string("cannot write: ") + std::strerror(errno));
  if (const int error = replaceFolder(path, target))
    return bad(wanted, std::string("cannot write: ") + std::strerror(error));
  path.clear();
  return Status::ok();
}

namespace {

/// Whether plan.json is one that a version of Syncline wrote, of whatever schema.
/// `document` is filled with it.
bool isPlanDocument(const fs::path &path, nlohmann::json &document) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(path, error)) ||
      fs::file_size(path, error) > static_cast<std::uintmax_t>(maxPlanBytes))
    return false;
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  if (!checkJsonDepth(text.str(), "", maxPlanLevels))
    return false;
  document = nlohmann::json::parse(text.str(), nullptr, /*allow_exceptions=*/false);
  return document.is_object() && document.contains("schema") && document.contains("planner") &&
         document.contains("hashes") && document["hashes"].is_object() &&
         document["hashes"].contains("plan") && document["hashes"].contains("files");
}

/// Whether the entry is a file of a plan, or the folder of a smaller size's plan beside the file
/// that lists them.
bool isPlans(const fs::directory_entry &entry) {
  std::error_code ignored;
  const fs::file_status status = entry.symlink_status(ignored);
  if (fs::is_directory(status))
    return (fs::is_regular_file(entry.path().parent_path() / lengthsFile, ignored) ||
            fs::is_regular_file(entry.path().parent_path() / batchesFile, ignored)) &&
           fs::is_regular_file(entry.path() / "plan.json", ignored) &&
           expectReplaceable(entry.path().string()).isOk();
  if (!fs::is_regular_file(status)) // gone: another compile has replaced the folder meanwhile
    return status.type() == fs::file_type::not_found;
  return syncline::isPlanFile(entry.path().filename().string());
}

} // namespace

Status expectReplaceable(const std::string &folder) {
  const auto refuse = [&](const std::string &why) {
    return Status::badInput("'" + folder + "': exists and " + why + "; it is left alone");
  };
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (!fs::exists(status)) // where nothing can be, making the folder says why
    return Status::ok();
  if (!fs::is_directory(status))
    return refuse("is not a plan");
  std::string foreign; // the first by name, so that the message is the same each time
  bool isEmpty = true;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    isEmpty = false;
    const std::string name = it->path().filename().string();
    if (!isPlans(*it) && (foreign.empty() || name < foreign))
      foreign = name;
  }
  if (error && error != std::errc::no_such_file_or_directory)
    return refuse("cannot be read: " + error.message());
  if (isEmpty)
    return Status::ok();
  nlohmann::json document;
  if (!isPlanDocument(fs::path(folder) / "plan.json", document))
    return refuse("is not a plan");
  // A plan that is run has no layers.csv: such a file in its folder is the user's.
  if (const std::string layers = "layers.csv"; fs::exists(fs::path(folder) / layers, error) &&
                                               !document["hashes"]["files"].contains(layers) &&
                                               (foreign.empty() || layers < foreign))
    foreign = layers;
  return foreign.empty()
             ? Status::ok()
             : refuse("holds '" + oneLine(foreign) + "', which 'compile' did not write");
}

} // namespace syncline::codegen
