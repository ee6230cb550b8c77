//! The shell of the screen: it reads keys, time and facts, and shows what the screen makes of them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::RunId;
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::fleet_seat::ConnectFleet;
use runtime::ids::FLEET_PREFIX;
use runtime::workspace::Workspace;
use runtime::{clock, find_run};
use views::Paint;
use views::facts::Inbox;
use views::progress::TerminalSize;

use crate::event::{Effect, Event, Key, Size};
use crate::run_source::RunSource;
use crate::screen::{Screen, Tab};
use crate::terminal::{Terminal, Typed, USUAL_SIZE};
use crate::wanted::{Wanted, WantedDetail, WantedOutput};
use crate::{ansi, draw, input};

/// How often it is asked whether anybody has written.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

/// How often the liveness of the runs is judged.
const BETWEEN_JUDGEMENTS: Duration = Duration::from_secs(3);

/// What the person asked for.
pub struct WatchOptions<'a> {
    /// The run to begin with: its id, or its first characters.
    pub select: Option<&'a str>,
    pub paint: Paint,
    /// The way to the fleet that this machine has joined.
    pub fleet: Option<Arc<ConnectFleet>>,
}

/// One picture as text, for a terminal of this size, or of the usual one.
pub fn once(
    context: &Context,
    options: &WatchOptions<'_>,
    room: Option<TerminalSize>,
) -> Result<String, Failure> {
    let mut size = room.map_or(USUAL_SIZE, Size::of);
    if room.is_some() {
        // The shell's own lines come before and after it.
        size.rows = size.rows.saturating_sub(2).max(USUAL_SIZE.rows / 2);
    }
    let mut source = RunSource::new(context, options.fleet.as_ref());
    let selected = selected(context, &mut source, options)?;
    let mut screen = Screen::new(size, clock::now(), selected);
    source.first_look();
    for event in source.all(&wanted(&screen)) {
        if let Event::Trouble(Some(trouble)) = event {
            return Err(Failure::store(trouble));
        }
        screen.update(event);
    }
    for event in source.one(&wanted(&screen)) {
        screen.update(event);
    }
    Ok(ansi::lines(&draw::picture(&screen), options.paint))
}

/// Shows the screen until the person leaves it, or until `stop` is set.
pub fn watch(
    context: &Context,
    options: &WatchOptions<'_>,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    let mut source = RunSource::new(context, options.fleet.as_ref());
    let selected = selected(context, &mut source, options)?;
    let terminal = Terminal::open(options.paint)?;
    let screen = Screen::new(terminal.size(), clock::now(), selected);
    let mut shell = Shell {
        source,
        screen,
        terminal,
        typed: Vec::new(),
        is_due: true,
        looked: Instant::now(),
        judged: Instant::now(),
    };
    shell.show()?;
    shell.read_all();
    shell.show()?;
    while !stop.load(Ordering::Relaxed) {
        if shell.turn()? == Going::Ended {
            break;
        }
        shell.show()?;
    }
    Ok(())
}

/// The run that the person named.
fn selected(
    context: &Context,
    source: &mut RunSource<'_>,
    options: &WatchOptions<'_>,
) -> Result<Option<RunId>, Failure> {
    let Some(word) = options.select else {
        return Ok(None);
    };
    if options.fleet.is_some() && word.starts_with(FLEET_PREFIX) {
        source.first_look();
        let unknown = || Failure::not_found(format!("no run of the fleet begins with {word}"));
        let hint = "type `gatewright watch` without --select to see all";
        let found = source.fleet_run(word);
        return found.ok_or_else(|| unknown().hint(hint)).map(Some);
    }
    let workspace = Workspace::for_reading(context)?;
    let stored = find_run::find_to_show(&workspace, Some(word))?;
    Ok(Some(stored.run.id))
}

fn wanted(screen: &Screen) -> Wanted {
    let output = screen.worker.map_or(WantedOutput::Latest, WantedOutput::Of);
    Wanted {
        run: screen.selected_run().cloned(),
        detail: match screen.tab {
            Tab::Output => Some(WantedDetail::Output(output)),
            Tab::Changes => Some(WantedDetail::Changes),
            Tab::Overview | Tab::Journal | Tab::Gates | Tab::Artifacts => None,
        },
    }
}

