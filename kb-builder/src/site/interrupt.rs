//! Ctrl-C in the middle of a build: the half-written folder goes, and then the program does.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, mpsc};

/// Folders that go when the program is interrupted.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// What a shell expects of a program that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// What is said at the end, and the exit status.
static FAREWELL: Mutex<(&str, i32)> = Mutex::new(("interrupted: nothing was changed", INTERRUPTED));

/// Says that an interrupt is the usual end of this command: what is said then, with exit status 0. Listens from now on.
pub fn is_the_usual_end(farewell: &'static str) {
    *FAREWELL.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = (farewell, 0);
    listen_from_now();
}

fn folders() -> MutexGuard<'static, Vec<PathBuf>> {
    FOLDERS.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Begins to listen. Before this an interrupt ends the program as it does any other, so it is called before a
/// folder is made.
pub fn listen_from_now() {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| {
        let (ready, is_ready) = mpsc::channel();
        // Without a listener the next build removes the folder.
        if std::thread::Builder::new().name("interrupt".into()).spawn(|| listen(ready)).is_ok() {
            // An error means that the thread has ended without listening.
            let _ = is_ready.recv();
        }
    });
}

/// Makes a folder that goes if the program is interrupted from now on.
pub fn made<E>(make: impl FnOnce() -> Result<PathBuf, E>) -> Result<PathBuf, E> {
    let mut all = folders();
    let folder = make()?;
    all.push(folder.clone());
    Ok(folder)
}

/// Runs one step of writing, during which the program is not ended.
pub fn whole<T>(step: impl FnOnce() -> T) -> T {
    let _held = folders();
    step()
}

/// Runs the last step of a folder, its move or removal, during which the program is not ended; afterwards it is on its own.
pub fn uninterrupted<T>(folder: &Path, step: impl FnOnce() -> T) -> T {
    let mut all = folders();
    let done = step();
    all.retain(|other| other != folder);
    done
}

fn listen(ready: mpsc::Sender<()>) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
    if runtime.block_on(interrupted(ready)).is_err() {
        return;
    }
    let all = folders();
    // Nothing is written any more: whoever writes waits for the lock that is held here.
    for folder in all.iter() {
        let _ = std::fs::remove_dir_all(folder).or_else(|_| std::fs::remove_dir_all(folder));
    }
    let (farewell, status) = *FAREWELL.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    eprintln!("{farewell}");
    std::process::exit(status);
}

#[cfg(unix)]
async fn interrupted(ready: mpsc::Sender<()>) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    // Nobody waits any more only if the program is ending.
    let _ = ready.send(());
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    Ok(())
}

#[cfg(not(unix))]
async fn interrupted(ready: mpsc::Sender<()>) -> std::io::Result<()> {
    let _ = ready.send(());
    tokio::signal::ctrl_c().await
}
