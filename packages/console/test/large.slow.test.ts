// Large and hostile data in the console: 50,000 rows, and objects full of markup, long texts and control characters.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { newFolder } from '../../../test/kit/server-process.js'
import { type Console, chromiumFound, mainThreadMs, openPage, screenshot, signIn, startConsole } from './browser.js'

const rowCount = 50_000

/** Scrolls for 2 s from the first to the last row and back, and returns the durations of the frames. */
const scrollFrames = `new Promise((resolve) => {
  const rows = document.querySelector('.rows')
  const frames = []
  const beginMs = performance.now()
  let lastMs = beginMs
  const step = (nowMs) => {
    frames.push(nowMs - lastMs)
    lastMs = nowMs
    const part = (nowMs - beginMs) / 2000
    rows.scrollTop = (part < 0.5 ? 2 * part : 2 - 2 * part) * rows.scrollHeight
    if (part < 1) requestAnimationFrame(step)
    else resolve(frames.slice(1))
  }
  requestAnimationFrame(step)
})`

const jumps = 100

/** Jumps to other rows in 100 frames, so that each frame draws all its rows. */
const jumpFrames = `new Promise((resolve) => {
  const rows = document.querySelector('.rows')
  let i = 0
  const step = () => {
    rows.scrollTop = (i * 7919 * 30) % rows.scrollHeight
    if (++i <= ${jumps}) requestAnimationFrame(step)
    else resolve()
  }
  step()
})`

describe('console: 50,000 rows', { skip: chromiumFound.skip }, () => {
  let started: Console
  before(async () => {
    // An import takes seconds; 50,000 requests take minutes.
    const capture = join(newFolder(), 'capture.yaml')
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'many' } }
    const maps = Array.from({ length: rowCount }, (_, i) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'many', name: `row-${String(i).padStart(5, '0')}`, labels: { app: 'many' } },
      data: { value: String(i) },
    }))
    writeFileSync(capture, [namespace, ...maps].map((object) => JSON.stringify(object)).join('\n---\n'))
    started = await startConsole({ from: capture })
  })
  after(() => started.close())

  test('all rows arrive, are scrolled, found and sorted; frames are printed', async (context) => {
    const { page, problems } = await openPage(started)
    await signIn(page, started.embedded, undefined, '#/list/core/v1/configmaps?namespace=many&labels=app%3Dmany')
    await page.getByText('live', { exact: true }).waitFor()
    await page.getByText('50,000 objects').waitFor()
    assert.ok((await page.locator('.row').count()) < 100, 'only the visible rows are elements')
    const frames = (await page.evaluate(scrollFrames)) as readonly number[]
    const longest = Math.max(...frames)
    const workMs = (await mainThreadMs(page, () => page.evaluate(jumpFrames))) / jumps
    context.diagnostic(`frames: ${frames.length}, longest ${longest.toFixed(1)} ms; ${workMs.toFixed(1)} ms of processor time each`)
    assert.ok((await page.locator('.row').count()) < 100, 'also after jumps')
    await page.locator('.rows').focus()
    await page.keyboard.press('End')
    await page.getByRole('link', { name: 'row-49999' }).waitFor()
    await page.getByLabel('Search in the table').fill('row-4242')
    await page.getByText('10 of 50,000').waitFor()
    await page.getByLabel('Search in the table').fill('')
    await page.getByRole('button', { name: 'Name', exact: true }).click()
    await page.getByRole('button', { name: 'Name ▾', exact: true }).waitFor()
    await page.keyboard.press('Home')
    await page.getByRole('link', { name: 'row-49999' }).waitFor()
    assert.deepEqual(problems, [])
    await page.context().close()
  })
})

const hostileTexts = [
  '<img src=x onerror="document.title=\'broken\'">',
  '</script><script>document.title="broken"</script>',
  'javascript:document.title="broken"',
  '\u202egnp.exe \u2066hidden\u2069 \u200b',
  '\u0024{document.title="broken"} {{constructor}} &lt;b&gt;',
  'line\r\nbreak\ttab \u0007bell \u001b[31mred',
]

