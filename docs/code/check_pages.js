// What check_pages.py runs in a page; each function returns a list of strings.
const checks = (() => {
const SMALLEST = 8; // px of text in drawings, exponents included

const scrolls = element => /auto|scroll/.test(getComputedStyle(element).overflowX);
const isCut = element => element.scrollWidth > element.clientWidth + 1;
const box = element => element.getBoundingClientRect();
const nameOf = element =>
  `${element.tagName.toLowerCase()}.${element.className} “${element.textContent.trim().slice(0, 40)}”`;

function widths(isWide) {
  const problems = [], article = document.querySelector("article"), content = document.querySelector(".content");
  if (document.documentElement.scrollWidth > innerWidth || isCut(content))
    problems.push(`wider than the window: ${culprit(article, box(content).right + 1)}`);
  for (const element of [...article.querySelectorAll("*")].filter(one => scrolls(one) && isCut(one))) {
    if (!getComputedStyle(element).backgroundImage.includes("gradient"))
      problems.push(`scrolls without a hint: ${nameOf(element)}`);
    if (isWide && element.querySelector("table"))
      problems.push(`a table of ${element.scrollWidth} px in ${element.clientWidth}: ${nameOf(element)}`);
  }
  const edge = Math.max(...[...article.querySelectorAll("section > p")].map(text => box(text).right)) + 2;
  for (const code of article.querySelectorAll("section > div[class*=highlight-], section > .cell pre"))
    if (isWide && box(code).right > edge)
      problems.push(`code is ${Math.round(box(code).right - edge)} px wider than the text: ${nameOf(code)}`);
  return problems;
}

// the innermost element that ends behind the edge and is not within one that scrolls
function culprit(article, edge) {
  const isHidden = element => element !== article && (scrolls(element) || isHidden(element.parentElement));
  const outside = [...article.querySelectorAll("*")].filter(one => box(one).right > edge);
  return outside.filter(one => !isHidden(one.parentElement)).map(nameOf).at(-1) ?? "";
}

function contents(isWide) {
  const drawer = document.querySelector(".toc-drawer"), button = document.querySelector(".toc-header-icon");
  if (drawer.classList.contains("no-toc")) return [];
  if (isWide && box(drawer).right > innerWidth + 1) return ["the contents of the page are hidden"];
  return isWide || box(button).width ? [] : ["there is no button for the contents of the page"];
}

async function images() {
  const problems = [];
  for (const image of document.querySelectorAll("article img")) {
    const name = image.alt || image.src.slice(0, 80);
    if (!image.alt) problems.push(`an image without a text: ${name}`);
    await image.decode().catch(() => problems.push(`an image that is not shown: ${name}`));
    if (!/svg/.test(image.src) || image.closest(".sd-card")) continue; // those of cards are looked at only
    const text = await (await fetch(image.src)).text();
    const width = Number(text.match(/viewBox="\S+ \S+ (\S+)/)?.[1] ?? image.naturalWidth);
    const sizes = [...text.matchAll(/font(?:-size)?[:=]\s*"?(?:\d+ )?([\d.]+)/g)].map(match => Number(match[1]));
    const shown = Math.min(...sizes) * box(image).width / width;
    if (shown < SMALLEST) problems.push(`text of ${shown.toFixed(1)} px in “${name}”`);
  }
  return problems;
}

const links = () => [...document.querySelectorAll("a[href]")].map(one => one.href);
const places = () => [...document.querySelectorAll("[id], a[name]")].map(one => one.id || one.name);

return { widths, contents, images, links, places };
})();
