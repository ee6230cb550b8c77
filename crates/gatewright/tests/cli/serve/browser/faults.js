// What is wrong with the page as it is shown now: a list of sentences, empty where nothing is.
(() => {
  const faults = new Set();
  const short = (text) => text.trim().replace(/\s+/g, " ").slice(0, 50);
  const named = (it) => it.tagName.toLowerCase() + (it.id ? "#" + it.id : "") + [...it.classList].map((name) => "." + name).join("");
  const shown = (it) => it.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  // These scroll sideways by themselves, and are meant to.
  const scroller = (it) => it.closest("pre, .picture, table, .tabs.small");

  // 1. Nothing is wider than the screen.
  const page = document.scrollingElement;
  // Not `innerWidth`: a phone zooms out of a page that is too wide.
  const room = document.documentElement.clientWidth;
  if (page.scrollWidth > room) faults.add(`the page is ${page.scrollWidth} wide on a screen of ${room}`);

  // 2. Nothing is cut off.
  for (const it of document.querySelectorAll("body *")) {
    if (it.closest("svg") || it.matches("pre, .picture, table, .skip") || !shown(it)) continue;
    const hides = getComputedStyle(it).overflowX !== "visible";
    if (hides && it.scrollWidth > it.clientWidth + 1) faults.add(`cut off: ${named(it)}: ${short(it.textContent)}`);
  }
  const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  for (const it of document.querySelectorAll("[placeholder]")) {
    if (!shown(it)) continue;
    const style = getComputedStyle(it);
    pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const space = it.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    if (pen.measureText(it.placeholder).width > space + 1) faults.add(`cut off: the hint "${it.placeholder}" needs more than ${space}`);
  }

  // 3. Every text can be read: a contrast of at least 4.5.
  const parsed = (colour) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    const [red, green, blue, opacity] = pen.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, opacity / 255];
  };
  const laid = (top, below) => [0, 1, 2].map((part) => top[part] * top[3] + below[part] * (1 - top[3])).concat(1);
  const ground = (it) => {
    const layers = [];
    for (let outer = it; outer; outer = outer.parentElement) layers.push(parsed(getComputedStyle(outer).backgroundColor));
    return layers.reverse().reduce((below, layer) => laid(layer, below), [255, 255, 255, 1]);
  };
  const light = (colour) => {
    const [red, green, blue] = colour.slice(0, 3).map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (ink, below) => {
    const [one, other] = [light(laid(ink, below)), light(below)];
    return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  };
  // Below a text of a picture lies the last shape before it that holds its middle.
  const shapes = new Map();
  const below = (text) => {
    const svg = text.closest("svg");
    if (!shapes.has(svg)) shapes.set(svg, [...svg.querySelectorAll("rect, .box")].map((it) => [it, it.getBoundingClientRect(), getComputedStyle(it).fill]));
    const box = text.getBoundingClientRect();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const holds = ([it, area, fill]) => fill !== "none" && area.left <= x && x <= area.right && area.top <= y && y <= area.bottom
      && it.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING;
    return shapes.get(svg).filter(holds).reduce((colour, [, , fill]) => laid(parsed(fill), colour), ground(svg));
  };
  const judged = (it, text) => {
    const inPicture = it.closest("svg");
    const ink = parsed(inPicture ? getComputedStyle(it).fill : getComputedStyle(it).color);
    const ratio = contrast(ink, inPicture ? below(it) : ground(it));
    if (ratio < 4.5) faults.add(`contrast ${ratio.toFixed(2)}: ${named(it)}: ${short(text)}`);
  };

  // 4. No text lies on another one, and none beside the screen.
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const [node, it] = [texts.currentNode, texts.currentNode.parentElement];
    if (!node.data.trim() || it.closest("title, .skip, noscript, script, textarea, option") || !shown(it)) continue;
    judged(it, node.data);
    const outer = scroller(it);
    const frame = outer?.getBoundingClientRect();
    const scrolls = outer && getComputedStyle(outer).overflowX !== "hidden";
    const cell = it.closest("td, th")?.getBoundingClientRect();
    const range = document.createRange();
    range.selectNodeContents(node);
    const lines = [...range.getClientRects()].filter((area) => area.width >= 1);
    // A short word that is broken stands in a column that is too narrow.
    if (lines.length > 1 && !it.closest("pre, code")) {
      for (const word of node.data.matchAll(/[^\s\-/.,:]{2,16}/g)) {
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        const parts = [...range.getClientRects()].filter((area) => area.width >= 1);
        const [first, ...others] = parts;
        if (others.some((area) => area.top > first.bottom - 2)) faults.add(`broken: ${named(it)}: ${word[0]}`);
      }
    }
    for (const area of lines) {
      if (cell && area.right > cell.right + 1) faults.add(`cut off: ${named(it)}: ${short(node.data)}`);
      if (frame && !scrolls && area.right > frame.right) faults.add(`cut off: ${named(it)}: ${short(node.data)}`);
      if (frame && (area.right > frame.right || area.left < frame.left || area.bottom > frame.bottom || area.top < frame.top)) continue;
      if (area.right > room + 1 || area.left < -1) faults.add(`beside the screen: ${named(it)}: ${short(node.data)}`);
      found.push([area, it, node.data]);
    }
  }
  found.sort(([one], [other]) => one.top - other.top);
  found.forEach(([area, it, text], place) => {
    for (const [other, , words] of found.slice(place + 1)) {
      if (other.top > area.bottom - 4) break;
      const across = Math.min(area.right, other.right) - Math.max(area.left, other.left);
      if (across > 3 && Math.min(area.bottom, other.bottom) - other.top > 4) faults.add(`overlap: ${named(it)}: ${short(text)} / ${short(words)}`);
    }
  });

  // 5. Nothing comes from elsewhere.
  for (const { name } of performance.getEntriesByType("resource")) {
    if (!name.startsWith(location.origin + "/")) faults.add(`from elsewhere: ${name}`);
  }
  return [...faults];
})()
