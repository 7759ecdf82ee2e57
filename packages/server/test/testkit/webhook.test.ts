// server.webhook(): admission webhooks of tests, their recorded reviews, replays, failures and refused specs.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { ConfigMap } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { clientOf } from '../../../../test/kit/embedded.js'
import { configMapOf, configMaps, expectStatus, until } from '../../../../test/kit/fixtures.js'
import { runInProcess } from '../../../../test/kit/run-command.js'
import {
  type AdmissionReviewRequest,
  type EmbeddedServer,
  type ReviewedObject,
  replayReviews,
  startServer,
  type WebhookSpec,
} from '../../src/assemble/index.js'

const configurations = '/apis/admissionregistration.cluster.io/v1'
const maps = configMaps('default')
const rules = [{ resources: ['configmaps'] }]
const mapWith = (name: string, data: Readonly<Record<string, string>> = {}) => configMapOf(name, { data })
type MapRequest = AdmissionReviewRequest<ConfigMap>

let server: EmbeddedServer
let client: ReturnType<typeof clientOf>
before(async () => {
  server = await startServer()
  client = clientOf(server)
})
after(async () => {
  client.close()
  await server.close({ immediately: true })
})

test('a validating webhook allows, denies, denies with a message or with a full response', async (t) => {
  const answers: Readonly<
    Record<string, boolean | string | { allowed: boolean; status: { code: number; message: string }; warnings: string[] }>
  > = {
    yes: true,
    no: false,
    text: 'the team is missing',
    full: { allowed: false, status: { code: 418, message: 'short and stout' }, warnings: ['hot'] },
  }
  const webhook = await server.webhook(
    { kind: 'validating', name: 'teams.shop.example.com', rules },
    ({ object }) => answers[object.metadata.name ?? ''] ?? true,
  )
  t.after(() => webhook.close())
  expectStatus(await client.post(maps, mapWith('yes')), 201)
  assert.match(expectStatus(await client.post(maps, mapWith('no')), 400).text, /teams\.shop\.example\.com.* denied the request/)
  assert.match(expectStatus(await client.post(maps, mapWith('text')), 400).text, /denied the request: the team is missing/)
  const full = expectStatus(await client.post(maps, mapWith('full')), 418)
  assert.match(full.text, /short and stout/)
  assert.match(String(full.headers['warning']), /hot/)
  assert.equal(webhook.name, 'teams.shop.example.com')
  assert.deepEqual(
    webhook.reviews.map(({ request, response }) => [request.operation, request.object.metadata.name, response?.['allowed']]),
    [
      ['CREATE', 'yes', true],
      ['CREATE', 'no', false],
      ['CREATE', 'text', false],
      ['CREATE', 'full', false],
    ],
  )
  assert.match(
    expectStatus(await client.get(`${configurations}/validatingwebhookconfigurations/teams.shop.example.com`), 200).text,
    /"caBundle"/,
  )
})

test('a mutating webhook returns the changed object, a JSON patch, or true', async (t) => {
  const webhook = await server.webhook({ kind: 'mutating', rules }, ({ object }: MapRequest) => {
    const { name = '' } = object.metadata ?? {}
    if (name === 'object')
      return { ...object, metadata: { ...object.metadata, labels: { 'a/b': 'd' } }, data: { ...object.data, k: 'new', gone: undefined } }
    if (name === 'patch') return [{ op: 'replace', path: '/data/k', value: 'patched' }]
    if (name === 'response') return { allowed: true, patch: [{ op: 'remove', path: '/data/k' }] }
    return true
  })
  t.after(() => webhook.close())
  const created = async (name: string) => expectStatus(await client.post(maps, mapWith(name, { k: 'old', gone: 'x' })), 201).json
  const changed = await created('object')
  assert.deepEqual([changed['data'], changed.metadata['labels']], [{ k: 'new' }, { 'a/b': 'd' }])
  assert.deepEqual((await created('patch'))['data'], { k: 'patched', gone: 'x' })
  assert.deepEqual((await created('response'))['data'], { gone: 'x' })
  assert.deepEqual((await created('same'))['data'], { k: 'old', gone: 'x' })
})

test('a function may change the object in place', async (t) => {
  const webhook = await server.webhook(
    { kind: 'mutating', rules },
    ({ object }: AdmissionReviewRequest<ReviewedObject & { data: { k?: string } }>) => {
      object.data.k = 'in place'
      return object
    },
  )
  t.after(() => webhook.close())
  assert.deepEqual(expectStatus(await client.post(maps, mapWith('in-place', { k: 'old' })), 201).json['data'], { k: 'in place' })
  assert.deepEqual(webhook.reviews[0]?.request.object['data'], { k: 'old' }, 'the recorded request is as sent')
})

