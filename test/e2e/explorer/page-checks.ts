// Checks that run inside a page, as scripts: the tests are compiled without the types of a browser.

/**
 * Texts with a contrast to their background below 4.5:1 (WCAG 2.1, 1.4.3), each once: `ratio colour on colour: text`.
 * Disabled controls are exempt, as they are there. Opacity counts.
 */
export const CONTRAST_SCRIPT = `(() => {
  const parse = text => {
    const [r, g, b, a = 1] = (text.match(/[0-9.]+/g) ?? [0, 0, 0, 0]).map(Number);
    return { r, g, b, a };
  };
  const over = (top, below) => ({
    r: top.r * top.a + below.r * (1 - top.a),
    g: top.g * top.a + below.g * (1 - top.a),
    b: top.b * top.a + below.b * (1 - top.a),
    a: 1,
  });
  const luminance = ({ r, g, b }) => {
    const [x, y, z] = [r, g, b].map(v => v / 255).map(v => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = element => {
    const layers = [];
    for (let one = element; one !== null; one = one.parentElement) {
      const colour = parse(getComputedStyle(one).backgroundColor);
      if (colour.a > 0) layers.push(colour);
      if (colour.a === 1) break;
    }
    return layers.reverse().reduce((below, top) => over(top, below), { r: 255, g: 255, b: 255, a: 1 });
  };
  const opacity = element => {
    let value = 1;
    for (let one = element; one !== null; one = one.parentElement) value *= Number(getComputedStyle(one).opacity);
    return value;
  };
  const found = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    const text = node.textContent.trim();
    if (text === '' || element === null || element.closest(':disabled, .hidden-text, noscript, option') !== null) continue;
    if (element.getClientRects().length === 0 || element.closest('svg') !== null) continue;
    const background = behind(element);
    const style = parse(getComputedStyle(element).color);
    const colour = over({ ...style, a: style.a * opacity(element) }, background);
    const [high, low] = [luminance(colour), luminance(background)].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    const show = ({ r, g, b }) => [r, g, b].map(Math.round).join(',');
    const key = show(colour) + ' on ' + show(background);
    if (ratio < 4.5 && !found.has(key)) found.set(key, ratio.toFixed(2) + ' ' + key + ': ' + text.slice(0, 40));
  }
  return [...found.values()];
})()`;

/** The page scrolls sideways: what is wider than the screen, if nothing around it scrolls. */
export const OVERFLOW_SCRIPT = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth <= clientWidth) return [];
  const wide = [...document.querySelectorAll('body *')]
    .filter(one => one.getBoundingClientRect().right > clientWidth + 1)
    .slice(0, 5)
    .map(one => one.tagName + '.' + one.className);
  return ['the page is ' + scrollWidth + ' px wide on a screen of ' + clientWidth + ': ' + wide.join(', ')];
})()`;

/**
 * On paper nothing scrolls: elements whose content is cut. Rows of a list that is drawn as far as it is seen are
 * exempt.
 */
export const CUT_SCRIPT = `(() => {
  const found = [];
  for (const one of document.querySelectorAll('.app *')) {
    if (one.getClientRects().length === 0 || one.closest('.hidden-text, .clip, .row, svg, .uplot, .strip') !== null) continue;
    const style = getComputedStyle(one);
    const isCut = (overflow, content, box) => overflow !== 'visible' && content > box + 1;
    if (isCut(style.overflowY, one.scrollHeight, one.clientHeight) || isCut(style.overflowX, one.scrollWidth, one.clientWidth))
      found.push(one.tagName + '.' + one.className + ' ' + one.scrollWidth + 'x' + one.scrollHeight + ' in ' + one.clientWidth + 'x' + one.clientHeight);
  }
  return found.slice(0, 5);
})()`;

/**
 * What can be clicked and no key reaches, or what shows no sign of having the focus. Call it after a key was pressed.
 */
export const FOCUS_SCRIPT = `(() => {
  const found = [];
  const shown = one => one.getClientRects().length > 0 && getComputedStyle(one).visibility !== 'hidden';
  const choices = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [role=listbox]')];
  for (const one of choices.filter(shown)) {
    if (one.disabled === true) continue;
    // Lines of the mesh are chosen in the panel of their box as well.
    if (one.tabIndex < 0) {
      // Rows of a list are chosen by the arrow keys of the list.
      if (one.querySelector('.edge-target') === null && one.closest('[role=listbox]') === null) found.push('not reached: ' + one.outerHTML.slice(0, 100));
      continue;
    }
    one.focus({ preventScroll: true });
    const style = getComputedStyle(one);
    const drawn = one.querySelector('rect');
    const isSeen = style.outlineStyle !== 'none' || (drawn !== null && getComputedStyle(drawn).strokeWidth === '3px');
    if (document.activeElement === one && !isSeen) found.push('no sign of focus: ' + one.outerHTML.slice(0, 100));
  }
  return found.slice(0, 5);
})()`;
