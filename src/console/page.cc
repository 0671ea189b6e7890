#include "console/page.h"

#include <fmt/format.h>

#include "status/text.h"

namespace spillway::console {

std::string html_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string status_page(const status::Status& status) {
  const char* mood = status.alerts.empty()                                       ? "well"
                     : status.alerts.front().severity == status::Severity::kPage ? "page"
                                                                                 : "warning";
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\"><meta http-equiv=\"refresh\" content=\"2\">"
      "<title>Spillway: {}</title><link rel=\"stylesheet\" href=\"/style.css\"></head>\n"
      "<body class=\"{}\"><h1>Spillway</h1><p class=\"cause\">{}</p>\n<pre>{}</pre>\n"
      "<p><a href=\"/api/status\">JSON</a> <a href=\"/api/explain\">decisions</a> <a href=\"/metrics\">metrics</a> <a "
      "href=\"/readyz?verbose\">ready?</a></p>"
      "</body></html>\n",
      html_escaped(status.subject.outbox), mood, html_escaped(status.cause),
      html_escaped(status::to_text(status, status::Colour::kNone)));
}

const char* style_sheet() {
  return "body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#1c2430;"
         "background:#fff}\n"
         ".cause{font-size:1.2rem;padding:.6rem .9rem;border-left:.4rem solid #2c7a4b;background:#eef7f1}\n"
         ".warning .cause{border-color:#b7791f;background:#fdf6e7}\n"
         ".page .cause{border-color:#c02b2b;background:#fdeeee}\n"
         "pre{overflow-x:auto;padding:1rem;background:#f4f6f8}\n"
         "@media (prefers-color-scheme:dark){body{color:#dde3ea;background:#12171d}pre{background:#1b222a}"
         ".cause{background:#15251b}.warning .cause{background:#2a2212}.page "
         ".cause{background:#2c1616}a{color:#8ab4f8}}\n";
}

}  // namespace spillway::console
