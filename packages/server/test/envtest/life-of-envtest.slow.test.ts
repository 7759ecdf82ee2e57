// Runs the steps of envtest (test control planes of controller-runtime) with the scripts that `cluster-apiserver envtest` writes.

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { ApiClient } from '../../../../test/kit/api-client.js'
import { configMapOf, configMaps, expectFailure, expectStatus, until, untilStatus } from '../../../../test/kit/fixtures.js'
import { commandPath, repoRoot } from '../../../../test/kit/paths.js'
import { EtcdCluster, whyNoEtcd } from '../etcd/etcd-cluster.js'
import {
  Command,
  ControlPlane,
  deprecatedFlags,
  hasFlag,
  javaEtcdFlags,
  javaFlags,
  type PlaneOptions,
  prepare,
  statusOf,
  TinyCa,
  untilEnded,
  usualEtcdFlags,
  usualFlags,
} from './control-plane.js'

const folder = mkdtempSync(join(tmpdir(), 'envtest-assets-'))
after(() => rmSync(folder, { recursive: true, force: true }))
/** The path has a space and a quote, which the scripts must quote. */
const assets = execFileSync(commandPath, ['envtest', join(folder, "it's here")], { encoding: 'utf8' }).trim()
const packaged = execFileSync(commandPath, ['envtest'], { encoding: 'utf8' }).trim()
const run = (name: string, ...args: readonly string[]): string => execFileSync(join(assets, name), args, { encoding: 'utf8' })

const admin = (plane: ControlPlane): ApiClient => plane.addUser('admin', ['system:masters']).client

test('the folder has three scripts; without an argument the command prints the folder of the package', () => {
  assert.equal(assets, join(folder, "it's here"))
  assert.equal(join(packaged, '/'), join(repoRoot, 'envtest', '/'))
  for (const name of ['kube-apiserver', 'etcd', 'kubectl']) assert.match(readFileSync(join(assets, name), 'utf8'), /^#!\/bin\/sh\n/)
})

test('links of the folder to other programs are replaced, and their targets stay', () => {
  const other = mkdtempSync(join(folder, 'other-'))
  const program = join(other, 'program')
  writeFileSync(program, 'binary', { mode: 0o555 })
  symlinkSync(program, join(other, 'etcd'))
  for (let round = 0; round < 2; round++) execFileSync(commandPath, ['envtest', other])
  assert.equal(readFileSync(program, 'utf8'), 'binary')
  assert.deepEqual(readdirSync(other).sort(), ['etcd', 'kube-apiserver', 'kubectl', 'program'])
  assert.match(execFileSync(join(other, 'etcd'), ['--help'], { encoding: 'utf8' }), /^usage: etcd/)
})

test('--help probes', () => {
  assert.equal(hasFlag(join(assets, 'kube-apiserver'), 'insecure-port'), false)
  assert.equal(hasFlag(join(assets, 'kube-apiserver'), 'secure-port'), true)
  assert.equal(hasFlag(join(assets, 'etcd'), 'unsafe-no-fsync'), true)
})

const crd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'wares.shop.example.com' },
  spec: {
    group: 'shop.example.com',
    scope: 'Namespaced',
    names: { plural: 'wares', singular: 'ware', kind: 'Ware', listKind: 'WareList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { price: { type: 'integer', minimum: 0 } } } },
      },
    ],
  },
}
const ware = (name: string, price: number) => ({ apiVersion: 'shop.example.com/v1', kind: 'Ware', metadata: { name }, price })
const wares = '/apis/shop.example.com/v1/namespaces/default/wares'

