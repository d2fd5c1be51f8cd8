// Files written whole, and what is there instead of a file.
#include "TinyPlan.h"

#include "runtime/core/PartialFile.h"
#include "syncline/OutputFile.h"

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <iterator>
#include <ostream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace syncline {
namespace {

namespace fs = std::filesystem;
using namespace syncline::testing;

std::size_t filesIn(const std::string &folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

/// Files of this process cannot grow beyond a page while one exists.
class FullDisk {
public:
  FullDisk() {
    getrlimit(RLIMIT_FSIZE, &before);
    handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit page{4096, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &page);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before);
    static_cast<void>(std::signal(SIGXFSZ, handler));
  }

private:
  rlimit before{};
  void (*handler)(int) = SIG_DFL;
};

// A full disk leaves neither a file nor pieces of one, nor does a writer that gives up.
TEST(OutputFile, WholeOrNotThere) {
  TemporaryFolder files;
  EXPECT_TRUE(writeWholeFile(files.file("a"), "text").isOk());
  EXPECT_EQ(readFile(files.file("a")), "text");
  const std::string full = "'" + files.file("b") + "': cannot write: File too large";
  {
    FullDisk disk;
    Status s = writeWholeFile(files.file("b"), std::string(1 << 20, 'x'));
    EXPECT_EQ(s.message(), full);
    s = writeWholeFile(files.file("b"), [](std::ostream &out) {
      out << std::string(1 << 20, 'x') << std::flush;
      return out ? Status::ok() : Status::badInput("gave up");
    });
    EXPECT_EQ(s.message(), full);
  }
  const Status s = writeWholeFile(files.file("a"), [](std::ostream &out) {
    out << "half";
    return Status::badInput("gave up");
  });
  EXPECT_EQ(s.message(), "gave up");
  EXPECT_EQ(readFile(files.file("a")), "text");
  EXPECT_EQ(filesIn(files.file(".")), 1u);
}

// A killed process leaves nothing of a file that has no name yet.
TEST(OutputFile, HasNoNameUntilItIsWhole) {
  TemporaryFolder files;
  const int probe = open(files.path.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
  if (probe < 0)
    GTEST_SKIP() << "this file system has only files with names";
  close(probe);
  for (const std::size_t before : {0u, 1u}) { // a new file, and one that is replaced
    const std::string text(before + 1, 'x');
    const Status s = writeWholeFile(files.file("a"), [&](std::ostream &out) {
      out << text << std::flush;
      EXPECT_EQ(filesIn(files.path), before);
      return Status::ok();
    });
    EXPECT_TRUE(s) << s.message();
    EXPECT_EQ(readFile(files.file("a")), text);
    EXPECT_EQ(filesIn(files.path), 1u);
  }
}

// Where files need a name, it is another one until the file is put in its place.
TEST(OutputFile, HasAnotherNameUntilItIsWhole) {
  TemporaryFolder files;
  const auto begin = [&] {
    return core::PartialFile(open(files.path.c_str(), O_PATH | O_CLOEXEC), "a");
  };
  {
    core::PartialFile dropped = begin();
    ASSERT_EQ(dropped.openNamed(), 0);
    EXPECT_EQ(filesIn(files.path), 1u);
  }
  EXPECT_EQ(filesIn(files.path), 0u);
  for (const char *text : {"one", "two"}) {
    core::PartialFile file = begin();
    ASSERT_EQ(file.openNamed(), 0);
    ASSERT_EQ(write(file.descriptor(), text, 3), 3);
    ASSERT_EQ(file.putInPlace(), 0);
    EXPECT_EQ(readFile(files.file("a")), text);
    EXPECT_EQ(filesIn(files.path), 1u);
  }
}

// What stands beside the file, whatever its name, is not touched.
TEST(OutputFile, LeavesNeighboursAlone) {
  TemporaryFolder files;
  ASSERT_TRUE(writeWholeFile(files.file("mine"), "precious"));
  fs::create_symlink("mine", files.file("a.partial"));
  ASSERT_TRUE(writeWholeFile(files.file("b.partial"), "precious"));
  ASSERT_EQ(mkfifo(files.file("c.partial").c_str(), 0600), 0);
  for (const char *name : {"a", "b", "c"}) {
    const Status s = writeWholeFile(files.file(name), "text");
    EXPECT_TRUE(s) << s.message();
    EXPECT_EQ(readFile(files.file(name)), "text");
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(files.file(name))));
  }
  EXPECT_EQ(readFile(files.file("mine")), "precious");
  EXPECT_EQ(readFile(files.file("b.partial")), "precious");
  EXPECT_TRUE(fs::is_symlink(files.file("a.partial")));
  EXPECT_TRUE(fs::is_fifo(files.file("c.partial")));
  EXPECT_EQ(filesIn(files.file(".")), 7u);
}

