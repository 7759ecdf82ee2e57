// Admission webhooks of Pepr, a controller in Node.js that stores its state in a custom resource and runs rules of users ("capabilities").
// Installed on demand.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { caBundle, certificateFor } from '../../packages/server/test/admission/tls-webhooks.js'
import { expectStatus, until } from '../kit/fixtures.js'
import { ServerProcess } from '../kit/server-process.js'
import { cacheFolder, install, obtain } from './obtain.js'

const version = '20.0.0'

const pepr = await obtain('pepr', async () => {
  const folder = join(cacheFolder, `pepr-${version}`)
  if (existsSync(join(folder, 'node_modules', '.package-lock.json'))) return folder
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n')
  // Peer dependencies are only needed to build capabilities; ours is plain JavaScript.
  const flags = ['--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund', '--loglevel=error', '--fetch-retries=1']
  await install('npm', ['install', ...flags, `pepr@${version}`], folder)
  return folder
})

/** A capability as a user of Pepr writes it. */
const capability = `
const { Capability, PeprModule, a } = require('pepr')
const team = new Capability({ name: 'team', description: 'whose a map is', namespaces: [] })
team.When(a.ConfigMap).IsCreated()
  .Mutate((map) => map.SetLabel('team', 'web'))
  .Validate((map) => map.Raw.data?.secret === undefined ? map.Approve() : map.Deny('no secrets in maps'))
const pepr = { uuid: 'test', onError: 'reject', webhookTimeout: 10, alwaysIgnore: { namespaces: [] } }
new PeprModule({ description: 'test', pepr }, [team], { deferStart: true }).start(Number(process.env.PORT))
`

/** As the installer of Pepr creates it. */
const storeCrd = {
  metadata: { name: 'peprstores.pepr.dev' },
  spec: {
    group: 'pepr.dev',
    scope: 'Namespaced',
    names: { plural: 'peprstores', singular: 'peprstore', kind: 'PeprStore' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { data: { type: 'object', additionalProperties: { type: 'string' } } } } },
      },
    ],
  },
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

test('Pepr mutates and rejects objects', { skip: pepr.skip, timeout: 300_000 }, async (t) => {
  const server = await ServerProcess.start({ flags: ['--identity=kubernetes'] })
  t.after(() => server.stop())
  const { client, dataDir } = server
  expectStatus(await client.post('/api/v1/namespaces', { metadata: { name: 'pepr-system' } }), 201)
  expectStatus(await client.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', storeCrd), 201)
  const { cert, key } = certificateFor('127.0.0.1')
  for (const [name, text] of Object.entries({ 'tls.crt': cert, 'tls.key': key })) writeFileSync(join(dataDir, name), text)
  const file = join(pepr.path, `capability-${process.pid}.cjs`)
  writeFileSync(file, capability)
  const port = await freePort()
  const controller = spawn(process.execPath, [file], {
    cwd: pepr.path,
    env: {
      PATH: process.env['PATH'],
      KUBECONFIG: join(dataDir, 'admin.conf'),
      SSL_KEY_PATH: join(dataDir, 'tls.key'),
      SSL_CERT_PATH: join(dataDir, 'tls.crt'),
      PEPR_API_TOKEN: 'token',
      PORT: String(port),
    },
  })
  t.after(() => controller.kill('SIGKILL'))
  let output = ''
  for (const stream of [controller.stdout, controller.stderr]) stream.on('data', (part) => (output += part))
  await until(
    async () => output,
    (text) => text.includes('Controller startup complete'),
    60_000,
  )
  for (const [kind, path] of [
    ['mutating', 'mutate'],
    ['validating', 'validate'],
  ] as const) {
    const webhook = {
      name: `${path}.pepr.dev`,
      clientConfig: { url: `https://127.0.0.1:${port}/${path}/token`, caBundle },
      rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
      admissionReviewVersions: ['v1', 'v1beta1'],
      sideEffects: 'None',
    }
    const configuration = { metadata: { name: 'pepr' }, webhooks: [webhook] }
    expectStatus(await client.post(`/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`, configuration), 201)
  }
  const maps = '/api/v1/namespaces/default/configmaps'
  const created = expectStatus(await client.post(maps, { metadata: { name: 'a' }, data: { k: 'v' } }), 201).json
  assert.deepEqual([created.metadata.labels, created.metadata.annotations], [{ team: 'web' }, { 'test.pepr.dev/team': 'succeeded' }])
  const refused = expectStatus(await client.post(maps, { metadata: { name: 'b' }, data: { secret: 'v' } }), 400)
  assert.match(refused.text, /admission webhook \\"validate\.pepr\.dev\\" denied the request: no secrets in maps/)
})
