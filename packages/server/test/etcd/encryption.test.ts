// Encryption at rest on etcd: neither the files of its members nor the mirror of a replica have the plain text, and replicas read one another.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../../src/base/until.fixture.js'
import { filesWith } from '../kit/files-with.js'
import { expectStatus } from '../kit/fixtures.js'
import { newFolder, ServerProcess } from '../kit/server-process.js'
import { EtcdCluster, whyNoEtcd } from './etcd-cluster.js'

test('secrets are encrypted in etcd and in mirrors', { skip: whyNoEtcd ?? false }, async (context) => {
  const cluster = await EtcdCluster.start({ members: 1 })
  const place = newFolder()
  const config = join(place, 'encryption.yaml')
  const providers = [{ aesgcm: { keys: [{ name: 'one', secret: randomBytes(32).toString('base64') }] } }]
  const resources = [{ resources: ['secrets'], providers }]
  writeFileSync(config, JSON.stringify({ apiVersion: 'apiserver.config.cluster.io/v1', kind: 'EncryptionConfiguration', resources }))
  const start = (dataDir: string): Promise<ServerProcess> =>
    ServerProcess.start({ dataDir, flags: [`--etcd-servers=${cluster.endpoints.join()}`, `--encryption-provider-config=${config}`] })
  const [first, second] = [await start(join(place, 'a')), await start(join(place, 'b'))]
  context.after(async () => {
    await Promise.all([first.stop(), second.stop()])
    await cluster.stop()
  })
  const secrets = '/api/v1/namespaces/default/secrets'
  const value = Buffer.from('plain-text-of-the-secret').toString('base64')
  expectStatus(await first.client.post(secrets, { metadata: { name: 's' }, data: { password: value } }), 201)
  const read = expectStatus(await second.client.get(`${secrets}/s`), 200).json
  assert.deepEqual(read['data'], { password: value })
  expectStatus(await second.client.delete(`${secrets}/s`), 200)
  for (const folder of [cluster.folder, place]) {
    // The mirror is written a second after the change.
    await until(() => filesWith(folder, ['enc:aesgcm:v1:one:']).length > 0)
    assert.deepEqual(filesWith(folder, [value]), [])
  }
})
