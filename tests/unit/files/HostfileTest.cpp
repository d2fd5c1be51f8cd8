// Host files as mpirun reads them, and what each mistake is told.
#include "frontend/files/Hostfile.h"
#include "tests/support/Results.h"

#include <gtest/gtest.h>

namespace syncline::files {
namespace {

std::string listed(std::string_view text) {
  const Result<std::vector<Host>> hosts = parseHostfile(text, "hosts");
  EXPECT_TRUE(hosts) << hosts.status().message();
  std::string all;
  if (hosts)
    for (const Host &host : *hosts)
      all += host.name + "=" + (host.slots ? std::to_string(*host.slots) : "?") + "@" +
             std::to_string(host.line) + " ";
  return all;
}

std::string hostsFailure(std::string_view text) {
  return test::messageOf(parseHostfile(text, "hosts"));
}

// Slots are said as Open MPI or as MPICH does, or not at all; comments and empty lines are nothing.
TEST(Hostfile, Forms) {
  EXPECT_EQ(listed("# the lab\nn1 slots=4\n\n  n2.lab\tslots=8 max_slots=16 # big\r\nn3:2\nn4"),
            "n1=4@2 n2.lab=8@4 n3=2@5 n4=?@6 ");
  EXPECT_EQ(listed("root@10.0.0.7 max-slots=3 slots=2\n"), "root@10.0.0.7=2@1 ");
}

// An IPv6 address has colons that are not MPICH's, unless it stands in brackets.
TEST(Hostfile, Addresses) {
  EXPECT_EQ(listed("fe80::1:2 slots=3\n"), "fe80::1:2=3@1 ");
  EXPECT_EQ(listed("[fe80::1]:4\n[fe80::2] slots=3\nroot@[::3]:2\n"),
            "fe80::1=4@1 fe80::2=3@2 root@::3=2@3 ");
  EXPECT_EQ(listed("[fe80::1]:4\nfe80::1 slots=2\n"), "fe80::1=6@1 ");
  for (const char *text :
       {"[fe80::1:4", "fe80::1]:4", "[]:4", "[a]:4", "n[1-4]", "[[::1]]", "[::1]x"})
    EXPECT_EQ(hostsFailure(text).find("hosts:1: expected a host, got '"), 0u) << text;
  EXPECT_EQ(hostsFailure("[::1]:x"),
            "hosts:1: expected a whole number of slots from 1 to 1048576, got 'x'");
}

// A host's slots add up over its lines; one where a line says none.
TEST(Hostfile, RepeatedHosts) {
  EXPECT_EQ(listed("a slots=2\nb\na slots=3\nb\nb\n"), "a=5@1 b=3@2 ");
}

// What is no host or no number of slots is refused with its line.
TEST(Hostfile, Mistakes) {
  EXPECT_EQ(hostsFailure("a slots=2\nb slots=two\n"),
            "hosts:2: expected a whole number of slots from 1 to 1048576, got 'two'");
  EXPECT_EQ(hostsFailure("a slots=0"),
            "hosts:1: expected a whole number of slots from 1 to 1048576, got '0'");
  EXPECT_EQ(hostsFailure("a slots="),
            "hosts:1: expected a whole number of slots from 1 to 1048576, got nothing");
  EXPECT_EQ(hostsFailure("a slots = 4"),
            "hosts:1: expected 'slots=N' or 'max_slots=N' behind the host, got 'slots'");
  EXPECT_EQ(hostsFailure("a 4"),
            "hosts:1: expected 'slots=N' or 'max_slots=N' behind the host, got '4'");
  EXPECT_EQ(hostsFailure("a:2 slots=2"), "hosts:1: expected the host's slots once, got them twice");
  EXPECT_EQ(hostsFailure("\n+n0\n"), "hosts:2: expected a host, got '+n0'");
  EXPECT_EQ(hostsFailure("^bad slots=1"), "hosts:1: expected a host, got '^bad'");
  EXPECT_EQ(hostsFailure(":3"), "hosts:1: expected a host, got ''");
}

// A file without hosts, and one that is no text, are told so.
TEST(Hostfile, Nothing) {
  EXPECT_EQ(hostsFailure(""), "hosts: expected at least one host, got none");
  EXPECT_EQ(hostsFailure("# a\n\n"), "hosts: expected at least one host, got none");
  EXPECT_NE(hostsFailure(std::string_view("a\0b", 3)).find("expected UTF-8 text"),
            std::string::npos);
}

} // namespace
} // namespace syncline::files
