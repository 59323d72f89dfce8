package trading;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;

/** What the application asks the database: one method for each action of a user, and one transaction for each method. */
final class Market {
    /** What a purchase or a sale costs its user. */
    private static final BigDecimal FEE = new BigDecimal("24.95");

    record Quote(String symbol, String company, BigDecimal price, BigDecimal open, BigDecimal low, BigDecimal high, long volume) {
        BigDecimal change() {
            return price.subtract(open);
        }
    }

    record Account(String name, String fullName, String address, String email, BigDecimal balance, int logins, String lastLogin) {}

    record Holding(long id, String symbol, int quantity, BigDecimal paid, BigDecimal price, String bought) {
        BigDecimal value() {
            return price.multiply(BigDecimal.valueOf(quantity));
        }
    }

    record Trade(long id, String kind, String symbol, int quantity, BigDecimal price, String done) {}

    /** Why an action cannot be done; for the user. */
    static final class Refused extends Exception {
        Refused(String reason) {
            super(reason);
        }
    }

    private interface Work<T> {
        T with(Connection connection) throws SQLException, Refused;
    }

    private interface Reader<T> {
        T read(ResultSet row) throws SQLException;
    }

    private final DataSource database;

    Market(DataSource database) {
        this.database = database;
    }

    /** Whether there is such a user with that password. Counts the login. */
    boolean login(String name, String password) throws SQLException, Refused {
        return inTransaction(connection -> change(connection,
            "update account set logins = logins + 1, last_login = now() where name = ? and password = ?", name, password) == 1);
    }

    void register(String name, String password, String fullName, String address, String email) throws SQLException, Refused {
        inTransaction(connection -> {
            int made = change(connection,
                "insert into account (name, password, full_name, address, email, balance) values (?, ?, ?, ?, ?, 1000000)"
                    + " on conflict do nothing", name, password, fullName, address, email);
            if (made == 0) {
                throw new Refused("There is already a user with this name.");
            }
            return made;
        });
    }

    Account account(String name) throws SQLException, Refused {
        return inTransaction(connection -> account(connection, name, ""));
    }

    void update(String name, String fullName, String address, String email) throws SQLException, Refused {
        inTransaction(connection -> change(connection,
            "update account set full_name = ?, address = ?, email = ? where name = ?", fullName, address, email, name));
    }

    /** The latest first. */
    List<Trade> trades(String name) throws SQLException, Refused {
        return inTransaction(connection -> all(connection,
            row -> new Trade(row.getLong(1), row.getString(2), row.getString(3), row.getInt(4), row.getBigDecimal(5),
                row.getString(6)),
            "select id, kind, symbol, quantity, price, done::timestamp(0) from trade where account = ? order by id desc limit 5",
            name));
    }

    List<Holding> holdings(String name) throws SQLException, Refused {
        return inTransaction(connection -> all(connection,
            row -> new Holding(row.getLong(1), row.getString(2), row.getInt(3), row.getBigDecimal(4), row.getBigDecimal(5),
                row.getString(6)),
            "select id, symbol, quantity, holding.price, quote.price, bought::timestamp(0)"
                + " from holding join quote using (symbol) where account = ? order by id", name));
    }

    /** The quotes of these symbols that exist. */
    List<Quote> quotes(String... symbols) throws SQLException, Refused {
        return inTransaction(connection -> all(connection, Market::quote,
            "select * from quote where symbol = any (?) order by symbol", (Object) symbols));
    }

    /** The quotes that gained most today. */
    List<Quote> gainers() throws SQLException, Refused {
        return inTransaction(connection -> all(connection, Market::quote,
            "select * from quote order by price - open desc limit 5"));
    }

    /** Buys at the price of the moment. Answers what was bought. */
    Trade buy(String name, String symbol, long wanted) throws SQLException, Refused {
        if (wanted < 1 || wanted > 1_000_000) {
            throw new Refused("The quantity must be from 1 to 1,000,000.");
        }
        int quantity = (int) wanted;
        return inTransaction(connection -> {
            Account account = account(connection, name, " for update");
            Quote quote = lockedQuote(connection, symbol);
            BigDecimal cost = quote.price().multiply(BigDecimal.valueOf(quantity)).add(FEE);
            if (account.balance().compareTo(cost) < 0) {
                throw new Refused("The balance is too small.");
            }
            change(connection, "update account set balance = balance - ? where name = ?", cost, name);
            change(connection, "insert into holding (account, symbol, quantity, price) values (?, ?, ?, ?)",
                name, symbol, quantity, quote.price());
            return traded(connection, "buy", name, quote, quantity);
        });
    }

