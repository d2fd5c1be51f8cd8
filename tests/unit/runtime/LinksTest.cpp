// The links of a transport: what Transport.h promises of messages, waits, limits and blame.
#include "Ranks.h"

#include "runtime/transport/TcpWire.h"
#include "runtime/transport/WatchedLink.h"

#include <fcntl.h>
#include <new>
#include <numeric>
#include <unistd.h>

namespace syncline {
namespace {

using namespace core;
using namespace transport;
using testing::runRanks;

using Bytes = std::vector<unsigned char>;

/// Bytes that differ between messages and along each.
Bytes pattern(std::size_t size, unsigned char first) {
  Bytes bytes(size);
  std::iota(bytes.begin(), bytes.end(), first);
  return bytes;
}

/// This rank's ends of two links between ranks 0 and 1: to the other and from it.
std::vector<std::unique_ptr<Link>> openBoth(Group &group, int rank) {
  const std::vector<LinkEnd> ends{{1 - rank, true, "link"}, {1 - rank, false, "link"}};
  auto links = group.transport()->open(ends);
  EXPECT_TRUE(links.isOk()) << links.status().message();
  return links ? std::move(*links) : std::vector<std::unique_ptr<Link>>();
}

// Messages of any length, empty ones too, arrive in order with their bytes, in both directions at
// once, and are counted.
TEST(Links, MessagesArriveInOrder) {
  const std::size_t sizes[] = {0, 1, 8, 4095, 65536, 0, 1u << 18, (1u << 23) + 1, 3};
  runRanks(2, [&](int rank, Group &group) {
    const auto links = openBoth(group, rank);
    ASSERT_EQ(links.size(), 2u);
    std::thread sender([&] {
      unsigned char first = static_cast<unsigned char>(7 * rank);
      for (const std::size_t size : sizes) {
        const Bytes sent = pattern(size, first++);
        const Status s = links[0]->send(sent.data(), size);
        EXPECT_TRUE(s.isOk()) << s.message();
      }
    });
    unsigned char first = static_cast<unsigned char>(7 * (1 - rank));
    for (const std::size_t size : sizes) {
      Bytes got(size);
      const Status s = links[1]->receive(got.data(), size);
      EXPECT_TRUE(s.isOk()) << s.message();
      EXPECT_TRUE(got == pattern(size, first++)) << size;
    }
    sender.join();
    const auto moved = std::accumulate(std::begin(sizes), std::end(sizes), std::int64_t{0});
    EXPECT_EQ(group.transport()->traffic().sent, moved);
    EXPECT_EQ(group.transport()->traffic().received, moved);
  });
}

// Two messages of the buffered length are sent before anybody receives.
TEST(Links, ShortMessagesDoNotBlock) {
  runRanks(2, [&](int rank, Group &group) {
    const auto links = openBoth(group, rank);
    ASSERT_EQ(links.size(), 2u);
    Bytes bytes(Transport::bufferedBytes);
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 2; ++i)
        EXPECT_TRUE(links[0]->send(bytes.data(), bytes.size()).isOk());
      for (int i = 0; i < 2; ++i)
        EXPECT_TRUE(links[1]->receive(bytes.data(), bytes.size()).isOk());
    }
  });
}

// A peer that closes its end is lost, for whoever sends and whoever receives, and stays lost.
TEST(Links, ClosedEndIsLost) {
  runRanks(
      2,
      [&](int rank, Group &group) {
        auto links = openBoth(group, rank);
        ASSERT_EQ(links.size(), 2u);
        if (rank == 1)
          return group.depart();
        Bytes bytes(1u << 20);
        Status s = links[1]->receive(bytes.data(), bytes.size());
        ASSERT_FALSE(s);
        EXPECT_EQ(s.kind(), ErrorKind::peerLost);
        EXPECT_TRUE(s.message().starts_with("lost rank 1 (")) << s.message();
        while ((s = links[0]->send(bytes.data(), bytes.size())))
          ;
        EXPECT_EQ(s.kind(), ErrorKind::peerLost);
        EXPECT_FALSE(links[0]->send(bytes.data(), 0));
        EXPECT_FALSE(links[1]->receive(bytes.data(), 0));
      },
      /*connect=*/true, /*leave=*/false);
}

/// A wire between two ends of this process, the first with a time limit.
struct WirePair {
  std::pair<Socket, Socket> ends = Socket::pair();
  const int descriptor = ends.first.get();
  std::unique_ptr<Wire> wire;

