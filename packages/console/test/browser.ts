// A browser for tests of the console: Chromium from Debian, a server in the test process, and a page that is signed in.

import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { startServer } from 'cluster-apiserver'
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core'
import { clientOf, type Embedded, startEmbedded, tokenOf } from '../../../test/kit/embedded.js'
import { repoRoot } from '../../../test/kit/paths.js'
import { obtainChromium } from './obtain-chromium.js'

/** Waits of a page end after this time: only a failed test takes it, so it is long enough for a busy machine. */
export const timeoutMs = 120_000

/** Skip reason without a browser. */
export const chromiumFound = await obtainChromium()

export const launch = (): Promise<Browser> => chromium.launch({ executablePath: chromiumFound.path, args: ['--no-sandbox'] })

export interface Console {
  readonly embedded: Embedded
  readonly browser: Browser
  close(): Promise<void>
}

interface ConsoleSettings {
  readonly flags?: readonly string[]
  /** A captured cluster to begin with. */
  readonly from?: string
  readonly engine?: 'memory' | 'lmdb'
}

export async function startConsole({ flags, from, engine = 'memory' }: ConsoleSettings = {}): Promise<Console> {
  const [embedded, browser] = await Promise.all([from === undefined ? startEmbedded(engine, flags) : startFrom(from), launch()])
  return {
    embedded,
    browser,
    close: async () => {
      await browser.close()
      await embedded.close()
    },
  }
}

async function startFrom(from: string): Promise<Embedded> {
  const server = await startServer({ from })
  const client = clientOf(server)
  return { server, client, close: () => server.close({ immediately: true }) }
}

export interface OpenPage {
  readonly page: Page
  /** Errors of scripts, violations of the Content-Security-Policy, and requests to other origins. */
  readonly problems: string[]
}

export async function openPage({ browser, embedded }: Console, options: BrowserContextOptions = {}): Promise<OpenPage> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 800 }, ...options })
  context.setDefaultTimeout(timeoutMs)
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', ({ message }) => problems.push(message))
  page.on('console', (message) => {
    // Failed requests are part of some tests.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) problems.push(message.text())
  })
  page.on('request', (request) => {
    const { origin } = new URL(request.url())
    if (origin !== new URL(embedded.server.url).origin && !request.url().startsWith('blob:')) problems.push(`request to ${request.url()}`)
  })
  return { page, problems }
}

export async function signIn(page: Page, { server }: Pick<Embedded, 'server'>, token = tokenOf(server), fragment = ''): Promise<void> {
  await page.goto(`${server.url}/console/${fragment}`)
  await page.getByLabel('Bearer token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator('.shell').waitFor()
}

/** The text of an editor or of a YAML view; long texts are shown in part. */
export const editorText = async (editor: Locator): Promise<string> =>
  (await editor.locator('.cm-line').allInnerTexts()).map((line) => line.replace(/^\n$/, '')).join('\n')

/** Replaces the text of an editor, as if it was pasted. */
export async function pasteText(editor: Locator, text: string): Promise<void> {
  await editor.focus()
  await editor.press('Control+a')
  await editor.page().evaluate(`(() => {
    const clipboardData = new DataTransfer()
    clipboardData.setData('text/plain', ${JSON.stringify(text)})
    document.activeElement.shadowRoot.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
  })()`)
}

/** Processor time of the page's main thread in milliseconds: unlike the time between frames, other processes hardly change it. */
export async function mainThreadMs(page: Page, run: () => Promise<unknown>): Promise<number> {
  const devTools = await page.context().newCDPSession(page)
  await devTools.send('Performance.enable', { timeDomain: 'threadTicks' })
  const read = async (): Promise<number> => {
    const { metrics } = await devTools.send('Performance.getMetrics')
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN)
  }
  const before = await read()
  await run()
  const used = (await read()) - before
  await devTools.detach()
  return used
}

const screenshots = process.env['CONSOLE_SCREENSHOTS']

/** Saves a picture into the folder CONSOLE_SCREENSHOTS, if it is set. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (screenshots === undefined) return
  const folder = resolve(repoRoot, screenshots)
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`) })
}
