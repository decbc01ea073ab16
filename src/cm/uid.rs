// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The numbers that the kernel hands back with each event, and what they stand for.

use super::bell::Bell;
use super::id::CmId;
use crate::sync::Table;
use std::sync::Arc;

/// What an event may be about.
#[derive(Clone)]
pub enum Subject {
    /// An id of the application.
    Id(Arc<CmId>),
    /// A user event that rides on a hidden id.
    Bell(Arc<Bell>),
}

/// Everything in this process that events may be about.
pub static SUBJECTS: Table<Subject> = Table::new();
