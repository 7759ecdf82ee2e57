// The policies page: a refusal of a policy explained with costs and values, a typed policy with parameters, policies that do not apply.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { until } from '../../../test/kit/fixtures.js'
import { type Console, chromiumFound, editorText, openPage, pasteText, screenshot, signIn, startConsole } from './browser.js'

const group = 'admissionregistration.cluster.io'
const policies = `/apis/${group}/v1alpha1/validatingadmissionpolicies`
const rule = { operations: ['CREATE', 'UPDATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] }

const deployment = (replicas: number): string => `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: example}]}
`

const typed = `apiVersion: ${group}/v1alpha1
kind: ValidatingAdmissionPolicy
metadata: {name: typed}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules: [{operations: ["*"], apiGroups: [apps], apiVersions: ["*"], resources: [deployments]}]
  validations:
  - expression: object.spec.replicas <= int(params.data.most)
  - expression: object.spec.progressDeadlineSeconds == 600 && request.userInfo.username == 'eve'
---
apiVersion: v1
kind: ConfigMap
metadata: {name: limits}
data: {most: "9"}
`

describe('console: policies', { skip: chromiumFound.skip }, () => {
  let started: Console
  before(async () => {
    started = await startConsole({ flags: ['--feature-gates=ValidatingAdmissionPolicy=true', '--runtime-config=api/alpha=true'] })
    const { client } = started.embedded
    await client.post('/api/v1/namespaces', { metadata: { name: 'shop', labels: { env: 'live' } } })
    const create = async (name: string, spec: object): Promise<void> => {
      assert.equal((await client.post(policies, { metadata: { name }, spec })).status, 201)
      const binding = { metadata: { name: `${name}-everywhere` }, spec: { policyName: name } }
      assert.equal((await client.post(`${policies.replace('policies', 'policybindings')}`, binding)).status, 201)
    }
    await create('few', { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'object.spec.replicas <= 5' }] })
    await create('tests', {
      matchConstraints: { resourceRules: [rule], namespaceSelector: { matchLabels: { env: 'test' } } },
      validations: [{ expression: 'false' }],
    })
  })
  after(() => started.close())

  test('a refusal of a policy is explained with the cost and the values of its expression', async () => {
    const { page, problems } = await openPage(started)
    await signIn(page, started.embedded, undefined, '#/create/apps/v1/deployments?namespace=shop')
    await page.locator('.object-form').getByLabel('spec.replicas', { exact: true }).fill('6')
    await until(
      async () => {
        await page.getByRole('button', { name: 'Preview', exact: true }).click()
        return page.getByRole('link', { name: 'Which expression, with which values?' }).isVisible()
      },
      (isVisible) => isVisible,
    )
    await page.getByRole('link', { name: 'Which expression, with which values?' }).click()
    const trial = page.getByRole('region', { name: 'Policy few', exact: true })
    await trial.getByText('Denied').waitFor()
    await page.getByText('Refused by a dry run of the server').waitFor()
    assert.match((await trial.locator('tbody tr').textContent()) ?? '', /object\.spec\.replicas <= 5false\d+\d+object\.spec\.replicas = 6/)
    await page.locator('.trial', { hasText: 'Do not apply' }).getByText('namespaceSelector does not match').waitFor()
    await screenshot(page, 'console-policies')
    await page.getByLabel('Object', { exact: true }).fill(deployment(3))
    await page.getByRole('button', { name: 'Try', exact: true }).click()
    await trial.getByText('Allowed').waitFor()
    await page.getByText('Accepted').waitFor()
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('a refused edit is explained with the old and the new object', async () => {
    const { client } = started.embedded
    const path = '/apis/apps/v1/namespaces/shop/deployments'
    const labels = { app: 'edited' }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'example' }] } }
    const spec = { replicas: 1, selector: { matchLabels: labels }, template }
    assert.equal((await client.post(path, { metadata: { name: 'edited' }, spec })).status, 201)
    const { page, problems } = await openPage(started)
    await signIn(page, started.embedded, undefined, '#/object/apps/v1/deployments/shop/edited?tab=edit')
    const editor = page.locator('.yaml-editor').getByRole('textbox')
    await pasteText(editor, (await editorText(editor)).replace('replicas: 1', 'replicas: 9'))
    const why = page.getByRole('link', { name: 'Which expression, with which values?' })
    await until(
      async () => {
        await page.getByRole('button', { name: 'Preview', exact: true }).click()
        return why.isVisible()
      },
      (isVisible) => isVisible,
    )
    await why.click()
    const trial = page.getByRole('region', { name: 'Policy few', exact: true })
    await trial.getByText('object.spec.replicas = 9').waitFor()
    assert.equal(await page.getByLabel('Operation').inputValue(), 'UPDATE')
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('a typed policy is tried with its typed parameters, the defaults of the server and another user', async () => {
    const { page } = await openPage(started)
    await signIn(page, started.embedded, undefined, '#/policies')
    await page.getByLabel('Object', { exact: true }).fill(deployment(4))
    await page.getByLabel('More policies').fill(typed)
    await page.getByRole('button', { name: 'Try', exact: true }).click()
    const trial = page.getByRole('region', { name: 'Policy typed', exact: true })
    await trial.getByText('Denied').waitFor()
    await page.getByLabel('User', { exact: true }).fill('eve')
    await page.getByRole('button', { name: 'Try', exact: true }).click()
    await trial.getByText('Allowed').waitFor()
    assert.match((await trial.textContent()) ?? '', /params\.data\.most = "9"/)
    await page.getByLabel('More policies').fill(typed.replace('== 600', '== ('))
    await page.getByRole('button', { name: 'Try', exact: true }).click()
    await trial.getByText('compilation error').waitFor()
    await page.context().close()
  })

  test('a text that is not an object is refused with the reason', async () => {
    const { page } = await openPage(started)
    await signIn(page, started.embedded, undefined, '#/policies')
    await page.getByLabel('Object', { exact: true }).fill('kind: Nothing\n')
    await page.getByRole('button', { name: 'Try', exact: true }).click()
    await page.getByText('the server does not serve kind "Nothing"').waitFor()
    await page.context().close()
  })
})