test('rules and selectors limit the reviews; operations default to CREATE and UPDATE', async (t) => {
  const webhook = await server.webhook({ kind: 'validating', rules, objectSelector: { matchLabels: { mine: 'yes' } } }, () => true)
  t.after(() => webhook.close())
  const object = { ...mapWith('selected'), metadata: { name: 'selected', labels: { mine: 'yes' } } }
  expectStatus(await client.post(maps, mapWith('other')), 201)
  expectStatus(await client.post(maps, object), 201)
  expectStatus(await client.put(configMaps('default', 'selected'), { ...object, data: { k: 'v' } }), 200)
  expectStatus(await client.delete(configMaps('default', 'selected')), 200)
  assert.deepEqual(
    webhook.reviews.map(({ request }) => request.operation),
    ['CREATE', 'UPDATE'],
  )
})

test('a throw is status 500 of the webhook: failurePolicy applies, and the error is kept', async (t) => {
  const broken = new Error('out of order')
  for (const [failurePolicy, status] of [
    ['Fail', 500],
    ['Ignore', 201],
  ] as const) {
    const webhook = await server.webhook({ kind: 'validating', rules, failurePolicy }, () => {
      throw broken
    })
    t.after(() => webhook.close())
    const response = expectStatus(await client.post(maps, mapWith(`throw-${status}`)), status)
    if (status === 500) assert.match(response.text, /out of order/)
    assert.deepEqual(webhook.errors, [broken])
    assert.equal(webhook.reviews[0]?.error, 'out of order')
    await webhook.close()
  }
})

test('a function that returns nothing fails with a message that says what to return', async (t) => {
  const webhook = await server.webhook({ kind: 'validating', rules }, (() => undefined) as never)
  t.after(() => webhook.close())
  assert.match(
    expectStatus(await client.post(maps, mapWith('nothing')), 500).text,
    /returned undefined; return true, false, the message of the denial/,
  )
})

test('a function that is too slow: failurePolicy applies after timeoutSeconds, and the review says so', async (t) => {
  let release: (isAllowed: boolean) => void = () => undefined
  const released = new Promise<boolean>((resolve) => {
    release = resolve
  })
  const webhook = await server.webhook({ kind: 'validating', rules, timeoutSeconds: 1 }, () => released)
  t.after(() => webhook.close())
  assert.match(expectStatus(await client.post(maps, mapWith('slow')), 500).text, /context deadline exceeded/)
  await until(
    async () => webhook.reviews[0]?.error,
    (error) => error?.includes('closed the connection before the response') === true,
  )
  release(true)
})

test('a replay shows what a changed function would do', async (t) => {
  const webhook = await server.webhook({ kind: 'mutating', rules }, ({ object }: MapRequest) =>
    object.data?.['team'] === undefined ? 'no team' : { ...object, data: { ...object.data, by: 'first' } },
  )
  t.after(() => webhook.close())
  expectStatus(await client.post(maps, mapWith('replay-a', { team: 'web' })), 201)
  expectStatus(await client.post(maps, mapWith('replay-b')), 400)
  const asPatch = await webhook.replay(({ object }: MapRequest) =>
    object.data?.['team'] === undefined ? 'no team' : [{ op: 'add', path: '/data/by', value: 'first' }],
  )
  assert.deepEqual(
    asPatch.map(({ isSame }) => isSame),
    [true, true],
    'a patch with the same result is the same',
  )
  const lenient = await webhook.replay(() => true)
  assert.deepEqual(
    lenient.map(({ request, before, after, isSame }) => [
      request.object.metadata.name,
      before.response?.['allowed'],
      after.response?.['allowed'],
      isSame,
    ]),
    [
      ['replay-a', true, true, false],
      ['replay-b', false, true, false],
    ],
  )
  const throwing = await webhook.replay(() => {
    throw new Error('broken')
  })
  assert.deepEqual(
    throwing.map(({ after, isSame }) => [after.error, isSame]),
    [
      ['broken', false],
      ['broken', false],
    ],
  )
  assert.deepEqual([webhook.errors, webhook.reviews.length], [[], 2], 'a replay is not recorded')
})

