// Audit log of a whole server: policy levels, stages, redaction, escaping, write failures, webhook backend.

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { ApiClient } from '../../../test/kit/api-client.js'
import { type Embedded, startEmbedded, tokenOf } from '../../../test/kit/embedded.js'
import { until } from '../../../test/kit/fixtures.js'
import { RawSocket } from '../../../test/kit/network/raw-socket.js'

const folder = mkdtempSync(join(tmpdir(), 'audit-test-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const rule = (level: string, namespace: string, more: object = {}): object => ({ level, namespaces: [namespace], ...more })

const policyPath = join(folder, 'policy.json')
writeFileSync(
  policyPath,
  JSON.stringify({
    apiVersion: 'audit.cluster.io/v1',
    kind: 'Policy',
    rules: [
      { level: 'Metadata', resources: [{ group: '', resources: ['secrets'] }] },
      { level: 'Metadata', nonResourceURLs: ['/version', '/nope'] },
      { level: 'Metadata', verbs: ['get'], resources: [{ group: '', resources: ['nodes'] }] },
      rule('RequestResponse', 'whole'),
      rule('RequestResponse', 'metadata', { omitManagedFields: true, omitStages: ['RequestReceived'] }),
      rule('Request', 'sent', { omitStages: ['RequestReceived'] }),
    ],
  }),
)

interface Event {
  readonly level: string
  readonly auditID: string
  readonly stage: string
  readonly verb: string
  readonly requestURI: string
  readonly user: { readonly username?: string }
  readonly sourceIPs?: readonly string[]
  readonly objectRef?: { readonly name?: string; readonly resource?: string; readonly uid?: string }
  readonly responseStatus?: { readonly code: number; readonly status?: string; readonly message?: string }
  readonly requestObject?: { readonly kind?: string; readonly apiVersion?: string; readonly data?: object }
  readonly responseObject?: {
    readonly kind?: string
    readonly items?: readonly object[]
    readonly metadata?: { readonly managedFields?: object }
  }
  readonly annotations?: { readonly [key: string]: string }
}

const eventsOf = (path: string): readonly Event[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Event)

describe('audit log', () => {
  const log = join(folder, 'audit.log')
  let embedded: Embedded
  before(async () => {
    embedded = await startEmbedded('memory', [`--audit-policy-file=${policyPath}`, `--audit-log-path=${log}`])
    for (const name of ['whole', 'metadata', 'sent', 'silent']) {
      await embedded.client.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    }
  })
  after(() => embedded.close())

  async function eventsFor(id: string, count: number): Promise<readonly Event[]> {
    const found = (): readonly Event[] => eventsOf(log).filter(({ auditID }) => auditID === id)
    for (const until = Date.now() + 60_000; found().length < count && Date.now() < until; ) await setTimeout(10)
    return found()
  }

  const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { k: 'v' } })

  const send = (id: string, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    embedded.client.send({ method, path, headers: { 'audit-id': id, ...headers }, ...(body === undefined ? {} : { body }) })

  test('the Audit-ID of the response is in every event of the request', async () => {
    const { headers } = await send('trace-1', 'GET', '/version')
    assert.equal(headers['audit-id'], 'trace-1')
    const events = await eventsFor('trace-1', 2)
    assert.deepEqual(
      events.map(({ stage, level, responseStatus }) => [stage, level, responseStatus?.code]),
      [
        ['RequestReceived', 'Metadata', undefined],
        ['ResponseComplete', 'Metadata', 200],
      ],
    )
    assert.equal(events[0]?.user.username, 'admin')
    assert.equal(events[0]?.annotations, undefined)
    assert.equal(events[1]?.annotations?.['authorization.cluster.io/decision'], 'allow')
  })

  test('create: request and response object, and the name from the response', async () => {
    await send('create-1', 'POST', '/api/v1/namespaces/whole/configmaps', configMap('one'))
    const [received, complete] = await eventsFor('create-1', 2)
    assert.equal(received?.objectRef?.name, undefined)
    assert.equal(complete?.objectRef?.name, 'one')
    assert.deepEqual(complete?.requestObject?.data, { k: 'v' })
    assert.equal(complete?.responseObject?.kind, 'ConfigMap')
    assert.notEqual(complete?.responseObject?.metadata?.managedFields, undefined)
  })

  for (const accept of ['application/json', 'application/yaml', 'application/vnd.cluster.protobuf']) {
    test(`a list as ${accept} is logged as JSON`, async () => {
      const id = `list-${accept}`
      await send(`seed-${accept}`, 'POST', '/api/v1/namespaces/metadata/configmaps', configMap('listed'))
      await send(id, 'GET', '/api/v1/namespaces/metadata/configmaps?fieldSelector=metadata.name%3Dlisted&pretty=1', undefined, { accept })
      const [complete] = await eventsFor(id, 1)
      assert.equal(complete?.stage, 'ResponseComplete')
      assert.equal(complete?.objectRef?.name, 'listed')
      assert.equal(complete?.responseObject?.kind, 'ConfigMapList')
      assert.equal(complete?.responseObject?.items?.length, 1)
      assert.ok(!JSON.stringify(complete).includes('managedFields'))
    })
  }

  test('patches and delete options are logged; level Request has no response object', async () => {
    await send('seed-sent', 'POST', '/api/v1/namespaces/sent/configmaps', configMap('p'))
    const path = '/api/v1/namespaces/sent/configmaps/p'
    await send('patch-1', 'PATCH', path, { data: { k: 'w' } }, { 'content-type': 'application/merge-patch+json' })
    const yaml = 'apiVersion: v1\nkind: ConfigMap\ndata:\n  k: x\n'
    await send('patch-2', 'PATCH', `${path}?fieldManager=m&force=true`, yaml, { 'content-type': 'application/apply-patch+yaml' })
    await send('patch-3', 'PATCH', path, '{broken', { 'content-type': 'application/merge-patch+json' })
    await send('delete-1', 'DELETE', path, { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 })
    const [merged] = await eventsFor('patch-1', 1)
    assert.deepEqual(merged?.requestObject, { data: { k: 'w' } })
    assert.equal(merged?.responseObject, undefined)
    assert.deepEqual((await eventsFor('patch-2', 1))[0]?.requestObject?.data, { k: 'x' })
    const [broken] = await eventsFor('patch-3', 1)
    assert.deepEqual([broken?.responseStatus?.code, broken?.requestObject], [400, undefined])
    const [deleted] = await eventsFor('delete-1', 1)
    assert.deepEqual([deleted?.requestObject?.kind, deleted?.requestObject?.apiVersion], ['DeleteOptions', 'meta.cluster.io/v1'])
    assert.equal(deleted?.responseStatus?.status, 'Success')
  })

  test('a request that runs in a worker thread is logged', async () => {
    const data = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key-${i}`, 'x']))
    await send('worker-1', 'POST', '/api/v1/namespaces/whole/configmaps', { ...configMap('heavy'), data })
    const [, complete] = await eventsFor('worker-1', 2)
    assert.deepEqual([complete?.responseStatus?.code, complete?.objectRef?.name], [201, 'heavy'])
    assert.equal(Object.keys(complete?.requestObject?.data ?? {}).length, 20_000)
    assert.equal(complete?.responseObject?.kind, 'ConfigMap')
  })

  test('a watch has the stage ResponseStarted and no objects', async () => {
    await send('watch-1', 'GET', '/api/v1/namespaces/whole/configmaps?watch=1&timeoutSeconds=1')
    const events = await eventsFor('watch-1', 3)
    assert.deepEqual(
      events.map(({ stage }) => stage),
      ['RequestReceived', 'ResponseStarted', 'ResponseComplete'],
    )
    assert.ok(events.every(({ responseObject }) => responseObject === undefined))
  })

  test('an unauthenticated request has one event', async () => {
    const { url, caPem } = embedded.server
    const unauthenticated = new ApiClient({ url, ca: caPem, token: 'unknown' })
    await unauthenticated.send({ path: '/version', headers: { 'audit-id': 'unauthenticated-1' } })
    unauthenticated.close()
    const events = await eventsFor('unauthenticated-1', 1)
    assert.deepEqual(
      events.map(({ stage, user, responseStatus, annotations }) => [stage, user, responseStatus?.code, annotations]),
      [['ResponseStarted', {}, 401, undefined]],
    )
  })

  test('requests that match no rule are not logged', async () => {
    await send('silent-1', 'POST', '/api/v1/namespaces/silent/configmaps', configMap('s'))
    await send('nope-1', 'GET', '/nope')
    await eventsFor('nope-1', 2)
    assert.deepEqual(await eventsFor('silent-1', 0), [])
  })

  test('errors are logged with code and message', async () => {
    await send('missing-1', 'GET', '/api/v1/nodes/none')
    const [, complete] = await eventsFor('missing-1', 2)
    assert.deepEqual([complete?.responseStatus?.code, complete?.responseStatus?.message], [404, 'nodes "none" not found'])
  })

  test('clients cannot forge lines or audit IDs', async () => {
    const raw = async (method: string, path: string, lines: readonly string[], body = ''): Promise<void> => {
      const socket = await RawSocket.open({ url: embedded.server.url, ca: embedded.server.caPem })
      const length = Buffer.byteLength(body)
      const head = [
        `${method} ${path} HTTP/1.1`,
        'host: x',
        'connection: close',
        `authorization: Bearer ${tokenOf(embedded.server)}`,
        ...lines,
      ]
      socket.write(Buffer.from(`${head.join('\r\n')}\r\ncontent-length: ${length}\r\n\r\n`, 'latin1'))
      socket.write(body)
      assert.match(await socket.until(() => false, 60_000), /^HTTP\/1\.1 \d/)
    }
    const forged = '{"kind":"Event","auditID":"forged"}'
    const patch = 'content-type: application/merge-patch+json'
    const maps = '/api/v1/namespaces/whole/configmaps'
    const before = eventsOf(log).length
    await raw('GET', '/version', [`user-agent: a"}\u009b2J\t${forged}`, `audit-id: b\u0085"}${forged}`])
    await raw('GET', `/api/v1/namespaces/whole/configmaps/%0a${encodeURIComponent(forged)}%00%1b%e2%80%a8`, [])
    await raw('GET', `${maps}?fieldSelector=metadata.name%3D%0a%22${encodeURIComponent(forged)}`, [])
    await raw('GET', `${maps}?fieldSelector=metadata.name=a"+b`, [])
    const annotation = `l1\\nl2\\u0000\u2028\u0085\u009b2J${forged.replaceAll('"', '\\"')}`
    await raw(
      'POST',
      maps,
      ['content-type: application/json'],
      `{\n"metadata":\r\n{"name":"odd","annotations":{"a":"${annotation}"}}\n\n}\n`,
    )
    await raw('PATCH', `${maps}/odd`, [patch], `\n{ "data"\n: {"k" :\r "\u2028\u0085"} }\n`)
    await raw('PATCH', `${maps}/odd`, [patch], `{}\n${forged}`)
    await raw('PATCH', `${maps}/odd`, [patch], `{"data":${'['.repeat(5000)}${']'.repeat(5000)}}`)
    const events = await until(
      async () => eventsOf(log).slice(before),
      ({ length }) => length >= 16,
    )
    // Each line is an event without control characters.
    const text = readFileSync(log, 'utf8')
    assert.ok(!events.some(({ auditID, stage }) => auditID === 'forged' || stage === undefined))
    assert.deepEqual(
      text.match(/[\p{Cc}\p{Zl}\p{Zp}]/gu)?.filter((found) => found !== '\n'),
      [],
    )
  })

  test('level Metadata logs nothing of Secrets but their names, also for invalid requests', async () => {
    const secrets = '/api/v1/namespaces/whole/secrets'
    const merge = { 'content-type': 'application/merge-patch+json' }
    await send('secret-1', 'POST', secrets, { metadata: { name: 's', annotations: { a: 'hidden' } }, stringData: { k: 'hidden' } })
    await send('secret-2', 'PUT', `${secrets}/s`, { metadata: { name: 's' }, data: { k: 'hidden!' } })
    await send('secret-3', 'PATCH', `${secrets}/s`, { stringData: { k: 'hidden' } }, merge)
    await send('secret-4', 'PATCH', `${secrets}/s`, { stringData: { k: ['hidden'] } }, merge)
    await send('secret-5', 'GET', secrets)
    await send('secret-6', 'DELETE', `${secrets}/s`)
    for (let i = 1; i <= 6; i++) {
      const events = await eventsFor(`secret-${i}`, 2)
      assert.deepEqual(
        events.map(({ stage, requestObject, responseObject }) => [stage, requestObject, responseObject]),
        [
          ['RequestReceived', undefined, undefined],
          ['ResponseComplete', undefined, undefined],
        ],
      )
    }
    const lines = readFileSync(log, 'utf8').split('\n')
    assert.deepEqual(
      lines.filter((line) => /hidden|aGlkZGVu/.test(line)),
      [],
    )
  })

  test('audit metrics', async () => {
    const { text } = await embedded.client.get('/metrics')
    assert.match(text, /^apiserver_audit_event_total [1-9]/m)
    assert.match(text, /^apiserver_audit_level_total\{level="RequestResponse"\} [1-9]/m)
    assert.match(text, /^apiserver_audit_requests_rejected_total 0$/m)
  })
})

