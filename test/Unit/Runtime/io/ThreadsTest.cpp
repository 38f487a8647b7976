// Threads that cannot start, and names that do not outlive a process.
#include "par/io/Threads.h"
#include "TinyPackage.h"
#include "cpu/Pool.h"
#include "par/io/EndingSignals.h"
#include "par/io/Files.h"
#include "par/io/TemporaryNames.h"
#include "par/io/TextFile.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <pthread.h>
#include <set>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace par;
using par::test::TemporaryFolder;

namespace {

/// Runs `body` in a process of its own that may take `megabytes` more of addresses: without them no thread's
/// stack fits, with some those of a few. Returns what it wrote.
std::string withoutThreads(const std::function<std::string()> &body, rlim_t megabytes = 32) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    long pages = 0;
    if (std::FILE *file = std::fopen("/proc/self/statm", "r")) {
      if (std::fscanf(file, "%ld", &pages) != 1)
        _exit(2);
      std::fclose(file);
    }
    // Larger stacks than those that ended threads leave for others.
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, size_t(64) << 20);
    pthread_setattr_default_np(&attributes);
    rlim_t bytes = rlim_t(pages) * rlim_t(sysconf(_SC_PAGESIZE)) + (megabytes << 20);
    rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
    std::string text = body();
    _exit(write(ends[1], text.data(), text.size()) == ssize_t(text.size()) ? 0 : 3);
  }
  close(ends[1]);
  std::string text(4096, '\0');
  text.resize(size_t(std::max<ssize_t>(read(ends[0], text.data(), text.size()), 0)));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  return text;
}

const char *const remedy =
    "; allow more processes (ulimit -u, or the container's limit of them) or more memory "
    "(ulimit -v), or use fewer ranks";

} // namespace

// What could not be started, why, and what helps; nothing ends the process.
TEST(Threads, OneThatCannotStartIsAMessage) {
  EXPECT_EQ(withoutThreads([] {
              std::thread thread;
              return io::startThread(thread, "the thread of rank 3", [] {}).message();
            }),
            "the thread of rank 3 could not be started: Resource temporarily unavailable" +
                std::string(remedy));
  EXPECT_NE(withoutThreads([]() -> std::string {
              try {
                cpu::Pool pool(4);
              } catch (const io::ThreadError &error) {
                return error.what();
              }
              return "";
            }).find("thread 2 of 4 for a rank's kernels could not be started"),
            std::string::npos);
}

// Those that were started are waited for where one more cannot be: nothing ends the process.
TEST(Threads, SomeOfAPoolAreStopped) {
#ifdef PAR_SANITIZE
  GTEST_SKIP() << "a thread that runs asks for memory of the sanitizer's, which ends the process without it";
#endif
  std::string text = withoutThreads(
      []() -> std::string {
        try {
          cpu::Pool pool(256);
        } catch (const io::ThreadError &error) {
          return error.what();
        }
        return "all were started";
      },
      300);
  EXPECT_NE(text.find(" of 256 for a rank's kernels could not be started"), std::string::npos) << text;
  EXPECT_EQ(text.find("thread 2 of"), std::string::npos) << text;
}

// What may run beside is done here where nothing can.
TEST(Threads, WorkBesideIsDoneHere) {
  EXPECT_EQ(withoutThreads([] { return io::runBeside([] { return std::string("done"); }).get(); }), "done");
  EXPECT_EQ(io::runBeside([] { return 7; }).get(), 7);
}

// A list of threads waits for those that were started.
TEST(Threads, StartedOnesAreWaitedFor) {
  std::atomic<int> done{0};
  {
    io::Threads threads;
    for (int i = 0; i < 3; ++i)
      EXPECT_TRUE(threads.start("", [&] { ++done; }).ok());
  }
  EXPECT_EQ(done, 3);
}

// Every signal that ends a process and can be caught takes its files and folders along, and ends it as
// before.
TEST(EndingSignals, NothingIsLeft) {
  // All but those that cannot be caught, stop a process, or do nothing.
  std::set<int> others = {SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN,  SIGTTOU,
                          SIGCONT, SIGCHLD, SIGURG,  SIGWINCH, SIGXFSZ};
#ifdef PAR_SANITIZE // the sanitizers report faults themselves
  others.insert(std::begin(io::faultSignals), std::end(io::faultSignals));
#endif
  for (int number = 1; number <= SIGRTMAX; ++number) {
    if (others.count(number) || (number > 31 && number < SIGRTMIN))
      continue;
    TemporaryFolder folder;
    pid_t child = fork();
    if (child == 0) {
      rlimit none{0, 0};
      setrlimit(RLIMIT_CORE, &none);
      std::signal(number, SIG_DFL);
      io::removeTemporariesOnSignals();
      io::OutputFolder output;
      (void)output.create(folder / "f", "tag");
      mkdir((output.path() + "/inner").c_str(), 0777);
      std::ofstream(output.path() + "/inner/a") << "a";
      std::ofstream(folder / "b") << "b";
      io::registerTemporaryFile(folder / "b");
      raise(number);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == number) << strsignal(number);
    EXPECT_TRUE(std::filesystem::is_empty(folder / "")) << strsignal(number);
  }
}

// Those that the process was started to ignore stay so; a limit of sizes is an error of the write.
TEST(EndingSignals, IgnoredOnesStayIgnored) {
  TemporaryFolder folder;
  pid_t child = fork();
  if (child == 0) {
    std::signal(SIGHUP, SIG_IGN);
    io::removeTemporariesOnSignals();
    raise(SIGHUP);
    rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    io::Status status = io::writeFile(folder / "large", std::string(5000, 'x'));
    _exit(status.message().find("large: cannot be written: File too large") == std::string::npos);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(std::filesystem::is_empty(folder / ""));
}

// What somebody else puts at the place of a temporary name stays.
TEST(TemporaryNames, OthersAreLeftAlone) {
  TemporaryFolder folder;
  std::ofstream(folder / "a") << "a";
  mkdir((folder / "d").c_str(), 0777);
  int file = io::registerTemporaryFile(folder / "a"), inner = io::registerTemporaryFolder(folder / "d");
  std::filesystem::rename(folder / "a", folder / "mine");
  std::filesystem::rename(folder / "d", folder / "my");
  std::ofstream(folder / "a") << "other";
  mkdir((folder / "d").c_str(), 0777);
  io::removeTemporary(file);
  io::removeTemporary(inner);
  for (const char *name : {"a", "d", "mine", "my"})
    EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
}

// A pipe is read to its end, by what writes to it; one without a writer is not waited for.
TEST(TextFile, PipesHaveADeadline) {
  TemporaryFolder folder;
  std::string path = folder / "pipe", content;
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(io::readText(path, 100, content).message(), "nobody writes to the pipe for 5 s; give a file");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  std::thread writer([&] {
    std::ofstream stream(path);
    for (int i = 0; i < 3; ++i) {
      stream << i << std::flush;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
  EXPECT_EQ(io::readText(path, 100, content).message(), "");
  writer.join();
  EXPECT_EQ(content, "012");
  EXPECT_EQ(io::readText("/dev/zero", 100, content).message(), "it is no regular file");
  EXPECT_EQ(io::readFile(path, content).message(),
            path +
                ": is a pipe, whose length nobody knows; write what comes from it to a file, and give that");
}
