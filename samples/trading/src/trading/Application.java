package trading;

import jakarta.annotation.Resource;
import jakarta.servlet.ServletException;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;
import trading.Market.Account;
import trading.Market.Holding;
import trading.Market.Quote;
import trading.Market.Refused;
import trading.Market.Trade;

/** The pages of the application: each path is one action of a user. What changes something is a POST. */
@WebServlet(urlPatterns = "/trade/*", loadOnStartup = 1)
public final class Application extends HttpServlet {
    /** The attribute of an HTTP session with the name of the user who is logged in. */
    private static final String USER = "user";

    @Resource(name = "jdbc/trading")
    private DataSource database;

    private transient Market market;

    @Override
    public void init() {
        market = new Market(database);
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
        answer(request, response, switch (action(request)) {
            case "/home" -> user -> home(user);
            case "/quotes" -> user -> quotes(value(request, "symbols"));
            case "/portfolio" -> user -> portfolio(user);
            case "/account" -> user -> account(user);
            default -> null;
        });
    }

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
        switch (action(request)) {
            case "/login" -> login(request, response);
            case "/register" -> register(request, response);
            case "/logout" -> logout(request, response);
            case "/account" -> answer(request, response, user -> update(user, request));
            case "/buy" -> answer(request, response, user ->
                traded(market.buy(user, value(request, "symbol"), number(request, "quantity"))));
            case "/sell" -> answer(request, response, user -> traded(market.sell(user, number(request, "holding"))));
            default -> answer(request, response, null);
        }
    }

    /** Makes the page of a user who is logged in. */
    private interface Action {
        Page page(String user) throws SQLException, Refused;
    }

    private void answer(HttpServletRequest request, HttpServletResponse response, Action action)
            throws ServletException, IOException {
        HttpSession session = request.getSession(false);
        String user = session == null ? null : (String) session.getAttribute(USER);
        if (action == null) {
            write(response, HttpServletResponse.SC_NOT_FOUND, new Page("There is no such page"));
        } else if (user == null) {
            write(response, HttpServletResponse.SC_FORBIDDEN, welcome("Log in"));
        } else {
            write(response, () -> action.page(user));
        }
    }

    private void login(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
        write(response, () -> {
            String user = value(request, USER);
            if (!market.login(user, value(request, "password"))) {
                throw new Refused("The name or the password is wrong.");
            }
            begin(request, user);
            return home(user);
        });
    }

    private void register(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
        write(response, () -> {
            String user = value(request, USER);
            market.register(user, value(request, "password"), value(request, "name"), value(request, "address"),
                value(request, "email"));
            begin(request, user);
            return home(user);
        });
    }

    /** Nobody else knows the number of the new session. */
    private static void begin(HttpServletRequest request, String user) {
        HttpSession old = request.getSession(false);
        if (old != null) {
            old.invalidate();
        }
        request.getSession().setAttribute(USER, user);
    }

    private static void logout(HttpServletRequest request, HttpServletResponse response) throws IOException {
        HttpSession session = request.getSession(false);
        if (session != null) {
            session.invalidate();
        }
        write(response, HttpServletResponse.SC_OK, welcome("You are logged out"));
    }

    private static Page welcome(String title) {
        return new Page(title)
            .form("login", "Log in", USER, "uid:0", "password", "xxx")
            .form("register", "Register", USER, "", "password", "", "name", "", "address", "", "email", "");
    }

    private Page home(String user) throws SQLException, Refused {
        Account account = market.account(user);
        List<Holding> holdings = market.holdings(user);
        return new Page("Welcome, " + account.fullName())
            .paragraph("You have " + account.balance() + " in cash and " + holdings.size() + " holdings. You have logged in "
                + account.logins() + " times.")
            .paragraph("These quotes gained most today:")
            .table(QUOTES, rows(market.gainers()))
            .form("logout", "Log out");
    }

    private Page quotes(String symbols) throws SQLException, Refused {
        Page page = new Page("Quotes").table(QUOTES, rows(market.quotes(symbols.split(","))));
        return page.form("buy", "Buy", "symbol", symbols.split(",")[0], "quantity", 100);
    }

    private Page portfolio(String user) throws SQLException, Refused {
        List<Holding> holdings = market.holdings(user);
        Page page = new Page("Portfolio").table(
            List.of("holding", "symbol", "quantity", "paid", "price", "value", "bought"),
            holdings.stream().<List<Object>>map(holding -> List.of(holding.id(), holding.symbol(), holding.quantity(),
                holding.paid(), holding.price(), holding.value(), holding.bought())).toList());
        return holdings.isEmpty() ? page : page.form("sell", "Sell", "holding", holdings.get(0).id());
    }

    private Page account(String user) throws SQLException, Refused {
        Account account = market.account(user);
        return new Page("Account of " + account.name())
            .paragraph("The balance is " + account.balance() + ". The last login was at " + account.lastLogin() + ".")
            .table(TRADES, market.trades(user).stream().map(Application::row).toList())
            .form("account", "Change", "name", account.fullName(), "address", account.address(), "email", account.email());
    }

    private Page update(String user, HttpServletRequest request) throws SQLException, Refused {
        market.update(user, value(request, "name"), value(request, "address"), value(request, "email"));
        return account(user);
    }

    private static Page traded(Trade trade) {
        return new Page("Done").table(TRADES, List.of(row(trade)));
    }

    private static final List<String> QUOTES = List.of("symbol", "company", "price", "change", "open", "low", "high", "volume");

    private static List<List<Object>> rows(List<Quote> quotes) {
        return quotes.stream().<List<Object>>map(quote -> List.of(quote.symbol(), quote.company(), quote.price(), quote.change(),
            quote.open(), quote.low(), quote.high(), quote.volume())).toList();
    }

    private static final List<String> TRADES = List.of("trade", "kind", "symbol", "quantity", "price", "done");

    private static List<Object> row(Trade trade) {
        return List.of(trade.id(), trade.kind(), trade.symbol(), trade.quantity(), trade.price(), trade.done());
    }

    private static String action(HttpServletRequest request) {
        return request.getPathInfo() == null ? "" : request.getPathInfo();
    }

    /** A field of a form, which no user makes longer than a database and a page should have. */
    private static String value(HttpServletRequest request, String name) throws Refused {
        String value = request.getParameter(name);
        if (value == null || value.isBlank() || value.length() > 200 || value.indexOf('\0') >= 0) {
            throw new Refused("Fill in the field " + name + ", with 200 letters at most.");
        }
        return value;
    }

    private static long number(HttpServletRequest request, String name) throws Refused {
        try {
            return Long.parseLong(value(request, name));
        } catch (NumberFormatException notOne) {
            throw new Refused("The field " + name + " takes a number.");
        }
    }

    private interface Maker {
        Page make() throws SQLException, Refused;
    }

    private static void write(HttpServletResponse response, Maker maker) throws ServletException, IOException {
        try {
            write(response, HttpServletResponse.SC_OK, maker.make());
        } catch (Refused refused) {
            write(response, HttpServletResponse.SC_BAD_REQUEST, new Page("Not done").paragraph(refused.getMessage()));
        } catch (SQLException failure) {
            throw new ServletException(failure);
        }
    }

    private static void write(HttpServletResponse response, int status, Page page) throws IOException {
        byte[] text = page.toString().getBytes(StandardCharsets.UTF_8);
        response.setStatus(status);
        response.setContentType("text/html; charset=utf-8");
        response.setHeader("Cache-Control", "no-store");
        response.setContentLength(text.length);
        response.getOutputStream().write(text);
    }
}
