#include "cpu/BlockedProduct.h"

#include "cpu/Bf16.h"
#include "cpu/BlockKernels.h"
#include "cpu/ThreadMemory.h"

#include <algorithm>

namespace par::cpu {

/// Strips of the longer side.
constexpr int64_t mostStrips = 1024;
/// Pieces in which a shared block is packed.
constexpr int64_t pieces = 8;

namespace {
/// Two shared blocks take turns: while one is multiplied with, the next is packed.
struct SharedBlocks {
  alignas(64) float at[2][sharedWords];
};
struct OwnBlock {
  alignas(64) float at[ownWords];
};

int64_t ceilDiv(int64_t size, int64_t by) { return (size + by - 1) / by; }

/// The size of equal blocks of at most `most`, in whole tiles.
int64_t blockSize(int64_t size, int64_t most, int64_t tile) {
  int64_t blocks = std::max<int64_t>(1, ceilDiv(size, most));
  return ceilDiv(std::max<int64_t>(1, ceilDiv(size, blocks)), tile) * tile;
}

struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

/// How a product is cut. A step is one shared block of some terms and what all strips compute with it; its
/// items are the pieces that pack the block and then the strips.
struct Cut {
  bool byRows; ///< strips are rows of C
  int64_t longer, strip, strips;
  int64_t shorter, block, blocks;
  int64_t k, terms, stepsPerBlock;
  int64_t ownTile, sharedTile; ///< of the longer and the shorter side
  int64_t chunk;               ///< what is packed of a strip at a time

  template <typename Product>
  static Cut of(const BlockKernels<Product> &kernels, const Product &p, int64_t threads) {
    Cut cut;
    cut.byRows = p.m >= p.n;
    cut.longer = std::max(p.m, p.n), cut.shorter = std::min(p.m, p.n), cut.k = p.k;
    cut.ownTile = cut.byRows ? kernels.rows : kernels.columns;
    cut.sharedTile = cut.byRows ? kernels.columns : kernels.rows;
    cut.chunk = (cut.byRows ? mostOwnRows : mostOwnColumns) / cut.ownTile * cut.ownTile;
    // Several for each thread, where there are tiles enough, and no more than are kept count of.
    int64_t most = threads == 1 ? cut.chunk : std::clamp<int64_t>(cut.longer / (4 * threads), 1, cut.chunk);
    cut.strip = blockSize(cut.longer, std::max(most, ceilDiv(cut.longer, mostStrips)), cut.ownTile);
    cut.strips = ceilDiv(cut.longer, cut.strip);
    cut.block = blockSize(cut.shorter, mostShared, cut.sharedTile);
    cut.blocks = ceilDiv(cut.shorter, cut.block);
    cut.terms = blockSize(p.k, mostWords * kernels.termsPerWord, 16 * kernels.termsPerWord);
    cut.stepsPerBlock = std::max<int64_t>(1, ceilDiv(p.k, cut.terms)); // without terms C = beta D
    return cut;
  }

  int64_t steps() const { return blocks * stepsPerBlock; }
  int64_t itemsPerStep() const { return pieces + strips; }
  bool hasSameStrips(const Cut &other) const {
    return byRows == other.byRows && longer == other.longer && shorter == other.shorter;
  }

  Terms termsOf(int64_t step) const {
    int64_t term = step % stepsPerBlock * terms;
    return {term, std::min(terms, k - term)};
  }
  Range blockOf(int64_t step) const {
    int64_t begin = step / stepsPerBlock * block;
    return {begin, std::min(begin + block, shorter)};
  }
  Range stripAt(int64_t number) const { return {number * strip, std::min((number + 1) * strip, longer)}; }
  /// Of a block, in whole tiles; maybe empty.
  Range pieceOf(Range whole, int64_t number) const {
    int64_t tiles = ceilDiv(whole.size(), sharedTile);
    auto at = [&](int64_t piece) {
      return std::min(whole.begin + tiles * piece / pieces * sharedTile, whole.end);
    };
    return {at(number), at(number + 1)};
  }
};

/// What threads tell each other. Steps are numbered through all products.
class Ledger {
public:
  int64_t take() { return next.fetch_add(1, std::memory_order_relaxed); }

