// Who is no rank of this run and connects to its ports: it is turned away, and the run goes on.
#include "Ranks.h"

#include "runtime/transport/RankConnections.h"

#include <arpa/inet.h>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <sys/socket.h>

namespace syncline {
namespace {

using namespace core;
using namespace transport;

using test::eventually, test::patience;
using testing::runRanks;

/// What strangers say; they keep their connection but for the one that says nothing and leaves.
struct Strangers {
  std::vector<Socket> connections;

  void connectTo(int port) {
    const std::string words[] = {"", "GET / HTTP/1.1\r\n\r\n", std::string(4096, '\0'),
                                 std::string("\x10\0\0\0", 4).append(16, '\x7f')};
    for (const std::string &text : words) {
      Result<Socket> s = Socket::connect("127.0.0.1", port, deadlineIn(patience));
      ASSERT_TRUE(s.isOk()) << s.status().message();
      s->sendAll(text, deadlineIn(patience));
      connections.push_back(std::move(*s));
    }
    (void)Socket::connect("127.0.0.1", port, deadlineIn(patience));
  }
};

/// TCP ports on which this process listens.
std::set<int> listeningPorts() {
  std::set<int> ports;
  for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename());
    int listens = 0;
    socklen_t size = sizeof listens;
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || !listens)
      continue;
    Socket borrowed(fd);
    if (const int port = borrowed.localPort(); port > 0)
      ports.insert(port);
    borrowed.release();
  }
  return ports;
}

ConnectLimit within(double seconds) {
  return {deadlineIn(seconds), [] { return false; }};
}

// A first frame that claims megabytes ends its connection at once, and not when the time for it is
// over. A busy machine does so at once sooner or later.
TEST(Strangers, FirstFramesAreShort) {
  Result<Socket> listener = Socket::listen(0);
  const int port = listener->localPort();
  StoreServer server(std::move(*listener), 2);
  const std::uint32_t size = maxFrameBytes;
  const std::string frame(reinterpret_cast<const char *>(&size), 4);
  EXPECT_TRUE(eventually([&] {
    const auto start = Clock::now();
    Socket stranger = std::move(*Socket::connect("127.0.0.1", port, deadlineIn(patience)));
    stranger.sendAll(frame + std::string(100, 'x'), deadlineIn(patience));
    EXPECT_TRUE(stranger.hasInput(deadlineIn(patience))) << "the connection is still open";
    return secondsSince(start) < Newcomers::helloSeconds;
  }));
  EXPECT_TRUE(Store::connect("127.0.0.1", port, 1, 2, deadlineIn(patience)).isOk());
}

// Who connects and says nothing is let go after some seconds.
TEST(Strangers, SilentOnesAreClosed) {
  Result<Socket> listener = Socket::listen(0);
  const int port = listener->localPort();
  StoreServer server(std::move(*listener), 2);
  Socket stranger = std::move(*Socket::connect("127.0.0.1", port, deadlineIn(patience)));
  EXPECT_TRUE(stranger.hasInput(deadlineIn(Newcomers::helloSeconds + patience)));
}

// A listener takes the connection that knows the secret, whoever came before it.
TEST(Strangers, RankIsTakenAmongThem) {
  auto listener = RankListener::open("127.0.0.1");
  ASSERT_TRUE(listener.isOk()) << listener.status().message();
  const std::string place = (*listener)->place();
  Strangers strangers;
  strangers.connectTo(std::stoi(place));
  std::thread rank([&] {
    Result<Socket> s = connectToRank("127.0.0.1", place, "b", within(patience));
    ASSERT_TRUE(s.isOk()) << s.status().message();
    EXPECT_TRUE(s->sendAll("hello", deadlineIn(patience)));
  });
  std::optional<Socket> socket = (*listener)->take("b", within(patience));
  ASSERT_TRUE(socket);
  std::string text(5, ' ');
  EXPECT_TRUE(socket->receiveAll(text.data(), text.size(), deadlineIn(patience)));
  EXPECT_EQ(text, "hello");
  rank.join();
}