// As long as the file system takes.
TEST(OutputFile, LongNames) {
  TemporaryFolder files;
  EXPECT_TRUE(writeWholeFile(files.file(std::string(255, 'n')), "text"));
  EXPECT_FALSE(writeWholeFile(files.file(std::string(256, 'n')), "text"));
  EXPECT_EQ(filesIn(files.file(".")), 1u);
}

// In a shared folder, a link that another user made could lead an output to a file of ours.
TEST(OutputFile, RefusesLinksOfOthers) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root makes files of others";
  TemporaryFolder files;
  ASSERT_TRUE(writeWholeFile(files.file("mine"), "precious"));
  for (const char *to : {"mine", "nothing"}) {
    const std::string link = files.file("to-") + to;
    fs::create_symlink(to, link);
    ASSERT_EQ(lchown(link.c_str(), 65534, 65534), 0);
    const std::string refusal =
        "'" + link + "': cannot write: it leads through a link of another user";
    EXPECT_EQ(expectWritableFile(link).message(), refusal);
    EXPECT_EQ(writeWholeFile(link, "text").message(), refusal);
  }
  EXPECT_EQ(readFile(files.file("mine")), "precious");
  EXPECT_FALSE(fs::exists(files.file("nothing")));
}

// A link stays, and what it leads to is written, also where nothing is there yet.
TEST(OutputFile, FollowsLinks) {
  TemporaryFolder files;
  fs::create_directory(files.file("inner"));
  fs::create_symlink("inner/target", files.file("near"));
  fs::create_symlink(files.file("near"), files.file("far"));
  for (const std::string text : {"new", "again"}) {
    EXPECT_TRUE(expectWritableFile(files.file("far")));
    const Status s = writeWholeFile(files.file("far"), text);
    EXPECT_TRUE(s) << s.message();
    EXPECT_TRUE(fs::is_symlink(files.file("far")));
    EXPECT_TRUE(fs::is_symlink(files.file("near")));
    EXPECT_FALSE(fs::is_symlink(files.file("inner/target")));
    EXPECT_EQ(readFile(files.file("inner/target")), text);
  }
  fs::create_symlink("missing/target", files.file("lost"));
  EXPECT_FALSE(expectWritableFile(files.file("lost")));
  EXPECT_FALSE(writeWholeFile(files.file("lost"), "text"));
  fs::create_symlink("ring", files.file("ring"));
  EXPECT_FALSE(expectWritableFile(files.file("ring")));
  EXPECT_FALSE(writeWholeFile(files.file("ring"), "text"));
  EXPECT_TRUE(fs::is_symlink(files.file("ring")));
}

// Who reads a pipe gets the bytes, and the pipe stays one, also behind a link.
TEST(OutputFile, WritesIntoPipes) {
  TemporaryFolder files;
  const std::string pipe = files.file("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  fs::create_symlink("pipe", files.file("link"));
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  for (const std::string &path : {pipe, files.file("link")}) {
    EXPECT_TRUE(expectWritableFile(path));
    const Status s = writeWholeFile(path, "text");
    EXPECT_TRUE(s) << s.message();
    char got[8] = {};
    EXPECT_EQ(read(reader, got, sizeof got), 4);
    EXPECT_STREQ(got, "text");
    EXPECT_TRUE(fs::is_fifo(pipe));
  }
  close(reader);
  EXPECT_EQ(filesIn(files.file(".")), 2u);
}

// A device is written into; one of our own, as a wrong answer would replace it.
TEST(OutputFile, WritesIntoDevices) {
  TemporaryFolder files;
  const std::string full = files.file("full");
  const unsigned major = 1, minor = 7; // as /dev/full
  if (mknod(full.c_str(), S_IFCHR | 0600, makedev(major, minor)) != 0)
    GTEST_SKIP() << "only root makes devices";
  const Status s = writeWholeFile(full, std::string(1 << 20, 'x'));
  EXPECT_TRUE(fs::is_character_file(full));
  EXPECT_FALSE(s);
}

// Asked before the work that the file holds the results of.
TEST(OutputFile, ExpectsAPlace) {
  TemporaryFolder files;
  EXPECT_TRUE(expectWritableFile(files.file("a")));
  EXPECT_FALSE(fs::exists(files.file("a")));
  EXPECT_FALSE(expectWritableFile(files.file(".")));
  EXPECT_FALSE(expectWritableFile(files.file("missing/c")));
  ASSERT_TRUE(writeWholeFile(files.file("a"), "text"));
  EXPECT_FALSE(expectWritableFile(files.file("a/c")));
}

} // namespace
} // namespace syncline