describe('console: hostile objects', { skip: chromiumFound.skip }, () => {
  let started: Console
  before(async () => {
    started = await startConsole()
    const { client } = started.embedded
    const labels = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`label-${i}`, `value-${i}`]))
    const annotations = Object.fromEntries(hostileTexts.map((text, i) => [`text-${i}`, text]))
    const data = {
      long: 'x'.repeat(1_000_000),
      markup: hostileTexts.join('\n'),
      ...Object.fromEntries(hostileTexts.map((text, i) => [`key-${i}`, text])),
    }
    for (const body of [{ metadata: { name: 'hostile', annotations }, data }, { metadata: { name: 'labels', labels } }])
      assert.equal((await client.post('/api/v1/namespaces/default/configmaps', body)).status, 201)
    for (const [i, message] of hostileTexts.entries()) {
      const { json } = await client.get('/api/v1/namespaces/default/configmaps/hostile')
      const { uid } = json['metadata'] as { readonly uid: string }
      const involvedObject = { kind: 'ConfigMap', namespace: 'default', name: 'hostile', uid, apiVersion: 'v1' }
      const event = { metadata: { name: `event-${i}` }, involvedObject, message, reason: message, type: 'Warning' }
      assert.equal((await client.post('/api/v1/namespaces/default/events', event)).status, 201)
    }
    const crd = {
      metadata: { name: 'traps.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'traps', singular: 'trap', kind: 'Trap' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, 'x-cluster-preserve-unknown-fields': true },
            },
            additionalPrinterColumns: [{ name: '<b>Bold</b>', type: 'string', jsonPath: '.text', description: hostileTexts[0] }],
          },
        ],
      },
    }
    await client.post('/apis/apiextensions.cluster.io/v1/customresourcedefinitions', crd)
  })
  after(() => started.close())

  test('texts show as text, in tables, objects and events', async () => {
    const { page, problems } = await openPage(started)
    await signIn(page, started.embedded, undefined, '#/list/core/v1/configmaps?namespace=default')
    await page.getByRole('link', { name: 'hostile' }).click()
    await page.getByText('<img src=x onerror=', { exact: false }).first().waitFor()
    await page.getByText('(1,000,000 characters)').waitFor()
    await screenshot(page, 'hostile')
    await page.getByRole('tab', { name: 'Overview' }).click()
    await page.getByRole('row', { name: '</script><script>', exact: false }).waitFor()
    await page.getByText('\\u202egnp.exe', { exact: false }).first().waitFor()
    await page.goto(`${started.embedded.server.url}/console/#/list/core/v1/events?namespace=default`)
    await page.getByRole('cell', { name: '<img src=x', exact: false }).first().waitFor()
    assert.match(await page.title(), /Event/)
    assert.equal(await page.locator('main img, main script, main b').count(), 0)
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('an object with 10,000 labels opens, folds and shows its history', async () => {
    const { client } = started.embedded
    const { page, problems } = await openPage(started)
    await signIn(page, started.embedded, undefined, '#/object/core/v1/configmaps/default/labels')
    await page.locator('.cm-line', { hasText: 'labels:' }).click()
    await page.keyboard.press('Control+Shift+[')
    await page.getByText('10,000 lines').waitFor()
    await client.patch('/api/v1/namespaces/default/configmaps/labels', 'application/merge-patch+json', {
      metadata: { labels: { 'label-5000': 'new' } },
    })
    await page.getByRole('tab', { name: 'History' }).click()
    await page.locator('.diff .added', { hasText: 'label-5000: new' }).waitFor()
    await page.getByRole('tab', { name: 'Overview' }).click()
    await page.getByText('and 9,950 more').waitFor()
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('names in addresses that are no objects show as text', async () => {
    const { page, problems } = await openPage(started)
    await signIn(page, started.embedded, undefined, `#/object/core/v1/configmaps/default/${encodeURIComponent(hostileTexts[0] ?? '')}`)
    await page.getByText('The object cannot be read', { exact: false }).waitFor()
    assert.equal(await page.locator('main img').count(), 0)
    await page.goto(`${started.embedded.server.url}/console/#/list/%3Cimg%3E/v1/%`)
    await page.getByText('The server does not serve', { exact: false }).waitFor()
    assert.deepEqual(problems, [])
    await page.context().close()
  })
})
