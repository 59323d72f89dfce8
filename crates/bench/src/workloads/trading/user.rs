//! A user of the trading application, who does what DayTrader's users do.

use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::workloads::tls::client::{Client, Connection};

/// How often a user shakes hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handshakes {
    /// Each request has a connection of its own.
    EachRequest,
    /// A user keeps a connection from the login to the logout.
    EachSession,
}

/// One user at a time, of a few who take turns.
#[derive(Debug)]
pub(super) struct User {
    client: Client,
    handshakes: Handshakes,
    /// The first of these users, and the distance to the next one: `uid:7`, `uid:157` …
    first: u64,
    others: u64,
    /// The state of a xorshift64 generator (Marsaglia 2003).
    random: u64,
    /// The server's session, while somebody is logged in.
    session: Option<String>,
    /// A holding that the portfolio had.
    holding: Option<String>,
    connection: Option<Connection>,
}

/// One page that a user asks for. A login comes by itself whenever nobody is logged in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Home,
    Quote,
    Logout,
    Register,
    Account,
    Portfolio,
    Buy,
    Sell,
    Update,
}

/// How many of a hundred actions are each: the standard mix of DayTrader's TradeScenario (`scenarioMixes` in its class
/// `TradeConfig`).
const MIX: [(Action, u64); 9] = [
    (Action::Home, 20),
    (Action::Quote, 40),
    (Action::Logout, 4),
    (Action::Register, 2),
    (Action::Account, 10),
    (Action::Portfolio, 12),
    (Action::Buy, 4),
    (Action::Sell, 4),
    (Action::Update, 4),
];

/// What the sample's database has.
const USERS: u64 = 500;
const QUOTES: u64 = 1000;

/// Each new user needs a name of its own.
static REGISTERED: AtomicU64 = AtomicU64::new(0);

/// The most bytes of an answer; the application's pages are far shorter.
const LONGEST: usize = 1 << 20;

impl User {
    /// The user of that number, of so many who are never logged in as the same one.
    pub(super) fn new(client: &Client, handshakes: Handshakes, number: u64, of: u64) -> Self {
        Self {
            client: client.clone(),
            handshakes,
            first: number,
            others: of,
            random: 0x9e37_79b9_7f4a_7c15 ^ (number + 1),
            session: None,
            holding: None,
            connection: None,
        }
    }

    /// Does one transaction: one request, and its answer. Answers whether a handshake was part of it.
    ///
    /// # Errors
    /// If the server does not answer as it should.
    pub(super) fn act(&mut self, port: u16) -> io::Result<bool> {
        let Some(action) = self.session.is_some().then(|| self.choose()) else {
            let user = self.first + self.others * self.below(USERS / self.others);
            self.holding = None;
            let fields = format!("user=uid:{user}&password=xxx");
            return Ok(self.ask(port, "login", Some(&fields), "<h1>Welcome, ")?.0);
        };
        let (path, fields, title) = match action {
            Action::Home => ("home".to_owned(), None, "<h1>Welcome, "),
            Action::Quote => {
                let symbols: Vec<String> = (0..=self.below(10)).map(|_| self.symbol()).collect();
                let path = format!("quotes?symbols={}", symbols.join(","));
                (path, None, "<h1>Quotes</h1>")
            }
            Action::Logout => (
                "logout".to_owned(),
                Some(String::new()),
                "<h1>You are logged out",
            ),
            Action::Register => {
                self.end();
                let number = REGISTERED.fetch_add(1, Ordering::Relaxed);
                let fields =
                    format!("user=new:{number}&password=xxx&name=New&address=Here&email=new");
                ("register".to_owned(), Some(fields), "<h1>Welcome, New")
            }
            Action::Account => ("account".to_owned(), None, "<h1>Account of "),
            Action::Portfolio => ("portfolio".to_owned(), None, "<h1>Portfolio</h1>"),
            Action::Buy => {
                let fields = format!("symbol={}&quantity={}", self.symbol(), 1 + self.below(10));
                ("buy".to_owned(), Some(fields), "<td>buy</td>")
            }
            // Nobody sells what was not seen.
            Action::Sell => match self.holding.take() {
                Some(holding) => (
                    "sell".to_owned(),
                    Some(format!("holding={holding}")),
                    "<td>sell</td>",
                ),
                None => ("portfolio".to_owned(), None, "<h1>Portfolio</h1>"),
            },
            Action::Update => {
                let fields = format!("name=User&address=Street+{}&email=user", self.below(1000));
                ("account".to_owned(), Some(fields), "<h1>Account of ")
            }
        };
        let (handshake, page) = self.ask(port, &path, fields.as_deref(), title)?;
        if path == "portfolio" {
            self.holding = field(&page, "name=\"holding\" value=\"");
        }
        if action == Action::Logout {
            self.end();
        }
        Ok(handshake)
    }

