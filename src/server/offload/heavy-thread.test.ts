// The thread for heavy requests by itself: what it answers, what happens when a request needs too much, and that it ends.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { QuotaTurns } from '../../admission/quota/turns.js'
import { HookTallies } from '../../admission/webhooks/hook-tallies.js'
import { ApiError } from '../../api/api-error.js'
import { nothingDrawn } from '../../api/draws.js'
import { mastersGroup } from '../../api/user.js'
import { systemClock } from '../../base/clock.js'
import { silentLogger } from '../../base/logger.js'
import type { OffloadedRequest } from '../../http/offload.js'
import { issueCertificate } from '../../net/issue-certificate.js'
import { CertificateTally } from '../../net/shown-certificate.js'
import { openMemoryStorage } from '../../storage/memory.js'
import { type Storage, StorageUnavailableError } from '../../storage/storage.js'
import { ensureAdminCredential } from '../client-configuration.js'
import { parseFlags } from '../options/parse-flags.js'
import { readSettings } from '../options/read-settings.js'
import { servedCatalog } from '../served-catalog.js'
import { HeavyThread } from './heavy-thread.js'

const admin = { name: 'admin', uid: '', groups: [mastersGroup], extra: {} }
let storage: Storage
before(async () => {
  storage = await openMemoryStorage({ clock: systemClock })
})
after(() => storage.close())

const problems: unknown[] = []
const events: (readonly string[])[] = []

async function threadWith(mostHeapMiB?: number, args: readonly string[] = [], kept = storage, idleMs = 30_000): Promise<HeavyThread> {
  const flags = parseFlags(['--storage-backend=memory', ...args])
  const settings = await readSettings(flags)
  const { cert } = issueCertificate({ commonName: 'ca', use: 'authority', notBefore: Date.now(), notAfter: Date.now() + 60_000 })
  return new HeavyThread({
    flags,
    texts: settings.texts,
    credential: ensureAdminCredential(undefined),
    dataDir: undefined,
    ownCa: cert,
    storage: kept,
    store: { noteWrite: (thrown) => void problems.push(thrown) },
    turns: new QuotaTurns(),
    takeEvents: (keys) => {
      events.push(keys)
      return keys.map(() => events.length < 2)
    },
    counts: { admission: undefined, hooks: new HookTallies(), certificates: new CertificateTally() },
    keepRecording: () => undefined,
    logger: silentLogger,
    catalogs: servedCatalog(settings),
    requestMs: 60_000,
    idleMs,
    ...(mostHeapMiB === undefined ? {} : { mostHeapMiB }),
  })
}

const create = (name: string, members: number): OffloadedRequest => ({
  method: 'POST',
  url: '/api/v1/namespaces',
  headers: { 'content-type': 'application/json', accept: 'application/json', 'user-agent': 'test/1' },
  body: Buffer.from(
    JSON.stringify({ metadata: { name, annotations: Object.fromEntries(Array.from({ length: members }, (_, i) => [`k${i}`, 'v'])) } }),
  ),
  user: admin,
  now: Date.now(),
  auditId: 'one',
  audit: undefined,
  remoteAddress: '127.0.0.1',
  warnings: [],
  answered: [],
  drawn: nothingDrawn,
})

const wanted = (): boolean => true

test('a request is answered, what it writes is stored, and another one sees it', async () => {
  const thread = await threadWith()
  const first = await thread.serve(create('first', 1), wanted)
  assert.equal(first.code, 201, Buffer.from(first.body).toString())
  assert.deepEqual(first.headers.slice(0, 2), ['Audit-Id', 'one'])
  assert.ok(storage.revision > 0)
  assert.equal((await thread.serve(create('first', 1), wanted)).code, 409)
  await thread.close()
  await assert.rejects(thread.serve(create('second', 1), wanted), /shutting down/)
})

test('what nobody wants any more is not written', async () => {
  const thread = await threadWith()
  const { revision } = storage
  // While it waited, and while it was carried out.
  await assert.rejects(
    thread.serve(create('unwanted', 1), () => false),
    (thrown) => thrown instanceof ApiError && thrown.status.code === 504,
  )
  let looks = 0
  const answer = await thread.serve(create('unwanted', 1), () => ++looks === 1)
  assert.equal(answer.code, 504)
  assert.equal(answer.panic, undefined, 'it is no fault of the server')
  assert.equal(storage.revision, revision)
  await thread.close()
})

test('a storage that cannot write is told to the client and to the health of the server', async () => {
  const full = new StorageUnavailableError('no room')
  const failing = new Proxy(storage, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (name === 'commit') return () => Promise.reject(full)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  const thread = await threadWith(undefined, [], failing)
  problems.length = 0
  assert.equal((await thread.serve(create('no-room', 1), wanted)).code, 503)
  assert.deepEqual(problems, [full])
  await thread.close()
})

test('the files that flags name are those of the start of the server', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'heavy-'))
  const limits = {
    apiVersion: 'eventratelimit.admission.cluster.io/v1alpha1',
    kind: 'Configuration',
    limits: [{ type: 'User', qps: 1, burst: 2 }],
  }
  const contents = {
    'tokens.csv': 'secret,name,uid\n',
    'admission.yaml': JSON.stringify({
      apiVersion: 'apiserver.config.cluster.io/v1',
      kind: 'AdmissionConfiguration',
      plugins: [{ name: 'EventRateLimit', path: 'limits.yaml' }],
    }),
    'limits.yaml': JSON.stringify(limits),
    'webhook.yaml': JSON.stringify({
      clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1', 'certificate-authority': 'ca.crt' } }],
      users: [{ name: 'u', user: { token: 't' } }],
    }),
    'ca.crt': 'any',
  }
  for (const [name, text] of Object.entries(contents)) writeFileSync(join(folder, name), text)
  const thread = await threadWith(undefined, [
    `--token-auth-file=${join(folder, 'tokens.csv')}`,
    `--admission-control-config-file=${join(folder, 'admission.yaml')}`,
    '--enable-admission-plugins=EventRateLimit',
    `--authentication-token-webhook-config-file=${join(folder, 'webhook.yaml')}`,
  ])
  rmSync(folder, { recursive: true })
  const answer = await thread.serve(create('without-files', 1), wanted)
  assert.equal(answer.code, 201, Buffer.from(answer.body).toString())
  // The buckets of events are those of the event loop.
  const event = { metadata: { generateName: 'e' }, involvedObject: { kind: 'Pod', namespace: 'without-files', name: 'p' } }
  const body = Buffer.from(JSON.stringify(event))
  const eventRequest = { ...create('', 0), url: '/api/v1/namespaces/without-files/events', body }
  for (const code of [201, 429]) assert.equal((await thread.serve(eventRequest, wanted)).code, code)
  assert.deepEqual(events, [['admin'], ['admin']])
  await thread.close()
})

test('a request that needs too much memory fails alone', async () => {
  const thread = await threadWith(30)
  await assert.rejects(thread.serve(create('huge', 200_000), wanted), (thrown) => thrown instanceof ApiError && thrown.status.code === 503)
  assert.equal((await thread.serve(create('small', 1), wanted)).code, 201)
  await thread.close()
})

test('a request that comes while a thread ends that had nothing to do begins in another one', async () => {
  const thread = await threadWith(undefined, [], storage, 1)
  assert.equal((await thread.serve(create('before-its-end', 1), wanted)).code, 201)
  // Timers of one length are called in the order in which they were set: that of the thread was set just before.
  await new Promise((resolve) => setTimeout(resolve, 1))
  assert.equal((await thread.serve(create('at-its-end', 1), wanted)).code, 201)
  await thread.close()
})