describe('audit log that cannot be written', () => {
  for (const { mode, status, rejected } of [
    { mode: 'blocking', status: 200, rejected: 0 },
    { mode: 'blocking-strict', status: 500, rejected: 1 },
  ]) {
    test(`mode ${mode}`, async () => {
      const flags = [`--audit-policy-file=${policyPath}`, '--audit-log-path=/dev/full', `--audit-log-mode=${mode}`]
      const embedded = await startEmbedded('memory', flags)
      try {
        const response = await embedded.client.get('/version')
        assert.equal(response.status, status)
        if (status === 500) assert.equal(response.text, 'Internal Server Error: "/version": failed to store audit event\n')
        const { text } = await embedded.client.get('/metrics')
        assert.match(text, new RegExp(`^apiserver_audit_requests_rejected_total ${rejected}$`, 'm'))
        assert.match(text, /^apiserver_audit_error_total\{plugin="log"\} [1-9]/m)
      } finally {
        await embedded.close()
      }
    })
  }

  test('an unusable path fails the start', async () => {
    const flags = [`--audit-policy-file=${policyPath}`, '--audit-log-path=/dev/null/audit.log']
    await assert.rejects(startEmbedded('memory', flags), /--audit-log-path: cannot write to \/dev\/null\/audit\.log/)
  })
})

