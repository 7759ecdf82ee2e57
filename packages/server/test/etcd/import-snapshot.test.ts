// Import of snapshots of a real etcd, as it writes them and as `etcdctl snapshot save` receives them; and of 20,000 objects.

import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type EmbeddedServer, startServer } from 'cluster-apiserver'
import { clientOf } from '../../../../test/kit/embedded.js'
import { expectStatus } from '../../../../test/kit/fixtures.js'
import { Catalog } from '../../../api/src/api/catalog/catalog.js'
import { identityOf } from '../../../api/src/api/identity.js'
import { encodeProtobuf } from '../../../api/src/codec/protobuf-envelope.js'
import { definitions } from '../../../api/src/resources/index.js'
import { writeSnapshot } from '../../src/assemble/testkit/import/bolt-writer.fixture.js'
import { EtcdCluster, whyNoEtcd } from './etcd-cluster.js'

const catalog = new Catalog({ identity: identityOf('kubernetes'), definitions, isServed: () => true })
const schema = catalog.find('', 'v1', 'configmaps')?.schema
const folder = mkdtempSync(join(tmpdir(), 'import-etcd-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** A ConfigMap as kube-apiserver stores it. */
function stored(name: string, data: string): Buffer {
  assert.ok(schema)
  const object = { metadata: { name, namespace: 'shop', uid: `uid-${name}`, creationTimestamp: '2026-01-02T03:04:05Z' }, data: { a: data } }
  return Buffer.from(encodeProtobuf({ type: { apiVersion: 'v1', kind: 'ConfigMap' }, schema, object }))
}

const keyOf = (name: string): string => `/registry/configmaps/shop/${name}`

async function withServer(from: string, work: (server: EmbeddedServer) => Promise<void>): Promise<void> {
  const server = await startServer({ identity: 'kubernetes', from })
  try {
    await work(server)
  } finally {
    await server.close({ immediately: true })
  }
}

describe('a snapshot of a real etcd', { skip: whyNoEtcd ?? false }, () => {
  let cluster: EtcdCluster
  before(async () => {
    cluster = await EtcdCluster.start({ members: 1 })
  })
  after(() => cluster.stop())

  /** Calls etcd's JSON gateway. */
  const call = async (method: string, body: object): Promise<Response> => {
    const response = await fetch(`${cluster.endpoints[0]}/v3/${method}`, { method: 'POST', body: JSON.stringify(body) })
    assert.equal(response.status, 200, method)
    return response
  }
  const base64 = (value: string | Buffer): string => Buffer.from(value).toString('base64')

  test('the newest live revisions are imported', async () => {
    const versions = new Map<string, string>()
    const put = async (name: string, data: string): Promise<void> => {
      const { header } = (await (await call('kv/put', { key: base64(keyOf(name)), value: base64(stored(name, data)) })).json()) as Header
      versions.set(name, header.revision)
    }
    // Enough for several levels of pages, and a value with overflow pages.
    for (let i = 0; i < 300; i++) await put(`m${i}`, 'first')
    await put('large', 'x'.repeat(300_000))
    for (let i = 0; i < 300; i += 3) await put(`m${i}`, 'second')
    for (let i = 1; i < 300; i += 3) await call('kv/deleterange', { key: base64(keyOf(`m${i}`)) })
    await call('kv/compaction', { revision: versions.get('large'), physical: true })
    const saved = join(folder, 'saved.db')
    writeFileSync(saved, await receiveSnapshot())
    // The database of a killed member has no checksum, and pages in its freelist.
    await cluster.kill(0)
    const copied = join(folder, 'copied.db')
    cpSync(join(cluster.folder, 'm0', 'member', 'snap', 'db'), copied)
    for (const path of [saved, copied])
      await withServer(path, async (server) => {
        const client = clientOf(server)
        const { items } = expectStatus(await client.get('/api/v1/namespaces/shop/configmaps'), 200).json
        client.close()
        const found = items.filter(({ metadata }) => versions.has(metadata.name))
        assert.equal(found.length, 201)
        for (const { metadata, data } of found as readonly ((typeof items)[number] & { readonly data?: unknown })[]) {
          const { name } = metadata
          assert.equal(metadata.resourceVersion, versions.get(name), name)
          assert.equal(metadata.uid, `uid-${name}`)
          const expected = name === 'large' ? 'x'.repeat(300_000) : Number(name.slice(1)) % 3 === 0 ? 'second' : 'first'
          assert.deepEqual(data, { a: expected }, name)
        }
      })
  })

  async function receiveSnapshot(): Promise<Buffer> {
    const lines = (await (await call('maintenance/snapshot', {})).text()).trim().split('\n')
    return Buffer.concat(lines.map((line) => Buffer.from((JSON.parse(line) as Chunk).result.blob ?? '', 'base64')))
  }
})

interface Header {
  readonly header: { readonly revision: string }
}

interface Chunk {
  readonly result: { readonly blob?: string }
}

test('20,000 objects are imported', async (t) => {
  const count = 20_000
  const names = Array.from({ length: count }, (_, i) => `m${i}`)
  const snapshot = join(folder, 'many.db')
  writeFileSync(
    snapshot,
    writeSnapshot(names.map((name, i) => ({ key: keyOf(name), value: stored(name, 'x'.repeat(500)), revision: i + 2 }))),
  )
  const list = join(folder, 'many.json')
  const items = names.map((name, i) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion: String(i + 2) },
    data: { a: 'x'.repeat(500) },
  }))
  writeFileSync(list, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  for (const path of [snapshot, list]) {
    const startMs = performance.now()
    await withServer(path, async (server) => {
      t.diagnostic(`${path}: started with ${count} objects after ${Math.round(performance.now() - startMs)} ms`)
      const client = clientOf(server)
      const page = expectStatus(await client.get('/api/v1/namespaces/shop/configmaps?limit=1'), 200).json
      client.close()
      // The server adds the ConfigMap with its root CA.
      assert.ok(Number((page.metadata as { remainingItemCount?: number }).remainingItemCount) >= count - 1)
    })
  }
})
