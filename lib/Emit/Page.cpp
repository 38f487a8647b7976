//===- Page.cpp - pages of HTML that need no other file -------------------------------------------------===//
#include "par/Emit/Page.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::par;

static constexpr const char *kStyle = R"(
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #667085; --line: #d0d5dd; --page: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #98a2b3; --line: #344054; --page: #14171c; } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--page); margin: 2rem auto; max-width: 1080px; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0 0 .2rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p { color: var(--soft); margin: .2rem 0 .6rem; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
td, p { overflow-wrap: anywhere; }
@media (min-width: 900px) { td { overflow-wrap: break-word; } }
@media (max-width: 600px) { body { padding: 0 .4rem; } table { font-size: 11px; } th, td { padding: .25rem .2rem; } }
th { color: var(--soft); font-weight: 600; } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
svg { width: 100%; height: auto; display: block; } svg text { font: 12px system-ui, sans-serif; fill: var(--soft); }
.axis { stroke: var(--line); } .mark { stroke: var(--ink); stroke-dasharray: 4 3; }
.buffer { fill-opacity: .82; } .buffer:hover { stroke: var(--ink); stroke-width: 1.5; vector-effect: non-scaling-stroke; fill-opacity: 1; }
.parameters { fill: #4453a6; } .gradients { fill: #e07b39; } .optimizer { fill: #9a5fb0; }
.activations { fill: #d3a029; } .communication { fill: #c93f56; } .workspace { fill: #9aa3af; }
.figures { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1rem 0; } .figures div { flex: 1 1 9rem; border: 1px solid var(--line); border-radius: 6px; padding: .5rem .8rem; }
.figures b { display: block; font-size: 1.35rem; font-variant-numeric: tabular-nums; } .figures span { color: var(--soft); font-size: 13px; } .figures div:last-child { flex-grow: 1.5; } .figures .missing b { color: #c93f56; }
details { margin: .8rem 0; } summary { cursor: pointer; font-weight: 600; } h3 { font-size: 1rem; margin: 1.2rem 0 .3rem; } code { font-size: 13px; overflow-wrap: anywhere; }
.legend span { display: inline-block; margin-right: 1.2rem; } .legend svg { display: inline; width: 12px; height: 12px; vertical-align: -1px; margin-right: .35rem; }
)";

void mlir::par::beginPage(llvm::raw_ostream &page, llvm::StringRef title) {
  page << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>par: " << escapeHtml(title)
       << "</title>\n<style>" << kStyle << "</style></head><body>\n";
}

void mlir::par::endPage(llvm::raw_ostream &page) { page << "</body></html>\n"; }

void mlir::par::writeLegend(llvm::ArrayRef<LegendEntry> entries, llvm::raw_ostream &page) {
  page << "<p class=\"legend\">";
  for (const LegendEntry &entry : entries)
    page << "<span><svg viewBox=\"0 0 12 12\"><rect class=\"" << entry.style
         << "\" width=\"12\" height=\"12\" rx=\"2\"/></svg>" << entry.meaning << "</span>";
  page << "</p>\n";
}

std::string mlir::par::groupDigits(int64_t number) {
  std::string text = std::to_string(number);
  for (int64_t at = int64_t(text.size()) - 3; at > (number < 0 ? 1 : 0); at -= 3)
    text.insert(size_t(at), ",");
  return text;
}

std::string mlir::par::escapeHtml(llvm::StringRef text) {
  std::string escaped;
  llvm::raw_string_ostream stream(escaped);
  llvm::printHTMLEscaped(text, stream);
  return stream.str();
}
