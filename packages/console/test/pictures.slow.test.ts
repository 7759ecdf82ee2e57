// Takes the pictures of the documentation, and checks what they show: `CONSOLE_SCREENSHOTS=docs/images node scripts/test.mjs console/test/pictures`.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../../../test/kit/fixtures.js'
import { type Console, chromiumFound, openPage, screenshot, signIn, startConsole } from './browser.js'

const admission = '/apis/admissionregistration.cluster.io/v1alpha1'
const deployments = '/apis/apps/v1/namespaces/shop/deployments'
const large = { viewport: { width: 1080, height: 680 } }
const replicas = { cart: 3, checkout: 5, prices: 4, search: 6 }

describe('console: pictures', { skip: chromiumFound.skip }, () => {
  let started: Console
  before(async () => {
    const flags = [
      '--simulate-nodes=1',
      '--feature-gates=ValidatingAdmissionPolicy=true',
      '--runtime-config=api/alpha=true',
      '--etcd-count-metric-poll-period=1ms',
      '--etcd-db-metric-poll-interval=1ms',
    ]
    started = await startConsole({ flags, engine: 'lmdb' })
    const { client } = started.embedded
    const create = async (path: string, body: object): Promise<void> => {
      const { status, text } = await client.post(path, body)
      assert.equal(status, 201, text)
    }
    await create('/api/v1/namespaces', { metadata: { name: 'shop' } })
    await create('/api/v1/namespaces/shop/serviceaccounts', { metadata: { name: 'viewer' } })
    await create('/apis/rbac.authorization.cluster.io/v1/namespaces/shop/rolebindings', {
      metadata: { name: 'viewer-views' },
      roleRef: { apiGroup: 'rbac.authorization.cluster.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'ServiceAccount', name: 'viewer', namespace: 'shop' }],
    })
    for (const [name, count] of Object.entries(replicas)) {
      const labels = { app: name }
      const template = { metadata: { labels }, spec: { containers: [{ name, image: `registry.example/${name}:1.4` }] } }
      const deployment = {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name, labels },
        spec: { replicas: count, selector: { matchLabels: labels }, template },
      }
      const path = `${deployments}/${name}?fieldManager=release`
      assert.equal((await client.patch(path, 'application/apply-patch+yaml', deployment)).status, 201)
    }
    const rule = { operations: ['*'], apiGroups: ['apps'], apiVersions: ['*'], resources: ['deployments'] }
    await create(`${admission}/validatingadmissionpolicies`, {
      metadata: { name: 'small-and-ours' },
      spec: {
        matchConstraints: { resourceRules: [rule] },
        validations: [
          { expression: 'object.spec.replicas <= 5' },
          { expression: "object.spec.template.spec.containers.all(c, c.image.startsWith('registry.example.com/'))" },
        ],
      },
    })
    await create(`${admission}/validatingadmissionpolicybindings`, {
      metadata: { name: 'everywhere' },
      spec: { policyName: 'small-and-ours' },
    })
  })
  after(() => started.close())

  const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click()

  const pods = '#/list/core/v1/pods?namespace=shop'
  const showPods = async (page: Page, fragment = pods): Promise<void> => {
    await signIn(page, started.embedded, undefined, fragment)
    await page.getByText('18 objects').waitFor()
    await until(
      () => page.getByRole('cell', { name: 'Running', exact: true }).count(),
      (count) => count >= 10,
    )
  }

  test('a table', async () => {
    const { page, problems } = await openPage(started, large)
    await showPods(page)
    await screenshot(page, 'console-table')
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('a table at 320 pixels, in dark', async () => {
    const { page } = await openPage(started, { colorScheme: 'dark', viewport: { width: 320, height: 640 } })
    await showPods(page)
    await screenshot(page, 'console-narrow')
    await page.context().close()
  })

  test('the managers of the fields, in dark', async () => {
    const { page } = await openPage(started, { ...large, colorScheme: 'dark' })
    await signIn(page, started.embedded, undefined, '#/object/apps/v1/deployments/shop/prices')
    await page.locator('.note', { hasText: 'release' }).first().waitFor()
    await page
      .locator('.cm-line', { hasText: 'replicas: 4' })
      .first()
      .hover({ position: { x: 60, y: 10 } })
    await page.getByText(/^release · Apply · /).waitFor()
    await screenshot(page, 'console-fields')
    await page.context().close()
  })

  test('an edit with suggestions and an explanation', async () => {
    const { page, problems } = await openPage(started, large)
    await signIn(page, started.embedded, undefined, '#/object/apps/v1/deployments/shop/prices?tab=edit')
    await page.locator('.schema-panel', { hasText: 'APIVersion defines' }).waitFor()
    await page.locator('.cm-line', { hasText: 'type: RollingUpdate' }).click({ position: { x: 60, y: 10 } })
    await page.keyboard.press('End')
    await page.keyboard.press('Control+Backspace')
    await page.locator('.schema-panel', { hasText: 'spec.strategy.type' }).waitFor()
    await page.keyboard.press('Control+Space')
    await page.locator('.cm-tooltip-autocomplete').getByRole('option', { name: 'Recreate' }).waitFor()
    await screenshot(page, 'console-edit')
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('a conflict before it happens', async () => {
    const { page } = await openPage(started, large)
    await signIn(page, started.embedded, undefined, '#/object/apps/v1/deployments/shop/cart?tab=edit')
    await page.locator('.schema-panel', { hasText: 'APIVersion defines' }).waitFor()
    await page.locator('.cm-line', { hasText: 'replicas: 3' }).click({ position: { x: 60, y: 10 } })
    await page.keyboard.press('End')
    await page.keyboard.press('Backspace')
    await page.keyboard.type('5')
    await press(page, 'Apply')
    await page.locator('.conflict', { hasText: 'owned by release · Apply' }).waitFor()
    await screenshot(page, 'console-conflict')
    await page.context().close()
  })

  test('a form', async () => {
    const { page } = await openPage(started, large)
    await signIn(page, started.embedded, undefined, '#/create/apps/v1/deployments?namespace=shop')
    await page.getByRole('textbox', { name: 'New Deployment as YAML' }).waitFor()
    await page.locator('.object-form').getByLabel('metadata.name', { exact: true }).fill('payments')
    await page.locator('.cm-line', { hasText: 'name: payments' }).waitFor()
    await screenshot(page, 'console-create')
    await page.context().close()
  })

  test('access', async () => {
    const { page } = await openPage(started, large)
    const user = encodeURIComponent('system:serviceaccount:shop:viewer')
    await signIn(page, started.embedded, undefined, `#/access?verb=list&resource=pods&namespace=shop&user=${user}`)
    await page.getByText('RBAC: allowed by RoleBinding "viewer-views/shop"', { exact: false }).waitFor()
    await page.getByRole('row', { name: 'configmaps ✓ ✓ ✓ –', exact: false }).waitFor()
    await screenshot(page, 'console-access')
    await page.context().close()
  })

  test('policies', async () => {
    const { page } = await openPage(started, large)
    await signIn(page, started.embedded, undefined, '#/create/apps/v1/deployments?namespace=shop')
    await page.locator('.object-form').getByLabel('spec.replicas', { exact: true }).fill('6')
    const why = page.getByRole('link', { name: 'Which expression, with which values?' })
    await until(
      async () => {
        await press(page, 'Preview')
        return why.isVisible()
      },
      (isVisible) => isVisible,
    )
    await why.click()
    await page.getByRole('region', { name: 'Policy small-and-ours', exact: true }).getByText('Denied').waitFor()
    await page.setViewportSize({ width: 1080, height: 840 })
    await screenshot(page, 'console-policies')
    await page.context().close()
  })

  test('the server, with plots of some minutes', async () => {
    const { client } = started.embedded
    const { page, problems } = await openPage(started, large)
    await page.clock.install()
    await signIn(page, started.embedded, undefined, '#/server')
    const plot = (title: string) => page.locator('.plot', { hasText: title })
    await plot('Store size').getByText('iB').waitFor()
    const points = async (): Promise<number> =>
      (((await plot('Revision').locator('polyline').getAttribute('points')) ?? '').match(/,/g) ?? []).length
    for (let i = 0; i < 40; i++) {
      const before = await points()
      const writes = 5 + ((i * 7) % 13)
      for (let j = 0; j < writes; j++)
        await client.post('/api/v1/namespaces/shop/configmaps', {
          metadata: { name: `order-${i}-${j}` },
          data: { items: 'x'.repeat(4000) },
        })
      await until(
        async () => {
          await page.clock.runFor(3000)
          return points()
        },
        (count) => count > before,
      )
    }
    assert.match((await plot('Store size').locator('polyline').getAttribute('points')) ?? '', /^[\d., ]+$/)
    await screenshot(page, 'console-server')
    assert.deepEqual(problems, [])
    await page.context().close()
  })
})