test('with truncation, long paths, queries and headers are logged', async () => {
  const log = join(folder, 'truncated.log')
  const flags = ['--audit-log-truncate-enabled', `--audit-policy-file=${policyPath}`, `--audit-log-path=${log}`]
  const embedded = await startEmbedded('memory', flags)
  // Each is escaped to six characters.
  const escaped = '<'.repeat(50_000)
  const get = (id: string, path: string, headers: Record<string, string> = {}) =>
    embedded.client.send({ method: 'GET', path, headers: { 'audit-id': id, ...headers } })
  await get('query', `/api/v1/namespaces/whole/configmaps/x?a=${escaped}`)
  await get('name', `/api/v1/namespaces/whole/configmaps/${'%3C'.repeat(20_000)}`)
  await get(
    'quotes',
    `/api/v1/namespaces/whole/configmaps?a=${'a'.repeat(40_000)}&b=${escaped.slice(0, 15_000)}&fieldSelector=metadata.name="}`,
  )
  await get('extra', '/api/v1/namespaces/whole/configmaps', { 'impersonate-user': 'u', 'impersonate-extra-x': escaped })
  await embedded.close()
  const found = eventsOf(log).map(({ auditID, stage, objectRef, annotations }) => [
    auditID,
    stage,
    objectRef?.name?.slice(0, 3),
    annotations?.['audit.cluster.io/truncated'],
  ])
  assert.deepEqual(
    found.filter(([, stage]) => stage === 'ResponseComplete'),
    [
      ['query', 'ResponseComplete', 'x', 'true'],
      ['name', 'ResponseComplete', '<<<', 'true'],
      ['quotes', 'ResponseComplete', '"}', 'true'],
      ['extra', 'ResponseComplete', undefined, 'true'],
    ],
  )
})

