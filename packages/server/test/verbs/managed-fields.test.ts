// managedFields of empty lists and of atomic fields: ownership, dry runs and apply conflicts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onDefaultEngine } from '../../../../test/kit/embedded.js'
import { expectFailure, expectStatus, newNamespace } from '../../../../test/kit/fixtures.js'
import type { JsonObject } from '../../../../test/kit/network/json-object.js'

const fieldsOf = ({ metadata: { managedFields = [] } }: JsonObject): readonly unknown[] =>
  managedFields.map((entry) => (entry as unknown as { readonly fieldsV1: unknown }).fieldsV1)

onDefaultEngine('managedFields of empty and atomic values', (client) => {
  const apply = (path: string, manager: string, body: object) =>
    client().patch(`${path}?fieldManager=${manager}`, 'application/apply-patch+yaml', body)

  test('a required list that was sent empty is owned and returned as null, also in a dry run', async () => {
    const namespace = await newNamespace(client(), 'lists')
    const nodes = '/apis/storage.cluster.io/v1/csinodes'
    const node = { metadata: { name: namespace }, spec: { drivers: [] } }
    for (const path of [`${nodes}?dryRun=All`, nodes]) {
      const { json } = expectStatus(await client().post(path, node), 201)
      assert.deepEqual(json['spec'], { drivers: null })
      assert.deepEqual(fieldsOf(json), [{ 'f:spec': { 'f:drivers': {} } }])
    }
    const withoutDrivers = expectStatus(await client().post(nodes, { metadata: { name: `${namespace}-2` }, spec: {} }), 201)
    assert.deepEqual(fieldsOf(withoutDrivers.json), [])
    const review = { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } }
    expectStatus(await client().post('/apis/authorization.cluster.io/v1/selfsubjectaccessreviews', review), 201)
  })

  test('an atomic field conflicts if it differs from the stored value in explicit nulls', async () => {
    const namespace = await newNamespace(client(), 'ones')
    const path = `/api/v1/namespaces/${namespace}/persistentvolumeclaims/c`
    const claim = (dataSource: object) => ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'c' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, dataSource },
    })
    const source = { kind: 'PersistentVolumeClaim', name: 'other' }
    expectStatus(await apply(path, 'one', claim(source)), 201)
    const conflict = expectFailure(await apply(path, 'two', claim(source)), 409, 'Conflict')
    assert.deepEqual(
      conflict.details?.causes?.map(({ field }) => field),
      ['.spec.dataSource'],
    )
    expectStatus(await apply(path, 'two', claim({ ...source, apiGroup: null })), 200)
    const before = expectStatus(await client().get(path), 200).json
    const again = expectStatus(await apply(path, 'two', claim({ ...source, apiGroup: null })), 200).json
    assert.equal(again.metadata.resourceVersion, before.metadata.resourceVersion)
  })

  test('in an atomic list, a list that is sent empty differs from an absent one; maps and other structs do not', async () => {
    const namespace = await newNamespace(client(), 'nested')
    const policies = `/apis/networking.cluster.io/v1/namespaces/${namespace}/networkpolicies`
    const policy = (selector: object, podSelector: object = {}) => ({
      metadata: { name: 'p' },
      spec: { podSelector, ingress: [{ from: [{ namespaceSelector: selector }] }] },
    })
    expectStatus(await client().post(`${policies}?fieldManager=a`, policy({})), 201)
    const write = async (selector: object, podSelector?: object) =>
      fieldsOf(expectStatus(await client().put(`${policies}/p?fieldManager=b`, policy(selector, podSelector)), 200).json)
    const all = { 'f:spec': { 'f:ingress': {}, 'f:policyTypes': {} } }
    assert.deepEqual(await write({ matchLabels: {} }), [all])
    assert.deepEqual(await write({}, { matchExpressions: [] }), [all])
    assert.deepEqual(await write({ matchExpressions: [] }), [{ 'f:spec': { 'f:policyTypes': {} } }, { 'f:spec': { 'f:ingress': {} } }])
  })

  test('a write in autoscaling/v1 owns the annotation that its ignored status is converted to', async () => {
    const scalers = `/apis/autoscaling/v1/namespaces/${await newNamespace(client(), 'scalers')}/horizontalpodautoscalers`
    const spec = { maxReplicas: 3, scaleTargetRef: { kind: 'D', name: 'd' } }
    expectStatus(await client().post(`${scalers}?fieldManager=a`, { metadata: { name: 'h' }, spec }), 201)
    const status = { currentReplicas: 1, desiredReplicas: 1, currentCPUUtilizationPercentage: 5 }
    const { json } = expectStatus(await client().patch(`${scalers}/h?fieldManager=b`, 'application/merge-patch+json', { status }), 200)
    const metrics = 'f:autoscaling.alpha.cluster.io/current-metrics'
    assert.deepEqual(fieldsOf(json).at(-1), { 'f:metadata': { 'f:annotations': { '.': {}, [metrics]: {} } } })
  })
})