    fn choose(&mut self) -> Action {
        let mut left = self.below(MIX.iter().map(|(_, weight)| weight).sum());
        for (action, weight) in MIX {
            match left.checked_sub(weight) {
                Some(less) => left = less,
                None => return action,
            }
        }
        unreachable!("the number is less than the sum of the weights")
    }

    fn symbol(&mut self) -> String {
        format!("s:{}", self.below(QUOTES))
    }

    /// A number from 0 to less than that.
    fn below(&mut self, limit: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % limit
    }

    /// Nobody is logged in any more.
    fn end(&mut self) {
        self.session = None;
        self.holding = None;
        self.connection = None;
    }

    /// Asks for a page, with fields by POST, and checks that it has that text. Answers whether there was a handshake, and the page.
    fn ask(
        &mut self,
        port: u16,
        path: &str,
        fields: Option<&str>,
        text: &str,
    ) -> io::Result<(bool, String)> {
        let (mut connection, handshake) = match self.connection.take() {
            Some(connection) => (connection, false),
            None => (self.client.connect(port)?, true),
        };
        connection.send(self.request(path, fields).as_bytes())?;
        let answer = receive(&mut connection)?;
        let (head, page) = answer.split_at(answer.find("\r\n\r\n").unwrap_or(0));
        if !head.starts_with("HTTP/1.1 200 ") || !page.contains(text) {
            let start: String = answer.chars().take(300).collect();
            return Err(io::Error::other(format!(
                "not the answer expected to {path}: {start}"
            )));
        }
        if let Some(session) = field(head, "Set-Cookie: JSESSIONID=") {
            self.session = Some(session);
        }
        let closes = head.to_ascii_lowercase().contains("\r\nconnection: close");
        if self.handshakes == Handshakes::EachSession && !closes {
            self.connection = Some(connection);
        }
        Ok((handshake, page.to_owned()))
    }

    fn request(&self, path: &str, fields: Option<&str>) -> String {
        let method = if fields.is_some() { "POST" } else { "GET" };
        let fields = fields.unwrap_or_default();
        let cookie = self.session.as_ref();
        let cookie = cookie.map(|session| format!("Cookie: JSESSIONID={session}\r\n"));
        let kept = match self.handshakes {
            Handshakes::EachRequest => "close",
            Handshakes::EachSession => "keep-alive",
        };
        format!(
            "{method} /trade/{path} HTTP/1.1\r\nHost: localhost\r\n{}Connection: {kept}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{fields}",
            cookie.unwrap_or_default(),
            fields.len()
        )
    }
}

impl Handshakes {
    /// As the results name it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::EachRequest => "handshake per request",
            Self::EachSession => "handshake per session",
        }
    }
}

/// A whole answer, head and page. The application tells each page's length.
fn receive(connection: &mut Connection) -> io::Result<String> {
    let mut answer = Vec::new();
    let mut length = None;
    while length.is_none_or(|length| answer.len() < length) {
        let mut buffer = [0; 8192];
        let count = connection.receive_some(&mut buffer)?;
        if count == 0 || answer.len() > LONGEST {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        answer.extend_from_slice(&buffer[..count]);
        if length.is_none() {
            length = whole_length(&answer);
        }
    }
    String::from_utf8(answer).map_err(io::Error::other)
}

/// How long an answer is, once its head is there.
fn whole_length(answer: &[u8]) -> Option<usize> {
    let head = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let lines = String::from_utf8_lossy(&answer[..head]).to_ascii_lowercase();
    let page = lines
        .lines()
        .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    Some(head + 4 + page.unwrap_or(0_usize).min(LONGEST))
}

/// What comes after a text, up to what ends a value.
fn field(text: &str, before: &str) -> Option<String> {
    let (_, value) = text.split_once(before)?;
    let end = value.find(['"', ';', '\r', '<'])?;
    Some(value[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mix_is_a_hundred() {
        assert_eq!(MIX.iter().map(|(_, weight)| weight).sum::<u64>(), 100);
    }

    #[test]
    fn an_answer_ends_where_it_says() {
        assert_eq!(whole_length(b"HTTP/1.1 200 \r\nContent-Le"), None);
        let answer = b"HTTP/1.1 200 \r\ncontent-length: 5\r\n\r\nab";
        assert_eq!(whole_length(answer), Some(answer.len() + 3));
        assert_eq!(whole_length(b"HTTP/1.1 200 \r\n\r\n"), Some(17));
        let huge = b"HTTP/1.1 200 \r\nContent-Length: 18446744073709551615\r\n\r\n";
        assert_eq!(whole_length(huge), Some(huge.len() + LONGEST));
    }

    #[test]
    fn fields_end() {
        let head = "HTTP/1.1 200 \r\nSet-Cookie: JSESSIONID=A1; Path=/; Secure\r\n";
        assert_eq!(field(head, "JSESSIONID=").as_deref(), Some("A1"));
        assert_eq!(
            field("<input value=\"7\">", "value=\"").as_deref(),
            Some("7")
        );
        assert_eq!(field("<p>", "value=\""), None);
    }
}
