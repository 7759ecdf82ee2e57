// The clock of an embedded server, moved by tests: everything with a lifetime ends, everything else stays.

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type EmbeddedServer, startServer } from 'cluster-apiserver'
import { ApiClient } from '../../../../test/kit/api-client.js'
import { clientOf } from '../../../../test/kit/embedded.js'
import { expectStatus, namesOf, newNamespace } from '../../../../test/kit/fixtures.js'
import type { JsonObject } from '../../../../test/kit/network/json-object.js'
import { makeWithOpenssl } from '../../../../test/kit/openssl-request.js'
import { newFolder } from '../../../../test/kit/server-process.js'

const folder = newFolder()
const leases = '/apis/coordination.cluster.io/v1/namespaces/cluster-system/leases'
const requests = '/apis/certificates.cluster.io/v1/certificatesigningrequests'
const timeOf = (text: unknown): number => Date.parse(String(text))

describe('a server whose clock moves', () => {
  let server: EmbeddedServer
  let client: ApiClient
  let namespace: string
  let core: string
  before(async () => {
    const policy = { apiVersion: 'audit.cluster.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] }
    writeFileSync(join(folder, 'policy.json'), JSON.stringify(policy))
    server = await startServer({
      flags: [
        '--enable-bootstrap-token-auth',
        '--controllers=*,tokencleaner',
        `--audit-policy-file=${folder}/policy.json`,
        `--audit-log-path=${folder}/audit.log`,
      ],
    })
    client = clientOf(server)
    namespace = await newNamespace(client)
    core = `/api/v1/namespaces/${namespace}`
  })
  after(async () => {
    client.close()
    await server.close({ immediately: true })
    rmSync(folder, { recursive: true })
  })

  const statusWith = async (access: { readonly token?: string; readonly pair?: { readonly cert: string; readonly key: string } }) => {
    const user = new ApiClient({ url: server.url, ca: server.caPem, ...access })
    try {
      return (await user.get('/api')).status
    } finally {
      user.close()
    }
  }
  const create = async (path: string, body: object): Promise<JsonObject> => expectStatus(await client.post(path, body), 201).json
  const statusOf = async (path: string): Promise<number> => (await client.get(path)).status

  test('timestamps, ages and the audit log show the time of the server', async () => {
    const first = await create(`${core}/configmaps`, { metadata: { name: 'first' } })
    await server.clock.advance('3h')
    const second = await create(`${core}/configmaps`, { metadata: { name: 'second' } })
    const apartMs = timeOf(second.metadata.creationTimestamp) - timeOf(first.metadata.creationTimestamp)
    assert.ok(apartMs >= 3 * 3_600_000 - 1000 && apartMs < 3 * 3_600_000 + 60_000, `${apartMs}`)
    const headers = { accept: 'application/json;as=Table;v=v1;g=meta.cluster.io' }
    const table = expectStatus(await client.send({ path: `${core}/configmaps/first`, headers }), 200).json
    assert.match(JSON.stringify(table['rows']), /"cells":\["first",0,"3h/)
    const events = readFileSync(join(folder, 'audit.log'), 'utf8').trim().split('\n')
    const last = JSON.parse(events.at(-1) ?? '') as JsonObject
    assert.ok(timeOf(last['requestReceivedTimestamp']) >= timeOf(second.metadata.creationTimestamp) - 1000)
  })

  test('a requested token expires; the administrator stays connected', async () => {
    await create(`${core}/serviceaccounts`, { metadata: { name: 'bot' } })
    const { status } = await create(`${core}/serviceaccounts/bot/token`, { spec: { expirationSeconds: 3600 } })
    const { token } = status as { readonly token: string }
    assert.equal(await statusWith({ token }), 200)
    await server.clock.advance('59m')
    assert.equal(await statusWith({ token }), 200)
    await server.clock.advance('2m')
    assert.equal(await statusWith({ token }), 401)
    assert.equal((await server.client.core.v1.serviceAccounts(namespace).get('bot')).metadata?.name, 'bot')
  })

  test('a client certificate of a CertificateSigningRequest expires; the request is deleted', async () => {
    const [keyFile, outFile] = [join(folder, 'jane.key'), join(folder, 'jane.csr')]
    makeWithOpenssl({ keyFile, outFile, subject: '/CN=jane' })
    const request = readFileSync(outFile).toString('base64')
    const spec = { request, signerName: 'cluster.io/cluster-apiserver-client', usages: ['client auth'], expirationSeconds: 7200 }
    await create(requests, { metadata: { name: 'jane' }, spec })
    await create(requests, { metadata: { name: 'forgotten' }, spec })
    const approval = { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'r', message: 'm' }] } }
    expectStatus(await client.patch(`${requests}/jane/approval`, 'application/merge-patch+json', approval), 200)
    // The clock is hours ahead of real time by now: the certificate is valid by the clock of the server.
    await server.clock.advance('1s')
    const { certificate } = (await client.get(`${requests}/jane`)).json['status'] as { readonly certificate: string }
    const pair = { cert: Buffer.from(certificate, 'base64').toString(), key: readFileSync(keyFile, 'utf8') }
    assert.ok(timeOf(new X509Certificate(pair.cert).validTo) - server.clock.now().getTime() > 7_000_000)
    assert.equal(await statusWith({ pair }), 200)
    await server.clock.advance('61m')
    assert.deepEqual([await statusOf(`${requests}/jane`), await statusOf(`${requests}/forgotten`)], [404, 200])
    assert.equal(await statusWith({ pair }), 200)
    await server.clock.advance('1h')
    assert.equal(await statusWith({ pair }), 401)
    await server.clock.advance('24h')
    assert.equal(await statusOf(`${requests}/forgotten`), 404)
  })

  test('a bootstrap token expires, and its Secret is deleted', async () => {
    const expiration = new Date(server.clock.now().getTime() + 3_600_000).toISOString().replace(/\.\d+Z$/, 'Z')
    const stringData = { 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true', expiration }
    const type = 'bootstrap.cluster.io/token'
    const secrets = '/api/v1/namespaces/cluster-system/secrets'
    await create(secrets, { metadata: { name: 'bootstrap-token-abcdef' }, type, stringData })
    const token = 'abcdef.0123456789abcdef'
    assert.equal(await statusWith({ token }), 200)
    await server.clock.advance('61m')
    assert.deepEqual([await statusWith({ token }), await statusOf(`${secrets}/bootstrap-token-abcdef`)], [401, 404])
  })

  test('Events expire, and watches see it', async () => {
    const involvedObject = { kind: 'ConfigMap', name: 'first', namespace }
    const event = await create(`${core}/events`, {
      metadata: { name: 'happened' },
      involvedObject,
      reason: 'Test',
      message: 'm',
      type: 'Normal',
    })
    const watch = await client.watch(`${core}/events?watch=1&timeoutSeconds=7200&resourceVersion=${event.metadata.resourceVersion}`)
    await server.clock.advance('59m')
    assert.equal(await statusOf(`${core}/events/happened`), 200)
    await server.clock.advance('2m')
    assert.equal(await statusOf(`${core}/events/happened`), 404)
    assert.equal((await watch.atLeast(1))[0]?.type, 'DELETED')
    watch.close()
  })

  test('a finished Job is deleted after its TTL, and its Pod with it', async () => {
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } }
    const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`
    const job = await create(jobs, { metadata: { name: 'sum' }, spec: { ttlSecondsAfterFinished: 600, template } })
    const { uid } = job.metadata
    const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'sum', uid, controller: true, blockOwnerDeletion: true }]
    await create(`${core}/pods`, { metadata: { name: 'sum-1', ownerReferences }, spec: template.spec })
    const now = server.clock
      .now()
      .toISOString()
      .replace(/\.\d+Z$/, 'Z')
    const conditions = [{ type: 'Complete', status: 'True', lastTransitionTime: now, lastProbeTime: now }]
    const status = { conditions, startTime: now, completionTime: now, succeeded: 1 }
    expectStatus(await client.patch(`${jobs}/sum/status`, 'application/merge-patch+json', { status }), 200)
    await server.clock.advance('9m')
    assert.deepEqual([await statusOf(`${jobs}/sum`), await statusOf(`${core}/pods/sum-1`)], [200, 200])
    await server.clock.advance('2m')
    assert.deepEqual([await statusOf(`${jobs}/sum`), await statusOf(`${core}/pods/sum-1`)], [404, 404])
  })

  test('a Pod with a grace period waits for its kubelet, however late it is', async () => {
    const spec = { nodeName: 'n1', terminationGracePeriodSeconds: 30, containers: [{ name: 'c', image: 'i' }] }
    await create(`${core}/pods`, { metadata: { name: 'busy' }, spec })
    expectStatus(await client.delete(`${core}/pods/busy`), 200)
    await server.clock.advance('1h')
    const { metadata } = (await client.get(`${core}/pods/busy`)).json
    assert.ok(timeOf(metadata.deletionTimestamp) < server.clock.now().getTime() - 3_000_000)
    expectStatus(await client.delete(`${core}/pods/busy?gracePeriodSeconds=0`), 200)
  })

  test('the Lease of the server is renewed on the way; Leases of other servers expire', async () => {
    const own = namesOf((await client.get(leases)).json)
    const labels = { 'apiserver.cluster.io/identity': 'cluster-apiserver', 'cluster.io/component': 'cluster-apiserver' }
    const renewTime = server.clock.now().toISOString().replace('Z', '000Z')
    const spec = { holderIdentity: 'gone', leaseDurationSeconds: 3600, renewTime }
    await create(leases, { metadata: { name: 'gone', labels }, spec })
    const watch = await client.watch(`${leases}?watch=1&timeoutSeconds=1000000`)
    await watch.atLeast(own.length + 1)
    await server.clock.advance('3d')
    const list = (await client.get(leases)).json
    assert.deepEqual(namesOf(list), own)
    const events = watch.events.slice(own.length + 1)
    assert.deepEqual(
      events.filter(({ type }) => type === 'DELETED').map(({ object }) => object.metadata.name),
      ['gone'],
    )
    const { renewTime: renewedAt } = (list.items[0] as JsonObject)['spec'] as { readonly renewTime: string }
    assert.ok(timeOf(renewedAt) > server.clock.now().getTime() - 3_600_000)
    watch.close()
  })

  test('a watch gets bookmarks, and ends at its timeout', async () => {
    const watch = await client.watch(`${core}/secrets?watch=1&allowWatchBookmarks=1&timeoutSeconds=600`)
    const other = await client.watch(`${core}/secrets?watch=1`)
    await server.clock.advance('90s')
    assert.equal((await watch.atLeast(1))[0]?.type, 'BOOKMARK')
    assert.equal(watch.isEnded, false)
    await server.clock.advance('9m')
    await watch.ended
    // Without timeoutSeconds a watch ends after at most an hour.
    await server.clock.advance('1h')
    await other.ended
  })

  test('old resource versions and continue tokens are gone after compaction', async () => {
    const list = (await client.get(`${core}/configmaps?limit=1`)).json
    await create(`${core}/configmaps`, { metadata: { name: 'third' } })
    const version = list.metadata.resourceVersion
    const paths = [
      `${core}/configmaps?limit=1&continue=${list.metadata.continue}`,
      `${core}/configmaps?resourceVersion=${version}&resourceVersionMatch=Exact`,
      `${core}/configmaps?watch=1&resourceVersion=${version}&timeoutSeconds=1`,
    ]
    for (const path of paths.slice(0, 2)) assert.equal(await statusOf(path), 200)
    await server.clock.advance('1h')
    assert.deepEqual([await statusOf(paths[0] ?? ''), await statusOf(paths[1] ?? '')], [410, 410])
    const { status, text } = await client.get(paths[2] ?? '')
    assert.match(`${status} ${text}`, /410/)
  })

  test('work that fails for a month is not retried every minute of it, but ends soon after its cause', async () => {
    const stuck = await newNamespace(client, 'stuck')
    await create(`/api/v1/namespaces/${stuck}/configmaps`, { metadata: { name: 'kept', finalizers: ['example.com/keep'] } })
    expectStatus(await client.delete(`/api/v1/namespaces/${stuck}`), 200)
    const retries = async (): Promise<number> =>
      Number(/^workqueue_retries_total\{name="namespace"\} (\d+)$/m.exec((await client.get('/metrics')).text)?.[1])
    await server.clock.advance('10m')
    const before = await retries()
    await server.clock.advance('30d')
    const added = (await retries()) - before
    assert.ok(added > 0 && added < 10_000, `${added} of 43200`)
    assert.equal(await statusOf(`/api/v1/namespaces/${stuck}`), 200)
    const patch = { metadata: { finalizers: null } }
    expectStatus(await client.patch(`/api/v1/namespaces/${stuck}/configmaps/kept`, 'application/merge-patch+json', patch), 200)
    await server.clock.advance('2m')
    assert.equal(await statusOf(`/api/v1/namespaces/${stuck}`), 404)
  })

  test('set moves to a time, and never back', async () => {
    const wanted = new Date(server.clock.now().getTime() + 10 * 24 * 3_600_000)
    await server.clock.set(wanted)
    assert.ok(server.clock.now() >= wanted)
    await assert.rejects(server.clock.set('2020-01-01T00:00:00Z'), /time moves only forward, and the server is at /)
    await assert.rejects(server.clock.advance('-1s'), /negative/)
    await assert.rejects(server.clock.advance('soon'), /not a duration/)
  })

  test('reset keeps the time', async () => {
    const before = server.clock.now()
    await server.reset()
    assert.ok(server.clock.now() >= before)
    assert.equal(await statusOf(leases), 200)
  })
})

test('a server with a data folder: Events expire', async () => {
  const dataDir = newFolder()
  const server = await startServer({ dataDir, flags: ['--event-ttl=10m'] })
  try {
    const events = server.client.core.v1.events('default')
    const involvedObject = { kind: 'Namespace', name: 'default', namespace: 'default' }
    await events.create({ metadata: { name: 'happened' }, involvedObject, reason: 'Test', message: 'm', type: 'Normal' })
    await server.clock.advance('11m')
    await assert.rejects(events.get('happened'), { reason: 'NotFound' })
  } finally {
    await server.close({ immediately: true })
    rmSync(dataDir, { recursive: true })
  }
})

test('a server that is closed while its clock moves', async () => {
  const server = await startServer()
  const moved = server.clock.advance('3650d')
  const rejected = assert.rejects(moved, /the server is closed/)
  await server.close()
  await rejected
})

test('clocks of several servers are independent', async () => {
  const servers = await Promise.all([startServer(), startServer()])
  const [moved, still] = servers
  await moved.clock.advance('1h')
  assert.ok(moved.clock.now().getTime() - still.clock.now().getTime() > 3_500_000)
  await Promise.all(servers.map((server) => server.close({ immediately: true })))
})

test('cached replies of webhooks expire, and event rate limits have tokens again', async () => {
  const ownFolder = newFolder()
  const calls: string[] = []
  const webhook = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const { kind, apiVersion } = JSON.parse(Buffer.concat(parts).toString()) as JsonObject
    calls.push(kind)
    const status = kind === 'TokenReview' ? { authenticated: true, user: { username: 'guest' } } : { allowed: true }
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ kind, apiVersion, status }))
  })
  await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve))
  const { port } = webhook.address() as AddressInfo
  const write = (name: string, value: object): string => {
    writeFileSync(join(ownFolder, name), JSON.stringify(value))
    return join(ownFolder, name)
  }
  const config = write('webhook.json', { kind: 'Config', clusters: [{ name: 'w', cluster: { server: `http://127.0.0.1:${port}` } }] })
  const configuration = {
    apiVersion: 'eventratelimit.admission.cluster.io/v1alpha1',
    kind: 'Configuration',
    limits: [{ type: 'Server', qps: 1, burst: 1 }],
  }
  const plugins = [{ name: 'EventRateLimit', configuration }]
  const admission = write('admission.json', { apiVersion: 'apiserver.config.cluster.io/v1', kind: 'AdmissionConfiguration', plugins })
  const server = await startServer({
    flags: [
      '--authorization-mode=Webhook',
      `--authorization-webhook-config-file=${config}`,
      '--authorization-webhook-cache-authorized-ttl=10m',
      `--authentication-token-webhook-config-file=${config}`,
      '--authentication-token-webhook-cache-ttl=10m',
      '--enable-admission-plugins=EventRateLimit',
      `--admission-control-config-file=${admission}`,
    ],
  })
  const guest = new ApiClient({ url: server.url, ca: server.caPem, token: 'guest-token' })
  try {
    const read = async () => expectStatus(await guest.get('/api/v1/namespaces/default/configmaps'), 200)
    await read()
    await read()
    assert.deepEqual(calls.splice(0), ['TokenReview', 'SubjectAccessReview'])
    await server.clock.advance('11m')
    await read()
    assert.deepEqual(calls, ['TokenReview', 'SubjectAccessReview'])
    const events = '/api/v1/namespaces/default/events'
    const report = async (name: string) =>
      (await guest.post(events, { metadata: { name }, involvedObject: { namespace: 'default' }, reason: 'Test' })).status
    await server.clock.advance('1s')
    assert.equal(await report('first'), 201)
    await server.clock.advance('1s')
    assert.equal(await report('second'), 201)
  } finally {
    guest.close()
    await server.close({ immediately: true })
    webhook.closeAllConnections()
    webhook.close()
    rmSync(ownFolder, { recursive: true })
  }
})
