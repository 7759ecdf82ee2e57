// Rules of PATCH, as seen in recordings of kube-apiserver: metadata, names, numbers, nulls.

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

const json = 'application/json-patch+json'
const merge = 'application/merge-patch+json'
const strategic = 'application/strategic-merge-patch+json'
const apply = 'application/apply-patch+yaml'

onDefaultEngine('rules of PATCH', (client) => {
  test('apply without the last annotation removes it and keeps other metadata', async () => {
    const namespace = await newNamespace(client(), 'drops')
    const path = `${configMaps(namespace, 'a')}?fieldManager=m`
    const config = (metadata: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { k: 'v' } })
    const created = expectStatus(await client().patch(path, apply, config({ name: 'a', annotations: { a: 'b' } })), 201).json
    const { metadata } = expectStatus(await client().patch(path, apply, config({ name: 'a' })), 200).json
    assert.equal(metadata['annotations'], undefined)
    assert.equal(metadata.uid, created.metadata.uid)
    assert.equal(metadata.name, 'a')
  })

  test('apply without a name applies to the object of the path; conflicts are reported before a wrong name', async () => {
    const namespace = await newNamespace(client(), 'nameless')
    const path = configMaps(namespace, 'a')
    const config = (metadata: object | undefined, k: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { k } })
    expectFailure(await client().patch(`${path}?fieldManager=m`, apply, config(undefined, '1')), 400, 'BadRequest')
    await makeConfigMap(client(), namespace, configMapOf('a', { data: { k: '1' }, labels: { x: 'y' } }))
    const applied = expectStatus(await client().patch(`${path}?fieldManager=m`, apply, config({ labels: { x: 'y' } }, '1')), 200).json
    assert.equal(applied.metadata.name, 'a')
    expectStatus(await client().patch(`${path}?fieldManager=o`, apply, config(undefined, '1')), 200)
    expectFailure(await client().patch(`${path}?fieldManager=n`, apply, config({ name: 'z' }, '2')), 409, 'Conflict')
    expectFailure(await client().patch(`${path}?fieldManager=n`, apply, config({ name: 'z' }, '1')), 400, 'BadRequest')
  })

  test('integers outside of 64 bits are rejected by every patch type', async () => {
    const namespace = await newNamespace(client(), 'numbers')
    await makeConfigMap(client(), namespace, configMapOf('a'))
    const path = configMaps(namespace, 'a')
    const tooLarge = '99999999999999999999'
    expectFailure(await client().patch(path, merge, `{"data":{"x":${tooLarge}}}`), 422, 'Invalid')
    expectFailure(await client().patch(path, strategic, `{"metadata":{"generation":${tooLarge}}}`), 422, 'Invalid')
    expectFailure(await client().patch(path, json, `[{"op":"add","path":"/data","value":{"x":${tooLarge}}}]`), 422, 'Invalid')
    const config = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","generation":${tooLarge}}}`
    expectFailure(await client().patch(`${path}?fieldManager=m`, apply, config), 422, 'Invalid')
  })

  test('7.0 is no integer in JSON and merge patches, but is one in a strategic merge patch; quantities keep their spelling', async () => {
    const namespace = await newNamespace(client(), 'points')
    await makeConfigMap(client(), namespace, configMapOf('a'))
    const path = configMaps(namespace, 'a')
    const text = '{"metadata":{"generation":7.0}}'
    expectFailure(await client().post(configMaps(namespace), '{"metadata":{"name":"b","generation":7.0}}'), 400, 'BadRequest')
    expectFailure(await client().patch(path, merge, text), 422, 'Invalid')
    expectFailure(await client().patch(path, json, '[{"op":"add","path":"/metadata/generation","value":7.0}]'), 422, 'Invalid')
    expectFailure(
      await client().patch(path, json, '[{"op":"add","path":"/metadata","value":{"name":"a","generation":7.0}}]'),
      422,
      'Invalid',
    )
    expectStatus(await client().patch(path, strategic, text), 200)
    const quotas = `/api/v1/namespaces/${namespace}/resourcequotas`
    expectStatus(await client().post(quotas, { metadata: { name: 'q' }, spec: { hard: { memory: '1' } } }), 201)
    const { spec } = expectStatus(await client().patch(`${quotas}/q`, merge, '{"spec":{"hard":{"memory":1e3}}}'), 200).json
    assert.deepEqual(spec, { hard: { memory: '1e3' } })
    const amount = '[{"op":"replace","path":"/spec/hard/memory","value":2e3}]'
    assert.deepEqual(expectStatus(await client().patch(`${quotas}/q`, json, amount), 200).json['spec'], { hard: { memory: '2e3' } })
  })

  test('type mismatches in a strategic merge patch have the messages of kube-apiserver', async () => {
    const namespace = await newNamespace(client(), 'words')
    await makeConfigMap(client(), namespace, configMapOf('a'))
    const messageOf = async (patch: object): Promise<string> =>
      String(expectFailure(await client().patch(configMaps(namespace, 'a'), strategic, patch), 422, 'Invalid').message)
    assert.match(await messageOf({ metadata: { labels: 'x' } }), /metadata\.labels: cannot restore map from string$/)
    assert.match(await messageOf({ metadata: { finalizers: { a: 'b' } } }), /metadata\.finalizers: cannot restore slice from map$/)
    assert.match(await messageOf({ metadata: 5 }), /metadata: cannot restore struct from: int64$/)
  })

  test('an invalid update of a pod lists the changed fields', async () => {
    const namespace = await newNamespace(client(), 'differs')
    await untilStatus(() => client().get(`/api/v1/namespaces/${namespace}/serviceaccounts/default`), 200)
    const pods = `/api/v1/namespaces/${namespace}/pods`
    expectStatus(await client().post(pods, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }), 201)
    const refused = await client().patch(`${pods}/p`, merge, { spec: { nodeSelector: { a: 'b' }, hostname: 'h' } })
    assert.match(String(expectFailure(refused, 422, 'Invalid').message), /these fields differ: spec\.nodeSelector, spec\.hostname/)
  })

  test('a null body is an empty patch, except for merge patches', async () => {
    const namespace = await newNamespace(client(), 'nulls')
    const { metadata } = await makeConfigMap(client(), namespace, configMapOf('a', { data: { k: '1' } }))
    for (const type of [json, strategic]) {
      const unchanged = expectStatus(await client().patch(configMaps(namespace, 'a'), type, 'null'), 200).json
      assert.equal(unchanged.metadata.resourceVersion, metadata.resourceVersion)
    }
    expectFailure(await client().patch(configMaps(namespace, 'a'), merge, 'null'), 400, 'BadRequest')
  })

  test('kind and apiVersion of a built-in kind are found in any letter case', async () => {
    const namespace = await newNamespace(client(), 'cases')
    await makeConfigMap(client(), namespace, configMapOf('a', { data: { k: 'v' } }))
    const path = configMaps(namespace, 'a')
    const valid = [
      await client().patch(path, merge, { apiVersion: null, ApiVersion: 'v1' }),
      await client().patch(path, json, [{ op: 'move', from: '/apiVersion', path: '/APIVERSION' }]),
      await client().put(path, { Kind: 'ConfigMap', apiversion: 'v1', metadata: { name: 'a' }, data: { k: 'v' } }),
    ]
    for (const response of valid) assert.match(String(expectStatus(response, 200).headers['warning']), /unknown field/)
    expectFailure(await client().patch(path, merge, { kind: null, KIND: 'Secret' }), 422, 'Invalid')
    expectFailure(await client().post(configMaps(namespace), { Kind: 'Secret', metadata: { name: 'b' } }), 400, 'BadRequest')
    expectFailure(await client().put(path, { ApiVersion: 'v2', metadata: { name: 'a' } }), 400, 'BadRequest')
  })

  test('a patch that leaves no apiVersion: 422 with another kind, else 400 and no field is known', async () => {
    const namespace = await newNamespace(client(), 'untyped')
    await makeConfigMap(client(), namespace, configMapOf('a', { data: { k: 'v' } }))
    const path = configMaps(namespace, 'a')
    const refused = await client().patch(path, merge, { apiVersion: null })
    expectFailure(refused, 400, 'BadRequest')
    assert.equal(refused.headers['warning'], '299 - "unknown field \\"data\\"", 299 - "unknown field \\"metadata\\""')
    const strict = expectFailure(await client().patch(`${path}?fieldValidation=Strict`, merge, { apiVersion: null }), 400, 'BadRequest')
    assert.match(strict.message ?? '', /^strict decoding error: unknown field "data", unknown field "metadata"$/)
    const other = [
      { op: 'move', from: '/apiVersion', path: '/metadata/annotations' },
      { op: 'replace', path: '/kind', value: 'Secret' },
    ]
    expectFailure(await client().patch(path, json, other), 422, 'Invalid')
    expectFailure(await client().patch(path, merge, { apiVersion: null, kind: 'Secret' }), 422, 'Invalid')
    expectFailure(await client().patch(path, json, [{ op: 'replace', path: '', value: null }]), 400, 'BadRequest')
  })

  test('a result that cannot be decoded is shown in the error; a strategic merge patch shows itself', async () => {
    const namespace = await newNamespace(client(), 'shown')
    await makeConfigMap(client(), namespace, configMapOf('a', { data: { k: 'v' } }))
    const shownResult = async (type: string, body: unknown): Promise<object> => {
      const { message = '' } = expectFailure(await client().patch(configMaps(namespace, 'a'), type, body), 422, 'Invalid')
      return JSON.parse(JSON.parse(/Invalid value: ("(?:[^"\\]|\\.)*")/.exec(message)?.[1] ?? '""') as string) as object
    }
    const patch = { metadata: { managedFields: null }, data: { x: 1 } }
    for (const result of [
      await shownResult(merge, patch),
      await shownResult(json, [
        { op: 'add', path: '/data/x', value: 1 },
        { op: 'remove', path: '/metadata/managedFields' },
      ]),
    ])
      assert.deepEqual((result as { data?: unknown }).data, { k: 'v', x: 1 })
    assert.deepEqual(await shownResult(strategic, patch), patch)
  })

  test('a malformed patch of a missing object is 404: the object is read first', async () => {
    const namespace = await newNamespace(client(), 'missing')
    for (const type of [json, merge, strategic])
      for (const body of ['{', '"x"', '', `[${','.repeat(20_000)}`])
        expectFailure(await client().patch(configMaps(namespace, 'a'), type, body), 404, 'NotFound')
    expectFailure(await client().patch(`${configMaps(namespace, 'a')}?fieldManager=m`, apply, '{'), 400, 'BadRequest')
    await makeConfigMap(client(), namespace, configMapOf('a'))
    for (const type of [json, merge, strategic])
      expectFailure(await client().patch(configMaps(namespace, 'a'), type, '{'), 400, 'BadRequest')
  })

  test('apply checks version, managedFields and kind in this order', async () => {
    const path = `${configMaps(await newNamespace(client(), 'order'), 'a')}?fieldManager=m`
    const rows: readonly (readonly [config: object, message: RegExp])[] = [
      [{ apiVersion: 'v2', metadata: { managedFields: [{}] } }, /patch version: v2, expected: v1$/],
      [{ apiVersion: '/abs', metadata: { managedFields: [{}] } }, /patch version: abs, expected: v1$/],
      [{ apiVersion: 'a/b/c', kind: 'ConfigMap' }, /patch version: , expected: v1$/],
      [{ apiVersion: 'v1', metadata: { name: 'a', managedFields: [] } }, /^metadata.managedFields must be nil$/],
      [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a', namespace: 'other' } }, /no corresponding type for \/v1, Kind=Secret$/],
    ]
    for (const [config, message] of rows) {
      const refused = expectFailure(await client().patch(path, apply, config), 400, 'BadRequest')
      assert.match(refused.message ?? '', message)
    }
    const unchanged = { apiVersion: '/v1', kind: 'ConfigMap', metadata: { name: 'a', managedFields: null } }
    expectStatus(await client().patch(path, apply, unchanged), 201)
  })

  test('apply warns of duplicate keys unless it conflicts or is a dry run', async () => {
    const path = configMaps(await newNamespace(client(), 'twice'), 'a')
    const config = (a: string) => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"0","a":"${a}"}}`
    const write = (query: string, a: string) => client().patch(`${path}?${query}`, apply, config(a))
    const warning = '299 - "line 1: key \\"a\\" already set in map"'
    assert.equal(expectStatus(await write('fieldManager=m&dryRun=All', '1'), 201).headers['warning'], undefined)
    assert.equal(expectStatus(await write('fieldManager=m', '1'), 201).headers['warning'], warning)
    assert.equal(expectStatus(await write('fieldManager=m', '1'), 200).headers['warning'], warning)
    for (const validation of ['Warn', 'Strict']) {
      const conflict = await write(`fieldManager=other&fieldValidation=${validation}`, '2')
      expectFailure(conflict, 409, 'Conflict')
      assert.equal(conflict.headers['warning'], undefined)
    }
    expectFailure(await write('fieldManager=m&fieldValidation=Strict&dryRun=All', '1'), 400, 'BadRequest')
  })

  test('a duplicate field inside an unknown field is not reported', async () => {
    const namespace = await newNamespace(client(), 'inside')
    const created = await client().post(configMaps(namespace), '{"metadata":{"name":"a"},"odd":{"a":0,"a":0},"data":{"q":"1","q":"2"}}')
    assert.equal(expectStatus(created, 201).headers['warning'], '299 - "unknown field \\"odd\\"", 299 - "duplicate field \\"data.q\\""')
  })
})