    /** Sells all of a holding at the price of the moment. Answers what was sold. */
    Trade sell(String name, long holding) throws SQLException, Refused {
        return inTransaction(connection -> {
            account(connection, name, " for update");
            List<Holding> found = all(connection,
                row -> new Holding(row.getLong(1), row.getString(2), row.getInt(3), row.getBigDecimal(4), null, null),
                "delete from holding where id = ? and account = ? returning id, symbol, quantity, price", holding, name);
            if (found.isEmpty()) {
                throw new Refused("You have no such holding.");
            }
            Holding sold = found.get(0);
            Quote quote = lockedQuote(connection, sold.symbol());
            BigDecimal gain = quote.price().multiply(BigDecimal.valueOf(sold.quantity())).subtract(FEE);
            change(connection, "update account set balance = balance + ? where name = ?", gain, name);
            return traded(connection, "sell", name, quote, sold.quantity());
        });
    }

    /** Writes the trade down, and moves the quote's price by up to a hundredth. */
    private static Trade traded(Connection connection, String kind, String name, Quote quote, int quantity) throws SQLException {
        BigDecimal factor = BigDecimal.valueOf(ThreadLocalRandom.current().nextDouble(0.99, 1.01));
        BigDecimal price = quote.price().multiply(factor).setScale(2, RoundingMode.HALF_UP).max(BigDecimal.ONE);
        change(connection,
            "update quote set price = ?, low = least(low, ?), high = greatest(high, ?), volume = volume + ? where symbol = ?",
            price, price, price, quantity, quote.symbol());
        return all(connection,
            row -> new Trade(row.getLong(1), kind, quote.symbol(), quantity, quote.price(), row.getString(2)),
            "insert into trade (account, kind, symbol, quantity, price) values (?, ?, ?, ?, ?)"
                + " returning id, done::timestamp(0)", name, kind, quote.symbol(), quantity, quote.price()).get(0);
    }

    private static Account account(Connection connection, String name, String lock) throws SQLException, Refused {
        List<Account> found = all(connection,
            row -> new Account(row.getString(1), row.getString(2), row.getString(3), row.getString(4), row.getBigDecimal(5),
                row.getInt(6), row.getString(7)),
            "select name, full_name, address, email, balance, logins, last_login::timestamp(0) from account where name = ?" + lock,
            name);
        if (found.isEmpty()) {
            throw new Refused("There is no such user.");
        }
        return found.get(0);
    }

    private static Quote lockedQuote(Connection connection, String symbol) throws SQLException, Refused {
        List<Quote> found = all(connection, Market::quote, "select * from quote where symbol = ? for update", symbol);
        if (found.isEmpty()) {
            throw new Refused("There is no such symbol.");
        }
        return found.get(0);
    }

    private static Quote quote(ResultSet row) throws SQLException {
        return new Quote(row.getString(1), row.getString(2), row.getBigDecimal(3), row.getBigDecimal(4), row.getBigDecimal(5),
            row.getBigDecimal(6), row.getLong(7));
    }

    private <T> T inTransaction(Work<T> work) throws SQLException, Refused {
        try (Connection connection = database.getConnection()) {
            connection.setAutoCommit(false);
            try {
                T result = work.with(connection);
                connection.commit();
                return result;
            } catch (Throwable failure) {
                connection.rollback();
                throw failure;
            }
        }
    }

    private static int change(Connection connection, String statement, Object... values) throws SQLException {
        try (PreparedStatement prepared = prepare(connection, statement, values)) {
            return prepared.executeUpdate();
        }
    }

    private static <T> List<T> all(Connection connection, Reader<T> reader, String statement, Object... values)
            throws SQLException {
        try (PreparedStatement prepared = prepare(connection, statement, values); ResultSet rows = prepared.executeQuery()) {
            List<T> found = new ArrayList<>();
            while (rows.next()) {
                found.add(reader.read(rows));
            }
            return found;
        }
    }

    private static PreparedStatement prepare(Connection connection, String statement, Object... values) throws SQLException {
        PreparedStatement prepared = connection.prepareStatement(statement);
        for (int at = 0; at < values.length; at++) {
            prepared.setObject(at + 1, values[at]);
        }
        return prepared;
    }
}
