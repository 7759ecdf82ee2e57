// The same objects in other forms than JSON: whatever was kept from earlier requests, every form shows what is there now.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { timedTest } from '../../src/base/timed-test.fixture.js'
import type { ApiClient } from '../kit/api-client.js'
import { onEveryEngine, onUsualEngine } from '../kit/embedded.js'
import { configMapOf, configMaps, expectStatus, makeConfigMap, newNamespace, sleep } from '../kit/fixtures.js'

/** Before and behind the length and the message of an object in its envelope: magic bytes, `v1` and `ConfigMap`, and two empty fields. */
const envelopeHead = 4 + 2 + (2 + 2) + (2 + 9)
const envelopeEnd = 4

/** Without what other requests and the clock change: the version of the list, which is in its beginning, and ages. */
const withoutTime = (bytes: Buffer): string => bytes.toString('latin1', 200).replace(/"cells":\[.*?\]/g, '')

for (const words of [
  { identity: 'cluster', protobuf: 'application/vnd.cluster.protobuf', group: 'meta.cluster.io' },
  { identity: 'kubernetes', protobuf: 'application/vnd.kubernetes.protobuf', group: 'meta.k8s.io' },
]) {
  const metadataOnly = `application/json;as=PartialObjectMetadataList;v=v1;g=${words.group}`
  const table = `application/json;as=Table;v=v1;g=${words.group}`

  /** One object as it stands in a list. */
  const itemOf = async (client: ApiClient, path: string): Promise<Buffer> => {
    const { bytes } = expectStatus(await client.get(path, { accept: words.protobuf }), 200)
    return bytes.subarray(envelopeHead, -envelopeEnd)
  }

  /** That each list has these objects and no others, in every form. */
  const expectItems = async (client: ApiClient, namespace: string, { query = '', names }: { query?: string; names: readonly string[] }) => {
    const path = `${configMaps(namespace)}${query}`
    const list = expectStatus(await client.get(path, { accept: words.protobuf }), 200)
    assert.equal(list.headers['content-type'], words.protobuf)
    const items = await Promise.all(names.map((name) => itemOf(client, configMaps(namespace, name))))
    assert.ok(list.bytes.subarray(0, -envelopeEnd).toString('hex').endsWith(Buffer.concat(items).toString('hex')), 'items in Protobuf')
    const plain = (await client.get(path)).json
    const versionsOf = (objects: typeof plain.items) => objects.map(({ metadata }) => [metadata.name, metadata.resourceVersion])
    assert.deepEqual(
      plain.items.map(({ metadata }) => metadata.name),
      names,
    )
    const metadata = (await client.get(path, { accept: metadataOnly })).json
    // Of a list without items this form has null.
    assert.deepEqual(versionsOf(metadata.items ?? []), versionsOf(plain.items))
    const rows = (
      (await client.get(path, { accept: table })).json as unknown as { rows: { cells: unknown[]; object: (typeof plain.items)[0] }[] }
    ).rows
    assert.deepEqual(versionsOf(rows.map(({ object }) => object)), versionsOf(plain.items))
    assert.deepEqual(
      rows.map(({ cells }) => cells[0]),
      names,
    )
  }

  onEveryEngine(
    `other forms, identity ${words.identity}`,
    (client) => {
      test('lists, pages and selections follow every change', async () => {
        const namespace = await newNamespace(client(), 'forms')
        const red = { labels: { color: 'red' } }
        for (const name of ['a', 'b', 'c', 'd']) await makeConfigMap(client(), namespace, configMapOf(name, name < 'c' ? red : {}))
        const expectAll = async (names: readonly string[], reds: readonly string[]): Promise<void> => {
          for (let again = 0; again < 2; again++) {
            await expectItems(client(), namespace, { names })
            await expectItems(client(), namespace, { query: '?labelSelector=color=red', names: reds })
            await expectItems(client(), namespace, { query: '?fieldSelector=metadata.name=b', names: names.filter((name) => name === 'b') })
            await expectItems(client(), namespace, { query: '?limit=2', names: names.slice(0, 2) })
          }
        }
        await expectAll(['a', 'b', 'c', 'd'], ['a', 'b'])
        await client().put(configMaps(namespace, 'b'), configMapOf('b', { ...red, data: { v: '2' } }))
        await expectAll(['a', 'b', 'c', 'd'], ['a', 'b'])
        await client().delete(configMaps(namespace, 'b'))
        await expectAll(['a', 'c', 'd'], ['a'])
        await makeConfigMap(client(), namespace, configMapOf('b'))
        await client().put(configMaps(namespace, 'd'), configMapOf('d', red))
        await expectAll(['a', 'b', 'c', 'd'], ['a', 'd'])
      })

      test('a list at an earlier version shows the objects of then', async () => {
        const namespace = await newNamespace(client(), 'forms')
        for (const name of ['a', 'b']) await makeConfigMap(client(), namespace, configMapOf(name))
        const { resourceVersion } = (await client().get(configMaps(namespace))).json.metadata
        const before = await itemOf(client(), configMaps(namespace, 'a'))
        await client().put(configMaps(namespace, 'a'), configMapOf('a', { data: { v: '2' } }))
        const after = await itemOf(client(), configMaps(namespace, 'a'))
        const query = `?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`
        const then = (await client().get(`${configMaps(namespace)}${query}`, { accept: words.protobuf })).bytes
        const now = (await client().get(configMaps(namespace), { accept: words.protobuf })).bytes
        assert.deepEqual(
          [then.includes(before), then.includes(after), now.includes(before), now.includes(after)],
          [true, false, false, true],
        )
      })

      timedTest('events have the objects that a read has', async (attempt) => {
        const namespace = await newNamespace(client(), 'forms')
        await makeConfigMap(client(), namespace, configMapOf('a'))
        const path = `${configMaps(namespace)}?watch=1&timeoutSeconds=2`
        const protobuf = Array.from({ length: 3 }, () => client().get(path, { accept: `${words.protobuf};stream=watch` }))
        const tables = await Promise.all(Array.from({ length: 2 }, () => client().watch(path, { accept: table })))
        for (const watch of tables) attempt.after(() => watch.close())
        const added = await itemOf(client(), configMaps(namespace, 'a'))
        for (const watch of tables) await watch.atLeast(1)
        await client().put(configMaps(namespace, 'a'), configMapOf('a', { data: { v: '2' } }))
        const modified = await itemOf(client(), configMaps(namespace, 'a'))
        const { resourceVersion } = (await client().get(configMaps(namespace, 'a'))).json.metadata
        for (const watch of tables) {
          const [first, second] = (await watch.atLeast(2)).map(
            ({ object }) =>
              object as unknown as { columnDefinitions: unknown; rows: { object: { metadata: { resourceVersion: string } } }[] },
          )
          assert.ok(Array.isArray(first?.columnDefinitions))
          assert.equal(second?.columnDefinitions, null)
          assert.equal(second?.rows[0]?.object.metadata.resourceVersion, resourceVersion)
        }
        for (const { bytes } of await Promise.all(protobuf)) {
          assert.ok(bytes.includes(added) && bytes.includes(modified), 'both events in Protobuf')
          assert.ok(bytes.indexOf('ADDED') < bytes.indexOf('MODIFIED'))
        }
      })

      test('a list that is too long for one piece is whole in every form, compressed or not', async () => {
        const namespace = await newNamespace(client(), 'forms')
        const names = Array.from({ length: 36 }, (_, i) => `o${10 + i}`)
        for (const name of names) await makeConfigMap(client(), namespace, configMapOf(name, { data: { text: name.repeat(10_000) } }))
        await expectItems(client(), namespace, { names })
        const path = `${configMaps(namespace)}?includeObject=Object`
        for (const accept of [words.protobuf, table, metadataOnly]) {
          const plain = expectStatus(await client().get(path, { accept }), 200)
          const compressed = expectStatus(await client().get(path, { accept, 'accept-encoding': 'gzip' }), 200)
          const isLong = plain.bytes.length > 128 * 1024
          assert.equal(compressed.headers['content-encoding'], isLong ? 'gzip' : undefined)
          const bytes = isLong ? gunzipSync(compressed.bytes) : compressed.bytes
          assert.ok(withoutTime(bytes) === withoutTime(plain.bytes), accept)
        }
      })

      test('ages in a table grow while objects stay as they are', async () => {
        const namespace = await newNamespace(client(), 'forms')
        await makeConfigMap(client(), namespace, configMapOf('a'))
        const age = async (): Promise<number> => {
          const { rows } = (await client().get(configMaps(namespace), { accept: table })).json as unknown as { rows: { cells: string[] }[] }
          return Number(/^(\d+)s$/.exec(rows[0]?.cells.at(-1) ?? '')?.[1])
        }
        const first = await age()
        await sleep(1100)
        assert.ok((await age()) > first)
      })
    },
    [`--identity=${words.identity}`],
  )
}

