// Upgrade of a data folder of the previous storage format when the server starts.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import type { ApiClient } from '../../../test/kit/api-client.js'
import { configMapOf, configMaps, expectFailure, expectStatus } from '../../../test/kit/fixtures.js'
import { downgradeBackup, downgradeStore, formatOf, readRows, setFormat } from '../../../test/kit/old-storage-format.js'
import { commandPath } from '../../../test/kit/paths.js'
import { newFolder, runCommand, ServerProcess } from '../../../test/kit/server-process.js'

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

interface FilledData {
  /** A revision before the last changes. */
  readonly from: string
  readonly address: string
}

/** Objects of many shapes, some updated and one deleted; and Services, which own unique keys. */
async function fill(client: ApiClient): Promise<FilledData> {
  const owner = expectStatus(await client.post(configMaps('default'), configMapOf('owner')), 201).json
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid }]
  for (let i = 0; i < 60; i++) {
    const object = configMapOf(`map-${i}`, { labels: { odd: String(i % 2) }, data: { text: 'ü'.repeat(i * 10) } })
    const metadata = { ...object.metadata, ...(i % 3 === 0 ? { ownerReferences } : {}) }
    expectStatus(await client.post(configMaps('default'), { ...object, metadata }), 201)
  }
  const service = (name: string) => ({ metadata: { name }, spec: { type: 'NodePort', ports: [{ port: 80 }] } })
  const created = expectStatus(await client.post(services, service('one')), 201).json
  expectStatus(await client.post(services, service('two')), 201)
  const from = expectStatus(await client.get(configMaps('default')), 200).json.metadata.resourceVersion
  for (const i of [1, 2, 3])
    expectStatus(await client.put(configMaps('default', `map-${i}`), configMapOf(`map-${i}`, { data: { again: 'yes' } })), 200)
  expectStatus(await client.delete(configMaps('default', 'map-4')), 200)
  return { from, address: (created['spec'] as { readonly clusterIP: string }).clusterIP }
}

const listAll = async (client: ApiClient): Promise<unknown> =>
  Promise.all(
    [
      configMaps('default'),
      services,
      '/apis/rbac.authorization.cluster.io/v1/clusterroles',
      `${configMaps('default')}?labelSelector=odd%3D1`,
    ].map(async (path) => expectStatus(await client.get(path), 200).json.items),
  )

describe('a data folder of the previous format', () => {
  const source = emptyFolder()
  let written: FilledData
  let lists: unknown
  before(async () => {
    const server = await ServerProcess.start({ dataDir: source })
    written = await fill(server.client)
    lists = await listAll(server.client)
    await server.stop()
  })

  const oldCopy = async (): Promise<string> => {
    const dataDir = emptyFolder()
    cpSync(source, dataDir, { recursive: true })
    await downgradeStore(dataDir)
    return dataDir
  }

  test('is upgraded at start: entries have the current format and keep their versions and history', async () => {
    const dataDir = await oldCopy()
    const expected = await readRows(source)
    assert.equal(await formatOf(dataDir), '2')
    assert.ok([...(await readRows(dataDir)).keys()].some((key) => key.startsWith('claims.')))
    const server = await ServerProcess.start({ dataDir })
    const { client } = server
    assert.deepEqual(await listAll(client), lists)
    const watch = await client.watch(`${configMaps('default')}?watch=true&resourceVersion=${written.from}`)
    await watch.atLeast(4)
    assert.equal(watch.summary(), 'MODIFIED map-1, MODIFIED map-2, MODIFIED map-3, DELETED map-4')
    watch.close()
    const pastList = `${configMaps('default')}?resourceVersion=${written.from}&resourceVersionMatch=Exact&limit=500`
    assert.equal(expectStatus(await client.get(pastList), 200).json.items.length, 61)
    const withUsedAddress = { metadata: { name: 'three' }, spec: { clusterIP: written.address, ports: [{ port: 80 }] } }
    expectFailure(await client.post(services, withUsedAddress), 422, 'Invalid')
    expectStatus(await client.delete(`${services}/one`), 200)
    expectStatus(await client.post(services, withUsedAddress), 201)
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

  test('can be backed up, restored and migrated', async () => {
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

  test('a newer format is rejected by the server and the commands', async () => {
    const dataDir = emptyFolder()
    cpSync(source, dataDir, { recursive: true })
    await setFormat(dataDir, '5')
    const { code, stderr } = await runCommand(['--secure-port=0', `--data-dir=${dataDir}`])
    assert.notEqual(code, 0)
    assert.match(stderr, /has a newer format than this server knows \(5, not 4\): use the version of the server that wrote it/)
    const backup = await runCommand(['backup', `--from=${dataDir}`, `--to=${join(emptyFolder(), 'b')}`])
    assert.equal(backup.code, 1)
    assert.match(backup.stderr, /has the unknown format 5/)
  })
})
