// Rules that distinguish an empty list or map from an absent one. Most rules do not.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onDefaultEngine } from '../../../../test/kit/embedded.js'
import {
  configMapOf,
  configMaps,
  expectFailure,
  expectStatus,
  makeConfigMap,
  newNamespace,
  untilStatus,
} from '../../../../test/kit/fixtures.js'

const merge = 'application/merge-patch+json'
const container = { name: 'c', image: 'i' }

onDefaultEngine('empty and absent values', (client) => {
  test('an empty overhead counts as set', async () => {
    const namespace = await newNamespace(client(), 'overhead')
    await untilStatus(() => client().get(`/api/v1/namespaces/${namespace}/serviceaccounts/default`), 200)
    const pods = `/api/v1/namespaces/${namespace}/pods`
    const pod = (spec: object) => client().post(pods, { metadata: { generateName: 'p-' }, spec: { ...spec, containers: [container] } })
    const refused = expectFailure(await pod({ overhead: {} }), 403, 'Forbidden')
    assert.match(refused.message ?? '', /Pod Overhead set without corresponding RuntimeClass defined Overhead$/)
    expectStatus(await pod({ nodeSelector: {} }), 201)
    const runtime = { metadata: { name: `r-${namespace}` }, handler: 'h', overhead: { podFixed: { cpu: '1m' } } }
    expectStatus(await client().post('/apis/node.cluster.io/v1/runtimeclasses', runtime), 201)
    expectFailure(await pod({ overhead: {}, runtimeClassName: runtime.metadata.name }), 403, 'Forbidden')
    expectStatus(await pod({ runtimeClassName: runtime.metadata.name }), 201)
  })

  test('an immutable absent field cannot become empty', async () => {
    const namespace = await newNamespace(client(), 'sealed')
    const storage = '/apis/storage.cluster.io/v1/storageclasses'
    expectStatus(await client().post(storage, { metadata: { name: namespace }, provisioner: 'x.io/y', parameters: {} }), 201)
    expectFailure(await client().patch(`${storage}/${namespace}`, merge, { parameters: {} }), 422, 'Invalid')
    expectStatus(await client().patch(`${storage}/${namespace}`, merge, { mountOptions: [] }), 200)
    await makeConfigMap(client(), namespace, { ...configMapOf('a', { data: { k: 'v' } }), ...{ immutable: true } })
    const binary = expectFailure(await client().patch(configMaps(namespace, 'a'), merge, { binaryData: {} }), 422, 'Invalid')
    assert.equal(binary.details?.causes?.[0]?.field, 'binaryData')
    const secrets = `/api/v1/namespaces/${namespace}/secrets`
    expectStatus(await client().post(secrets, { metadata: { name: 's' }, immutable: true }), 201)
    expectFailure(await client().patch(`${secrets}/s`, merge, { data: {} }), 422, 'Invalid')
    expectStatus(await client().patch(`${secrets}/s`, merge, { stringData: {} }), 200)
  })

  test('the generation of some kinds increases when a field becomes empty, or is dropped afterwards', async () => {
    const namespace = await newNamespace(client(), 'counted')
    const generation = async (path: string, body: object) =>
      expectStatus(await client().patch(path, merge, body), 200).json.metadata.generation
    const policies = `/apis/networking.cluster.io/v1/namespaces/${namespace}/networkpolicies`
    expectStatus(await client().post(policies, { metadata: { name: 'n' }, spec: { podSelector: {} } }), 201)
    assert.equal(await generation(`${policies}/n`, { spec: { podSelector: {} } }), 1)
    assert.equal(await generation(`${policies}/n`, { spec: { podSelector: { matchLabels: {} } } }), 2)
    for (const kind of ['validating', 'mutating']) {
      const configurations = `/apis/admissionregistration.cluster.io/v1/${kind}webhookconfigurations`
      expectStatus(await client().post(configurations, { metadata: { name: namespace } }), 201)
      assert.equal(await generation(`${configurations}/${namespace}`, { metadata: { labels: { a: 'b' } } }), 1)
      assert.equal(await generation(`${configurations}/${namespace}`, { webhooks: [] }), 2)
    }
    const budgets = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`
    expectStatus(await client().post(budgets, { metadata: { name: 'b' }, spec: { selector: {} } }), 201)
    assert.equal(await generation(`${budgets}/b`, { spec: { selector: { matchLabels: {} } } }), 1)
    assert.equal(await generation(`${budgets}/b`, { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } }), 2)
  })
})
