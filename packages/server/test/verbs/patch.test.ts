// Every way to change an object: the patches, apply with its owners, field validation, and dry runs that leave no trace.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiClient } from '../kit/api-client.js'
import { onEveryEngine } from '../kit/embedded.js'
import { configMapOf, configMaps, expectFailure, expectStatus, makeConfigMap, newNamespace } from '../kit/fixtures.js'
import type { Wire } from '../kit/wire.js'

const json = 'application/json-patch+json'
const merge = 'application/merge-patch+json'
const strategic = 'application/strategic-merge-patch+json'
const apply = 'application/apply-patch+yaml'

const dataOf = (object: Wire): unknown => object['data']
const managersOf = (object: Wire): readonly string[] =>
  ((object.metadata['managedFields'] ?? []) as readonly { manager: string; operation: string }[]).map(
    ({ manager, operation }) => `${manager} ${operation}`,
  )

async function fresh(
  client: ApiClient,
  prefix: string,
): Promise<{ readonly namespace: string; readonly path: string; readonly object: Wire }> {
  const namespace = await newNamespace(client, prefix)
  const object = await makeConfigMap(client, namespace, configMapOf('a', { data: { k: '1', l: '2' }, labels: { tier: 'x' } }))
  return { namespace, path: configMaps(namespace, 'a'), object }
}

onEveryEngine('patching', (client) => {
  test('JSON patch changes all or nothing', async () => {
    const { path } = await fresh(client(), 'json')
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
    const many = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/data/l', value: '2' }))
    expectFailure(await client().patch(path, json, many), 413, 'RequestEntityTooLarge')
    assert.deepEqual(dataOf((await client().get(path)).json), { l: '2', m: '1' })
  })

  test('of very many patches at once none is lost, and those who create by applying meet at one object', async () => {
    const { namespace, path } = await fresh(client(), 'at-once')
    const numbers = Array.from({ length: 40 }, (_, i) => i)
    for (const answer of await Promise.all(numbers.map((i) => client().patch(path, merge, { data: { [`n${i}`]: '1' } })))) {
      expectStatus(answer, 200)
    }
    assert.equal(Object.keys(dataOf((await client().get(path)).json) as object).length, 42)
    const applied = configMaps(namespace, 'applied')
    const answers = await Promise.all(
      numbers.slice(0, 6).map((i) =>
        client().patch(`${applied}?fieldManager=m${i}`, apply, {
          ...configMapOf('applied', { data: { [`n${i}`]: '1' } }),
          kind: 'ConfigMap',
        }),
      ),
    )
    assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array.from({ length: 5 }, () => 200), 201])
    assert.equal(managersOf((await client().get(applied)).json).length, 6)
  })

  test('merge patch, its conditions, and what changes nothing', async () => {
    const { path, object } = await fresh(client(), 'merge')
    const patched = expectStatus(await client().patch(path, merge, { data: { k: null, n: '3' } }), 200).json
    assert.deepEqual(dataOf(patched), { l: '2', n: '3' })
    const same = expectStatus(await client().patch(path, merge, { data: { n: '3' } }), 200).json
    assert.equal(same.metadata.resourceVersion, patched.metadata.resourceVersion)
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

  test('strategic merge patch knows the keys of lists', async () => {
    const namespace = await newNamespace(client(), 'strategic')
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts`
    expectStatus(await client().post(path, { metadata: { name: 's' }, secrets: [{ name: 'one' }, { name: 'two' }] }), 201)
    const merged = await client().patch(`${path}/s`, strategic, { secrets: [{ name: 'three' }, { $patch: 'delete', name: 'one' }] })
    assert.deepEqual((expectStatus(merged, 200).json['secrets'] as readonly { name: string }[]).map(({ name }) => name).sort(), [
      'three',
      'two',
    ])
  })

  test('appliers own what they apply, and conflicts say who owns what', async () => {
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
    const left = expectStatus(await client().patch(`${path}?fieldManager=one`, apply, config({})), 200).json
    assert.deepEqual(dataOf(left), { k: '2' })
    expectFailure(await client().patch(path, apply, config({})), 422, 'Invalid')
    expectFailure(await client().patch(`${path}?fieldManager=one`, apply, { ...config({}), kind: 'Secret' }), 400, 'BadRequest')
    expectFailure(await client().patch(`${path}?fieldManager=one`, apply, { ...config({}), extra: 1 }), 400, 'BadRequest')
  })

  test('every write says who changed what, and a reset forgets it', async () => {
    const { path, object } = await fresh(client(), 'owners')
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

  for (const row of [
    { validation: '', status: 201, warnings: true },
    { validation: '?fieldValidation=Warn', status: 201, warnings: true },
    { validation: '?fieldValidation=Ignore', status: 201, warnings: false },
    { validation: '?fieldValidation=Strict', status: 400, warnings: false },
  ]) {
    test(`unknown and duplicate fields, ${row.validation || 'by default'}`, async () => {
      const namespace = await newNamespace(client(), 'fields')
      const answer = await client().post(
        `${configMaps(namespace)}${row.validation}`,
        '{"metadata":{"name":"a","odd":1},"data":{"k":"1","k":"2"}}',
      )
      expectStatus(answer, row.status)
      const warned = String(answer.headers['warning'] ?? '')
      assert.equal(
        warned.includes('unknown field \\"metadata.odd\\"') && warned.includes('duplicate field \\"data.k\\"'),
        row.warnings,
        warned,
      )
      if (row.status === 400) assert.match(answer.text, /strict decoding error/)
    })
  }

  test('a dry run goes all the way and leaves no trace', async () => {
    const { namespace, path, object } = await fresh(client(), 'dry')
    const all = 'dryRun=All'
    expectStatus(await client().post(`${configMaps(namespace)}?${all}`, configMapOf('b')), 201)
    expectFailure(await client().post(`${configMaps(namespace)}?${all}`, configMapOf('a')), 409, 'AlreadyExists')
    expectStatus(await client().put(`${path}?${all}`, configMapOf('a', { data: { k: 'put' } })), 200)
    expectStatus(await client().patch(`${path}?${all}`, merge, { data: { k: 'patched' } }), 200)
    const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } }
    expectStatus(await client().patch(`${configMaps(namespace, 'c')}?${all}&fieldManager=m`, apply, config), 201)
    expectStatus(await client().delete(`${path}?${all}`), 200)
    expectStatus(await client().delete(`${configMaps(namespace)}?${all}`), 200)
    const list = (await client().get(configMaps(namespace))).json
    assert.deepEqual(
      list.items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]),
      [['a', object.metadata.resourceVersion]],
    )
  })
})
