//! What is wrong with a picture: the facts that every one must have, recomputed from its definition.

use std::collections::BTreeSet;

use engine::{Definition, StageName, Target, longer_ways};
use views::picture::{Area, Picture, Point, StageBox, TextLine, WayLine};

pub(crate) fn faults(definition: &Definition, picture: &Picture) -> Vec<String> {
    [
        stages(definition, picture),
        ways(definition, picture),
        boxes(picture),
        texts(picture),
        shared_ways(picture),
        picture
            .lines
            .iter()
            .flat_map(|line| line_faults(picture, line))
            .collect(),
    ]
    .concat()
}

fn stages(definition: &Definition, picture: &Picture) -> Vec<String> {
    let mut wrong = Vec::new();
    for stage in &definition.stages {
        let boxes = picture.boxes.iter();
        let times = boxes.filter(|boxed| boxed.stage == stage.name).count();
        if times != 1 {
            wrong.push(format!("{} is drawn {times} times", stage.name));
        }
    }
    wrong
}

/// Every way from a stage to another, with its word.
fn expected(definition: &Definition) -> BTreeSet<(StageName, StageName, String)> {
    let mut ways = BTreeSet::new();
    for stage in &definition.stages {
        for (way, edge) in stage.edges() {
            for to in targets(definition, &edge.to) {
                ways.insert((stage.name.clone(), to, way.to_string()));
            }
            let counter = edge
                .count
                .as_ref()
                .and_then(|name| Some((name, definition.counters.get(name)?)));
            if let Some((name, counter)) = counter {
                ways.insert((
                    stage.name.clone(),
                    counter.then.clone(),
                    format!("{name} >"),
                ));
            }
        }
    }
    for way in longer_ways(definition) {
        ways.insert((way.from, way.to, "outgrown".to_owned()));
    }
    ways
}

fn targets(definition: &Definition, target: &Target) -> Vec<StageName> {
    match target {
        Target::Stage(stage) => vec![stage.clone()],
        Target::Interrupted => Vec::new(),
        Target::Param(param) => {
            let choices = definition
                .params
                .get(param)
                .map(|param| param.choices.clone());
            let choices = choices.unwrap_or_default();
            let stages = choices
                .iter()
                .map(|choice| StageName::parse(choice).unwrap());
            let known = |stage: &StageName| definition.stages.iter().any(|it| it.name == *stage);
            stages.filter(known).collect()
        }
    }
}

/// A way is on one arrow, or it is a chip, or the card from which it leads tells of it.
fn ways(definition: &Definition, picture: &Picture) -> Vec<String> {
    let mut wrong = Vec::new();
    for (from, to, word) in expected(definition) {
        let lines = picture.lines.iter();
        let lines = lines.filter(|line| line.from == from && line.to == to);
        let on_lines = lines
            .flat_map(|line| &line.ways)
            .filter(|way| is_way(way, &word))
            .count();
        let mut boxes = picture.boxes.iter();
        let source = boxes.find(|boxed| boxed.stage == from);
        let chips = source.map_or(0, |boxed| {
            boxed
                .chips
                .iter()
                .filter(|chip| chip.to.as_ref() == Some(&to))
                .count()
        });
        let on_card = source.is_some_and(|boxed| boxed.is_folded);
        let times = on_lines + chips + usize::from(on_card);
        if times != 1 {
            wrong.push(format!(
                "{from} → {to} ({word}): the way is drawn {times} times"
            ));
        }
    }
    wrong
}

fn is_way(way: &str, word: &str) -> bool {
    way == word || way.starts_with(&format!("{word} "))
}

fn boxes(picture: &Picture) -> Vec<String> {
    let mut wrong = Vec::new();
    for (number, boxed) in picture.boxes.iter().enumerate() {
        for other in picture.boxes.iter().skip(number + 1) {
            if boxed.area.overlaps(other.area) {
                wrong.push(format!(
                    "boxes overlap: {} and {}",
                    boxed.stage, other.stage
                ));
            }
        }
        if !picture.canvas.contains(boxed.area) {
            wrong.push(format!("{} is outside", boxed.stage));
        }
        wrong.extend(inside(boxed));
    }
    wrong
}

fn inside(boxed: &StageBox) -> Vec<String> {
    let chips = boxed.chips.iter().map(|chip| chip.area);
    let texts = boxed.texts.iter().map(|text| text.area);
    let parts: Vec<Area> = texts.chain(chips).collect();
    let mut wrong = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        if !boxed.area.contains(*part) {
            wrong.push(format!("{}: a text is outside its box", boxed.stage));
        }
        if parts
            .iter()
            .skip(number + 1)
            .any(|other| part.overlaps(*other))
        {
            wrong.push(format!("{}: texts overlap", boxed.stage));
        }
    }
    for chip in &boxed.chips {
        if !chip.area.contains(chip.text.area) {
            wrong.push(format!("{}: a text is outside its chip", boxed.stage));
        }
    }
    wrong
}

