//===- MadeOnce.h - values by keys, for threads -------------------------------------------------*- C++
//-*-===//
#ifndef PAR_SUPPORT_MADEONCE_H
#define PAR_SUPPORT_MADEONCE_H

#include <map>
#include <mutex>
#include <type_traits>
#include <unordered_map>

namespace mlir::par {

/// Values by keys, each made by the thread that asks for it first, while others that ask for it wait. Any
/// number of threads may ask at once; references stay. `Hash`: of keys that are not ordered.
template <typename Key, typename Value, typename Hash = void>
class MadeOnce {
public:
  /// `make` is handed the value as its type's constructor has it. It may ask for other keys, but not for one
  /// that waits for this one.
  template <typename Make>
  Value &get(const Key &key, Make make) {
    Entry &entry = find(key);
    std::call_once(entry.once, [&] { make(entry.value); });
    return entry.value;
  }

private:
  struct Entry {
    std::once_flag once;
    Value value{};
  };

  Entry &find(const Key &key) {
    std::lock_guard<std::mutex> lock(mutex);
    return entries.try_emplace(key).first->second;
  }

  std::mutex mutex;
  /// Guarded by `mutex`; values by their flags.
  std::conditional_t<std::is_void_v<Hash>, std::map<Key, Entry>, std::unordered_map<Key, Entry, Hash>>
      entries;
};

} // namespace mlir::par

#endif // PAR_SUPPORT_MADEONCE_H
