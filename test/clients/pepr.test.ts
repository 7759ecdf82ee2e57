// A webhook of somebody else, run as its authors would: Pepr, a controller in Node that keeps its own state in a custom kind and speaks for
// capabilities that its users write. Installed on demand; skipped where that cannot be.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { caBundle, certificateFor } from '../admission/tls-hooks.js'
import { expectStatus, until } from '../kit/fixtures.js'
import { ServerProcess } from '../kit/server-process.js'
import { cacheFolder, install, obtain } from './obtaining.js'

const version = '20.0.0'

const pepr = await obtain('pepr', async () => {
  const folder = join(cacheFolder, `pepr-${version}`)
  if (existsSync(join(folder, 'node_modules', '.package-lock.json'))) return folder
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n')
  // Its peers are a compiler, a linter and what else builds a capability: ours is written as it runs.
  const flags = ['--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund', '--loglevel=error', '--fetch-retries=1']
  await install('npm', ['install', ...flags, `pepr@${version}`], folder)
  return folder
})

/** What a user of Pepr writes. */
const capability = `
const { Capability, PeprModule, a } = require('pepr')
const team = new Capability({ name: 'team', description: 'whose a map is', namespaces: [] })
team.When(a.ConfigMap).IsCreated()
  .Mutate((map) => map.SetLabel('team', 'web'))
  .Validate((map) => map.Raw.data?.secret === undefined ? map.Approve() : map.Deny('no secrets in maps'))
const pepr = { uuid: 'test', onError: 'reject', webhookTimeout: 10, alwaysIgnore: { namespaces: [] } }
new PeprModule({ description: 'test', pepr }, [team], { deferStart: true }).start(Number(process.env.PORT))
`

/** As its own installation makes it. */
const storeDefinition = {
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

test('a controller of somebody else changes and refuses what is created', { skip: pepr.skip, timeout: 300_000 }, async (t) => {
  const server = await ServerProcess.start({ flags: ['--identity=kubernetes'] })
  t.after(() => server.stop())
  const { client, dataDir } = server
  expectStatus(await client.post('/api/v1/namespaces', { metadata: { name: 'pepr-system' } }), 201)
  expectStatus(await client.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', storeDefinition), 201)
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
  let said = ''
  for (const stream of [controller.stdout, controller.stderr]) stream.on('data', (part) => (said += part))
  await until(
    async () => said,
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
  const made = expectStatus(await client.post(maps, { metadata: { name: 'a' }, data: { k: 'v' } }), 201).json
  assert.deepEqual([made.metadata.labels, made.metadata.annotations], [{ team: 'web' }, { 'test.pepr.dev/team': 'succeeded' }])
  const refused = expectStatus(await client.post(maps, { metadata: { name: 'b' }, data: { secret: 'v' } }), 400)
  assert.match(refused.text, /admission webhook \\"validate\.pepr\.dev\\" denied the request: no secrets in maps/)
})