// Without the secret nobody is taken, and both ends hear of it in time.
TEST(Strangers, SecretIsNeeded) {
  auto listener = RankListener::open("127.0.0.1");
  ASSERT_TRUE(listener.isOk()) << listener.status().message();
  const std::string place = (*listener)->place(), port = place.substr(0, place.find(' '));
  Result<Socket> s = connectToRank("127.0.0.1", port + " 1-2-3-4", "b", within(0.3));
  ASSERT_FALSE(s.isOk());
  EXPECT_EQ(s.status().message(), "no rank of this run answers at 127.0.0.1:" + port);
  EXPECT_FALSE((*listener)->take("b", within(0.1)));
}

// A wait for a connection ends when somebody is lost.
TEST(Strangers, WaitsEndEarly) {
  auto listener = RankListener::open("127.0.0.1");
  ASSERT_TRUE(listener.isOk()) << listener.status().message();
  const auto deadline = deadlineIn(patience);
  EXPECT_FALSE((*listener)->take("b", {deadline, [] { return true; }}));
  EXPECT_LT(Clock::now(), deadline);
}

// While links are opened, strangers on every port of the ranks change nothing.
TEST(Strangers, LinksOpenAmongThem) {
  Strangers strangers;
  std::set<int> before = listeningPorts();
  runRanks(2, [&](int rank, Group &group) {
    const std::vector<LinkEnd> ends{{1 - rank, true, rank == 0 ? "there" : "back"},
                                    {1 - rank, false, rank == 0 ? "back" : "there"}};
    if (rank == 1) {
      // Rank 0 waits; the store's port is one, and there must be another.
      std::set<int> ports;
      ASSERT_TRUE(eventually([&] {
        ports = listeningPorts();
        for (int port : before)
          ports.erase(port);
        return ports.size() >= 2;
      })) << "no port to connect to";
      for (int port : ports)
        strangers.connectTo(port);
      std::this_thread::sleep_for(std::chrono::milliseconds(50)); // mostly they are met first
    }
    auto links = group.transport()->open(ends);
    ASSERT_TRUE(links.isOk()) << links.status().message();
    const double own = 1 + rank;
    double theirs = 0;
    EXPECT_TRUE((*links)[0]->send(&own, sizeof own).isOk());
    EXPECT_TRUE((*links)[1]->receive(&theirs, sizeof theirs).isOk());
    EXPECT_EQ(theirs, 2 - rank);
  });
}

/// A message of 64 bytes behind any length, on a connection that is a link's by its name.
void sendForged(Group &group, const std::string &name, std::uint64_t length) {
  const std::string key = "link/" + name + "/1/0";
  std::string at;
  ASSERT_TRUE(eventually([&] {
    const Result<std::optional<std::string>> found = group.ask(key);
    at = found && *found ? **found : "";
    return !at.empty();
  }));
  const std::size_t space = at.find(' ');
  Result<Socket> link =
      connectToRank(at.substr(0, space), at.substr(space + 1), key, within(patience));
  ASSERT_TRUE(link.isOk()) << link.status().message();
  const std::string text(reinterpret_cast<const char *>(&length), sizeof length);
  EXPECT_TRUE(link->sendAll(text + std::string(64, 'x'), deadlineIn(patience)));
  (void)link->hasInput(deadlineIn(patience)); // until the other end has closed
}

// A length is checked before a byte of its message is written anywhere. Its upper byte is a tag.
TEST(Strangers, ForgedLengthsAreRefused) {
  for (const std::uint64_t forged :
       {std::uint64_t{0}, std::uint64_t{63}, std::uint64_t{65}, std::uint64_t{1} << 30,
        (std::uint64_t{1} << 56) - 64, ~std::uint64_t{0} - 63})
    runRanks(2, [&](int rank, Group &group) {
      if (rank == 1)
        return sendForged(group, "forged", forged);
      const std::vector<LinkEnd> ends{{1, false, "forged"}};
      auto links = group.transport()->open(ends);
      ASSERT_TRUE(links.isOk()) << links.status().message();
      std::vector<char> memory(64 + 64 + 64, 'o');
      const Status s = (*links)[0]->receive(memory.data() + 64, 64);
      ASSERT_FALSE(s) << forged;
      EXPECT_EQ(s.kind(), ErrorKind::badInput);
      EXPECT_EQ(s.message(), forged >> 56 ? "rank 1 sent a message with tag 255, expected one "
                                            "without a tag"
                                          : "rank 1 sent a message of " + std::to_string(forged) +
                                                " bytes, expected one of 64 bytes");
      EXPECT_EQ(memory, std::vector<char>(memory.size(), 'o'));
    });
}

} // namespace
} // namespace syncline
