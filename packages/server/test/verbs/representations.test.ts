// Other representations than JSON: Protobuf, YAML, Table, metadata. Cached encodings never show outdated objects.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { ApiClient } from '../../../../test/kit/api-client.js'
import { onDefaultEngine, onEveryEngine } from '../../../../test/kit/embedded.js'
import { configMapOf, configMaps, expectStatus, makeConfigMap, newNamespace, until } from '../../../../test/kit/fixtures.js'

/** Prefix and suffix of an object in its Protobuf envelope: magic bytes, `v1` and `ConfigMap`, and two empty fields. */
const envelopeHead = 4 + 2 + (2 + 2) + (2 + 9)
const envelopeEnd = 4

/** Removes the resourceVersion of the list and ages, which other requests and the clock change. */
const withoutTime = (bytes: Buffer): string => bytes.toString('latin1', 200).replace(/"cells":\[.*?\]/g, '')

for (const apiNames of [
  { identity: 'cluster', protobuf: 'application/vnd.cluster.protobuf', group: 'meta.cluster.io' },
  { identity: 'kubernetes', protobuf: 'application/vnd.kubernetes.protobuf', group: 'meta.k8s.io' },
]) {
  const metadataOnly = `application/json;as=PartialObjectMetadataList;v=v1;g=${apiNames.group}`
  const table = `application/json;as=Table;v=v1;g=${apiNames.group}`

  /** One object as an item of a list. */
  const itemOf = async (client: ApiClient, path: string): Promise<Buffer> => {
    const { bytes } = expectStatus(await client.get(path, { accept: apiNames.protobuf }), 200)
    return bytes.subarray(envelopeHead, -envelopeEnd)
  }

  /** Checks that each list has exactly these objects, in every representation. */
  const expectItems = async (client: ApiClient, namespace: string, { query = '', names }: { query?: string; names: readonly string[] }) => {
    const path = `${configMaps(namespace)}${query}`
    const list = expectStatus(await client.get(path, { accept: apiNames.protobuf }), 200)
    assert.equal(list.headers['content-type'], apiNames.protobuf)
    const items = await Promise.all(names.map((name) => itemOf(client, configMaps(namespace, name))))
    assert.ok(list.bytes.subarray(0, -envelopeEnd).toString('hex').endsWith(Buffer.concat(items).toString('hex')), 'items in Protobuf')
    const plain = (await client.get(path)).json
    const versionsOf = (objects: typeof plain.items) => objects.map(({ metadata }) => [metadata.name, metadata.resourceVersion])
    assert.deepEqual(
      plain.items.map(({ metadata }) => metadata.name),
      names,
    )
    const metadata = (await client.get(path, { accept: metadataOnly })).json
    // PartialObjectMetadataList has null items if empty.
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
    `representations, identity ${apiNames.identity}`,
    (client) => {
      test('lists, pages and selectors show every change', async () => {
        const namespace = await newNamespace(client(), 'representations')
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

      test('a list at an earlier resourceVersion shows the objects of that version', async () => {
        const namespace = await newNamespace(client(), 'representations')
        for (const name of ['a', 'b']) await makeConfigMap(client(), namespace, configMapOf(name))
        const { resourceVersion } = (await client().get(configMaps(namespace))).json.metadata
        const before = await itemOf(client(), configMaps(namespace, 'a'))
        await client().put(configMaps(namespace, 'a'), configMapOf('a', { data: { v: '2' } }))
        const after = await itemOf(client(), configMaps(namespace, 'a'))
        const query = `?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`
        const past = (await client().get(`${configMaps(namespace)}${query}`, { accept: apiNames.protobuf })).bytes
        const current = (await client().get(configMaps(namespace), { accept: apiNames.protobuf })).bytes
        assert.deepEqual(
          [past.includes(before), past.includes(after), current.includes(before), current.includes(after)],
          [true, false, false, true],
        )
      })

      test('watch events contain the object as GET returns it, live and from history', async (t) => {
        const namespace = await newNamespace(client(), 'representations')
        const path = `${configMaps(namespace)}?watch=1&resourceVersion=${(await client().get(configMaps(namespace))).json.metadata.resourceVersion}`
        const tables = await Promise.all(Array.from({ length: 2 }, () => client().watch(path, { accept: table })))
        for (const watch of tables) t.after(() => watch.close())
        await makeConfigMap(client(), namespace, configMapOf('a'))
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
        const { bytes } = await client().get(`${path}&timeoutSeconds=1`, { accept: `${apiNames.protobuf};stream=watch` })
        assert.ok(bytes.includes(added) && bytes.includes(modified), 'both events in Protobuf')
        assert.ok(bytes.indexOf('ADDED') < bytes.indexOf('MODIFIED'))
      })

      test('a list of several chunks is complete in every representation, compressed or not', async () => {
        const namespace = await newNamespace(client(), 'representations')
        const names = Array.from({ length: 36 }, (_, i) => `o${10 + i}`)
        for (const name of names) await makeConfigMap(client(), namespace, configMapOf(name, { data: { text: name.repeat(10_000) } }))
        await expectItems(client(), namespace, { names })
        const path = `${configMaps(namespace)}?includeObject=Object`
        for (const accept of [apiNames.protobuf, table, metadataOnly]) {
          const plain = expectStatus(await client().get(path, { accept }), 200)
          const compressed = expectStatus(await client().get(path, { accept, 'accept-encoding': 'gzip' }), 200)
          const isLong = plain.bytes.length > 128 * 1024
          assert.equal(compressed.headers['content-encoding'], isLong ? 'gzip' : undefined)
          const bytes = isLong ? gunzipSync(compressed.bytes) : compressed.bytes
          assert.ok(withoutTime(bytes) === withoutTime(plain.bytes), accept)
        }
      })

      test('ages in a table grow without changes of the objects', async () => {
        const namespace = await newNamespace(client(), 'representations')
        await makeConfigMap(client(), namespace, configMapOf('a'))
        const age = async (): Promise<number> => {
          const { rows } = (await client().get(configMaps(namespace), { accept: table })).json as unknown as { rows: { cells: string[] }[] }
          return Number(/^(\d+)s$/.exec(rows[0]?.cells.at(-1) ?? '')?.[1])
        }
        const first = await age()
        await until(age, (seconds) => seconds > first)
      })
    },
    [`--identity=${apiNames.identity}`],
  )
}

onDefaultEngine('YAML', (client) => {
  test('integers beyond 2^53 are the same in YAML and JSON', async () => {
    const namespace = await newNamespace(client(), 'yaml')
    const path = `/apis/apps/v1/namespaces/${namespace}/controllerrevisions`
    const metadata = { name: 'big', namespace }
    const body = JSON.stringify({ apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata, revision: 1 })
    const text = body.replace('"revision":1', '"revision":9007199254740993,"data":{"deep":[-9223372036854775807]}')
    expectStatus(await client().post(path, Buffer.from(text)), 201)
    for (const listPath of [`${path}/big`, path, `${path}?limit=1`]) {
      const json = expectStatus(await client().get(listPath), 200).bytes.toString()
      assert.match(json, /"revision":9007199254740993/)
      const yaml = expectStatus(await client().get(listPath, { accept: 'application/yaml' }), 200).bytes.toString()
      assert.match(yaml, /revision: 9007199254740993\n/)
      assert.match(yaml, /- -9223372036854775807\n/)
    }
  })
})
