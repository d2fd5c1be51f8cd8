// Files written whole, and what is there instead of a file.
#include "TinyPlan.h"

#include "syncline/OutputFile.h"

#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <ostream>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace syncline {
namespace {

namespace fs = std::filesystem;
using namespace syncline::testing;

// A full disk leaves neither a file nor pieces of one, nor does a writer that gives up.
TEST(OutputFile, WholeOrNotThere) {
  TemporaryFolder files;
  EXPECT_TRUE(writeWholeFile(files.file("a"), "text").isOk());
  EXPECT_EQ(readFile(files.file("a")), "text");
  fs::create_symlink("/dev/full", files.file("b.partial"));
  Status s = writeWholeFile(files.file("b"), std::string(1 << 20, 'x'));
  EXPECT_EQ(s.message(), "'" + files.file("b") + "': cannot write: No space left on device");
  EXPECT_FALSE(fs::exists(files.file("b")));
  EXPECT_FALSE(fs::is_symlink(files.file("b.partial")));
  s = writeWholeFile(files.file("a"), [](std::ostream &out) {
    out << "half";
    return Status::badInput("gave up");
  });
  EXPECT_EQ(s.message(), "gave up");
  EXPECT_EQ(readFile(files.file("a")), "text");
  EXPECT_FALSE(fs::exists(files.file("a.partial")));
  fs::create_symlink("/dev/full", files.file("c.partial"));
  s = writeWholeFile(files.file("c"), [](std::ostream &out) {
    out << std::string(1 << 20, 'x') << std::flush;
    return out ? Status::ok() : Status::badInput("gave up");
  });
  EXPECT_EQ(s.message(), "'" + files.file("c") + "': cannot write: No space left on device");
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
  EXPECT_FALSE(fs::exists(files.file("pipe.partial")));
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
