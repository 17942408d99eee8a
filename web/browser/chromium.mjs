// Debian's Chromium without a window, drawing WebGL in software.
import { chromium } from "playwright-core";

const FLAGS = [
  "--no-sandbox",
  "--use-gl=angle",
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export function launch(executablePath) {
  return chromium.launch({ executablePath, headless: true, args: FLAGS });
}

/** Wait until the graph is drawn and lies still. */
export async function drawn(page) {
  await page.locator(".stage-canvas[data-settled]").waitFor();
}

/** Wait until the camera has come to rest. */
export async function landed(page) {
  await page.locator(".stage-canvas:not([data-flying])").waitFor();
}