/// `2 runs wait for you · gatewright`.
fn title(screen: &Screen) -> String {
    match Inbox::count_line(screen.runs.inbox.entries().len()) {
        Some(line) => format!("{line} · gatewright"),
        None => "gatewright".to_owned(),
    }
}

fn put_first(waiting: &mut VecDeque<Event>, events: Vec<Event>) {
    events
        .into_iter()
        .rev()
        .for_each(|event| waiting.push_front(event));
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Going {
    On,
    Ended,
}

struct Shell<'c> {
    source: RunSource<'c>,
    screen: Screen,
    terminal: Terminal,
    /// Bytes that are the beginning of a key.
    typed: Vec<u8>,
    /// Has anything happened that may show?
    is_due: bool,
    looked: Instant,
    judged: Instant,
}

impl Shell<'_> {
    /// Draws, if anything happened since the last time.
    fn show(&mut self) -> Result<(), Failure> {
        if !std::mem::take(&mut self.is_due) {
            return Ok(());
        }
        let picture = draw::picture(&self.screen);
        self.terminal.show(picture, &title(&self.screen))
    }

    fn read_all(&mut self) {
        // Asked first: what is written meanwhile is a change.
        self.source.has_changed();
        self.take(vec![Event::Clock(clock::now())]);
        let events = self.source.all(&wanted(&self.screen));
        self.take(events);
        (self.looked, self.judged) = (Instant::now(), Instant::now());
    }

    /// Waits for something, and takes it.
    fn turn(&mut self) -> Result<Going, Failure> {
        let patience = BETWEEN_LOOKS.saturating_sub(self.looked.elapsed());
        let going = match self.terminal.wait(patience) {
            Typed::Bytes(bytes) => self.keys(&bytes),
            Typed::Nothing => Going::On,
            Typed::Closed => Going::Ended,
        };
        if self.terminal.was_resized() {
            self.take(vec![Event::Resized(self.terminal.size())]);
        }
        if self.looked.elapsed() >= BETWEEN_LOOKS {
            self.look();
        }
        Ok(going)
    }

    fn look(&mut self) {
        self.looked = Instant::now();
        let news = self.source.news();
        self.take(news);
        if self.source.has_changed() {
            return self.read_all();
        }
        if self.judged.elapsed() >= BETWEEN_JUDGEMENTS {
            self.judged = Instant::now();
            self.take(vec![Event::Clock(clock::now())]);
            let events = self.source.judged(&wanted(&self.screen));
            self.take(events);
        } else if self.screen.tab == Tab::Output {
            let events = self.source.one(&wanted(&self.screen));
            self.take(events);
        }
    }

    fn keys(&mut self, bytes: &[u8]) -> Going {
        self.typed.extend_from_slice(bytes);
        let (events, used) = input::events(&self.typed);
        self.typed.drain(..used);
        self.take(events)
    }

    /// Takes what happened, and does what the screen asks for. Reading comes last, and once; Enter acts on what is
    /// shown, so it comes before that.
    fn take(&mut self, events: Vec<Event>) -> Going {
        self.is_due |= !events.is_empty();
        let mut must_read = false;
        let mut waiting = VecDeque::from(events);
        while let Some(event) = waiting.pop_front() {
            if must_read && matches!(event, Event::Key(Key::Enter)) {
                self.read_one();
                must_read = false;
            }
            for effect in self.screen.update(event) {
                match effect {
                    Effect::Quit => return Going::Ended,
                    Effect::Read => must_read = true,
                    Effect::Open(target) => put_first(&mut waiting, self.source.open(&target)),
                    Effect::Act(act) => put_first(&mut waiting, self.source.act(&act)),
                }
            }
        }
        if must_read {
            self.read_one();
        }
        Going::On
    }

    fn read_one(&mut self) {
        for event in self.source.one(&wanted(&self.screen)) {
            self.screen.update(event);
        }
    }
}
