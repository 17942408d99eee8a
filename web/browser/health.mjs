// Scenarios of memory's health: figures, work with progress, the inbox, settings and the shadow.
import assert from "node:assert/strict";

async function visit(page, address) {
  await page.goto(address);
  await page.getByRole("link", { name: "Health" }).click();
  await page.locator(".figures").waitFor();
}

export default {
  "figures tell what memory holds": async ({ page, addresses }) => {
    await visit(page, addresses.team);
    const figures = await page.locator(".figures").innerText();
    assert.match(figures, /facts\s+\d+/);
    assert.match(figures, /links\s+\d+/);
  },

  "rehearsing tells what curating would change, with progress": async ({ page, addresses }) => {
    await visit(page, addresses.team);
    await page.getByRole("button", { name: "Dry run" }).click();
    const task = page.locator(".task").filter({ has: page.getByRole("button", { name: "Dry run" }) });
    await task.locator(".work-said", { hasText: "to review" }).waitFor();
    assert.match(await task.locator(".work-said").innerText(), /would be decayed/);
    assert.equal(await task.locator("progress").evaluate((bar) => bar.value), 1);
  },

  "a dream connects what waits": async ({ page, addresses }) => {
    await visit(page, addresses.team);
    await page.getByRole("button", { name: "Dream" }).click();
    await page.locator(".card", { hasText: "No facts waiting." }).waitFor();
  },

  "what curating came to stays to be read": async ({ page, addresses }) => {
    await visit(page, addresses.odd);
    const loaded = page.waitForResponse(/\/stats$/);
    await page.getByRole("button", { name: "Curate" }).click();
    await loaded;
    await page.waitForTimeout(300);
    const task = page.locator(".task").filter({ has: page.getByRole("button", { name: "Curate" }) });
    assert.match(await task.locator(".work-said").innerText(), /archived, .* to review/);
  },

  "a pair that disagrees waits in the inbox and is decided": async ({ page, addresses }) => {
    await visit(page, addresses.team);
    assert.match(await page.locator(".reviews").innerText(), /Porto or Lisbon/);
    await page.getByRole("button", { name: "Keep both" }).click();
    await page.getByText("No contradictions to review.").waitFor();
  },

  "the shadow's comparisons are told": async ({ page, addresses }) => {
    await visit(page, addresses.team);
    const card = page.locator(".card").filter({ has: page.getByRole("heading", { name: "Shadow" }) });
    assert.match(await card.innerText(), /Recalls compared\s+1/);
  },

  "a setting is found by words, changed, kept, and taken back": async ({ page, addresses }) => {
    await visit(page, addresses.team);
    await page.getByLabel("Find a setting").fill("recall.k");
    await page.getByLabel("recall.k", { exact: true }).fill("7");
    await page.keyboard.press("Tab");
    await page.locator(".setting", { hasText: "recall.k" }).locator(".badge", { hasText: "store" }).waitFor();
    await page.reload();
    await page.getByLabel("Find a setting").fill("recall.k");
    assert.equal(await page.getByLabel("recall.k", { exact: false }).first().inputValue(), "7");
    await page.getByRole("button", { name: "Reset" }).click();
    await page.locator(".setting .badge").waitFor({ state: "detached" });
    assert.equal(await page.getByLabel("recall.k", { exact: true }).inputValue(), "10");
  },

  "a number that is cleared changes nothing and shows what holds": async ({ page, addresses }) => {
    await visit(page, addresses.team);
    await page.getByLabel("Find a setting").fill("recall.k");
    const changes = [];
    page.on("request", (request) => request.method() === "PUT" && changes.push(request.url()));
    await page.getByLabel("recall.k", { exact: true }).fill("");
    await page.keyboard.press("Tab");
    assert.equal(await page.getByLabel("recall.k", { exact: true }).inputValue(), "10");
    assert.deepEqual(changes, []);
  },

  "a changed setting is found again as it is": async ({ page, addresses }) => {
    await visit(page, addresses.odd);
    const search = page.getByLabel("Find a setting");
    await search.fill("recall.k");
    const field = page.locator('[id="setting-recall.k"]');
    await field.fill("7");
    await page.keyboard.press("Tab");
    await page.locator(".setting .badge", { hasText: "store" }).waitFor();
    await search.fill("recall");
    assert.equal(await field.inputValue(), "7");
    await page.getByRole("button", { name: "Reset" }).click();
    await page.locator(".notice", { hasText: "recall.k is no longer stored." }).waitFor();
    await search.fill("recall.k");
    assert.equal(await field.inputValue(), "10");
  },

  "a preset shows at once what it changes": async ({ page, addresses }) => {
    await visit(page, addresses.odd);
    for (const group of ["general", "recall"]) await page.locator(".setting-group > summary", { hasText: group }).first().click();
    await page.getByLabel("preset", { exact: true }).selectOption("research-max");
    await page.waitForFunction(() => document.getElementById("setting-recall.k").value === "12");
    await page.locator(".setting").filter({ has: page.locator("#setting-preset") }).getByRole("button", { name: "Reset" }).click();
    await page.waitForFunction(() => document.getElementById("setting-recall.k").value === "10");
  },

  "a setting that cannot be changed from outside is only told": async ({ page, addresses }) => {
    await visit(page, addresses.odd);
    await page.getByLabel("Find a setting").fill("embedder.name");
    const row = page.locator(".setting").filter({ has: page.getByText("embedder.name", { exact: true }) });
    assert.equal(await row.locator("input, select").count(), 0);
    assert.match(await row.innerText(), /cofire config set embedder\.name/);
  },

  "a value that is not allowed is refused with a way out": async ({ page, addresses, complaints }) => {
    await visit(page, addresses.team);
    await page.getByLabel("Find a setting").fill("recall.k");
    await page.getByLabel("recall.k", { exact: true }).fill("0");
    await page.keyboard.press("Tab");
    await page.locator(".notice", { hasText: "1" }).waitFor();
    assert.equal(await page.getByLabel("recall.k", { exact: true }).inputValue(), "10");
    forgive(complaints, /400|422/);
  },
};

/** A refusal is told in the console, too: by the browser, not by the page. */
function forgive(complaints, pattern) {
  const left = complaints.filter((one) => !pattern.test(one));
  complaints.splice(0, complaints.length, ...left);
}
