// PATCH: JSON patch, merge patch, strategic merge patch, server-side apply, managedFields, dry run.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiClient } from '../../../../test/kit/api-client.js'
import { onEveryEngine } from '../../../../test/kit/embedded.js'
import { configMapOf, configMaps, expectFailure, expectStatus, makeConfigMap, newNamespace } from '../../../../test/kit/fixtures.js'
import type { JsonObject } from '../../../../test/kit/network/json-object.js'

const json = 'application/json-patch+json'
const merge = 'application/merge-patch+json'
const strategic = 'application/strategic-merge-patch+json'
const apply = 'application/apply-patch+yaml'

const dataOf = (object: JsonObject): unknown => object['data']
const managersOf = (object: JsonObject): readonly string[] =>
  ((object.metadata['managedFields'] ?? []) as readonly { manager: string; operation: string }[]).map(
    ({ manager, operation }) => `${manager} ${operation}`,
  )

async function makeObject(
  client: ApiClient,
  prefix: string,
): Promise<{ readonly namespace: string; readonly path: string; readonly object: JsonObject }> {
  const namespace = await newNamespace(client, prefix)
  const object = await makeConfigMap(client, namespace, configMapOf('a', { data: { k: '1', l: '2' }, labels: { tier: 'x' } }))
  return { namespace, path: configMaps(namespace, 'a'), object }
}

