package trading;

import java.util.List;

/** A page of HTML. Each value is escaped. */
final class Page {
    private static final String HEAD = """
        <!DOCTYPE html>
        <html lang="en"><head><meta charset="utf-8"><title>Trading</title><style>
        body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 1rem auto; padding: 0 1rem; color: #222 }
        table { border-collapse: collapse; margin: 1rem 0 } th, td { padding: .2rem .8rem; text-align: right; border-bottom: 1px solid #ccc }
        th:first-child, td:first-child { text-align: left } nav a { margin-right: 1rem } form { margin: .5rem 0 }
        </style></head><body>
        <nav><a href="home">Home</a><a href="account">Account</a><a href="portfolio">Portfolio</a>
        <a href="quotes?symbols=s:0,s:1,s:2,s:3,s:4">Quotes</a></nav>
        """;

    private final StringBuilder text = new StringBuilder(HEAD);

    Page(String title) {
        text.append("<h1>");
        escape(title);
        text.append("</h1>\n");
    }

    Page paragraph(String content) {
        text.append("<p>");
        escape(content);
        text.append("</p>\n");
        return this;
    }

    Page table(List<String> columns, List<List<Object>> rows) {
        text.append("<table><tr>");
        columns.forEach(column -> cell("th", column));
        text.append("</tr>\n");
        for (List<Object> row : rows) {
            text.append("<tr>");
            row.forEach(value -> cell("td", value));
            text.append("</tr>\n");
        }
        text.append("</table>\n");
        return this;
    }

    /** A form with a button; the fields are names and values, one after the other. */
    Page form(String action, String button, Object... fields) {
        text.append("<form method=\"post\" action=\"").append(action).append("\">");
        for (int at = 0; at < fields.length; at += 2) {
            text.append("<label>").append(fields[at]).append(" <input name=\"").append(fields[at]).append("\" value=\"");
            escape(String.valueOf(fields[at + 1]));
            text.append("\"></label> ");
        }
        text.append("<button>").append(button).append("</button></form>\n");
        return this;
    }

    private void cell(String element, Object value) {
        text.append('<').append(element).append('>');
        escape(String.valueOf(value));
        text.append("</").append(element).append('>');
    }

    private void escape(String value) {
        for (int at = 0; at < value.length(); at++) {
            char letter = value.charAt(at);
            switch (letter) {
                case '<' -> text.append("&lt;");
                case '>' -> text.append("&gt;");
                case '&' -> text.append("&amp;");
                case '"' -> text.append("&quot;");
                default -> text.append(letter);
            }
        }
    }

    @Override
    public String toString() {
        return text + "</body></html>\n";
    }
}
