// Looks at a report as a reader would: what is cut off, on top of something else, too faint or not drawn.
// Its value is a list of what is wrong.
(() => {
  const wrong = [];
  const shown = (element) => element.getClientRects().length > 0;
  const name = (element) =>
    `${element.tagName} "${(element.textContent || '').trim().slice(0, 60)}"`;

  const page = document.documentElement;
  if (page.scrollWidth > page.clientWidth) {
    wrong.push(`the page is ${page.scrollWidth} wide, the screen ${page.clientWidth}`);
  }
  for (const element of document.querySelectorAll('body *:not(svg *)')) {
    if (!shown(element)) continue;
    const { left, right } = element.getBoundingClientRect();
    if (left < -0.5 || right > page.clientWidth + 0.5) wrong.push(`beyond the screen: ${name(element)}`);
    if (element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== 'inline') {
      wrong.push(`cut off: ${name(element)}`);
    }
  }

  // Cells of one row: no text runs into the next cell's.
  for (const row of document.querySelectorAll('tr')) {
    const cells = [...row.children].filter(shown).map((cell) => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      return [cell, range.getBoundingClientRect()];
    });
    for (const [index, [cell, box]] of cells.entries()) {
      const next = cells[index + 1];
      if (next && box.width && next[1].width && box.bottom > next[1].top + 1 && box.right > next[1].left + 1 && box.left < next[1].left) {
        wrong.push(`runs into its neighbour: ${name(cell)}`);
      }
    }
  }

  for (const chart of document.querySelectorAll('svg.chart')) {
    if (!shown(chart)) continue;
    const frame = chart.getBoundingClientRect();
    if (frame.width < 10 || frame.height < 10) wrong.push(`not drawn: ${name(chart)}`);
    if (chart.classList.contains('key')) continue;
    if (!chart.querySelector('title')?.textContent || !chart.querySelector('desc')?.textContent) {
      wrong.push(`no title or description: ${name(chart)}`);
    }
    const marks = chart.querySelectorAll('rect, circle, path');
    if (marks.length === 0) wrong.push(`empty: ${name(chart)}`);
    for (const mark of [...marks, ...chart.querySelectorAll('text, line')]) {
      const box = mark.getBoundingClientRect();
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1) {
        wrong.push(`beyond its chart: ${name(mark)} in ${name(chart)}`);
      }
    }
    const texts = [...chart.querySelectorAll('text')].map((text) => [text, text.getBoundingClientRect()]);
    texts.forEach(([text, box], index) => {
      for (const [other, next] of texts.slice(index + 1)) {
        const across = Math.min(box.right, next.right) - Math.max(box.left, next.left);
        const down = Math.min(box.bottom, next.bottom) - Math.max(box.top, next.top);
        // Lines of a label touch; letters don't.
        if (across > 1 && down > 4) wrong.push(`on top of each other: ${name(text)} and ${name(other)}`);
      }
    });
  }

  // WCAG 2, contrast of at least 4.5 to 1.
  const luminance = (colour) => {
    const [r, g, b] = colour.match(/[\d.]+/g).slice(0, 3).map((part) => {
      const value = part / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = luminance(getComputedStyle(document.body).backgroundColor);
  const faint = new Set();
  for (const element of document.querySelectorAll('p, li, th, td, dd, dt, small, a, h1, h2, h3, text')) {
    if (!shown(element)) continue;
    const style = getComputedStyle(element);
    const ink = luminance(element.tagName === 'text' ? style.fill : style.color);
    const contrast = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    if (contrast < 4.5) faint.add(`${element.tagName}.${element.getAttribute('class')}: ${contrast.toFixed(2)} to 1`);
  }
  for (const element of faint) wrong.push(`too faint: ${element}`);
  return wrong;
})()
