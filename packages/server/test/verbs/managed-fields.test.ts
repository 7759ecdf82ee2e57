// Ownership of values that are empty, or owned as one: what is owned, shown by dry runs, and taken for a conflict.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onUsualEngine } from '../kit/embedded.js'
import { expectFailure, expectStatus, newNamespace } from '../kit/fixtures.js'
import type { Wire } from '../kit/wire.js'

const fieldsOf = ({ metadata: { managedFields = [] } }: Wire): readonly unknown[] =>
  managedFields.map((entry) => (entry as unknown as { readonly fieldsV1: unknown }).fieldsV1)

onUsualEngine('values that are owned', (client) => {
  const apply = (path: string, manager: string, body: object) =>
    client().patch(`${path}?fieldManager=${manager}`, 'application/apply-patch+yaml', body)

  test('a required list that was sent empty is owned, and shown as what is stored, in a dry run, too', async () => {
    const namespace = await newNamespace(client(), 'lists')
    const nodes = '/apis/storage.cluster.io/v1/csinodes'
    const node = { metadata: { name: namespace }, spec: { drivers: [] } }
    for (const path of [`${nodes}?dryRun=All`, nodes]) {
      const { json } = expectStatus(await client().post(path, node), 201)
      assert.deepEqual(json['spec'], { drivers: null })
      assert.deepEqual(fieldsOf(json), [{ 'f:spec': { 'f:drivers': {} } }])
    }
    const silent = expectStatus(await client().post(nodes, { metadata: { name: `${namespace}-2` }, spec: {} }), 201)
    assert.deepEqual(fieldsOf(silent.json), [])
    const review = { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } }
    expectStatus(await client().post('/apis/authorization.cluster.io/v1/selfsubjectaccessreviews', review), 201)
  })

  test('what is one is compared as it is written, with the nulls that nobody spelled out', async () => {
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
})
