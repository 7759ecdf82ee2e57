// Heavy requests that hooks are asked about: others do not wait for a slow hook, and what is counted, limited and recorded is the server's.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, type TestContext, test } from 'node:test'
import { AdmissionTallies } from '../../admission/admission-tallies.js'
import { QuotaTurns } from '../../admission/quota/turns.js'
import { type HookReply, type HookServer, hookServer } from '../../admission/webhooks/hook-server.fixture.js'
import { HookTallies } from '../../admission/webhooks/hook-tallies.js'
import type { Recording } from '../../admission/webhooks/review-recorder.js'
import { ApiError } from '../../api/api-error.js'
import { nothingDrawn } from '../../api/draws.js'
import { mastersGroup } from '../../api/user.js'
import { systemClock } from '../../base/clock.js'
import { silentLogger } from '../../base/logger.js'
import { until } from '../../base/until.fixture.js'
import type { OffloadedAnswer, OffloadedRequest } from '../../http/offload.js'
import { issueCertificate } from '../../net/issue-certificate.js'
import { CertificateTally } from '../../net/shown-certificate.js'
import { openMemoryStorage } from '../../storage/memory.js'
import type { Storage } from '../../storage/storage.js'
import { ensureAdminCredential } from '../client-configuration.js'
import { parseFlags } from '../options/parse-flags.js'
import { readSettings } from '../options/read-settings.js'
import { servedCatalog } from '../served-catalog.js'
import { HeavyThread } from './heavy-thread.js'

const admin = { name: 'admin', uid: '', groups: [mastersGroup], extra: {} }
const held: ((answer: HookReply) => void)[] = []
let storage: Storage
let hook: HookServer
before(async () => {
  storage = await openMemoryStorage({ clock: systemClock })
  hook = await hookServer(() => new Promise<HookReply>((resolve) => held.push(resolve)))
})
after(async () => {
  hook.close()
  await storage.close()
})

interface Stand {
  readonly thread: HeavyThread
  readonly admission: AdmissionTallies
  readonly hooks: HookTallies
  readonly certificates: CertificateTally
  readonly recordings: Recording[]
  send(path: string, object: object, user?: OffloadedRequest['user']): Promise<OffloadedAnswer>
  /** A namespace that the hook is asked about. */
  slow(name: string, user?: OffloadedRequest['user']): Promise<OffloadedAnswer>
}

async function standOf(t: TestContext, mostHeapMiB?: number): Promise<Stand> {
  const flags = parseFlags(['--storage-backend=memory', '--insecure-loopback-webhooks', '--recorded-admission-reviews=10'])
  const settings = await readSettings(flags)
  const { cert } = issueCertificate({ commonName: 'ca', use: 'authority', notBefore: Date.now(), notAfter: Date.now() + 60_000 })
  const [admission, hooks, certificates] = [new AdmissionTallies(), new HookTallies(), new CertificateTally()]
  const recordings: Recording[] = []
  const thread = new HeavyThread({
    flags,
    texts: settings.texts,
    credential: ensureAdminCredential(undefined),
    dataDir: undefined,
    ownCa: cert,
    storage,
    store: { noteWrite: () => undefined },
    turns: new QuotaTurns(),
    takeEvents: (keys) => keys.map(() => false),
    counts: { admission, hooks, certificates },
    keepRecording: (recording) => void recordings.push(recording),
    logger: silentLogger,
    catalogs: servedCatalog(settings),
    requestMs: 60_000,
    ...(mostHeapMiB === undefined ? {} : { mostHeapMiB }),
  })
  t.after(() => thread.close())
  const send: Stand['send'] = (url, object, user = admin) =>
    thread.serve(
      {
        method: 'POST',
        url,
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: Buffer.from(JSON.stringify(object)),
        user,
        now: Date.now(),
        auditId: 'one',
        audit: undefined,
        remoteAddress: '127.0.0.1',
        warnings: [],
        answered: [],
        drawn: nothingDrawn,
      },
      () => true,
    )
  const slow: Stand['slow'] = (name, user) => send('/api/v1/namespaces', { metadata: { name, labels: { slow: 'yes' } } }, user)
  return { thread, admission, hooks, certificates, recordings, send, slow }
}

const configure = (send: Stand['send']): Promise<OffloadedAnswer> =>
  send('/apis/admissionregistration.cluster.io/v1/validatingwebhookconfigurations', {
    metadata: { name: 'slow' },
    webhooks: [
      {
        name: 'slow.example.com',
        clientConfig: { url: `${hook.url}/slow` },
        rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['namespaces'] }],
        objectSelector: { matchLabels: { slow: 'yes' } },
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        timeoutSeconds: 30,
      },
    ],
  })

