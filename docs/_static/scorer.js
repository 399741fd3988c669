// Order of what the search finds: functions of treefactor, then pages, then the same names in adapters.
var Scorer = {
  score: ([docname, title, , , score]) => {
    if ((docname + title).includes("adapters")) return score - 20;
    if (docname === "glossary") return score - 1; // its words are those of the functions
    return score + (docname.startsWith("api/generated/") ? 1 : 0);
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
