// Objects and clients that attack the console: trees of owners, values that break or style the page, requests without its token.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Kubectl } from '../../../test/clients/kubectl.js'
import { until } from '../../../test/kit/fixtures.js'
import { repoRoot } from '../../../test/kit/paths.js'
import { newFolder } from '../../../test/kit/server-process.js'
import { type Console, chromiumFound, editorText, openPage, pasteText, screenshot, signIn, startConsole } from './browser.js'

const configMaps = '/api/v1/namespaces/default/configmaps'
const mergePatch = 'application/merge-patch+json'

describe('console: attacks', { skip: chromiumFound.skip }, () => {
  let started: Console
  before(async () => {
    started = await startConsole()
  })
  after(() => started.close())

  const uidOf = (json: { readonly [name: string]: unknown }): string => (json['metadata'] as { readonly uid: string }).uid

  test('objects with many owners each show as a small tree', async () => {
    const { client } = started.embedded
    let owners: { readonly name: string; readonly uid: string }[] = []
    for (let layer = 0; layer < 7; layer++) {
      const next: typeof owners = []
      for (let i = 0; i < 12; i++) {
        const name = `layer-${layer}-${i}`
        const ownerReferences = owners.map((owner) => ({ apiVersion: 'v1', kind: 'ConfigMap', ...owner }))
        const { json } = await client.post(configMaps, { metadata: { name, ownerReferences } })
        next.push({ name, uid: uidOf(json) })
      }
      owners = next
    }
    const { page, problems } = await openPage(started)
    await signIn(page, started.embedded, undefined, '#/object/core/v1/configmaps/default/layer-0-0?tab=related')
    await page.getByRole('link', { name: 'ConfigMap layer-6-11' }).first().waitFor()
    assert.ok((await page.locator('.tree li').count()) < 2000)
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('conditions of custom kinds neither break nor style the overview', async () => {
    const { client } = started.embedded
    const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, 'x-cluster-preserve-unknown-fields': true }
    const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }
    const names = { plural: 'mines', singular: 'mine', kind: 'Mine' }
    await client.post('/apis/apiextensions.cluster.io/v1/customresourcedefinitions', {
      metadata: { name: 'mines.example.com' },
      spec: { group: 'example.com', scope: 'Namespaced', names, versions: [version] },
    })
    const conditions = [
      { type: { toString: 'x' }, status: { toString: 'x', valueOf: 1 } },
      { type: 'x'.repeat(100_000), status: 'True notices sign-in-page', reason: [{ toString: 1 }], lastTransitionTime: { toString: 1 } },
      'text',
      null,
    ]
    const mine = { apiVersion: 'example.com/v1', kind: 'Mine', metadata: { name: 'one' }, status: { conditions } }
    await until(
      () => client.post('/apis/example.com/v1/namespaces/default/mines', mine),
      ({ status }) => status === 201,
    )
    const { page, problems } = await openPage(started)
    await signIn(page, started.embedded, undefined, '#/object/example.com/v1/mines/default/one?tab=overview')
    await page.getByRole('cell', { name: 'True notices sign-in-page' }).waitFor()
    await page.getByText('(100,000 characters)').waitFor()
    assert.equal(await page.locator('main .notices, main .sign-in-page').count(), 0)
    await page.getByText('live', { exact: true }).waitFor()
    // As YAML or indented JSON, which servers send to browsers, 200 kB would have 180 MB of indentation.
    const mineOf = (name: string, items: number): string =>
      `{"apiVersion":"example.com/v1","kind":"Mine","metadata":{"name":"${name}"},"spec":${'{"a":'.repeat(900)}[${'1,'.repeat(items)}1]${'}'.repeat(900)}}`
    const address = `${started.embedded.server.url}/console/#/object/example.com/v1/mines/default`
    for (const [name, items] of [
      ['deep', 20_000],
      ['deeper', 100_000],
    ] as const)
      assert.equal((await client.post('/apis/example.com/v1/namespaces/default/mines', mineOf(name, items))).status, 201)
    await page.goto(`${address}/deep`)
    await page.getByLabel('Object as YAML').waitFor()
    await page.goto(`${address}/deeper`)
    await page.getByText('nested too deeply', { exact: false }).waitFor()
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('an object of 30,000 lines folds, and a line of 200,000 characters is edited', async () => {
    const { client } = started.embedded
    const data = { lines: 'a\n'.repeat(30_000), long: 'x'.repeat(200_000) }
    assert.equal((await client.post(configMaps, { metadata: { name: 'large' }, data })).status, 201)
    const { page, problems } = await openPage(started)
    await signIn(page, started.embedded, undefined, '#/object/core/v1/configmaps/default/large')
    await page.getByRole('button', { name: 'Fold', exact: true }).click()
    await page.getByText('30,000 lines').waitFor()
    await page.getByRole('tab', { name: 'Edit' }).click()
    const editor = page.getByLabel('Object as YAML')
    await page.locator('.schema-panel code').first().waitFor()
    await editor.focus()
    await page.keyboard.press('Control+f')
    await page.getByPlaceholder('Find').pressSequentially('xxxxx')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    await page.keyboard.press('End')
    await page.keyboard.type('!')
    await page.keyboard.press('Control+Space')
    await page.locator('.cm-line', { hasText: 'x!' }).waitFor()
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('a dialog does not overwrite what another writer changed since it was opened, and ends with its page', async () => {
    const { client } = started.embedded
    await client.post(configMaps, { metadata: { name: 'shared', labels: { tier: 'one' } } })
    const { page, problems } = await openPage(started)
    await signIn(page, started.embedded, undefined, '#/list/core/v1/configmaps?namespace=default')
    await page.goto(`${started.embedded.server.url}/console/#/object/core/v1/configmaps/default/shared`)
    await page.getByRole('button', { name: 'Labels', exact: true }).click()
    await page.getByLabel('One label per line').fill('tier=mine')
    await client.patch(`${configMaps}/shared`, mergePatch, { metadata: { labels: { tier: 'theirs' } } })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('metadata.labels.tier changed meanwhile to "theirs"', { exact: false }).waitFor()
    await screenshot(page, 'dialog-conflict')
    await page.goBack()
    await page.locator('dialog').waitFor({ state: 'detached' })
    // The undo of a deletion has the newest version.
    await page.goto(`${started.embedded.server.url}/console/#/object/core/v1/configmaps/default/shared`)
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await client.patch(`${configMaps}/shared`, mergePatch, { data: { added: 'late' } })
    await page.locator('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Create again' }).click()
    await page.getByText('ConfigMap shared created again').waitFor()
    assert.deepEqual((await client.get(`${configMaps}/shared`)).json['data'], { added: 'late' })
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('an edit stays while its user looks at other tabs and signs in again, and is gone for another user', async () => {
    const { client } = started.embedded
    await client.post(configMaps, { metadata: { name: 'draft' }, data: { price: '1' } })
    const { page, problems } = await openPage(started)
    const account = async (name: string): Promise<string> => {
      await client.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name } })
      await client.post('/apis/rbac.authorization.cluster.io/v1/clusterrolebindings', {
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.cluster.io', kind: 'ClusterRole', name: 'admin' },
        subjects: [{ kind: 'ServiceAccount', name, namespace: 'default' }],
      })
      const { json } = await client.post(`/api/v1/namespaces/default/serviceaccounts/${name}/token`, { spec: {} })
      return (json['status'] as { readonly token: string }).token
    }
    const [one, other] = [await account('one'), await account('other')]
    const signInAgain = async (token: string): Promise<void> => {
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByLabel('Bearer token').fill(token)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.locator('.shell').waitFor()
    }
    await signIn(page, started.embedded, one, '#/object/core/v1/configmaps/default/draft?tab=edit')
    const editor = page.getByLabel('Object as YAML')
    await page.getByText('The schema is loading', { exact: false }).waitFor({ state: 'detached' })
    await pasteText(editor, (await editorText(editor)).replace('"1"', '"2"'))
    await page.getByRole('tab', { name: 'Overview' }).click()
    await page.getByRole('tab', { name: 'Edit' }).click()
    await page.getByText('Your edit from before', { exact: false }).waitFor()
    assert.match(await editorText(editor), /price: "2"/)
    await signInAgain(one)
    await page.getByText('Your edit from before', { exact: false }).waitFor()
    assert.match(await editorText(editor), /price: "2"/)
    await signInAgain(other)
    await editor.waitFor()
    assert.match(await editorText(editor), /price: "1"/)
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('clusterctl console forwards nothing to other pages and processes', async () => {
    const home = newFolder()
    const clientConfiguration = join(home, 'config')
    writeFileSync(clientConfiguration, started.embedded.server.clientConfiguration)
    const client = new Kubectl({ command: join(repoRoot, 'bin', 'clusterctl'), clientConfiguration, home, minor: 26 })
    const command = client.follow('console --no-browser')
    try {
      const address = new URL(/http:\S+#code=[\w-]+/.exec(await command.until(/#code=[\w-]+\n/))?.[0] ?? '')
      const send = (path: string, headers: { readonly [name: string]: string } = {}, method = 'GET', body = ''): Promise<number> =>
        new Promise((resolve, reject) => {
          request({ host: '127.0.0.1', port: address.port, path, method, headers }, (response) => {
            response.resume()
            resolve(response.statusCode ?? 0)
          })
            .on('error', reject)
            .end(body)
        })
      assert.equal(await send('/console/'), 200)
      for (const path of [
        '/api',
        '/console/..',
        '/console/.',
        '/console/../api',
        '/console/..%2fapi',
        '//console/',
        '/console/%00',
        '/version',
      ])
        assert.equal(await send(path), 401, path)
      assert.equal(await send('/console/', { host: `rebound.example.com:${address.port}` }), 403)
      assert.equal(await send('/console/', { origin: 'http://evil.example.com' }), 403)
      const code = address.hash.slice('#code='.length)
      assert.equal(await send('/console/exchange', { origin: 'http://evil.example.com' }, 'POST', code), 403)
      assert.equal(await send('/console/exchange', {}, 'POST', 'x'.repeat(code.length)), 403)
      assert.equal(await send('/console/exchange', {}, 'POST', code), 200)
      assert.equal(await send('/console/exchange', {}, 'POST', code), 403)
    } finally {
      command.close()
    }
  })
})
