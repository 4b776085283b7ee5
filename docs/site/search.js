// Pages of codes say the same words again and again: what explains comes before them, unless a code is looked for.
const IS_CODE = /\bIS\d{3}\b/i.test(new URLSearchParams(location.search).get("q") ?? "");

// The rest is Sphinx's own, which needs all of it.
var Scorer = {
  score: ([page, , , , score]) => (/^codes\b/.test(page) && !IS_CODE ? score - 100 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {0: 15, 1: 5, 2: -5},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
