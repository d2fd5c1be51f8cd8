// A file that is written before it is put in its place.
#pragma once

#include <string>
#include <string_view>

namespace syncline::core {

/// A new file in a folder. It has no name until it is put in its place, so that nothing is left of
/// it where the process is killed. Where the file system has no files without a name, it is called
/// NAME.partial-XXXXXXXX, with random digits in place of X. Not thread-safe. Functions return 0 or
/// an error number of the system.
class PartialFile {
public:
  /// What stands behind the name in that of a partial file.
  static constexpr std::string_view mark = ".partial";

  /// `folder` is a descriptor of the file's folder, also one by O_PATH. The object closes it.
  PartialFile(int folder, std::string name) : name(std::move(name)), folder(folder) {}
  PartialFile(PartialFile &&other) noexcept;
  PartialFile &operator=(PartialFile &&) = delete;
  /// Without putInPlace() the file is gone.
  ~PartialFile();

  /// Makes the file. Called once, before all others.
  int open();
  /// Makes it with a name, as open() does where it has to.
  int openNamed();
  /// To write to; -1 before open() and after putInPlace().
  int descriptor() const { return file; }
  /// Closes the file and gives it its name. A file or a link of that name is replaced. Called at
  /// most once.
  int putInPlace();

private:
  int link();

  std::string name;
  std::string partial; ///< the present name; empty while the file has none
  int folder;
  int file = -1;
};

} // namespace syncline::core
