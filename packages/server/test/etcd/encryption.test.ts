// Encryption at rest on etcd: files of etcd and of local mirrors (copies of its data) have no plain text, and replicas read all entries.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { filesWith } from '../../../../test/kit/files-with.js'
import { expectStatus } from '../../../../test/kit/fixtures.js'
import { newFolder, ServerProcess } from '../../../../test/kit/server-process.js'
import { until } from '../../../api/src/base/testing/until.fixture.js'
import { EtcdCluster, whyNoEtcd } from './etcd-cluster.js'

test('secrets are encrypted in etcd and in mirrors', { skip: whyNoEtcd ?? false }, async (context) => {
  const cluster = await EtcdCluster.start({ members: 1 })
  const root = newFolder()
  const config = join(root, 'encryption.yaml')
  const providers = [{ aesgcm: { keys: [{ name: 'one', secret: randomBytes(32).toString('base64') }] } }]
  const resources = [{ resources: ['secrets'], providers }]
  writeFileSync(config, JSON.stringify({ apiVersion: 'apiserver.config.cluster.io/v1', kind: 'EncryptionConfiguration', resources }))
  const start = (dataDir: string): Promise<ServerProcess> =>
    ServerProcess.start({ dataDir, flags: [`--etcd-servers=${cluster.endpoints.join()}`, `--encryption-provider-config=${config}`] })
  const [first, second] = [await start(join(root, 'a')), await start(join(root, 'b'))]
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
  for (const folder of [cluster.folder, root]) {
    // The mirror is written to disk one second after a change.
    await until(() => filesWith(folder, ['enc:aesgcm:v1:one:']).length > 0)
    assert.deepEqual(filesWith(folder, [value]), [])
  }
})
