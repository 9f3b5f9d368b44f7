// What a hit counts in the site's search. Pages come before the names of single functions, and
// what is about the project itself comes last. The numbers are Sphinx's own.
var LAST = ["changelog", "contributing", "rules-tests"];
var Scorer = {
  score: ([page, title, anchor, description, score, file, kind]) => {
    if (kind === "object" || LAST.includes(page)) return score - (kind === "object" ? 10 : 12);
    return page === "five-minutes" ? score + 1 : page.startsWith("api/") ? score - 1 : score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