describe('one control plane', () => {
  let plane: ControlPlane
  let client: ApiClient
  before(async () => {
    plane = await ControlPlane.start(assets)
    client = admin(plane)
  })
  after(() => plane.stop())

  test('has the names of Kubernetes and its first objects, in memory', async () => {
    expectStatus(await client.get('/api/v1/namespaces/default'), 200)
    expectStatus(await client.get('/api/v1/namespaces/kube-system'), 200)
    expectStatus(await client.get('/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin'), 200)
    assert.match(plane.apiserver.output, /data in memory/)
  })

  test('serves the certificate of --cert-dir, and issues tokens of --service-account-issuer', async () => {
    expectStatus(await client.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } }), 201)
    const { json } = expectStatus(await client.post('/api/v1/namespaces/default/serviceaccounts/robot/token', { spec: {} }), 201)
    const { token = '' } = json['status'] as { readonly token?: string }
    const { iss } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { readonly iss?: string }
    assert.equal(iss, `${plane.url}/`)
  })

  test('users added by certificate have the permissions of their name and groups', async () => {
    const { client: reader } = plane.addUser('reader', ['shop:readers'])
    expectFailure(await reader.get(configMaps('default')), 403, 'Forbidden')
    const roles = '/apis/rbac.authorization.k8s.io/v1'
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }]
    expectStatus(await client.post(`${roles}/clusterroles`, { metadata: { name: 'readers' }, rules }), 201)
    const binding = {
      metadata: { name: 'readers' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'readers' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'shop:readers' }],
    }
    expectStatus(await client.post(`${roles}/clusterrolebindings`, binding), 201)
    await untilStatus(() => reader.get(configMaps('default')), 200)
    expectFailure(await reader.post(configMaps('default'), configMapOf('a')), 403, 'Forbidden')
  })

  test('a certificate of another CA is not accepted', async () => {
    const other = plane.clientWith(new TinyCa().client('admin', ['system:masters']))
    expectFailure(await other.get('/api/v1/namespaces'), 401, 'Unauthorized')
  })

  test('CRDs are installed and found in discovery', async () => {
    expectStatus(await client.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd), 201)
    const { json } = await untilStatus(() => client.get('/apis/shop.example.com/v1'), 200)
    const { resources } = json as unknown as { readonly resources: readonly { readonly name: string }[] }
    assert.ok(resources.some(({ name }) => name === 'wares'))
    expectStatus(await client.post(wares, ware('apple', 3)), 201)
    expectFailure(await client.post(wares, ware('pear', -1)), 422, 'Invalid')
  })

  test('webhooks: the serving certificate is the caBundle, and the path begins with two slashes', async () => {
    const pair = new TinyCa().serving('localhost', '127.0.0.1')
    const paths: string[] = []
    const webhook = createServer(pair, (request, response) => {
      paths.push(request.url?.split('?', 1)[0] ?? '')
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const { apiVersion, kind, request: review } = JSON.parse(Buffer.concat(chunks).toString())
        const patch = Buffer.from('[{"op":"add","path":"/data","value":{"by":"webhook"}}]').toString('base64')
        const body = { apiVersion, kind, response: { uid: review.uid, allowed: true, patchType: 'JSONPatch', patch } }
        response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
      })
    })
    await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve))
    const { port } = webhook.address() as AddressInfo
    const path = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations'
    const configuration = {
      metadata: { name: 'shop' },
      webhooks: [
        {
          name: 'mutate.shop.example.com',
          clientConfig: {
            url: `https://127.0.0.1:${port}//mutate--v1-configmap`,
            caBundle: Buffer.from(pair.cert).toString('base64'),
          },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          failurePolicy: 'Fail',
        },
      ],
    }
    try {
      expectStatus(await client.post(path, configuration), 201)
      let created = 0
      await until(
        async () => expectStatus(await client.post(configMaps('default'), configMapOf(`mutated-${created++}`)), 201).json.data,
        (data) => data?.['by'] === 'webhook',
      )
      assert.deepEqual([...new Set(paths)], ['/mutate--v1-configmap'])
    } finally {
      expectStatus(await client.delete(`${path}/shop`), 200)
      webhook.closeAllConnections()
      webhook.close()
    }
  })

  test('no controllers run: a deleted namespace stays, and has no service account', async () => {
    expectStatus(await client.post('/api/v1/namespaces', { metadata: { name: 'shop' } }), 201)
    const { json } = expectStatus(await client.delete('/api/v1/namespaces/shop'), 200)
    assert.deepEqual(json['status'], { phase: 'Terminating' })
    expectStatus(await client.get('/api/v1/namespaces/shop'), 200)
    expectStatus(await client.get('/api/v1/namespaces/shop/serviceaccounts/default'), 404)
  })

  test('kubectl, with a kubeconfig and with the flags of jenvtest', () => {
    const { kubeconfig } = plane.addUser('operator', ['system:masters'])
    assert.match(run('kubectl', `--kubeconfig=${kubeconfig}`, 'get', 'namespaces', '-o', 'name'), /^namespace\/default$/m)
    const { users } = JSON.parse(readFileSync(kubeconfig, 'utf8')) as {
      readonly users: readonly { readonly user: { readonly [field: string]: string } }[]
    }
    const files = ['client-certificate', 'client-key'].map((name) => {
      const path = join(plane.addresses.folder, name)
      writeFileSync(path, Buffer.from(users[0]?.user[`${name}-data`] ?? '', 'base64'))
      return `--${name}=${path}`
    })
    const output = run('kubectl', ...files, '--insecure-skip-tls-verify', `--server=${plane.url}`, 'get', 'ns', 'default')
    assert.match(output, /^default +Active/m)
  })
})

