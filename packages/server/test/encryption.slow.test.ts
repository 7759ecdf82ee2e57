// Encryption at rest, from outside: no file on the disk has the plain text, keys rotate without a stop, and what is wrong is told.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { filesWith } from './kit/files-with.js'
import { commandPath } from './kit/paths.js'
import { runCommand, ServerProcess } from './kit/server-process.js'

const place = mkdtempSync(join(tmpdir(), 'apiserver-encryption-'))
after(() => rmSync(place, { recursive: true }))

const secretOf = (): string => randomBytes(32).toString('base64')
const [older, newer] = [
  { name: 'older', secret: secretOf() },
  { name: 'newer', secret: secretOf() },
]
const configFile = join(place, 'encryption.yaml')
function configure(keys: readonly object[], method = 'aesgcm'): void {
  const providers = [{ [method]: { keys } }, { identity: {} }]
  const resources = [{ resources: ['secrets'], providers }]
  writeFileSync(configFile, JSON.stringify({ apiVersion: 'apiserver.config.cluster.io/v1', kind: 'EncryptionConfiguration', resources }))
}

const secrets = '/api/v1/namespaces/default/secrets'
const marker = 'plain-text-of-the-secret'
/** As it was sent, and as it lies in an object. */
const spellings = [marker, Buffer.from(marker).toString('base64'), 'quite-secret-label']
const body = (name: string) => ({ metadata: { name, labels: { l: 'quite-secret-label' } }, stringData: { password: marker } })

for (const method of ['aesgcm', 'aescbc'])
  test(`${method}: neither data file, history nor backup has the plain text, and a restart reads it`, async () => {
    configure([older], method)
    const dataDir = join(place, `data-${method}`)
    const flags = [`--encryption-provider-config=${configFile}`]
    let server = await ServerProcess.start({ dataDir, flags })
    for (const name of ['kept', 'changed', 'gone']) assert.equal((await server.client.post(secrets, body(name))).status, 201)
    await server.client.patch(`${secrets}/changed`, 'application/merge-patch+json', { stringData: { more: marker } })
    await server.client.delete(`${secrets}/gone`)
    await server.client.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'open' }, data: { a: 'not-secret-at-all' } })
    const backup = join(place, `${method}.backup`)
    execFileSync(process.execPath, [commandPath, 'backup', `--from=${dataDir}`, `--to=${backup}`])
    assert.deepEqual(filesWith(dataDir, spellings), [])
    assert.ok(!spellings.some((text) => readFileSync(backup).includes(text)))
    assert.ok(filesWith(dataDir, ['not-secret-at-all']).length > 0, 'the search finds what is there')
    await server.stop()
    server = await ServerProcess.start({ dataDir, flags })
    const found = (await server.client.get(`${secrets}?labelSelector=l%3Dquite-secret-label`)).json as unknown as {
      items: { data: object }[]
    }
    assert.equal(found.items.length, 2)
    assert.deepEqual(found.items[1]?.data, { password: Buffer.from(marker).toString('base64') })
    await server.stop()
  })

test('a folder that was in the clear is encrypted by writes that change nothing, and keys rotate without a stop', async () => {
  const dataDir = join(place, 'rotated')
  let server = await ServerProcess.start({ dataDir })
  await server.client.post(secrets, body('s'))
  await server.stop()
  configure([older])
  server = await ServerProcess.start({
    dataDir,
    flags: [`--encryption-provider-config=${configFile}`, '--encryption-provider-config-automatic-reload'],
  })
  const rewrite = async (): Promise<boolean> => {
    const { json } = await server.client.get(`${secrets}/s`)
    const before = json as { metadata: { resourceVersion: string } }
    const written = await server.client.put(`${secrets}/s`, before)
    assert.equal(written.status, 200)
    return (written.json as typeof before).metadata.resourceVersion !== before.metadata.resourceVersion
  }
  assert.equal(await rewrite(), true, 'it was in the clear')
  assert.equal(await rewrite(), false, 'it is encrypted with the first key')
  configure([newer, older])
  for (let tries = 0; !(await rewrite()); tries++) {
    assert.ok(tries < 200, 'the new configuration is not taken over')
    await sleep(100)
  }
  assert.equal(filesWith(dataDir, ['enc:aesgcm:v1:newer:']).length, 1)
  writeFileSync(configFile, 'kind: nonsense')
  await sleep(5500)
  assert.equal(await rewrite(), false, 'a wrong file changes nothing')
  await server.stop()
  configure([older])
  server = await ServerProcess.start({ dataDir, flags: [`--encryption-provider-config=${configFile}`] })
  assert.equal((await server.client.get(`${secrets}/s`)).status, 500)
  assert.equal((await server.client.get('/api/v1/namespaces/default/configmaps')).status, 200)
  await server.stop()
})

test('a configuration that is wrong ends the start with one sentence', async () => {
  writeFileSync(
    configFile,
    JSON.stringify({
      apiVersion: 'apiserver.config.cluster.io/v1',
      kind: 'EncryptionConfiguration',
      resources: [{ resources: ['secrets'], providers: [{ kms: {} }] }],
    }),
  )
  const { code, stderr } = await runCommand([`--encryption-provider-config=${configFile}`, `--data-dir=${join(place, 'never')}`])
  assert.equal(code, 1)
  assert.match(stderr, /--encryption-provider-config: resources\[0\]\.providers\[0\]\.kms: key management services are not supported/)
})