test('saved reviews are replayed without a server, and by `admission replay`', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'reviews-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'reviews.json')
  const webhook = await server.webhook({ kind: 'validating', rules }, () => 'never')
  t.after(() => webhook.close())
  expectStatus(await client.post(maps, mapWith('saved')), 400)
  webhook.save(file)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const [same, ...more] = await replayReviews(file, 'validating', () => 'never')
  assert.deepEqual([same?.isSame, more], [true, []])
  assert.equal((await replayReviews(file, 'validating', () => true))[0]?.isSame, false)
  await assert.rejects(
    replayReviews(file, 'token', () => undefined),
    /has no reviews of kind token/,
  )
  const { code, stdout, stderr } = await runInProcess(['admission', 'replay', `--file=${file}`, '--to=http://127.0.0.1:9/'])
  assert.equal(code, 1, stderr)
  assert.match(stdout, /CREATE configmaps default\/saved/)
})

test('close removes the configuration; requests are not reviewed any more', async () => {
  const webhook = await server.webhook({ kind: 'validating', rules }, () => false)
  expectStatus(await client.post(maps, mapWith('after-close')), 400)
  await webhook.close()
  await webhook.close()
  expectStatus(await client.post(maps, mapWith('after-close')), 201)
  const { items } = expectStatus(await client.get(`${configurations}/validatingwebhookconfigurations`), 200).json
  assert.deepEqual(items, [])
})

test('a reset removes the configuration; the same name can be registered again', async (t) => {
  const own = await startServer()
  t.after(() => own.close({ immediately: true }))
  const spec = { kind: 'validating', rules, name: 'reset.shop.example.com' } as const
  const create = () => own.client.core.v1.configMaps('default').create({ metadata: { name: 'a' } })
  const first = await own.webhook(spec, () => 'the first')
  await assert.rejects(create(), /the first/)
  await own.reset()
  await create()
  const second = await own.webhook(spec, () => 'the second')
  await first.close()
  await own.client.core.v1.configMaps('default').delete('a')
  await assert.rejects(create(), /the second/)
  await second.close()
  await create()
})

test('a closed server leaves no configuration in its data folder', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'webhook-data-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  const first = await startServer({ dataDir })
  await first.webhook({ kind: 'validating', rules }, () => false)
  await first.close()
  const second = await startServer({ dataDir })
  t.after(() => second.close({ immediately: true }))
  await second.client.core.v1.configMaps('default').create({ metadata: { name: 'a' } })
})

const refused: readonly (readonly [title: string, spec: unknown, message: RegExp])[] = [
  ['an unknown kind', { kind: 'audit' }, /kind must be one of: validating, mutating, conversion, token, authorization, imagePolicy/],
  ['no spec', undefined, /kind must be one of/],
  ['no rules', { kind: 'validating' }, /rules must be a list of rules such as/],
  ['an empty rule', { kind: 'mutating', rules: [{}] }, /rules must be a list of rules such as/],
  ['a misspelt option', { kind: 'validating', rules, failurepolicy: 'Fail' }, /did you mean "failurePolicy"/],
  ['an option of another kind', { kind: 'token', rules }, /unknown option "rules"/],
  [
    'an unknown field of a rule',
    { kind: 'validating', rules: [{ resources: ['pods'], verbs: ['create'] }] },
    /verbs: field not declared in schema/,
  ],
  ['a short name', { kind: 'validating', rules, name: 'teams' }, /should be a domain with at least three segments/],
  ['a bad policy', { kind: 'validating', rules, failurePolicy: 'Maybe' }, /failurePolicy.*Maybe/],
  ['a bad timeout', { kind: 'validating', rules, timeoutSeconds: 0 }, /timeoutSeconds must be a whole number from 1 to 30/],
  [
    'an unknown CRD',
    { kind: 'conversion', crd: 'wares.shop.example.com' },
    /there is no CustomResourceDefinition "wares.shop.example.com"; create it first/,
  ],
]
for (const [title, spec, message] of refused) {
  test(`a spec is refused: ${title}`, async () => {
    await assert.rejects(
      server.webhook(spec as WebhookSpec<'validating'>, () => true),
      message,
    )
    assert.deepEqual(expectStatus(await client.get(`${configurations}/validatingwebhookconfigurations`), 200).json.items, [])
  })
}

test('a closed server opens no webhook, whose listener would keep the process alive', async () => {
  const closed = await server.fork()
  await closed.close()
  await assert.rejects(
    closed.webhook({ kind: 'token' }, () => undefined),
    /^Error: webhook: the server is closed$/,
  )
})

test('a name that is in use and a missing function are refused', async (t) => {
  const spec = { kind: 'validating', rules, name: 'one.shop.example.com' } as const
  const webhook = await server.webhook(spec, () => true)
  t.after(() => webhook.close())
  await assert.rejects(
    server.webhook(spec, () => true),
    /there is a ValidatingWebhookConfiguration "one.shop.example.com" already/,
  )
  await assert.rejects(server.webhook({ kind: 'validating', rules }, undefined as never), /second argument must be the function/)
})