const variants: readonly (PlaneOptions & { readonly name: string })[] = [
  {
    name: '--insecure-port=0',
    flags: (addresses) => [...usualFlags(addresses), '--insecure-port=0'],
  },
  { name: 'DefaultKubeAPIServerFlags', flags: deprecatedFlags },
  {
    name: 'flags of a test',
    flags: (addresses) => [
      ...usualFlags(addresses),
      '--max-requests-inflight=1000',
      '--feature-gates=APIServerIdentity=true',
      '--etcd-prefix=/test',
      '-v=2',
    ],
  },
  { name: 'jenvtest', flags: javaFlags, etcdFlags: javaEtcdFlags },
]
for (const { name, ...options } of variants) {
  test(`flags: ${name}`, async () => {
    const plane = await ControlPlane.start(packaged, options)
    expectStatus(await admin(plane).post(configMaps('default'), configMapOf('a')), 201)
    await plane.stop()
  })
}

test('CLUSTER_CONTROLLERS adds controllers', async () => {
  const plane = await ControlPlane.start(packaged, { environment: { CLUSTER_CONTROLLERS: 'namespace,garbagecollector' } })
  const client = admin(plane)
  expectStatus(await client.post('/api/v1/namespaces', { metadata: { name: 'shop' } }), 201)
  expectStatus(await client.delete('/api/v1/namespaces/shop'), 200)
  await untilStatus(() => client.get('/api/v1/namespaces/shop'), 404)
  const { json: owner } = expectStatus(await client.post(configMaps('default'), configMapOf('owner')), 201)
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid }]
  expectStatus(await client.post(configMaps('default'), { metadata: { name: 'dependent', ownerReferences } }), 201)
  expectStatus(await client.delete(configMaps('default', 'owner')), 200)
  await untilStatus(() => client.get(configMaps('default', 'dependent')), 404)
  await plane.stop()
})

test('CLUSTER_CONTROLLERS=* runs the controllers of workloads, too', async () => {
  const plane = await ControlPlane.start(packaged, { environment: { CLUSTER_CONTROLLERS: '*' } })
  const client = admin(plane)
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web' }] } }
  const spec = { replicas: 2, selector: { matchLabels: { app: 'web' } }, template }
  expectStatus(await client.post('/apis/apps/v1/namespaces/default/deployments', { metadata: { name: 'web' }, spec }), 201)
  await until(
    async () => expectStatus(await client.get('/api/v1/namespaces/default/pods'), 200).json['items'],
    (items) => (items as readonly unknown[]).length === 2,
  )
  await plane.stop()
})

test('SIGTERM ends both with code 0, also with an open watch; SIGINT ends them, too', async () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const plane = await ControlPlane.start(packaged)
    const watch = await admin(plane).watch(`${configMaps('default')}?watch=true`)
    await plane.stop(signal)
    assert.deepEqual(await plane.apiserver.exited, { code: 0, signal: null }, plane.apiserver.output)
    assert.deepEqual(await plane.etcd?.exited, { code: 0, signal: null })
    watch.close()
  }
})

test('a killed test leaves nothing behind', async () => {
  const addresses = await prepare()
  const commands = [
    [join(assets, 'etcd'), usualEtcdFlags(addresses)],
    [join(assets, 'kube-apiserver'), usualFlags(addresses)],
  ]
  const program = `for (const [path, flags] of ${JSON.stringify(commands)})
    require('node:child_process').spawn(path, flags, { detached: true, stdio: 'ignore' })`
  const parent = spawn(process.execPath, ['-e', program], { stdio: 'ignore' })
  await until(
    () => statusOf(`https://127.0.0.1:${addresses.port}/healthz`),
    (status) => status === 200,
  )
  parent.kill('SIGKILL')
  await untilEnded(addresses)
})