fn labels(picture: &Picture) -> impl Iterator<Item = &TextLine> {
    let labels = picture.lines.iter().flat_map(|line| &line.label);
    labels.chain(&picture.texts)
}

fn texts(picture: &Picture) -> Vec<String> {
    let mut wrong = Vec::new();
    for (number, label) in labels(picture).enumerate() {
        if !picture.canvas.contains(label.area) {
            wrong.push(format!("“{}” is outside", label.text));
        }
        if label.role.size() < 12 {
            wrong.push(format!("“{}” is tiny", label.text));
        }
        if labels(picture)
            .skip(number + 1)
            .any(|other| other.area.overlaps(label.area))
        {
            wrong.push(format!("“{}” overlaps a label", label.text));
        }
        if picture
            .boxes
            .iter()
            .any(|boxed| boxed.area.overlaps(label.area))
        {
            wrong.push(format!("“{}” overlaps a box", label.text));
        }
    }
    wrong
}

fn line_faults(picture: &Picture, line: &WayLine) -> Vec<String> {
    let mut wrong = Vec::new();
    let touches = |stage: &StageName, point: Option<&Point>| {
        let mut boxes = picture.boxes.iter();
        let area = boxes
            .find(|boxed| boxed.stage == *stage)
            .map(|boxed| boxed.area);
        area.zip(point)
            .is_some_and(|(area, point)| is_on_edge(area, *point))
    };
    if !touches(&line.from, line.points.first()) {
        wrong.push(format!("{} → {} begins elsewhere", line.from, line.to));
    }
    if !touches(&line.to, line.points.last()) {
        wrong.push(format!("{} → {} ends elsewhere", line.from, line.to));
    }
    for pair in line.points.windows(2) {
        let segment = segment(pair[0], pair[1]);
        if segment.width > 1 && segment.height > 1 {
            wrong.push(format!("{} → {} is not straight", line.from, line.to));
        }
        let mut boxes = picture.boxes.iter();
        if let Some(crossed) = boxes.find(|boxed| inner(boxed.area).overlaps(segment)) {
            wrong.push(format!(
                "{} → {} goes through {}",
                line.from, line.to, crossed.stage
            ));
        }
        if let Some(crossed) = labels(picture).find(|label| label.area.overlaps(segment)) {
            wrong.push(format!(
                "{} → {} goes through “{}”",
                line.from, line.to, crossed.text
            ));
        }
    }
    wrong
}

/// Arrows to different places may cross, but none runs along on another.
fn shared_ways(picture: &Picture) -> Vec<String> {
    let mut wrong = Vec::new();
    for (number, line) in picture.lines.iter().enumerate() {
        let others = picture.lines.iter().skip(number + 1);
        for other in others.filter(|other| other.to != line.to) {
            let mut pairs = line.points.windows(2).flat_map(|one| {
                let others = other.points.windows(2);
                others.map(move |other| (segment(one[0], one[1]), segment(other[0], other[1])))
            });
            if pairs.any(|(one, other)| runs_along(one, other)) {
                wrong.push(format!(
                    "{} → {} runs along on {} → {}",
                    line.from, line.to, other.from, other.to
                ));
            }
        }
    }
    wrong
}

fn runs_along(one: Area, other: Area) -> bool {
    let is_flat = |area: Area| area.height == 1;
    let is_upright = |area: Area| area.width == 1;
    let both = |is_so: fn(Area) -> bool| is_so(one) && is_so(other);
    one.overlaps(other) && (both(is_flat) || both(is_upright))
}

/// A line as an area that is one pixel thick.
fn segment(from: Point, to: Point) -> Area {
    Area {
        x: from.x.min(to.x),
        y: from.y.min(to.y),
        width: (from.x - to.x).abs().max(1),
        height: (from.y - to.y).abs().max(1),
    }
}

fn inner(area: Area) -> Area {
    Area {
        x: area.x + 1,
        y: area.y + 1,
        width: area.width - 2,
        height: area.height - 2,
    }
}

fn is_on_edge(area: Area, point: Point) -> bool {
    let in_height = (area.y..=area.bottom()).contains(&point.y);
    let in_width = (area.x..=area.right()).contains(&point.x);
    let at_side = point.x == area.x || point.x == area.right();
    let at_end = point.y == area.y || point.y == area.bottom();
    (in_height && at_side) || (in_width && at_end)
}
