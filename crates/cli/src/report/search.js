"use strict";
const field = document.getElementById("search");
const count = document.getElementById("count");
const rows = Array.from(document.querySelectorAll("#charges tbody tr"));
const texts = rows.map(function (row) { return row.textContent.toLowerCase(); });
field.hidden = false;
field.addEventListener("input", function () {
  const words = field.value.toLowerCase().split(" ").filter(Boolean);
  let seen = 0;
  rows.forEach(function (row, at) {
    const fits = words.every(function (word) { return texts[at].includes(word); });
    row.hidden = !fits;
    if (fits) { seen += 1; }
  });
  count.textContent = words.length === 0 ? "" : seen + " of " + rows.length;
});
