// The console for everyone: by keyboard alone, at 320 pixels, in light and dark, with names for screen readers and enough contrast.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Console, chromiumFound, openPage, screenshot, signIn, startConsole } from './browser.js'

const routes = {
  kinds: '#/',
  table: '#/list/core/v1/configmaps?namespace=shop',
  yaml: '#/object/core/v1/configmaps/shop/apple',
  overview: '#/object/core/v1/configmaps/shop/apple?tab=overview',
  edit: '#/object/core/v1/configmaps/shop/apple?tab=edit',
  create: '#/create/apps/v1/deployments?namespace=shop',
  access: '#/access?verb=get&resource=pods',
  policies: '#/policies',
  requests: '#/requests',
  server: '#/server',
  refused: '#/object/core/v1/configmaps/shop/none',
}

/** Elements without a name for screen readers, ids that are used twice, text with a contrast below 4.5, and an overflow of the page. */
const findProblems = `(() => {
  const problems = []
  const visible = (element) => element.getClientRects().length > 0
  const nameOf = (element) =>
    element.getAttribute('aria-label') || element.textContent.trim() || element.title || [...(element.labels ?? [])].map((label) => label.textContent).join()
  for (const element of document.querySelectorAll('a[href], button, input, select, textarea, meter, [role=group], [role=table]'))
    if (visible(element) && !nameOf(element)) problems.push('no name: ' + element.outerHTML.slice(0, 120))
  const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id)
  for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) problems.push('id used twice: ' + id)
  for (const name of ['aria-controls', 'aria-labelledby', 'aria-describedby'])
    for (const element of document.querySelectorAll('[' + name + ']'))
      if (!document.getElementById(element.getAttribute(name))) problems.push(name + ' of nothing: ' + element.getAttribute(name))
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })
  const channels = (color) => {
    canvas.clearRect(0, 0, 1, 1)
    canvas.fillStyle = color
    canvas.fillRect(0, 0, 1, 1)
    return [...canvas.getImageData(0, 0, 1, 1).data]
  }
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const backOf = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const color = channels(getComputedStyle(each).backgroundColor)
      if (color[3] === 255) return color.slice(0, 3)
    }
    return [255, 255, 255]
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const seen = new Set()
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement
    if (!node.data.trim() || seen.has(element) || !visible(element) || element.closest(':disabled, .changed')) continue
    seen.add(element)
    const [a, b] = [luminance(channels(getComputedStyle(element).color).slice(0, 3)), luminance(backOf(element))]
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
    if (contrast < 4.5) problems.push('contrast ' + contrast.toFixed(1) + ': ' + element.className + ' ' + node.data.trim().slice(0, 40))
  }
  if (document.documentElement.scrollWidth > innerWidth) problems.push('the page is ' + document.documentElement.scrollWidth + ' pixels wide')
  const main = document.querySelector('main')
  if (main.scrollWidth > main.clientWidth) problems.push('the content is ' + main.scrollWidth + ' pixels wide')
  if (document.querySelectorAll('h1').length !== 1) problems.push('not one h1')
  return problems
})()`

describe('console: accessible', { skip: chromiumFound.skip }, () => {
  let started: Console
  before(async () => {
    started = await startConsole()
    const { client } = started.embedded
    await client.post('/api/v1/namespaces', { metadata: { name: 'shop' } })
    for (const name of ['apple', 'pear', 'plum'])
      await client.post('/api/v1/namespaces/shop/configmaps', { metadata: { name, labels: { app: 'shop' } }, data: { price: '3' } })
  })
  after(() => started.close())

  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [1280, 320])
      test(`pages in ${colorScheme} at ${width} pixels have names, contrast and no overflow`, async () => {
        const { page, problems } = await openPage(started, { colorScheme, viewport: { width, height: 800 } })
        await page.goto(`${started.embedded.server.url}/console/`)
        await page.getByLabel('Bearer token').waitFor()
        assert.deepEqual(await page.evaluate(findProblems), [], 'sign-in')
        await signIn(page, started.embedded)
        const all: { readonly [name: string]: unknown }[] = []
        for (const [name, route] of Object.entries(routes)) {
          await page.goto(`${started.embedded.server.url}/console/${route}`)
          await page.locator('.cards, .state.live, .state.stopped, .state.failed, .verdict, table.plain').first().waitFor()
          await page.locator('.page h1').waitFor()
          const found = (await page.evaluate(findProblems)) as readonly string[]
          if (found.length > 0) all.push({ [name]: found })
          await screenshot(page, `${name}-${colorScheme}-${width}`)
        }
        assert.deepEqual(all, [])
        assert.deepEqual(problems, [])
        await page.context().close()
      })

  test('by keyboard alone: sign in, find a kind, a row and its tabs', async () => {
    const { page } = await openPage(started)
    await page.goto(`${started.embedded.server.url}/console/`)
    await page.getByLabel('Bearer token').waitFor()
    await page.keyboard.insertText(/token: "([^"]+)"/.exec(started.embedded.server.clientConfiguration)?.[1] ?? '')
    await page.keyboard.press('Enter')
    await page.locator('.shell').waitFor()
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to the content')
    await page.keyboard.press('g')
    await page.keyboard.type('configm')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'pear' }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('/')
    await page.keyboard.type('shop e')
    await page.getByText('2 of', { exact: false }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('table').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('j')
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'pear')
    await page.keyboard.press('Enter')
    await page.locator('.line', { hasText: 'name: pear' }).waitFor()
    await page.getByRole('tab', { name: 'Overview' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Conditions' }).waitFor()
    await page.context().close()
  })

  test('the first paint is early', async (context) => {
    const { page } = await openPage(started)
    await page.goto(`${started.embedded.server.url}/console/`)
    await page.getByLabel('Bearer token').waitFor()
    const paint = await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    context.diagnostic(`first contentful paint after ${Math.round(Number(paint))} ms`)
    assert.ok(Number(paint) > 0)
    await page.context().close()
  })
})
