// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//! What all commands have in common.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The header in front of every command (`struct rdma_ucm_cmd_hdr`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct CmdHdr {
    /// `Command::NUMBER` of the body that follows.
    pub cmd: u32,
    /// Bytes of the body, without this header (`in`).
    pub in_len: u16,
    /// Bytes the kernel may write at the `response` address (`out`).
    pub out_len: u16,
}

/// The reply of a command that has none.
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct NoReply;

/// The body of a command of the rdma_cm character device.
pub trait Command: IntoBytes + Immutable + Sized {
    /// `RDMA_USER_CM_CMD_*`.
    const NUMBER: u32;
    /// What the kernel writes back.
    type Reply: FromBytes + IntoBytes + Immutable + KnownLayout;
    /// Where in `Message` (in bytes, header included) the kernel looks for the address it
    /// writes the reply to. `None` for a command without reply.
    const RESPONSE: Option<usize>;
    /// Where in `Message` the kernel's number of the id stands; `None` if there is none.
    const ID: Option<usize>;
    /// Header and body, as one `write(2)` to the device takes them.
    type Message: FromBytes + IntoBytes + Immutable + KnownLayout;

    /// The message, but for what only the sender knows: `out_len` is 0 and `response` is
    /// left as it is in the body.
    fn message(self) -> Self::Message;

    /// A message whose body is clear, to be filled where it is.
    fn blank() -> Self::Message;

    /// The body of a message.
    fn body(message: &mut Self::Message) -> &mut Self;
}

/// Ties a body to its number and, after `=>`, to its reply, the path of its `response` field and that of its `id`, if it
/// has one. All bodies without reply have one.
macro_rules! command {
    ($body:ident, $number:literal) => {
        command!(@message $body, $number, $crate::uapi::NoReply, None,
            Some(core::mem::offset_of!(Message, body.id)));
    };
    ($body:ident, $number:literal => $reply:ty, $($response:ident).+) => {
        command!(@message $body, $number, $reply,
            Some(core::mem::offset_of!(Message, body.$($response).+)), None);
    };
    ($body:ident, $number:literal => $reply:ty, $($response:ident).+, $($id:ident).+) => {
        command!(@message $body, $number, $reply,
            Some(core::mem::offset_of!(Message, body.$($response).+)),
            Some(core::mem::offset_of!(Message, body.$($id).+)));
    };
    (@message $body:ident, $number:literal, $reply:ty, $response:expr, $id:expr) => {
        const _: () = {
            use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

            #[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
            #[repr(C)]
            pub struct Message {
                hdr: $crate::uapi::CmdHdr,
                body: $body,
            }

            // The header has 16 bits for each length.
            const _: () = assert!(size_of::<$body>() <= u16::MAX as usize);
            const _: () = assert!(size_of::<$reply>() <= u16::MAX as usize);

            impl $crate::uapi::Command for $body {
                const NUMBER: u32 = $number;
                type Reply = $reply;
                const RESPONSE: Option<usize> = $response;
                const ID: Option<usize> = $id;
                type Message = Message;

                #[inline]
                fn message(self) -> Message {
                    Message {
                        hdr: $crate::uapi::CmdHdr {
                            cmd: $number,
                            in_len: size_of::<$body>() as u16,
                            out_len: 0,
                        },
                        body: self,
                    }
                }

                #[inline]
                fn blank() -> Message {
                    let mut message = <Message as zerocopy::FromZeros>::new_zeroed();
                    message.hdr.cmd = $number;
                    message.hdr.in_len = size_of::<$body>() as u16;
                    message
                }

                #[inline]
                fn body(message: &mut Message) -> &mut $body {
                    &mut message.body
                }
            }
        };
    };
}