test('batch mode, legacy format and truncation', async () => {
  const log = join(folder, 'short.log')
  const flags = [
    '--audit-log-mode=batch',
    '--audit-log-format=legacy',
    '--audit-log-truncate-enabled',
    '--audit-log-truncate-max-event-size=900',
  ]
  const embedded = await startEmbedded('memory', [`--audit-policy-file=${policyPath}`, `--audit-log-path=${log}`, ...flags])
  await embedded.client.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'whole' } })
  const data = { big: 'x'.repeat(10_000) }
  await embedded.client.post('/api/v1/namespaces/whole/configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b' }, data })
  await embedded.close()
  assert.match(readFileSync(log, 'utf8'), /^\S+ AUDIT: id="[^"]+" stage="ResponseComplete" .* response="201"$/m)
})

test('webhook backend', async () => {
  const lists: { readonly kind: string; readonly items: readonly Event[] }[] = []
  const service = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    request.on('end', () => {
      lists.push(JSON.parse(text))
      response.end()
    })
  })
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  const config = join(folder, 'webhook.yaml')
  const { port } = service.address() as AddressInfo
  writeFileSync(config, `kind: Config\napiVersion: v1\nclusters:\n- name: a\n  cluster: {server: "http://127.0.0.1:${port}/events"}\n`)
  const flags = [`--audit-policy-file=${policyPath}`, `--audit-webhook-config-file=${config}`, '--audit-webhook-batch-max-wait=50ms']
  const embedded = await startEmbedded('memory', flags)
  await embedded.client.get('/version', { 'audit-id': 'webhook-1' })
  await embedded.close()
  service.close()
  const events = lists.flatMap(({ items }) => items).filter(({ auditID }) => auditID === 'webhook-1')
  assert.deepEqual(
    events.map(({ stage }) => stage),
    ['RequestReceived', 'ResponseComplete'],
  )
  assert.ok(lists.every(({ kind }) => kind === 'EventList'))
})
