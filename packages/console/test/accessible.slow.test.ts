// The console for everyone: axe finds nothing serious in light and dark, at 1280 and 320 pixels; and all is done by keyboard alone.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, before, describe, test } from 'node:test'
import { type Console, chromiumFound, mainThreadMs, openPage, screenshot, signIn, startConsole } from './browser.js'

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
  related: '#/object/core/v1/configmaps/shop/apple?tab=related',
  history: '#/object/core/v1/configmaps/shop/apple?tab=history',
  refused: '#/object/core/v1/configmaps/shop/none',
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What axe calls serious or critical, an overflow of the page, and a page without one heading. */
const findProblems = `(async () => {
  const { violations } = await axe.run(document, { resultTypes: ['violations'] })
  const problems = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.slice(0, 5).map(({ html, failureSummary }) => id + ': ' + html.slice(0, 200) + ' ' + failureSummary))
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
      test(`pages in ${colorScheme} at ${width} pixels have nothing serious for axe and no overflow`, async () => {
        const { page, problems } = await openPage(started, { colorScheme, viewport: { width, height: 800 } })
        await page.goto(`${started.embedded.server.url}/console/`)
        await page.getByLabel('Bearer token').waitFor()
        await page.evaluate(axe)
        assert.deepEqual(await page.evaluate(findProblems), [], 'sign-in')
        await signIn(page, started.embedded)
        await page.evaluate(axe)
        const all: { readonly [name: string]: unknown }[] = []
        for (const [name, route] of Object.entries(routes)) {
          await page.goto(`${started.embedded.server.url}/console/${route}`)
          await page.locator('.cards, .state.live, .state.failed, .verdict, table.plain, .cm-line, .yaml-field').first().waitFor()
          await page.locator('.page h1').waitFor()
          const found = (await page.evaluate(findProblems)) as readonly string[]
          if (found.length > 0) all.push({ [name]: found })
          await screenshot(page, `${name}-${colorScheme}-${width}`)
        }
        await page.goto(`${started.embedded.server.url}/console/${routes.yaml}`)
        await page.getByRole('button', { name: 'Delete', exact: true }).click()
        await page.getByText('No dependents.').waitFor()
        all.push(...((await page.evaluate(findProblems)) as readonly string[]).map((dialog) => ({ dialog })))
        await screenshot(page, `dialog-${colorScheme}-${width}`)
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
    await page.locator('.cm-line', { hasText: 'name: pear' }).waitFor()
    await page.getByRole('tab', { name: 'Overview' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Conditions' }).waitFor()
    await page.context().close()
  })

  test('by keyboard alone: an edit, its undo, and a dialog', async () => {
    const { page, problems } = await openPage(started)
    await signIn(page, started.embedded, undefined, '#/object/core/v1/configmaps/shop/plum?tab=edit')
    const tabTo = async (key: string, text: string): Promise<void> => {
      const seen: string[] = []
      while (seen.length < 40) {
        await page.keyboard.press(key)
        const focused = String(await page.evaluate('document.activeElement.textContent'))
        if (focused === text) return
        seen.push(focused.slice(0, 20))
      }
      assert.fail(`no ${text} with ${key}: ${seen.join(', ')}`)
    }
    const editor = page.locator('.yaml-editor').getByRole('textbox')
    await editor.focus()
    await page.keyboard.press('Control+Home')
    for (const _ of ['apiVersion', 'data']) await page.keyboard.press('ArrowDown')
    await page.keyboard.press('End')
    await page.keyboard.press('Backspace')
    await page.keyboard.type('7"')
    await page.locator('.cm-line', { hasText: 'price: "37"' }).waitFor()
    await page.keyboard.press('Escape')
    await tabTo('Shift+Tab', 'Apply')
    await page.keyboard.press('Enter')
    await page.getByText('ConfigMap plum changed').waitFor()
    await page.keyboard.press('u')
    await page.keyboard.press('Enter')
    await page.getByText('ConfigMap plum: undone').waitFor()
    await page.locator('.skip').focus()
    await page.keyboard.press('Enter')
    await tabTo('Tab', 'Delete')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Delete', 'the focus is where it was')
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('the first paint is early', async (context) => {
    const { page } = await openPage(started)
    // The process of the page exists before, as that of a browser in use.
    await page.goto(`${started.embedded.server.url}/console/icon.svg`)
    const workMs = await mainThreadMs(page, async () => {
      await page.goto(`${started.embedded.server.url}/console/`)
      await page.getByLabel('Bearer token').waitFor()
    })
    const paint = await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    context.diagnostic(
      `first contentful paint after ${Math.round(Number(paint))} ms; ${Math.round(workMs)} ms of processor time of the page`,
    )
    assert.ok(Number(paint) > 0)
    await page.context().close()
  })
})