  /// Until the block that the step packs is no longer multiplied with.
  void awaitBlock(int64_t step) const { await(finished[step & 1], step - 1); }
  void pieceIsPacked(int64_t step) { count(pieceCount, packed, step, pieces); }
  void awaitPacked(int64_t step) const { await(packed[step & 1], step + 1); }

  /// Until the strip has what the step before adds to it. All steps between two products that are cut
  /// differently wait for each other.
  void awaitStrip(int64_t strip, int64_t step) const { await(strips[strip], step); }
  void awaitAllBefore(int64_t step) const {
    await(finished[step & 1], step - 1);
    if (step)
      await(finished[~step & 1], step);
  }
  void stripIsDone(int64_t strip, int64_t step, int64_t all) {
    strips[strip].store(step + 1, std::memory_order_release);
    count(stripCount, finished, step, all);
  }

private:
  using Number = std::atomic<int64_t>;

  static void await(const Number &number, int64_t least) {
    constexpr int patience = 4096;
    for (int i = 0; number.load(std::memory_order_acquire) < least; ++i)
      if (i < patience)
        __builtin_ia32_pause();
      else
        std::this_thread::yield();
  }

  /// The last one to be counted of a step writes the number of the next step.
  static void count(Number (&counts)[2], Number (&done)[2], int64_t step, int64_t all) {
    if (counts[step & 1].fetch_add(1, std::memory_order_acq_rel) + 1 < all)
      return;
    counts[step & 1].store(0, std::memory_order_relaxed);
    done[step & 1].store(step + 1, std::memory_order_release);
  }

  Number next{0};
  // By the steps' parity: a step begins to pack only when the one before the last is finished.
  Number pieceCount[2]{}, packed[2]{}, stripCount[2]{}, finished[2]{};
  Number strips[mostStrips]{};
};

/// Products and what their threads share.
template <typename Product>
struct Deal {
  const BlockKernels<Product> &kernels;
  const Product *products;
  int64_t count, threads;
  SharedBlocks &shared;
  Ledger ledger;
};

/// One thread's way through the items of all products; every thread sees them in the same order.
template <typename Product>
class Cursor {
public:
  explicit Cursor(const Deal<Product> &deal)
      : deal(deal), cut(Cut::of(deal.kernels, deal.products[0], deal.threads)) {}

  /// Goes on to an item; false: there are no more.
  bool moveTo(int64_t item) {
    for (int64_t items; (items = cut.steps() * cut.itemsPerStep()) <= item - firstItem;) {
      firstItem += items;
      firstStep += cut.steps();
      if (++number == deal.count)
        return false;
      Cut before = cut;
      cut = Cut::of(deal.kernels, product(), deal.threads);
      continues = cut.hasSameStrips(before);
    }
    stepOfProduct = (item - firstItem) / cut.itemsPerStep();
    index = (item - firstItem) % cut.itemsPerStep();
    return true;
  }

  const Product &product() const { return deal.products[number]; }
  int64_t step() const { return firstStep + stepOfProduct; }

  const Deal<Product> &deal;
  Cut cut;
  int64_t number = 0, firstItem = 0, firstStep = 0;
  int64_t stepOfProduct = 0, index = 0;
  bool continues = true; ///< strips are those of the product before
};
} // namespace

void prepareProducts() {
  threadMemory<SharedBlocks>();
  threadMemory<OwnBlock>();
}

template <typename Product>
static void packPiece(const Cursor<Product> &at, float *block) {
  const BlockKernels<Product> &kernels = at.deal.kernels;
  Range whole = at.cut.blockOf(at.stepOfProduct), piece = at.cut.pieceOf(whole, at.index);
  Terms terms = at.cut.termsOf(at.stepOfProduct);
  int64_t tiles = (piece.begin - whole.begin) / at.cut.sharedTile;
  if (at.cut.byRows)
    kernels.packB(at.product(), terms, piece.begin, piece.end,
                  block + tiles * kernels.columns * kernels.wordsOf(terms.terms));
  else
    kernels.packA(at.product(), terms, piece.begin, piece.end, block + tiles * kernels.panelOfA);
}

template <typename Product>
static void packOwn(const Cursor<Product> &at, Range chunk, float *own) {
  Terms terms = at.cut.termsOf(at.stepOfProduct);
  auto *pack = at.cut.byRows ? at.deal.kernels.packA : at.deal.kernels.packB;
  pack(at.product(), terms, chunk.begin, chunk.end, own);
}

/// What is left to do with elements of C whose sums are complete.
static void finish(const par_product &, Range, Range) {}
static void finish(const Bf16Product &p, Range rows, Range columns) {
  if (!p.rounded)
    return;
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const float *sums = p.c + row * p.ldc + columns.begin;
    int64_t at = row * p.roundedStride + columns.begin;
    if (p.roundedBeta == 0)
      roundRow(sums, p.rounded + at, columns.size());
    else
      roundSumRow(sums, p.roundedBeta, p.roundedAddend + at, p.rounded + at, columns.size());
  }
}

