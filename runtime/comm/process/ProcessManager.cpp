#include "comm/process/ProcessManager.h"

#include "comm/process/Socket.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <poll.h>
#include <unistd.h>

namespace par::comm {

/// Longer lines are nobody's.
static constexpr size_t longestLine = 1 << 16;
/// Some managers take no lines of more than 1024 bytes, names and all.
static constexpr size_t longestValue = 500;
static constexpr size_t mostParts = 4096;

namespace {
/// Lines of words "name=value", each asked and answered.
class ProcessManager {
public:
  ProcessManager(int descriptor, double timeout) : descriptor(descriptor), timeout(timeout) {}

  io::Status open(size_t &valueBytes);
  io::Status put(const std::string &key, const std::string &value) {
    return ask("put kvsname=" + space + " key=" + key + " value=" + value, "put_result");
  }
  io::Status get(const std::string &key, std::string &value) {
    PAR_TRY(ask("get kvsname=" + space + " key=" + key, "get_result"));
    return find("value", value);
  }
  /// Once all processes are there, all have what was put before.
  io::Status barrier() { return ask("barrier_in", "barrier_out"); }
  io::Status close() { return ask("finalize", "finalize_ack"); }

private:
  io::Status ask(const std::string &command, const std::string &answer);
  io::Status wait(short events);
  io::Status send(const std::string &line);
  io::Status receive(std::string &line);
  io::Status find(const std::string &name, std::string &value) const;
  io::Status failed(const std::string &what) const {
    return io::Status::error("the process manager (PMI_FD=" + std::to_string(descriptor) + "): " + what +
                             "; set MASTER_ADDR and MASTER_PORT, and it is not asked");
  }

  const int descriptor;
  const double timeout;
  std::string space, pending;                ///< space: name of the job's keys
  std::map<std::string, std::string> answer; ///< the last one's words
};
} // namespace

io::Status ProcessManager::wait(short events) {
  Clock::time_point deadline = after(timeout);
  while (true) {
    pollfd entry{descriptor, events, 0};
    int ready = poll(&entry, 1, millisecondsTo(deadline));
    if (ready > 0)
      return {};
    if (ready == 0)
      return failed("nothing came in time; some process may not have started");
    if (errno != EINTR)
      return failed(std::strerror(errno));
  }
}

io::Status ProcessManager::send(const std::string &line) {
  for (size_t done = 0; done < line.size();) {
    PAR_TRY(wait(POLLOUT));
    ssize_t put = write(descriptor, line.data() + done, line.size() - done);
    if (put < 0 && errno != EAGAIN && errno != EINTR)
      return failed(std::strerror(errno));
    done += size_t(std::max<ssize_t>(put, 0));
  }
  return {};
}

/// Without its end.
io::Status ProcessManager::receive(std::string &line) {
  size_t end = 0;
  while ((end = pending.find('\n')) == std::string::npos) {
    if (pending.size() > longestLine)
      return failed("a line does not end");
    PAR_TRY(wait(POLLIN));
    char bytes[4096];
    ssize_t got = read(descriptor, bytes, sizeof(bytes));
    if (got == 0)
      return failed("it has gone");
    if (got < 0 && errno != EAGAIN && errno != EINTR)
      return failed(std::strerror(errno));
    pending.append(bytes, size_t(std::max<ssize_t>(got, 0)));
  }
  line = pending.substr(0, end);
  pending.erase(0, end + 1);
  return {};
}

/// Of what comes from elsewhere, for a message.
static std::string printable(std::string text) {
  for (char &letter : text)
    if (letter < ' ' || letter > '~')
      letter = '?';
  return text.substr(0, 200);
}

/// A word that has no "=" belongs to the text of a message.
io::Status ProcessManager::ask(const std::string &command, const std::string &expected) {
  std::string line;
  PAR_TRY(send("cmd=" + command + "\n"));
  PAR_TRY(receive(line));
  answer.clear();
  for (size_t begin = 0; begin < line.size();) {
    size_t end = std::min(line.find(' ', begin), line.size()), middle = line.find('=', begin);
    if (middle < end)
      answer.emplace(line.substr(begin, middle - begin), line.substr(middle + 1, end - middle - 1));
    begin = end + 1;
  }
  auto code = answer.find("rc");
  if (answer["cmd"] != expected || (code != answer.end() && code->second != "0"))
    return failed("to " + command.substr(0, command.find(' ')) + " it says \"" + printable(line) +
                  "\", expected cmd=" + expected + " and rc=0");
  return {};
}

io::Status ProcessManager::find(const std::string &name, std::string &value) const {
  auto found = answer.find(name);
  if (found == answer.end() || found->second.empty())
    return failed("an answer has no " + name);
  value = found->second;
  return {};
}

template <typename Number>
static bool readNumber(const std::string &text, int base, Number &number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size();
}

/// `valueBytes`: that a value may have.
io::Status ProcessManager::open(size_t &valueBytes) {
  std::string most;
  PAR_TRY(ask("init pmi_version=1 pmi_subversion=1", "response_to_init"));
  PAR_TRY(ask("get_maxes", "maxes"));
  PAR_TRY(find("vallen_max", most));
  if (!readNumber(most, 10, valueBytes) || valueBytes < 16)
    return failed("vallen_max is " + printable(most) + ", expected 16 or more");
  valueBytes = std::min(valueBytes - 1, longestValue);
  PAR_TRY(ask("get_my_kvsname", "my_kvsname"));
  return find("kvsname", space);
}

/// Values are single words.
static std::string toDigits(const std::string &bytes) {
  std::string text;
  for (unsigned char byte : bytes)
    for (int digit : {byte >> 4, byte & 15})
      text += "0123456789abcdef"[digit];
  return text;
}

static bool fromDigits(const std::string &text, std::string &bytes) {
  bytes.clear();
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    unsigned char byte = 0;
    if (!readNumber(text.substr(i, 2), 16, byte))
      return false;
    bytes += char(byte);
  }
  return text.size() % 2 == 0;
}

static std::string partName(size_t number) { return "par-part-" + std::to_string(number); }

static io::Status putText(ProcessManager &manager, const std::string &text, size_t valueBytes) {
  std::string digits = toDigits(text);
  size_t parts = (digits.size() + valueBytes - 1) / valueBytes;
  PAR_TRY(manager.put("par-parts", std::to_string(parts)));
  for (size_t i = 0; i < parts; ++i)
    PAR_TRY(manager.put(partName(i), digits.substr(i * valueBytes, valueBytes)));
  return {};
}

static io::Status getText(ProcessManager &manager, std::string &text) {
  std::string count, digits, part;
  size_t parts = 0;
  PAR_TRY(manager.get("par-parts", count));
  bool good = readNumber(count, 10, parts) && parts <= mostParts;
  for (size_t i = 0; good && i < parts; ++i) {
    PAR_TRY(manager.get(partName(i), part));
    digits += part;
  }
  return good && fromDigits(digits, text)
             ? io::Status()
             : io::Status::error(
                   "what rank 0 gave to the process manager has come otherwise; start the same version "
                   "of par everywhere");
}

io::Status broadcastByProcessManager(int descriptor, int rank, double timeout, std::string &text) {
  ProcessManager manager(descriptor, timeout);
  size_t valueBytes = 0;
  PAR_TRY(manager.open(valueBytes));
  if (rank == 0)
    PAR_TRY(putText(manager, text, valueBytes));
  PAR_TRY(manager.barrier());
  if (rank != 0)
    PAR_TRY(getText(manager, text));
  return manager.close();
}

} // namespace par::comm
