// A store of the format before is brought up to date where it is when a server starts, and nobody notices but by the log.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import type { ApiClient } from './kit/api-client.js'
import { configMapOf, configMaps, expectFailure, expectStatus } from './kit/fixtures.js'
import { downgradeBackup, downgradeStore, formatOf, readRows, setFormat } from './kit/old-store.js'
import { commandPath } from './kit/paths.js'
import { newFolder, runCommand, ServerProcess } from './kit/server-process.js'

const command = (...args: readonly string[]) => promisify(execFile)(process.execPath, [commandPath, ...args])
const services = '/api/v1/namespaces/default/services'
const folders: string[] = []
const emptyFolder = (): string => {
  const folder = newFolder()
  folders.push(folder)
  return folder
}
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

interface Written {
  /** From before the last changes. */
  readonly from: string
  readonly address: string
}

/** Objects of many shapes, some of them changed and one gone; and services, which hold unique keys. */
async function fill(client: ApiClient): Promise<Written> {
  const owner = expectStatus(await client.post(configMaps('default'), configMapOf('owner')), 201).json
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid }]
  for (let i = 0; i < 60; i++) {
    const object = configMapOf(`map-${i}`, { labels: { odd: String(i % 2) }, data: { text: 'ü'.repeat(i * 10) } })
    const metadata = { ...object.metadata, ...(i % 3 === 0 ? { ownerReferences } : {}) }
    expectStatus(await client.post(configMaps('default'), { ...object, metadata }), 201)
  }
  const service = (name: string) => ({ metadata: { name }, spec: { type: 'NodePort', ports: [{ port: 80 }] } })
  const made = expectStatus(await client.post(services, service('one')), 201).json
  expectStatus(await client.post(services, service('two')), 201)
  const from = expectStatus(await client.get(configMaps('default')), 200).json.metadata.resourceVersion
  for (const i of [1, 2, 3])
    expectStatus(await client.put(configMaps('default', `map-${i}`), configMapOf(`map-${i}`, { data: { again: 'yes' } })), 200)
  expectStatus(await client.delete(configMaps('default', 'map-4')), 200)
  return { from, address: (made['spec'] as { readonly clusterIP: string }).clusterIP }
}

const listed = async (client: ApiClient): Promise<unknown> =>
  Promise.all(
    [
      configMaps('default'),
      services,
      '/apis/rbac.authorization.cluster.io/v1/clusterroles',
      `${configMaps('default')}?labelSelector=odd%3D1`,
    ].map(async (path) => expectStatus(await client.get(path), 200).json.items),
  )

describe('a folder of the format before', () => {
  const source = emptyFolder()
  let written: Written
  let lists: unknown
  before(async () => {
    const server = await ServerProcess.start({ dataDir: source })
    written = await fill(server.client)
    lists = await listed(server.client)
    await server.stop()
  })

  const oldCopy = async (): Promise<string> => {
    const dataDir = emptyFolder()
    cpSync(source, dataDir, { recursive: true })
    await downgradeStore(dataDir)
    return dataDir
  }

  test('is upgraded at the start: every entry is as if it were written now, versions and history stay', async () => {
    const dataDir = await oldCopy()
    const expected = await readRows(source)
    assert.equal(await formatOf(dataDir), '2')
    assert.ok([...(await readRows(dataDir)).keys()].some((key) => key.startsWith('claims.')))
    const server = await ServerProcess.start({ dataDir })
    const { client } = server
    assert.deepEqual(await listed(client), lists)
    const watch = await client.watch(`${configMaps('default')}?watch=true&resourceVersion=${written.from}`)
    await watch.atLeast(4)
    assert.equal(watch.summary(), 'MODIFIED map-1, MODIFIED map-2, MODIFIED map-3, DELETED map-4')
    watch.close()
    const past = `${configMaps('default')}?resourceVersion=${written.from}&resourceVersionMatch=Exact&limit=500`
    assert.equal(expectStatus(await client.get(past), 200).json.items.length, 61)
    const taken = { metadata: { name: 'three' }, spec: { clusterIP: written.address, ports: [{ port: 80 }] } }
    expectFailure(await client.post(services, taken), 422, 'Invalid')
    expectStatus(await client.delete(`${services}/one`), 200)
    expectStatus(await client.post(services, taken), 201)
    await server.stop()
    assert.match(server.stderr, /data file has an older format; upgrading/)
    assert.match(server.stderr, /data file upgraded/)
    assert.equal(await formatOf(dataDir), '4')
    const newest = Math.max(...[...expected.values()].map(({ revision }) => revision))
    const found = await readRows(dataDir)
    for (const [key, row] of expected) {
      const now = found.get(key)
      if (key === 'services/default/one' || key.startsWith('unique.') || (now?.revision ?? 0) > newest) continue
      assert.deepEqual(now, row, key)
    }
    assert.ok(![...found.keys()].some((key) => key.startsWith('claims.')))
    const again = await ServerProcess.start({ dataDir })
    assert.doesNotMatch(again.stderr, /older format/)
    await again.stop()
  })

  test('is backed up, restored and migrated as if it were of this one', async () => {
    const dataDir = await oldCopy()
    const [copy, file, same] = [join(emptyFolder(), 'x'), join(emptyFolder(), 'old.backup'), join(emptyFolder(), 'x')]
    await command('migrate', `--from=${dataDir}`, `--to=${copy}`)
    assert.deepEqual(await readRows(copy), await readRows(source))
    await command('backup', `--from=${dataDir}`, `--to=${file}`)
    downgradeBackup(file)
    await command('restore', `--from=${file}`, `--to=${same}`)
    assert.deepEqual(await readRows(same), await readRows(source))
    assert.equal(await formatOf(same), '4')
  })

  test('a newer format than this is refused, by the server and by the commands', async () => {
    const dataDir = emptyFolder()
    cpSync(source, dataDir, { recursive: true })
    await setFormat(dataDir, '5')
    const { code, stderr } = await runCommand(['--secure-port=0', `--data-dir=${dataDir}`])
    assert.notEqual(code, 0)
    assert.match(stderr, /has a newer format than this server knows \(5, not 4\): use the version of the server that wrote it/)
    const backup = await runCommand(['backup', `--from=${dataDir}`, `--to=${join(emptyFolder(), 'b')}`])
    assert.equal(backup.code, 1)
    assert.match(backup.stderr, /has a format that this version does not know \(5\)/)
  })
})
