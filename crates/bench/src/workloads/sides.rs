//! Outboard at the client, at the server, at both: the published question of which side gains.

use crate::proof::Proof;

/// The sides with Outboard; the baseline first. In the published tables: none, one side, the other, both.
pub(super) const SETUPS: [&str; 4] = ["stock", "client", "server", "both"];

/// Whether the client has it, by the setup's place in [`SETUPS`].
pub(super) fn at_client(setup: usize) -> bool {
    matches!(SETUPS[setup], "client" | "both")
}

/// Whether the server has it.
pub(super) fn at_server(setup: usize) -> bool {
    matches!(SETUPS[setup], "server" | "both")
}

/// One proof for each setup, from that of each side.
pub(super) fn prove(client: Proof, server: Proof) -> [Proof; 4] {
    let both = if client == server {
        client.clone()
    } else {
        client.clone().and(server.clone())
    };
    [Proof::not_needed(), client, server, both]
}