  explicit WirePair(double seconds, std::shared_ptr<const MessageTag> tag = {}) {
    auto made = TcpWire::create(std::move(ends.first), seconds, "rank 1", std::move(tag));
    EXPECT_TRUE(made.isOk()) << made.status().message();
    wire = std::move(*made);
  }
};

/// What a link without a watch says of a wire's failure, which comes sooner or later.
Status failureOf(std::unique_ptr<Wire> wire, bool sends, std::size_t bytes) {
  LinkMonitor monitor(0, {}, nullptr);
  WatchedLink link(monitor, 1, false, std::move(wire));
  Bytes memory(bytes);
  Status s;
  while (s)
    s = sends ? link.send(memory.data(), bytes) : link.receive(memory.data(), bytes);
  return s;
}

// A wait ends when no byte has moved for the time limit, whether nothing comes, a message stops in
// its midst, or nobody takes what is sent.
TEST(Links, WaitsAreLimited) {
  const auto expectLate = [](const Status &s) {
    ASSERT_FALSE(s);
    EXPECT_EQ(s.kind(), ErrorKind::peerLost);
    EXPECT_EQ(s.message(), "lost rank 1: no message moved in time");
  };
  WirePair silent(0.01);
  expectLate(failureOf(std::move(silent.wire), /*sends=*/false, 8));
  WirePair halting(0.01);
  const std::uint64_t length = 64;
  const std::string begun(reinterpret_cast<const char *>(&length), sizeof length);
  EXPECT_TRUE(halting.ends.second.sendAll(begun + "abc", deadlineIn(test::patience)));
  expectLate(failureOf(std::move(halting.wire), /*sends=*/false, 64));
  WirePair full(0.01);
  expectLate(failureOf(std::move(full.wire), /*sends=*/true, 1u << 20));
}

/// What an end with tag `own` says of a message of 8 bytes with tag `sent`; 0 stands for none.
std::string refusalOf(std::uint8_t own, std::uint8_t sent) {
  auto tag = std::make_shared<MessageTag>();
  tag->present = own;
  tag->meaning = [](std::uint8_t number) { return "purpose " + std::to_string(number); };
  WirePair pair(test::patience, own == 0 ? nullptr : tag);
  const std::uint64_t head = 8 | std::uint64_t{sent} << 56;
  const std::string message(reinterpret_cast<const char *>(&head), sizeof head);
  EXPECT_TRUE(pair.ends.second.sendAll(message + "12345678", deadlineIn(test::patience)));
  char bytes[8];
  return pair.wire->receive(bytes, sizeof bytes).message();
}

// An end of an older library or of another program may tag its messages otherwise.
TEST(Links, TellAMessageWithoutATag) {
  EXPECT_EQ(refusalOf(0, 0), "");
  EXPECT_EQ(refusalOf(3, 3), "");
  EXPECT_EQ(refusalOf(3, 4), "rank 1 sent a message for purpose 4, expected one for purpose 3");
  EXPECT_EQ(refusalOf(3, 0), "rank 1 sent a message without a tag, expected one for purpose 3");
  EXPECT_EQ(refusalOf(0, 3), "rank 1 sent a message with tag 3, expected one without a tag");
}

/// A wire that lacks memory.
class ExhaustedWire : public Wire {
public:
  Status send(const void *, std::size_t) override { throw std::bad_alloc(); }
  Status receive(void *, std::size_t) override { throw std::bad_alloc(); }
};

// What fails in this process, by an exception or by the system, names no peer and loses none.
TEST(Links, OwnFailuresNameNobody) {
  for (const bool sends : {true, false}) {
    const Status thrown = failureOf(std::make_unique<ExhaustedWire>(), sends, 8);
    EXPECT_EQ(thrown.kind(), ErrorKind::badInput);
    EXPECT_EQ(thrown.message(), "out of memory");
    WirePair pair(test::patience);
    const int other = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    ::dup2(other, pair.descriptor);
    ::close(other);
    const Status refused = failureOf(std::move(pair.wire), sends, 8);
    EXPECT_EQ(refused.kind(), ErrorKind::badInput);
    EXPECT_EQ(refused.message(), std::string("cannot ") + (sends ? "send" : "receive") +
                                     " a message: Socket operation on non-socket");
  }
}

} // namespace
} // namespace syncline
