// The console explains and changes objects: access, field managers, edits with conflicts, previews, errors at their lines, undo, create, delete.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../../../test/kit/fixtures.js'
import { type Console, chromiumFound, editorText, openPage, pasteText, screenshot, signIn, startConsole } from './browser.js'

const configMaps = '/api/v1/namespaces/shop/configmaps'

describe('console: understand and change', { skip: chromiumFound.skip }, () => {
  let started: Console
  before(async () => {
    started = await startConsole({ flags: ['--simulate-nodes=1'] })
    await started.embedded.client.post('/api/v1/namespaces', { metadata: { name: 'shop' } })
  })
  after(() => started.close())

  const createMap = async (name: string, data: object): Promise<void> => {
    const { status } = await started.embedded.client.post(configMaps, { metadata: { name }, data })
    assert.equal(status, 201)
  }
  const dataOf = async (name: string): Promise<unknown> => (await started.embedded.client.get(`${configMaps}/${name}`)).json['data']
  /** Not the YAML of the tab before, which may still be shown. */
  const editor = (page: Page) => page.locator('.yaml-editor').getByRole('textbox', { name: 'Object as YAML' })
  // The form of a new object has options of the same names.
  const suggestion = (page: Page, name: string) => page.locator('.cm-tooltip-autocomplete').getByRole('option', { name }).first()
  const replaceText = async (page: Page, from: string, to: string): Promise<void> => {
    const text = await until(
      () => editorText(editor(page)),
      (shown) => shown.includes(from),
    )
    await pasteText(editor(page), text.replace(from, to))
  }
  const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click()

  test('an edit is previewed, applied, and undone', async () => {
    await createMap('edited', { price: '3' })
    const { page, problems } = await openPage(started)
    await signIn(page, started.embedded, undefined, '#/object/core/v1/configmaps/shop/edited?tab=edit')
    await editor(page).waitFor()
    await replaceText(page, 'price: "3"', 'price: "4"')
    await press(page, 'Preview')
    await page.locator('.diff .added', { hasText: 'price: "4"' }).waitFor()
    assert.deepEqual(await dataOf('edited'), { price: '3' }, 'the preview changes nothing')
    await screenshot(page, 'preview')
    await press(page, 'Apply')
    await page.getByText('ConfigMap edited changed').waitFor()
    assert.deepEqual(await dataOf('edited'), { price: '4' })
    await editor(page).press('Escape')
    await page.keyboard.press('u')
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Undo')
    await page.keyboard.press('Enter')
    await page.getByText('ConfigMap edited: undone').waitFor()
    assert.deepEqual(await dataOf('edited'), { price: '3' })
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('conflicts with another writer are decided field by field; other fields of both stay', async () => {
    await createMap('disputed', { mine: '1', theirs: '1', both: '1', given: '1' })
    const { page } = await openPage(started)
    await signIn(page, started.embedded, undefined, '#/object/core/v1/configmaps/shop/disputed?tab=edit')
    await editor(page).waitFor()
    for (const name of ['both', 'given', 'mine']) await replaceText(page, `${name}: "1"`, `${name}: "2"`)
    await started.embedded.client.patch(`${configMaps}/disputed`, 'application/merge-patch+json', {
      data: { theirs: '3', both: '3', given: '3' },
    })
    await page.getByText('The object changed meanwhile').waitFor()
    await press(page, 'Apply')
    await page.getByRole('heading', { name: 'Conflicts' }).waitFor()
    assert.equal(await page.locator('.conflict').count(), 2)
    await screenshot(page, 'conflict')
    await press(page, 'Take over data.both')
    await press(page, 'Give up data.given')
    await page.locator('.diff .added', { hasText: 'both: "2"' }).waitFor()
    await press(page, 'Apply')
    await page.getByText('ConfigMap disputed changed').waitFor()
    assert.deepEqual(await dataOf('disputed'), { mine: '2', theirs: '3', both: '2', given: '3' })
    await page.context().close()
  })

  test('a field that another manager applies is a conflict before it happens, and its manager is shown', async () => {
    const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owned' }, data: { price: '1' } }
    await started.embedded.client.patch(`${configMaps}/owned?fieldManager=robot`, 'application/apply-patch+yaml', applied)
    const { page } = await openPage(started)
    await signIn(page, started.embedded, undefined, '#/object/core/v1/configmaps/shop/owned')
    const line = page.locator('.cm-line', { hasText: 'price: "1"' })
    await line.locator('.note').waitFor()
    assert.equal(await line.locator('.note').textContent(), 'robot')
    await line.hover({ position: { x: 40, y: 10 } })
    assert.match((await page.locator('.note-details').textContent()) ?? '', /^robot · Apply · \d{4}-/)
    await page.getByRole('textbox', { name: 'Object as YAML' }).focus()
    await page.keyboard.press('Control+Home')
    for (const _ of ['apiVersion', 'data']) await page.keyboard.press('ArrowDown')
    await page.getByText(/^price: robot · Apply · \d{4}-/).waitFor()
    await page.getByRole('tab', { name: 'Edit' }).click()
    await replaceText(page, 'price: "1"', 'price: "2"')
    await press(page, 'Apply')
    await page.locator('.conflict', { hasText: 'owned by robot · Apply' }).waitFor()
    assert.deepEqual(await dataOf('owned'), { price: '1' })
    await page.context().close()
  })

  test('errors appear at their line, and fields are completed and explained', async () => {
    const { page } = await openPage(started)
    await signIn(page, started.embedded, undefined, '#/create/apps/v1/deployments?namespace=shop')
    const area = page.getByRole('textbox', { name: 'New Deployment as YAML' })
    await page.locator('.schema-panel', { hasText: 'APIVersion defines' }).waitFor()
    await pasteText(area, 'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  repli')
    await area.press('Control+End')
    await area.press('Control+Space')
    await suggestion(page, 'replicas').waitFor()
    await area.press('Enter')
    await area.pressSequentially('-1')
    await page.locator('.schema-panel', { hasText: 'spec.replicas' }).waitFor()
    await press(page, 'Preview')
    await page.locator('.editor-problem', { hasText: 'must be greater than or equal to 0' }).waitFor()
    await pasteText(area, 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspek: {}\n')
    await press(page, 'Preview')
    await page.locator('.editor-problem', { hasText: 'unknown field "spek"' }).waitFor()
    await pasteText(area, 'a: 1\n  b: 2\n')
    await press(page, 'Preview')
    await page.locator('.editor-problem', { hasText: 'yaml: line 2' }).waitFor()
    await page.context().close()
  })

  test('a custom kind appears, and an object of it is created from its schema', async () => {
    const { page, problems } = await openPage(started)
    await signIn(page, started.embedded)
    const schema = {
      type: 'object',
      required: ['spec'],
      properties: {
        spec: {
          type: 'object',
          required: ['size', 'color'],
          properties: {
            size: { type: 'integer', default: 3 },
            color: { type: 'string', enum: ['red', 'green'] },
            note: { type: 'string', default: 'none' },
          },
        },
      },
    }
    await started.embedded.client.post('/apis/apiextensions.cluster.io/v1/customresourcedefinitions', {
      metadata: { name: 'gadgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    })
    await page.getByRole('navigation', { name: 'Kinds' }).getByRole('link', { name: 'Gadget' }).click()
    await page.getByText('No gadgets.').waitFor()
    await page.getByRole('link', { name: 'Create' }).click()
    const area = page.getByRole('textbox', { name: 'New Gadget as YAML' })
    await until(
      () => editorText(area),
      (text) => text.includes('color: red'),
    )
    await pasteText(area, (await editorText(area)).replace('name: example', 'name: first'))
    await press(page, 'Preview')
    await page.locator('.diff .added', { hasText: 'note: none' }).waitFor()
    await press(page, 'Create')
    await page.getByText('Gadget first created').waitFor()
    await page.locator('.cm-line', { hasText: 'color: red' }).waitFor()
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('scale, restart, labels and delete, with what would go along', async () => {
    const labels = { app: 'web' }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web' }] } }
    const path = '/apis/apps/v1/namespaces/shop/deployments'
    await started.embedded.client.post(path, {
      metadata: { name: 'web' },
      spec: { replicas: 1, selector: { matchLabels: labels }, template },
    })
    const { page, problems } = await openPage(started)
    await signIn(page, started.embedded, undefined, '#/object/apps/v1/deployments/shop/web')
    await press(page, 'Scale')
    await page.getByLabel('Replicas').fill('2')
    await page.getByRole('dialog').getByRole('button', { name: 'Scale' }).click()
    await page.getByText('Deployment web scaled to 2').waitFor()
    await page.locator('.cm-line', { hasText: 'replicas: 2' }).first().waitFor()
    await press(page, 'Labels')
    await page.getByLabel('One label per line', { exact: false }).fill('tier=front')
    await press(page, 'Save')
    await page.locator('.cm-line', { hasText: 'tier: front' }).waitFor()
    await press(page, 'Restart')
    await page.getByRole('dialog').getByRole('button', { name: 'Restart' }).click()
    await page.locator('.cm-line', { hasText: 'restartedAt' }).waitFor()
    await press(page, 'Delete')
    await page.getByText('These would go along:').waitFor()
    await page.getByRole('dialog').getByRole('link', { name: 'Pod web-', exact: false }).first().waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Deployment web deleted').waitFor()
    assert.equal((await started.embedded.client.get(`${path}/web`)).status, 404)
    await press(page, 'Create again')
    await page.getByText('Deployment web created again').waitFor()
    assert.equal((await started.embedded.client.get(`${path}/web`)).status, 200)
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('a refusal is explained, and who can is found', async () => {
    const { client } = started.embedded
    await client.post('/api/v1/namespaces/shop/serviceaccounts', { metadata: { name: 'viewer' } })
    await client.post('/apis/rbac.authorization.cluster.io/v1/namespaces/shop/rolebindings', {
      metadata: { name: 'viewer-views' },
      roleRef: { apiGroup: 'rbac.authorization.cluster.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'ServiceAccount', name: 'viewer', namespace: 'shop' }],
    })
    const { json } = await client.post('/api/v1/namespaces/shop/serviceaccounts/viewer/token', { spec: {} })
    const { page } = await openPage(started)
    await signIn(page, started.embedded, (json['status'] as { readonly token: string }).token, '#/list/core/v1/secrets?namespace=shop')
    await page.getByText('The list was refused (403 Forbidden)').waitFor()
    await page.getByRole('link', { name: 'Why was this refused?' }).click()
    await page.getByText('You may not list secrets in shop.').waitFor()
    await page.getByRole('row', { name: 'configmaps ✓ ✓ ✓ –', exact: false }).waitFor()
    await press(page, 'Sign out')
    await signIn(
      page,
      started.embedded,
      undefined,
      '#/access?verb=list&resource=configmaps&namespace=shop&user=system%3Aserviceaccount%3Ashop%3Aviewer',
    )
    await page.getByText('Allowed', { exact: true }).waitFor()
    await page.getByText('RBAC: allowed by RoleBinding "viewer-views/shop"', { exact: false }).waitFor()
    await page
      .locator('tr.decides')
      .and(page.getByRole('row', { name: 'ServiceAccount system:serviceaccount:shop:viewer RoleBinding viewer-views ClusterRole view' }))
      .waitFor()
    await page.getByRole('heading', { name: 'What system:serviceaccount:shop:viewer may do in a namespace' }).waitFor()
    await page.getByRole('row', { name: 'configmaps ✓ ✓ ✓ –', exact: false }).waitFor()
    await page.getByLabel('Verb').fill('create')
    await press(page, 'Ask')
    await page.getByText('system:serviceaccount:shop:viewer may not create configmaps in shop.').waitFor()
    // The server gives each service account the groups of its namespace.
    const roles = '/apis/rbac.authorization.cluster.io/v1/namespaces/shop'
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }]
    await client.post(`${roles}/roles`, { metadata: { name: 'writer' }, rules })
    await client.post(`${roles}/rolebindings`, {
      metadata: { name: 'accounts-write' },
      roleRef: { apiGroup: 'rbac.authorization.cluster.io', kind: 'Role', name: 'writer' },
      subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.cluster.io', name: 'system:serviceaccounts:shop' }],
    })
    await until(
      async () => {
        await press(page, 'Ask')
        await page.locator('.verdict').waitFor()
        return page.locator('[role=status]', { has: page.locator('.verdict') }).innerText()
      },
      (text) => text.includes('RBAC: allowed by RoleBinding "accounts-write/shop"'),
    )
    await page.getByRole('row', { name: 'configmaps ✓ ✓ ✓ ✓', exact: false }).waitFor()
    await page.context().close()
  })

  test('the server page shows checks and figures, the requests page commands', async () => {
    const { page, problems } = await openPage(started)
    await signIn(page, started.embedded, undefined, '#/server')
    await page.getByText('checks succeed', { exact: false }).waitFor()
    await page.getByRole('row', { name: 'catch-all', exact: false }).waitFor()
    await page
      .locator('.plot', { hasText: 'Requests per second' })
      .getByText(/^\d+\.\d$/)
      .waitFor()
    await screenshot(page, 'server')
    await page.getByRole('link', { name: 'Requests' }).click()
    await page.getByRole('row', { name: '/metrics', exact: false }).first().getByRole('button', { name: 'clusterctl' }).click()
    await page.getByText('clusterctl get --raw /metrics').waitFor()
    assert.doesNotMatch(
      await page.locator('body').innerText(),
      new RegExp(started.embedded.server.clientConfiguration.match(/token: "([^"]+)"/)?.[1] ?? ''),
    )
    assert.deepEqual(problems, [])
    await page.context().close()
  })
})
