// Audit events of refused, unacceptable and slow requests, on a whole server.

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { ApiClient } from '../../../test/kit/api-client.js'
import { type Embedded, startEmbedded } from '../../../test/kit/embedded.js'
import { webhookServer } from '../src/admission/webhooks/webhook-server.fixture.js'

interface Event {
  readonly auditID: string
  readonly stage: string
  readonly user: object
  readonly responseStatus?: { readonly code: number; readonly [field: string]: unknown }
  readonly responseObject?: { readonly [field: string]: unknown }
  readonly annotations?: { readonly [key: string]: string }
}

describe('audit events', () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-responses-'))
  const log = join(folder, 'audit.log')
  let embedded: Embedded
  let unauthenticated: ApiClient
  before(async () => {
    const policy = join(folder, 'policy.json')
    const rules = [
      { level: 'RequestResponse', resources: [{ group: '', resources: ['configmaps'] }] },
      { level: 'Metadata', resources: [{ group: '', resources: ['secrets'] }], namespaces: ['cluster-system'] },
      { level: 'Request', resources: [{ group: '', resources: ['secrets'] }] },
    ]
    writeFileSync(policy, JSON.stringify({ apiVersion: 'audit.cluster.io/v1', kind: 'Policy', rules }))
    embedded = await startEmbedded('memory', [
      `--audit-policy-file=${policy}`,
      `--audit-log-path=${log}`,
      '--insecure-loopback-webhooks',
      '--authorization-mode=RBAC',
    ])
    const { url, caPem } = embedded.server
    unauthenticated = new ApiClient({ url, ca: caPem, token: 'unknown' })
  })
  after(async () => {
    unauthenticated.close()
    await embedded.close()
    rmSync(folder, { recursive: true, force: true })
  })

  async function eventsFor(id: string, count: number): Promise<readonly Event[]> {
    const found = (): readonly Event[] =>
      readFileSync(log, 'utf8')
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Event)
        .filter(({ auditID }) => auditID === id)
    for (const until = Date.now() + 60_000; found().length < count && Date.now() < until; ) await setTimeout(10)
    return found()
  }

  const path = '/api/v1/namespaces/default/configmaps'
  const summaryOf = ({ stage, user, responseStatus, responseObject }: Event) => ({ stage, user, responseStatus, responseObject })
  const status = (code: number, reason: string, message: string) => ({ metadata: {}, status: 'Failure', message, reason, code })

  test('401 has the Status at level RequestResponse', async () => {
    await unauthenticated.send({ path, headers: { 'audit-id': 'unknown' } })
    const expected = status(401, 'Unauthorized', 'Unauthorized')
    assert.deepEqual((await eventsFor('unknown', 1)).map(summaryOf), [
      { stage: 'ResponseStarted', user: {}, responseStatus: expected, responseObject: { kind: 'Status', apiVersion: 'v1', ...expected } },
    ])
  })

  test('401 with a Status that the client does not accept names the authentication methods', async () => {
    await unauthenticated.send({ path, headers: { 'audit-id': 'unknown-html', accept: 'text/html' } })
    const responseStatus = { metadata: {}, message: 'Authentication failed, attempted: bearer', code: 401 }
    assert.deepEqual((await eventsFor('unknown-html', 1)).map(summaryOf), [
      { stage: 'ResponseStarted', user: {}, responseStatus, responseObject: undefined },
    ])
  })

  test('an invalid timeout is refused before the user is known, with one event', async () => {
    await embedded.client.send({ path: `${path}?timeout=soon`, headers: { 'audit-id': 'timeout' } })
    const expected = status(400, 'BadRequest', 'invalid timeout specified in the request URL - time: invalid duration "soon"')
    assert.deepEqual((await eventsFor('timeout', 1)).map(summaryOf), [
      { stage: 'ResponseStarted', user: {}, responseStatus: expected, responseObject: { kind: 'Status', apiVersion: 'v1', ...expected } },
    ])
  })

  for (const accept of ['text/html', 'application/json;as=Table;v=v1;g=meta.cluster.io'])
    test(`an error that cannot be encoded as ${accept} is logged with its code only`, async () => {
      const id = `missing-${accept.length}`
      await embedded.client.send({ path: `${path}/none`, headers: { 'audit-id': id, accept, 'impersonate-user': 'nobody' } })
      const [, complete] = await eventsFor(id, 2)
      assert.deepEqual([complete?.responseStatus, complete?.responseObject], [{ metadata: {}, code: 403 }, undefined])
    })

  for (const [level, namespace] of [
    ['Metadata', 'cluster-system'],
    ['Request', 'default'],
  ] as const)
    test(`a failed patch at level ${level} logs nothing of the stored Secret`, async () => {
      const { client } = embedded
      const secrets = `/api/v1/namespaces/${namespace}/secrets`
      await client.post(secrets, { metadata: { name: 'kept' }, stringData: { password: 'stored-password' } })
      const headers = { 'content-type': 'application/merge-patch+json', 'audit-id': `patch-${level}` }
      const response = await client.send({ method: 'PATCH', path: `${secrets}/kept`, headers, body: { data: { other: 1 } } })
      assert.ok(response.status >= 400)
      const events = await eventsFor(`patch-${level}`, 2)
      assert.equal(events.at(-1)?.responseStatus?.code, response.status)
      const logged = JSON.stringify(events)
      for (const text of ['stored-password', Buffer.from('stored-password').toString('base64')]) assert.ok(!logged.includes(text), logged)
    })

  test('a request that takes long shows the time of each layer', async () => {
    const slow = await webhookServer(async () => {
      await setTimeout(600)
      return {}
    })
    const webhook = (kind: string) => ({
      apiVersion: 'admissionregistration.cluster.io/v1',
      kind: `${kind}WebhookConfiguration`,
      metadata: { name: 'slow' },
      webhooks: [
        {
          name: 'slow.example.com',
          clientConfig: { url: `${slow.url}/slow` },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    })
    try {
      const webhooksPath = '/apis/admissionregistration.cluster.io/v1'
      const created = [
        await embedded.client.post(`${webhooksPath}/mutatingwebhookconfigurations`, webhook('Mutating')),
        await embedded.client.post(`${webhooksPath}/validatingwebhookconfigurations`, webhook('Validating')),
        await embedded.client.send({
          method: 'POST',
          path,
          headers: { 'audit-id': 'slow' },
          body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'slow' } },
        }),
      ]
      assert.deepEqual(
        created.map(({ status: code }) => code),
        [201, 201, 201],
      )
      const [, complete] = await eventsFor('slow', 2)
      const latencies = Object.entries(complete?.annotations ?? {}).filter(([key]) => key.startsWith('apiserver.latency.'))
      assert.deepEqual(
        latencies.map(([key]) => key),
        [
          'etcd',
          'mutating-webhook',
          'response-write',
          'serialize-response-object',
          'total',
          'transform-response-object',
          'validating-webhook',
        ].map((layer) => `apiserver.latency.cluster.io/${layer}`),
      )
      for (const [, value] of latencies) assert.match(value, /^[0-9.]+(?:µs|ms|s|ns)$/)
    } finally {
      slow.close()
    }
  })
})
