//! Functions of libssl that work for a connection. A client's do not count: the pair in memory has both in one process.

use crate::call::{Behind, in_connection, making, stand_in};

stand_in! {
    |behind, arguments| match is_server(arguments[0]) {
        true => in_connection(behind, arguments),
        false => behind.call(arguments),
    } =>
        SSL_do_handshake SSL_accept SSL_read SSL_read_ex SSL_peek SSL_write SSL_write_ex SSL_shutdown
        SSL_read_early_data SSL_write_early_data SSL_free;
    |behind, arguments| making(behind, arguments, is_server) => SSL_new;
}

fn is_server(ssl: usize) -> bool {
    static IS_SERVER: Behind = Behind::new(c"SSL_is_server");
    let mut arguments = [0; 12];
    arguments[0] = ssl;
    // An `int`: the upper half of the register says nothing.
    ssl != 0 && IS_SERVER.call(arguments) as u32 == 1
}