/// A chunk of a strip times the shared block.
template <typename Product>
static void multiplyChunk(const Cursor<Product> &at, Range chunk, const float *own, const float *shared) {
  const Product &p = at.product();
  Range block = at.cut.blockOf(at.stepOfProduct);
  Terms terms = at.cut.termsOf(at.stepOfProduct);
  Range rows = at.cut.byRows ? chunk : block, columns = at.cut.byRows ? block : chunk;
  int64_t corner = rows.begin * p.ldc + columns.begin;
  BlockProduct product{bool(p.transpose_a),
                       rows.size(),
                       columns.size(),
                       at.deal.kernels.wordsOf(terms.terms),
                       own,
                       shared,
                       p.beta,
                       nullptr,
                       p.c + corner,
                       p.ldc};
  if (!at.cut.byRows)
    std::swap(product.a, product.b);
  if (terms.term)
    product.addend = product.c, product.beta = 1;
  else if (p.beta != 0)
    product.addend = p.addend + corner;
  at.deal.kernels.multiply(product);
  if (terms.term + terms.terms == p.k)
    finish(p, rows, columns);
}

template <typename Product>
static void computeStrip(const Cursor<Product> &at, Ledger &ledger, const float *shared) {
  int64_t number = at.index - pieces, step = at.step();
  Range strip = at.cut.stripAt(number);
  float *own = threadMemory<OwnBlock>().at;
  for (Range chunk{strip.begin, 0}; chunk.begin < strip.end; chunk.begin = chunk.end) {
    chunk.end = std::min(chunk.begin + at.cut.chunk, strip.end);
    packOwn(at, chunk, own);
    if (chunk.begin == strip.begin) {
      ledger.awaitPacked(step);
      if (at.stepOfProduct || at.continues)
        ledger.awaitStrip(number, step);
      else
        ledger.awaitAllBefore(step);
    }
    multiplyChunk(at, chunk, own, shared);
  }
  ledger.stripIsDone(number, step, at.cut.strips);
}

/// One thread's part: whatever item is next, until there is none.
template <typename Product>
static void work(Deal<Product> &deal) {
  Ledger &ledger = deal.ledger;
  if (deal.kernels.enter)
    deal.kernels.enter();
  for (Cursor<Product> at(deal); at.moveTo(ledger.take());) {
    float *shared = deal.shared.at[at.step() & 1];
    if (at.index >= pieces) {
      computeStrip(at, ledger, shared);
      continue;
    }
    ledger.awaitBlock(at.step());
    packPiece(at, shared);
    ledger.pieceIsPacked(at.step());
  }
  if (deal.kernels.leave)
    deal.kernels.leave();
}

template <typename Product>
static void dealOut(const BlockKernels<Product> &kernels, Pool *pool, const Product *products,
                    int64_t count) {
  int64_t multiplications = 0;
  for (int64_t i = 0; i < count; ++i)
    multiplications += products[i].m * products[i].n * products[i].k;
  int64_t threads = std::clamp<int64_t>(multiplications / worthAThread, 1, pool ? pool->size() : 1);
  Deal<Product> deal{kernels, products, count, threads, threadMemory<SharedBlocks>(), {}};
  runParts(pool, threads, [&](int64_t, int64_t) { work(deal); });
}

void multiplyBlocked(Pool *pool, const par_product *products, int64_t count) {
  dealOut(floatKernels(), pool, products, count);
}
void multiplyBlocked(Pool *pool, const Bf16Product *products, int64_t count) {
  dealOut(bf16Kernels(), pool, products, count);
}

} // namespace par::cpu