test('while some requests wait for a hook others are carried out; what hooks did is counted and recorded with everything else', async (t) => {
  const { send, slow, admission, hooks, recordings } = await standOf(t)
  assert.equal((await configure(send)).code, 201)
  const user = { ...admin, name: 'user', groups: [] }
  const waiting = [slow('a'), slow('b'), slow('c', user)]
  await until(() => held.length === 3)
  assert.equal((await send('/api/v1/namespaces', { metadata: { name: 'quick' } })).code, 201)
  for (const release of held.splice(0)) release({ auditAnnotations: { said: 'so' } })
  const answers = await Promise.all(waiting)
  assert.deepEqual(
    answers.map(({ code }) => code),
    [201, 201, 201],
  )
  assert.deepEqual(
    answers[0]?.annotations.map(({ key, value }) => [key, value]),
    [['slow.example.com/said', 'so']],
  )
  assert.deepEqual(
    [...hooks.requests()].map(({ labels, count }) => [...labels, count]),
    [['200', 'slow.example.com', 'CREATE', 'false', 'validating', 3]],
  )
  assert.equal(
    [...hooks.durations()][0]?.durations.counts.reduce((sum, count) => sum + count),
    3,
  )
  const step = [...admission.wholeSteps()].find(({ type, operation }) => type === 'validate' && operation === 'CREATE')
  assert.equal(
    step?.durations.counts.reduce((sum, count) => sum + count),
    5,
  )
  assert.deepEqual(
    recordings.map(({ about }) => about.webhook),
    ['slow.example.com', 'slow.example.com', 'slow.example.com'],
  )
})

test('certificates of hooks that nobody should show any more are counted, too', async (t) => {
  const times = { notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 }
  const authority = { ...issueCertificate({ commonName: 'authority', use: 'authority', ...times }), commonName: 'authority' }
  const nameless = issueCertificate({ commonName: 'localhost', use: 'server', ...times }, authority)
  const server = createServer(nameless, (_request, response) => response.end()).listen(0)
  await once(server, 'listening')
  const { send, certificates } = await standOf(t)
  t.after(() => server.close())
  const clientConfig = {
    url: `https://localhost:${(server.address() as AddressInfo).port}/`,
    caBundle: Buffer.from(authority.cert).toString('base64'),
  }
  const path = '/apis/admissionregistration.cluster.io/v1/validatingwebhookconfigurations'
  const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }]
  const webhook = { name: 'nameless.example.com', clientConfig, rules, admissionReviewVersions: ['v1'], sideEffects: 'None' }
  await send(path, { metadata: { name: 'nameless' }, webhooks: [{ ...webhook, failurePolicy: 'Ignore' }] })
  await send('/api/v1/namespaces', { metadata: { name: 'counted' } })
  for (const name of ['a', 'b']) {
    const { code, annotations } = await send('/api/v1/namespaces/counted/configmaps', { metadata: { name } })
    assert.equal(code, 201)
    assert.ok(annotations.some(({ key }) => key === 'missing-san.invalid-cert.cluster.io/localhost'))
  }
  assert.deepEqual([certificates.lackedNames, certificates.wereSha1], [2, 0])
})

test('one user does not take all places', async (t) => {
  const { slow, send } = await standOf(t)
  const [one, other] = ['one', 'other'].map((name) => ({ ...admin, name, groups: [] }))
  const waiting = ['d', 'e', 'f', 'g', 'h'].map((name) => slow(name, one))
  await until(() => held.length === 2)
  assert.equal((await send('/api/v1/namespaces', { metadata: { name: 'others' } }, other)).code, 201)
  assert.equal(held.length, 2)
  const answers = Promise.all(waiting)
  for (let released = 0; released < 5; released++) {
    await until(() => held.length > 0)
    held.shift()?.({})
  }
  assert.ok((await answers).every(({ code }) => code === 201))
})

test('who was beside a request that needs too much memory is carried out after all', async (t) => {
  const { slow, send } = await standOf(t, 30)
  const waiting = slow('beside')
  await until(() => held.length === 1)
  const annotations = Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`k${i}`, 'v']))
  const huge = send('/api/v1/namespaces', { metadata: { name: 'huge', annotations } })
  const refused = assert.rejects(huge, (thrown) => thrown instanceof ApiError && thrown.status.code === 503)
  // It is asked about once more.
  await until(() => held.length === 2)
  for (const release of held.splice(0)) release({})
  assert.equal((await waiting).code, 201)
  await refused
})
