//! Which runs a table shows, and in which order, as the address of the page says.

use std::cmp::{Ordering, Reverse};

use engine::Status;
use store::RunSummary;

use crate::page::Base;
use crate::query;

/// What the address of the first page asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listing {
    pub filter: Option<String>,
    pub order: Order,
    /// The first of those that are over.
    pub from: usize,
}

/// By what the runs are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Alive,
    Task,
    Stage,
    Pipeline,
    Project,
    /// The latest event first.
    Latest,
    /// The latest started first: where nothing else is asked for, so that no line moves while somebody reads.
    Started,
}

impl Listing {
    pub(super) fn of(query: &str) -> Self {
        let word = query::value(query, "sort").unwrap_or_default();
        let order = Order::ALL.into_iter().find(|order| order.word() == word);
        let from = query::number(query, "from").unwrap_or(0);
        Self {
            filter: query::value(query, "q"),
            order: order.unwrap_or(Order::Started),
            from: usize::try_from(from).unwrap_or(0),
        }
    }

    /// The runs that fit, in order.
    pub(super) fn chosen<'s>(&self, summaries: &'s [RunSummary]) -> Vec<&'s RunSummary> {
        let words = self.filter.as_deref().unwrap_or_default().to_lowercase();
        let words: Vec<&str> = words.split_whitespace().collect();
        let fitting = summaries.iter().filter(|run| fits(run, &words));
        let mut chosen: Vec<&RunSummary> = fitting.collect();
        // The list comes with the latest started first, and a sort keeps that among equals.
        if self.order != Order::Started {
            chosen.sort_by(|one, other| self.order.compare(one, other));
        }
        chosen
    }

    pub(super) fn sorted_by(&self, base: &Base, order: Order) -> String {
        let sorted = Self {
            order,
            from: 0,
            ..self.clone()
        };
        sorted.address(base)
    }

    pub(super) fn starting_at(&self, base: &Base, from: usize) -> String {
        let moved = Self {
            from,
            ..self.clone()
        };
        moved.address(base)
    }

    fn address(&self, base: &Base) -> String {
        let filter = self.filter.as_ref();
        let filter = filter.map(|filter| format!("q={}", query::encoded(filter)));
        let sort = (self.order != Order::Started).then(|| format!("sort={}", self.order.word()));
        let from = (self.from > 0).then(|| format!("from={}", self.from));
        let values: Vec<String> = [filter, sort, from].into_iter().flatten().collect();
        match values.as_slice() {
            [] => base.to(""),
            values => base.to(&format!("?{}", values.join("&"))),
        }
    }
}

impl Order {
    /// Those that have a column, in the order of the columns.
    pub(super) const ALL: [Self; 6] = [
        Self::Alive,
        Self::Task,
        Self::Stage,
        Self::Pipeline,
        Self::Project,
        Self::Latest,
    ];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Alive => "alive",
            Self::Task => "task",
            Self::Stage => "stage",
            Self::Pipeline => "pipeline",
            Self::Project => "project",
            Self::Latest => "latest",
            Self::Started => "started",
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Alive => "Alive",
            Self::Task => "Task",
            Self::Stage => "Stage",
            Self::Pipeline => "Pipeline",
            Self::Project => "Project",
            Self::Latest => "Last event",
            Self::Started => "Started",
        }
    }

    pub(super) fn is_number(self) -> bool {
        self == Self::Latest
    }

    pub(super) fn direction(self) -> &'static str {
        match self {
            Self::Latest | Self::Started => "descending",
            Self::Alive | Self::Task | Self::Stage | Self::Pipeline | Self::Project => "ascending",
        }
    }

    pub(super) fn arrow(self) -> &'static str {
        match self {
            Self::Latest | Self::Started => " ↓",
            Self::Alive | Self::Task | Self::Stage | Self::Pipeline | Self::Project => " ↑",
        }
    }

    fn compare(self, one: &RunSummary, other: &RunSummary) -> Ordering {
        match self {
            Self::Alive => rank(&one.status).cmp(&rank(&other.status)),
            Self::Task => one.task.to_lowercase().cmp(&other.task.to_lowercase()),
            Self::Stage => one.stage.cmp(&other.stage),
            Self::Pipeline => one.pipeline.cmp(&other.pipeline),
            Self::Project => one.worktree.cmp(&other.worktree),
            Self::Latest => Reverse(one.updated_at).cmp(&Reverse(other.updated_at)),
            Self::Started => Reverse(one.started_at).cmp(&Reverse(other.started_at)),
        }
    }
}

/// What needs a person comes first.
fn rank(status: &Status) -> u8 {
    match status {
        Status::Waiting(_) => 0,
        Status::Running => 1,
        Status::Queued => 2,
        Status::Failed => 3,
        Status::Cancelled => 4,
        Status::Completed => 5,
    }
}

/// Every word of the filter is somewhere in the row.
fn fits(run: &RunSummary, words: &[&str]) -> bool {
    if words.is_empty() {
        return true;
    }
    let text = format!(
        "{} {} {} {} {} {}",
        run.id,
        run.pipeline,
        run.stage,
        run.status.word(),
        run.task,
        run.worktree
    );
    let text = text.to_lowercase();
    words.iter().all(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use engine::{Driver, PipelineName, RunId, StageName, Time};

    use super::*;

    fn run(id: &str, task: &str, status: Status, times: [u64; 2]) -> RunSummary {
        RunSummary {
            id: RunId::parse(id).unwrap(),
            project: "/p/.git".to_owned(),
            worktree: "/p".to_owned(),
            pipeline: PipelineName::parse("small").unwrap(),
            task: task.to_owned(),
            stage: StageName::parse("asking").unwrap(),
            status,
            driver: Driver::ByHand,
            overridden: false,
            started_at: Time(times[0]),
            updated_at: Time(times[1]),
            version: 1,
        }
    }

    #[test]
    fn runs_are_filtered_and_sorted_as_the_address_says() {
        let all = [
            run("r-3", "Beta", Status::Completed, [30, 30]),
            run("r-2", "alpha", Status::Waiting("x".to_owned()), [20, 60]),
            run("r-1", "Gamma", Status::Running, [10, 50]),
        ];
        for (query, expected) in [
            ("", "r-3 r-2 r-1"),
            ("sort=nonsense", "r-3 r-2 r-1"),
            ("sort=task", "r-2 r-3 r-1"),
            ("sort=alive", "r-2 r-1 r-3"),
            ("sort=latest", "r-2 r-1 r-3"),
            ("sort=stage", "r-3 r-2 r-1"),
            ("q=ALPHA+small", "r-2"),
            ("q=nobody", ""),
        ] {
            let chosen = Listing::of(query).chosen(&all);
            let ids: Vec<&str> = chosen.iter().map(|run| run.id.as_str()).collect();
            assert_eq!(ids.join(" "), expected, "{query}");
        }
    }

    #[test]
    fn an_address_keeps_the_filter_and_begins_a_new_order_at_its_first_page() {
        let base = Base::new("k");
        let listing = Listing::of("q=a%26b&sort=task&from=50");
        assert_eq!(
            listing.starting_at(&base, 100),
            "/k/?q=a%26b&sort=task&from=100"
        );
        assert_eq!(
            listing.sorted_by(&base, Order::Stage),
            "/k/?q=a%26b&sort=stage"
        );
        assert_eq!(Listing::of("").starting_at(&base, 0), "/k/");
    }
}