test('a parent that is killed while Node.js starts leaves nothing behind', async () => {
  const addresses = await prepare()
  const started = join(addresses.folder, 'started')
  const released = join(addresses.folder, 'released')
  const slowNode = `#!/bin/sh\ntouch '${started}'\nuntil test -e '${released}'; do sleep 0.05; done\nexec '${process.execPath}' "$@"\n`
  writeFileSync(join(addresses.folder, 'node'), slowNode, { mode: 0o755 })
  const env = { ...process.env, PATH: `${addresses.folder}:${process.env['PATH']}` }
  const parent = spawn('sh', ['-c', '"$@" & wait', 'sh', join(packaged, 'etcd'), ...usualEtcdFlags(addresses)], { env, stdio: 'pipe' })
  // The server has the other end of this pipe, too.
  const allEnded = once(parent.stdout, 'close')
  parent.stdout.resume()
  await until(
    async () => existsSync(started),
    (exists) => exists,
  )
  const parentEnded = once(parent, 'exit')
  parent.kill('SIGKILL')
  await parentEnded
  writeFileSync(released, '')
  await allEnded
  await untilEnded(addresses)
})

test('kube-apiserver waits for an etcd that starts later', async () => {
  const addresses = await prepare()
  const apiserver = new Command(join(packaged, 'kube-apiserver'), usualFlags(addresses))
  const etcd = new Command(join(packaged, 'etcd'), usualEtcdFlags(addresses))
  await apiserver.untilHealthy(`https://127.0.0.1:${addresses.port}/healthz`)
  assert.match(apiserver.output, /data in memory/)
  for (const command of [apiserver, etcd]) await command.stop('SIGKILL')
})

test('etcd: errors of the command line and of the port', async () => {
  const addresses = await prepare()
  const etcd = new Command(join(packaged, 'etcd'), usualEtcdFlags(addresses))
  await etcd.untilHealthy(`http://127.0.0.1:${addresses.etcdPort}/health`)
  for (const [url, message] of [
    [`http://127.0.0.1:${addresses.etcdPort}`, /^etcd: listen EADDRINUSE/],
    ['https://127.0.0.1:2379', /^etcd: --listen-client-urls: "https:\/\/127.0.0.1:2379" is not an http:\/\/ URL\n$/],
  ] as const) {
    const second = new Command(join(packaged, 'etcd'), [`--listen-client-urls=${url}`])
    assert.deepEqual(await second.exited, { code: 1, signal: null })
    assert.match(second.output, message)
  }
  await etcd.stop('SIGTERM')
})

test('ten control planes at once do not share objects', async () => {
  const planes = await Promise.all(Array.from({ length: 10 }, () => ControlPlane.start(assets)))
  const clients = planes.map(admin)
  await Promise.all(
    clients.map(async (client, index) => expectStatus(await client.post(configMaps('default'), configMapOf(`of-${index}`)), 201)),
  )
  for (const [index, client] of clients.entries()) {
    const { items } = expectStatus(await client.get(configMaps('default')), 200).json
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      [`of-${index}`],
    )
  }
  await Promise.all(planes.map((plane) => plane.stop()))
  for (const { addresses } of planes) await untilEnded(addresses)
})

test('a real etcd keeps the objects', { skip: whyNoEtcd ?? false }, async () => {
  const cluster = await EtcdCluster.start({ members: 1 })
  const addresses = await prepare()
  const flags = [...usualFlags(addresses), `--etcd-servers=${cluster.endpoints[0]}`].filter(
    (flag) => !flag.endsWith(`:${addresses.etcdPort}`),
  )
  for (const status of [404, 200]) {
    const apiserver = new Command(join(packaged, 'kube-apiserver'), flags)
    await apiserver.untilHealthy(`https://127.0.0.1:${addresses.port}/healthz`)
    const plane = new ControlPlane(addresses, apiserver)
    const client = admin(plane)
    expectStatus(await client.get(configMaps('default', 'kept')), status)
    if (status === 404) expectStatus(await client.post(configMaps('default'), configMapOf('kept')), 201)
    client.close()
    await apiserver.stop('SIGKILL')
  }
  await cluster.stop()
})