onUsualEngine('YAML', (client) => {
  test('integers beyond 2^53 are the same in YAML as in JSON', async () => {
    const namespace = await newNamespace(client(), 'yaml')
    const path = `/apis/apps/v1/namespaces/${namespace}/controllerrevisions`
    const metadata = { name: 'big', namespace }
    const body = JSON.stringify({ apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata, revision: 1 })
    const text = body.replace('"revision":1', '"revision":9007199254740993,"data":{"deep":[-9223372036854775807]}')
    expectStatus(await client().post(path, Buffer.from(text)), 201)
    for (const where of [`${path}/big`, path, `${path}?limit=1`]) {
      const json = expectStatus(await client().get(where), 200).bytes.toString()
      assert.match(json, /"revision":9007199254740993/)
      const yaml = expectStatus(await client().get(where, { accept: 'application/yaml' }), 200).bytes.toString()
      assert.match(yaml, /revision: 9007199254740993\n/)
      assert.match(yaml, /- -9223372036854775807\n/)
    }
  })

  test('a long list of metadata alone is the same in YAML as in JSON', async () => {
    const namespace = await newNamespace(client(), 'yaml-metadata')
    await Promise.all(Array.from({ length: 200 }, (_, i) => makeConfigMap(client(), namespace, configMapOf(`m${1000 + i}`))))
    const accept = (type: string): { accept: string } => ({
      accept: `application/${type};as=PartialObjectMetadataList;v=v1;g=meta.cluster.io`,
    })
    const yaml = expectStatus(await client().get(configMaps(namespace), accept('yaml')), 200).bytes.toString()
    assert.match(yaml, /^apiVersion: meta.cluster.io\/v1\nitems:\n- apiVersion: meta.cluster.io\/v1\n/)
    assert.equal(yaml.split('\n- apiVersion:').length - 1, 200)
    const none = expectStatus(await client().get(`${configMaps(namespace)}?labelSelector=none`, accept('yaml')), 200).bytes.toString()
    assert.match(none, /\nitems: null\n/)
  })
})
