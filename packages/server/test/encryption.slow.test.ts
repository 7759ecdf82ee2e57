// Encryption at rest: no file contains plain text, keys rotate without restart, an invalid configuration fails the start.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { filesWith } from '../../../test/kit/files-with.js'
import { until } from '../../../test/kit/fixtures.js'
import { commandPath } from '../../../test/kit/paths.js'
import { runCommand, ServerProcess } from '../../../test/kit/server-process.js'

const folder = mkdtempSync(join(tmpdir(), 'apiserver-encryption-'))
after(() => rmSync(folder, { recursive: true }))

const newKey = (): string => randomBytes(32).toString('base64')
const [older, newer] = [
  { name: 'older', secret: newKey() },
  { name: 'newer', secret: newKey() },
]
const configFile = join(folder, 'encryption.yaml')
function configure(keys: readonly object[], method = 'aesgcm'): void {
  const providers = [{ [method]: { keys } }, { identity: {} }]
  const resources = [{ resources: ['secrets'], providers }]
  writeFileSync(configFile, JSON.stringify({ apiVersion: 'apiserver.config.cluster.io/v1', kind: 'EncryptionConfiguration', resources }))
}

const secrets = '/api/v1/namespaces/default/secrets'
const marker = 'plain-text-of-the-secret'
const marker64 = Buffer.from(marker).toString('base64')
const withoutKey = 'an entry is encrypted: start the server with the --encryption-provider-config that has its key'
/** Secret value as sent and in base64, and a label. */
const plainTexts = [marker, marker64, 'quite-secret-label']
const body = (name: string) => ({ metadata: { name, labels: { l: 'quite-secret-label' } }, stringData: { password: marker } })

for (const method of ['aesgcm', 'aescbc'])
  test(`${method}: data file, history and backup contain no plain text, and a restart reads the secret`, async () => {
    configure([older], method)
    const dataDir = join(folder, `data-${method}`)
    const flags = [`--encryption-provider-config=${configFile}`]
    let server = await ServerProcess.start({ dataDir, flags })
    for (const name of ['kept', 'changed', 'gone']) assert.equal((await server.client.post(secrets, body(name))).status, 201)
    await server.client.patch(`${secrets}/changed`, 'application/merge-patch+json', { stringData: { more: marker } })
    await server.client.delete(`${secrets}/gone`)
    await server.client.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'open' }, data: { a: 'not-secret-at-all' } })
    const backup = join(folder, `${method}.backup`)
    execFileSync(process.execPath, [commandPath, 'backup', `--from=${dataDir}`, `--to=${backup}`])
    assert.deepEqual(filesWith(dataDir, plainTexts), [])
    assert.ok(!plainTexts.some((text) => readFileSync(backup).includes(text)))
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

test('an unencrypted folder is encrypted by unchanged updates, and keys rotate without restart', async () => {
  const dataDir = join(folder, 'rotated')
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
  assert.equal(await rewrite(), true, 'it was stored as plain text')
  assert.equal(await rewrite(), false, 'it is encrypted with the first key')
  await server.stop()
  assert.ok(filesWith(dataDir, [marker64]).length > 0, 'history and free pages keep the plain text')
  const rewritten = join(folder, 'rewritten')
  execFileSync(process.execPath, [commandPath, 'migrate', `--from=${dataDir}`, `--to=${rewritten}`])
  assert.deepEqual(filesWith(rewritten, plainTexts), [], 'a copy has neither')
  server = await ServerProcess.start({ dataDir: rewritten })
  const { status, json } = await server.client.get(`${secrets}/s`)
  assert.deepEqual([status, json.message], [500, `Internal error occurred: ${withoutKey}`])
  await server.stop()
  server = await ServerProcess.start({
    dataDir,
    flags: [`--encryption-provider-config=${configFile}`, '--encryption-provider-config-automatic-reload'],
  })
  configure([newer, older])
  await until(rewrite, (isWritten) => isWritten)
  assert.equal(filesWith(dataDir, ['enc:aesgcm:v1:newer:']).length, 1)
  writeFileSync(configFile, 'kind: nonsense')
  await until(
    async () => server.stderr + server.stdout,
    (text) => text.includes('cannot reload configuration file'),
  )
  assert.equal(await rewrite(), false, 'a wrong file changes nothing')
  await server.stop()
  configure([older])
  server = await ServerProcess.start({ dataDir, flags: [`--encryption-provider-config=${configFile}`] })
  assert.equal((await server.client.get(`${secrets}/s`)).status, 500)
  assert.equal((await server.client.get('/api/v1/namespaces/default/configmaps')).status, 200)
  await server.stop()
})

test('an invalid configuration fails the start with one sentence', async () => {
  writeFileSync(
    configFile,
    JSON.stringify({
      apiVersion: 'apiserver.config.cluster.io/v1',
      kind: 'EncryptionConfiguration',
      resources: [{ resources: ['secrets'], providers: [{ kms: {} }] }],
    }),
  )
  const { code, stderr } = await runCommand([`--encryption-provider-config=${configFile}`, `--data-dir=${join(folder, 'never')}`])
  assert.equal(code, 2)
  assert.match(stderr, /--encryption-provider-config: resources\[0\]\.providers\[0\]\.kms: key management services are not supported/)
})
