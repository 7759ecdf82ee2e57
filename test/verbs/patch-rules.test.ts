// Rules of patches that single recordings show and many requests meet: whose the metadata are, names, numbers, nulls.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onUsualEngine } from '../kit/embedded.js'
import { configMapOf, configMaps, expectFailure, expectStatus, makeConfigMap, newNamespace, until } from '../kit/fixtures.js'

const json = 'application/json-patch+json'
const merge = 'application/merge-patch+json'
const strategic = 'application/strategic-merge-patch+json'
const apply = 'application/apply-patch+yaml'

onUsualEngine('rules of patches', (client) => {
  test('an applier drops its last annotation, and with it no other metadata', async () => {
    const namespace = await newNamespace(client(), 'drops')
    const path = `${configMaps(namespace, 'a')}?fieldManager=m`
    const config = (metadata: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { k: 'v' } })
    const made = expectStatus(await client().patch(path, apply, config({ name: 'a', annotations: { a: 'b' } })), 201).json
    const { metadata } = expectStatus(await client().patch(path, apply, config({ name: 'a' })), 200).json
    assert.equal(metadata['annotations'], undefined)
    assert.equal(metadata.uid, made.metadata.uid)
    assert.equal(metadata.name, 'a')
  })

  test('a configuration without a name is for the object of the path; conflicts come before names', async () => {
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

  test('a number beyond all integers is refused by every kind of patch', async () => {
    const namespace = await newNamespace(client(), 'numbers')
    await makeConfigMap(client(), namespace, configMapOf('a'))
    const path = configMaps(namespace, 'a')
    const great = '99999999999999999999'
    expectFailure(await client().patch(path, merge, `{"data":{"x":${great}}}`), 422, 'Invalid')
    expectFailure(await client().patch(path, strategic, `{"metadata":{"generation":${great}}}`), 422, 'Invalid')
    expectFailure(await client().patch(path, json, `[{"op":"add","path":"/data","value":{"x":${great}}}]`), 422, 'Invalid')
    const config = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","generation":${great}}}`
    expectFailure(await client().patch(`${path}?fieldManager=m`, apply, config), 422, 'Invalid')
  })

  test('a whole number is written without a point, where what is written is kept until it is read', async () => {
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

  test('what does not fit into a merged object is said in the words that clients know', async () => {
    const namespace = await newNamespace(client(), 'words')
    await makeConfigMap(client(), namespace, configMapOf('a'))
    const say = async (patch: object): Promise<string> =>
      String(expectFailure(await client().patch(configMaps(namespace, 'a'), strategic, patch), 422, 'Invalid').message)
    assert.match(await say({ metadata: { labels: 'x' } }), /metadata\.labels: cannot restore map from string$/)
    assert.match(await say({ metadata: { finalizers: { a: 'b' } } }), /metadata\.finalizers: cannot restore slice from map$/)
    assert.match(await say({ metadata: 5 }), /metadata: cannot restore struct from: int64$/)
  })

  test('a refused change of a pod names the fields', async () => {
    const namespace = await newNamespace(client(), 'differs')
    await until(
      () => client().get(`/api/v1/namespaces/${namespace}/serviceaccounts/default`),
      ({ status }) => status === 200,
    )
    const pods = `/api/v1/namespaces/${namespace}/pods`
    expectStatus(await client().post(pods, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }), 201)
    const refused = await client().patch(`${pods}/p`, merge, { spec: { nodeSelector: { a: 'b' }, hostname: 'h' } })
    assert.match(String(expectFailure(refused, 422, 'Invalid').message), /these fields differ: spec\.nodeSelector, spec\.hostname/)
  })

  test('a body that is null says nothing, but for a merge patch', async () => {
    const namespace = await newNamespace(client(), 'nulls')
    const { metadata } = await makeConfigMap(client(), namespace, configMapOf('a', { data: { k: '1' } }))
    for (const type of [json, strategic]) {
      const same = expectStatus(await client().patch(configMaps(namespace, 'a'), type, 'null'), 200).json
      assert.equal(same.metadata.resourceVersion, metadata.resourceVersion)
    }
    expectFailure(await client().patch(configMaps(namespace, 'a'), merge, 'null'), 400, 'BadRequest')
  })
})
