// The console in a browser: sign-in, kinds, a live table, an object, and what it does when the connection or the token ends.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { tokenOf } from '../../../test/kit/embedded.js'
import { until } from '../../../test/kit/fixtures.js'
import { type Console, chromiumFound, openPage, screenshot, signIn, startConsole } from './browser.js'

const configMaps = '/api/v1/namespaces/shop/configmaps'

describe('console: look', { skip: chromiumFound.skip }, () => {
  let started: Console
  before(async () => {
    started = await startConsole()
    const { client } = started.embedded
    await client.post('/api/v1/namespaces', { metadata: { name: 'shop' } })
    for (const name of ['apple', 'pear']) await client.post(configMaps, { metadata: { name }, data: { price: '3' } })
  })
  after(() => started.close())

  test('a wrong token is refused, the right one signs in', async () => {
    const { page, problems } = await openPage(started)
    await page.goto(`${started.embedded.server.url}/console/`)
    await page.getByLabel('Bearer token').fill('wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('The server does not accept this token.').waitFor()
    await screenshot(page, 'sign-in')
    await signIn(page, started.embedded)
    await page.getByRole('heading', { name: 'Kinds' }).waitFor()
    await page.locator('.card').getByRole('link', { name: 'ConfigMap', exact: true }).click()
    await page.getByRole('cell', { name: 'apple' }).waitFor()
    await screenshot(page, 'table')
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('the token is neither in the address nor in storage, and a reload asks again', async () => {
    const { page } = await openPage(started)
    await signIn(page, started.embedded)
    assert.equal(await page.evaluate('localStorage.length + sessionStorage.length + document.cookie.length'), 0)
    assert.doesNotMatch(page.url(), /token/)
    await page.reload()
    await page.getByLabel('Bearer token').waitFor()
    await page.context().close()
  })

  test('a change arrives in the table and in the open object', async () => {
    const { client } = started.embedded
    const { page, problems } = await openPage(started)
    await signIn(page, started.embedded, undefined, '#/list/core/v1/configmaps?namespace=shop')
    await page.getByRole('cell', { name: 'pear' }).waitFor()
    await page.getByText('live', { exact: true }).waitFor()
    await client.post(configMaps, { metadata: { name: 'plum' } })
    await page.getByRole('link', { name: 'plum' }).waitFor()
    await page.getByRole('link', { name: 'apple' }).click()
    await page.locator('.cm-line', { hasText: 'price: "3"' }).waitFor()
    await client.patch(`${configMaps}/apple`, 'application/merge-patch+json', { data: { price: '4' } })
    await page.locator('.cm-line', { hasText: 'price: "4"' }).waitFor()
    await page.getByRole('tab', { name: 'History' }).click()
    await page.locator('.diff .removed', { hasText: 'price: "3"' }).waitFor()
    await page.locator('.diff .added', { hasText: 'price: "4"' }).waitFor()
    // The next user of the tab does not see what this one saw.
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Bearer token').fill(tokenOf(started.embedded.server))
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Nothing changed since this page was opened.').waitFor()
    await client.delete(`${configMaps}/plum`)
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('rows do not move while one reads; selectors, columns and order choose what is shown', async () => {
    const { client } = started.embedded
    const { page, problems } = await openPage(started)
    await signIn(page, started.embedded, undefined, '#/list/core/v1/configmaps?namespace=shop')
    await page.getByText('live', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await client.post(configMaps, { metadata: { name: 'banana', labels: { color: 'yellow' } }, data: { price: '2' } })
    await page.getByRole('button', { name: '1 change waits' }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'banana' }).count(), 0)
    // A row flashes shortly, which polling could miss.
    await page.evaluate(`new MutationObserver(() => (window.hasFlashed ||= document.querySelector('.flash') !== null))
      .observe(document.querySelector('.rows'), { childList: true, subtree: true })`)
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('link', { name: 'banana' }).waitFor()
    await until(
      () => page.evaluate('window.hasFlashed'),
      (hasFlashed) => hasFlashed === true,
    )
    await page.getByRole('link', { name: 'banana' }).hover()
    await client.post(configMaps, { metadata: { name: 'cherry' } })
    await page.getByRole('link', { name: 'cherry' }).waitFor()
    const names = async (): Promise<readonly string[]> => page.locator('.row a').allTextContents()
    const untilOnly = (name: string) => until(names, (shown) => shown.length === 1 && shown[0] === name)
    await page.getByRole('button', { name: 'Name', exact: true }).click()
    await page.getByRole('button', { name: 'Name ▾' }).waitFor()
    const sorted = await names()
    assert.deepEqual(sorted, [...sorted].sort().reverse())
    await page.getByLabel('Labels selector').fill('color=yellow')
    await page.getByLabel('Labels selector').press('Enter')
    await untilOnly('banana')
    await page.getByLabel('Labels selector').fill('')
    await page.getByLabel('Labels selector').press('Enter')
    await page.getByRole('link', { name: 'cherry' }).waitFor()
    await page.getByRole('button', { name: 'Name ▾' }).waitFor()
    await page.getByLabel('Fields selector').fill('metadata.name=cherry')
    await page.getByLabel('Fields selector').press('Enter')
    await untilOnly('cherry')
    await page.goto(`${started.embedded.server.url}/console/#/list/core/v1/serviceaccounts?namespace=shop&fields=spec.none%3Da`)
    await page.getByText('The list was refused (400 BadRequest)').waitFor()
    await page.goto(`${started.embedded.server.url}/console/#/list/core/v1/nodes`)
    await page.getByLabel('All columns').check()
    await page.getByRole('columnheader', { name: 'OS-Image' }).waitFor()
    assert.deepEqual(problems, [])
    await page.context().close()
  })
})
