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
@media (max-width: 600px) { body { padding: 0 .4rem; } table { font-size: 11px; } th, td { padding: .25rem .2rem; } }
th { color: var(--soft); font-weight: 600; } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
svg { width: 100%; height: auto; display: block; } svg text { font: 12px system-ui, sans-serif; fill: var(--soft); }
.axis { stroke: var(--line); } .mark { stroke: var(--ink); stroke-dasharray: 4 3; } .buffer:hover { stroke: var(--ink); stroke-width: 1.5; }
.parameters { fill: #3b6fb6; } .gradients { fill: #e07b39; } .optimizer { fill: #7a52a5; }
.activations { fill: #3f9c6b; } .communication { fill: #c93f56; } .workspace { fill: #9aa3af; }
.legend span { display: inline-block; margin-right: 1.2rem; } .legend svg { display: inline; width: 12px; height: 12px; vertical-align: -1px; margin-right: .35rem; }
)";

void mlir::par::beginPage(llvm::raw_ostream &page, llvm::StringRef title) {
  page << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>par: " << escapeHtml(title)
       << "</title>\n<style>" << kStyle << "</style></head><body>\n";
}

void mlir::par::endPage(llvm::raw_ostream &page) { page << "</body></html>\n"; }

std::string mlir::par::escapeHtml(llvm::StringRef text) {
  std::string escaped;
  llvm::raw_string_ostream stream(escaped);
  llvm::printHTMLEscaped(text, stream);
  return stream.str();
}