onEveryEngine('PATCH', (client) => {
  test('JSON patch is atomic', async () => {
    const { path } = await makeObject(client(), 'json')
    const patched = await client().patch(path, json, [
      { op: 'test', path: '/data/k', value: '1' },
      { op: 'move', from: '/data/k', path: '/data/m' },
      { op: 'remove', path: '/metadata/labels/tier' },
    ])
    assert.deepEqual(dataOf(expectStatus(patched, 200).json), { l: '2', m: '1' })
    expectFailure(
      await client().patch(path, json, [
        { op: 'add', path: '/data/x', value: '1' },
        { op: 'test', path: '/data/l', value: 'no' },
      ]),
      422,
      'Invalid',
    )
    expectFailure(await client().patch(path, json, { op: 'add' }), 400, 'BadRequest')
    const tooManyOperations = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/data/l', value: '2' }))
    expectFailure(await client().patch(path, json, tooManyOperations), 413, 'RequestEntityTooLarge')
    assert.deepEqual(dataOf((await client().get(path)).json), { l: '2', m: '1' })
  })

  test('concurrent patches are all applied, and concurrent applies create one object', async () => {
    const { namespace, path } = await makeObject(client(), 'at-once')
    const numbers = Array.from({ length: 40 }, (_, i) => i)
    for (const response of await Promise.all(numbers.map((i) => client().patch(path, merge, { data: { [`n${i}`]: '1' } })))) {
      expectStatus(response, 200)
    }
    assert.equal(Object.keys(dataOf((await client().get(path)).json) as object).length, 42)
    const applied = configMaps(namespace, 'applied')
    const responses = await Promise.all(
      numbers.slice(0, 6).map((i) =>
        client().patch(`${applied}?fieldManager=m${i}`, apply, {
          ...configMapOf('applied', { data: { [`n${i}`]: '1' } }),
          kind: 'ConfigMap',
        }),
      ),
    )
    assert.deepEqual(responses.map(({ status }) => status).sort(), [...Array.from({ length: 5 }, () => 200), 201])
    assert.equal(managersOf((await client().get(applied)).json).length, 6)
  })

  test('merge patch: preconditions, and a patch that changes nothing', async () => {
    const { path, object } = await makeObject(client(), 'merge')
    const patched = expectStatus(await client().patch(path, merge, { data: { k: null, n: '3' } }), 200).json
    assert.deepEqual(dataOf(patched), { l: '2', n: '3' })
    const unchanged = expectStatus(await client().patch(path, merge, { data: { n: '3' } }), 200).json
    assert.equal(unchanged.metadata.resourceVersion, patched.metadata.resourceVersion)
    const stale = { metadata: { resourceVersion: object.metadata.resourceVersion }, data: { n: '4' } }
    expectFailure(await client().patch(path, merge, stale), 409, 'Conflict')
    expectFailure(await client().patch(path, merge, { metadata: { uid: 'other' } }), 422, 'Invalid')
    expectFailure(await client().patch(path, merge, { metadata: { name: 'b' } }), 400, 'BadRequest')
    expectFailure(await client().patch(path, merge, { kind: 'Secret' }), 422, 'Invalid')
    expectFailure(await client().patch(path, merge, { apiVersion: 'apps/v1' }), 422, 'Invalid')
    expectStatus(await client().patch(path, strategic, { kind: 'Secret' }), 200)
    expectFailure(await client().patch(path, 'application/json', {}), 415, 'UnsupportedMediaType')
    expectFailure(await client().patch(configMaps('nowhere', 'a'), merge, {}), 404, 'NotFound')
  })

  test('strategic merge patch merges lists by key', async () => {
    const namespace = await newNamespace(client(), 'strategic')
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts`
    expectStatus(await client().post(path, { metadata: { name: 's' }, secrets: [{ name: 'one' }, { name: 'two' }] }), 201)
    const merged = await client().patch(`${path}/s`, strategic, { secrets: [{ name: 'three' }, { $patch: 'delete', name: 'one' }] })
    assert.deepEqual((expectStatus(merged, 200).json['secrets'] as readonly { name: string }[]).map(({ name }) => name).sort(), [
      'three',
      'two',
    ])
  })

  test('apply sets field managers, and conflicts name the other manager', async () => {
    const namespace = await newNamespace(client(), 'apply')
    const path = configMaps(namespace, 'a')
    const config = (data: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data })
    const created = expectStatus(await client().patch(`${path}?fieldManager=one`, apply, config({ k: '1', l: '1' })), 201).json
    assert.deepEqual(managersOf(created), ['one Apply'])
    const again = expectStatus(await client().patch(`${path}?fieldManager=one`, apply, config({ k: '1', l: '1' })), 200).json
    assert.equal(again.metadata.resourceVersion, created.metadata.resourceVersion)
    const conflict = expectFailure(await client().patch(`${path}?fieldManager=two`, apply, config({ k: '2' })), 409, 'Conflict')
    assert.match(JSON.stringify(conflict), /FieldManagerConflict.*conflict with \\"one\\".*\.data\.k/)
    expectStatus(await client().patch(`${path}?fieldManager=two&force=true`, apply, config({ k: '2' })), 200)
    const remaining = expectStatus(await client().patch(`${path}?fieldManager=one`, apply, config({})), 200).json
    assert.deepEqual(dataOf(remaining), { k: '2' })
    expectFailure(await client().patch(path, apply, config({})), 422, 'Invalid')
    expectFailure(await client().patch(`${path}?fieldManager=one`, apply, { ...config({}), kind: 'Secret' }), 400, 'BadRequest')
    expectFailure(await client().patch(`${path}?fieldManager=one`, apply, { ...config({}), extra: 1 }), 400, 'BadRequest')
  })

  test('every write updates managedFields, and a reset clears them', async () => {
    const { path, object } = await makeObject(client(), 'owners')
    assert.equal(managersOf(object).length, 1)
    const second = expectStatus(await client().patch(`${path}?fieldManager=second`, merge, { data: { n: '1' } }), 200).json
    assert.ok(managersOf(second).includes('second Update'))
    const kept = expectStatus(await client().patch(`${path}?fieldManager=third`, merge, { metadata: { managedFields: [] } }), 200).json
    assert.deepEqual(managersOf(kept), managersOf(second), 'an empty list resets nothing')
    const reset = expectStatus(
      await client().patch(`${path}?fieldManager=third`, merge, { metadata: { managedFields: [{}] }, data: { o: '1' } }),
      200,
    ).json
    assert.deepEqual(managersOf(reset), ['third Update'])
  })

  test('dry run validates and stores nothing', async () => {
    const { namespace, path, object } = await makeObject(client(), 'dry')
    const dryRun = 'dryRun=All'
    expectStatus(await client().post(`${configMaps(namespace)}?${dryRun}`, configMapOf('b')), 201)
    expectFailure(await client().post(`${configMaps(namespace)}?${dryRun}`, configMapOf('a')), 409, 'AlreadyExists')
    expectStatus(await client().put(`${path}?${dryRun}`, configMapOf('a', { data: { k: 'put' } })), 200)
    expectStatus(await client().patch(`${path}?${dryRun}`, merge, { data: { k: 'patched' } }), 200)
    const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } }
    expectStatus(await client().patch(`${configMaps(namespace, 'c')}?${dryRun}&fieldManager=m`, apply, config), 201)
    expectStatus(await client().delete(`${path}?${dryRun}`), 200)
    expectStatus(await client().delete(`${configMaps(namespace)}?${dryRun}`), 200)
    const list = (await client().get(configMaps(namespace))).json
    assert.deepEqual(
      list.items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]),
      [['a', object.metadata.resourceVersion]],
    )
  })
})
