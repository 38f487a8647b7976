#include "text/BytePairModel.h"

#include "text/Utf8.h"

#include <algorithm>

namespace par::text {

static constexpr uint32_t none = UINT32_MAX;

void BytePairModel::reserveMerges(size_t count) {
  size_t size = 2;
  while (size < 2 * count + 2)
    size *= 2;
  slots.assign(size, Slot());
  mask = size - 1;
}

void BytePairModel::addMerge(uint32_t left, uint32_t right, Merge merge) {
  uint64_t key = keyOf(left, right);
  size_t at = slotOf(key);
  while (slots[at].key != emptyKey && slots[at].key != key)
    at = (at + 1) & mask;
  slots[at] = {key, merge};
}

/// Puts the pair that begins at `position` on the heap, if it was learnt.
void WordMerger::propose(uint32_t position) {
  const Symbol &left = symbols[position];
  if (left.next == none)
    return;
  uint32_t right = symbols[left.next].id;
  if (const BytePairModel::Merge *merge = model.find(left.id, right)) {
    heap.push_back({merge->rank, position, merge->id, left.id, right});
    std::push_heap(heap.begin(), heap.end());
  }
}

void WordMerger::merge(const Candidate &candidate) {
  Symbol &left = symbols[candidate.position];
  // Entries are not taken from the heap when their pair disappears, so it may be of the past.
  if (left.gone || left.next == none || left.id != candidate.left || symbols[left.next].id != candidate.right)
    return;
  Symbol &right = symbols[left.next];
  left.id = candidate.id;
  left.next = right.next;
  right.gone = true;
  if (right.next != none)
    symbols[right.next].previous = candidate.position;
  if (left.previous != none)
    propose(left.previous);
  propose(candidate.position);
}

void WordMerger::addSymbol(uint32_t id) {
  auto position = uint32_t(symbols.size());
  if (position)
    symbols.back().next = position;
  symbols.push_back({id, position - 1, none, false}); // none before the first
}

void WordMerger::beginWith(std::string_view word) {
  symbols.clear(), heap.clear();
  for (size_t at = 0; at < word.size();) {
    size_t end = at + 1;
    if (model.byCharacter) {
      end = at;
      auto known = model.characterIds.find(nextCodePoint(word, end));
      if (known != model.characterIds.end()) {
        addSymbol(known->second);
        at = end;
        continue;
      }
    }
    for (; at < end; ++at)
      addSymbol(model.byteIds[static_cast<unsigned char>(word[at])]);
  }
}

void WordMerger::append(std::string_view word, std::vector<uint32_t> &ids) {
  if (!model.wholeWords.empty()) {
    auto whole = model.wholeWords.find(word);
    if (whole != model.wholeWords.end())
      return ids.push_back(whole->second);
  }
  beginWith(word);
  auto count = uint32_t(symbols.size());
  for (uint32_t i = 0; i < count; ++i)
    propose(i);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end());
    Candidate best = heap.back();
    heap.pop_back();
    merge(best);
  }
  for (uint32_t i = 0; i != none && i < count; i = symbols[i].next)
    ids.push_back(symbols[i].id);
}

} // namespace par::text
