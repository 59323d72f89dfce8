//! A connection of the front to the service: for one request of one ssh client.
//!
//! ```text
//! the version of this format, a byte ── with it the client's socket (SCM_RIGHTS)
//! the client's messages, each with its length
//! ```
//!
//! The service asks the kernel who is at the other end of the client's socket, and closes it: the front cannot say that it
//! speaks for somebody who is not connected to it. Then the service answers each message, as it would answer the client. It
//! closes the connection where the same request may succeed a moment later.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::cmsg_space;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

use crate::peer::Peer;
use crate::visitor::Visitor;

/// The version of the format. A service knows all earlier ones, because a front may be older than its service.
const VERSION: u8 = 1;

/// Tells the service for whom the front speaks.
pub(crate) fn introduce(client: impl AsFd, to: impl AsFd) -> io::Result<()> {
    let mut room = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut attached = SendAncillaryBuffer::new(&mut room);
    let descriptors = [client.as_fd()];
    // INVARIANT: there is room for one.
    attached.push(SendAncillaryMessage::ScmRights(&descriptors));
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    rustix::net::sendmsg(to, &[IoSlice::new(&[VERSION])], &mut attached, flags)?;
    Ok(())
}

/// For whom the front speaks, by its first byte; `path` is where its clients connect, and `front` its user. Never waits.
pub(crate) fn introduced(from: &Visitor, path: &Path, front: u32) -> io::Result<Peer> {
    let mut version = [0];
    let mut room = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut attached = RecvAncillaryBuffer::new(&mut room);
    // The end of the connection has no byte, and leaves version 0, which there never was. What does not fit into the room would be
    // closed here, so this is a look.
    let looked = rustix::net::recvmsg(
        from,
        &mut [IoSliceMut::new(&mut version)],
        &mut attached,
        RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC | RecvFlags::PEEK,
    )?;
    let rights = attached.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    let descriptors: Vec<_> = rights.flatten().map(Visitor::copy).collect();
    match (version, &descriptors[..]) {
        ([VERSION], [client]) if !looked.flags.contains(ReturnFlags::CTRUNC) => {
            // Its one descriptor is here: it is not closed with the byte.
            rustix::net::recv(from, &mut version, RecvFlags::DONTWAIT)?;
            Peer::of_accepted(client, path, front)
        }
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Whether that user runs the front: the owner of the socket that ssh clients connect to. Only the owner of the service's
/// directory can have put it there.
pub(crate) fn is_front(peer: &Peer, path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|socket| socket.uid() == peer.uid)
}
