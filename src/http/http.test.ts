// The small parts of the wire: health, discovery, the bodies of patches, the order of filters.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noApiServices } from '../api/api-services.js'
import { Catalog } from '../api/catalog.js'
import { identityOf } from '../api/identity.js'
import { readQuery } from '../api/options/query.js'
import { definitions } from '../resources/index.js'
import { groupDocument, groupListDocument, resourceListDocument } from './discovery.js'
import type { Exchange } from './exchange.js'
import { answerAll, answerOne, type Check, healthChecks } from './health.js'
import { patchTypeOf, readPatch } from './patch-body.js'
import { walk } from './pipeline.js'

const checks: readonly Check[] = [
  { name: 'ping', problem: () => undefined },
  { name: 'etcd', problem: () => 'no answer' },
]

const answers: readonly { query: string; code: number; text: RegExp }[] = [
  { query: '', code: 500, text: /^\[\+\]ping ok\n\[-\]etcd failed: reason withheld\nlivez check failed\n$/ },
  { query: 'exclude=etcd', code: 200, text: /^ok$/ },
  { query: 'exclude=etcd&verbose', code: 200, text: /^\[\+\]ping ok\n\[\+\]etcd excluded: ok\nhealthz check passed\n$/ },
  {
    query: 'exclude=etcd&exclude=odd&exclude=any&exclude=odd&verbose',
    code: 200,
    text: /cannot be excluded: no matches for "any","odd"\n/,
  },
]

for (const row of answers) {
  test(`health with ?${row.query}`, async () => {
    const answer = await answerAll('livez', checks, readQuery(row.query))
    assert.equal(answer.code, row.code)
    assert.match(answer.text, row.text)
  })
}

test('one check', async () => {
  assert.equal((await answerOne(checks, 'ping'))?.code, 200)
  assert.equal((await answerOne(checks, 'etcd'))?.code, 500)
  assert.equal(await answerOne(checks, 'odd'), undefined)
})

test('start-up counts for readiness at once, for liveness after the grace period', async () => {
  const state = { started: false, grace: true, down: false }
  const all = healthChecks(
    {
      storeProblem: () => undefined,
      storeUnreadiness: () => undefined,
      hasStarted: () => state.started,
      isShuttingDown: () => state.down,
      isInGracePeriod: () => state.grace,
    },
    identityOf('cluster'),
  )
  const code = async (path: 'livez' | 'readyz' | 'healthz') => (await answerAll(path, all[path], readQuery(''))).code
  const codes = () => Promise.all([code('livez'), code('readyz'), code('healthz')])
  assert.deepEqual(await codes(), [200, 500, 500])
  state.grace = false
  assert.equal(await code('livez'), 500)
  state.started = true
  assert.deepEqual(await codes(), [200, 200, 200])
  state.down = true
  assert.deepEqual(await codes(), [200, 500, 200])
})

test('discovery names what is served, in both identities', () => {
  for (const [name, suffix] of [
    ['cluster', 'cluster.io'],
    ['kubernetes', 'k8s.io'],
  ] as const) {
    const catalog = new Catalog({ identity: identityOf(name), definitions, isServed: ({ version }) => !version.includes('alpha') })
    const names = (groupListDocument(catalog, noApiServices)['groups'] as { name: string }[]).map((group) => group.name)
    assert.ok(names.includes(`coordination.${suffix}`))
    assert.ok(!names.includes(`resource.${suffix}`))
    assert.equal(groupDocument(catalog, noApiServices, 'resource.example.com'), undefined)
    const core = resourceListDocument(catalog, { group: '', version: 'v1' })?.['resources'] as { name: string }[]
    assert.deepEqual(
      core.map((resource) => resource.name),
      core.map((resource) => resource.name).sort(),
    )
    assert.ok(core.some((resource) => resource.name === 'namespaces/finalize'))
    const hashOf = (group: string, name: string): unknown => {
      const document = resourceListDocument(catalog, { group, version: 'v1' })
      const resources = document?.['resources'] as readonly { readonly name: string; readonly storageVersionHash?: string }[]
      return resources.find((resource) => resource.name === name)?.storageVersionHash
    }
    assert.deepEqual(
      ['bindings', 'componentstatuses'].map((name) => hashOf('', name)),
      [undefined, undefined],
    )
    assert.equal(hashOf('', 'events'), 'r2yiGXH7wu8=')
    assert.equal(hashOf(`events.${suffix}`, 'events'), 'r2yiGXH7wu8=')
    assert.equal(resourceListDocument(catalog, { group: '', version: 'v2' }), undefined)
  }
})

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

const bodies: readonly {
  name: string
  type: Parameters<typeof readPatch>[0]
  text: string
  patch?: unknown
  duplicates?: readonly string[]
  refused?: RegExp
}[] = [
  { name: 'a merge patch', type: 'merge', text: '{"a":null}', patch: { a: null } },
  { name: 'duplicates', type: 'merge', text: '{"a":1,"a":2}', patch: { a: 2 }, duplicates: ['duplicate field "a"'] },
  { name: 'a list for a merge patch', type: 'merge', text: '[]', refused: /an object is expected/ },
  { name: 'null for a merge patch', type: 'merge', text: 'null', refused: /Invalid JSON Patch/ },
  {
    name: 'operations',
    type: 'json',
    text: '[{"op":"test","path":"/a","value":1,"odd":2}]',
    patch: [{ op: 'test', path: '/a', value: 1, odd: 2 }],
    duplicates: ['unknown field "[0].odd"'],
  },
  { name: 'an object for operations', type: 'json', text: '{}', refused: /a list of operations is expected/ },
  { name: 'no JSON', type: 'strategic', text: '{', refused: /: unexpected end of JSON input$/ },
  { name: 'a configuration in JSON', type: 'apply', text: '{"kind":"A"}', patch: { kind: 'A' } },
  { name: 'a configuration in YAML', type: 'apply', text: 'kind: A\ndata: {n: "1"}\n', patch: { kind: 'A', data: { false: '1' } } },
  {
    name: 'a repeated key in YAML',
    type: 'apply',
    text: 'a: 1\na: 2\n',
    patch: { a: 2 },
    duplicates: ['line 2: key "a" already set in map'],
  },
  { name: 'a list for a configuration', type: 'apply', text: '- 1\n', refused: /must be an object/ },
  { name: 'no YAML', type: 'apply', text: 'a: b: c', refused: /error converting YAML to JSON: yaml: / },
]

for (const row of bodies) {
  test(`patch body: ${row.name}`, () => {
    if (row.refused !== undefined) {
      assert.throws(() => readPatch(row.type, bytes(row.text)), row.refused)
      return
    }
    const body = readPatch(row.type, bytes(row.text))
    assert.deepEqual(body.patch, row.patch)
    assert.deepEqual(body.duplicates, row.duplicates ?? [])
  })
}

test('types of patches', () => {
  assert.equal(patchTypeOf({ 'content-type': 'application/merge-patch+json; charset=utf-8' }), 'merge')
  assert.throws(() => patchTypeOf({ 'content-type': 'application/json' }), /415/)
  assert.throws(() => patchTypeOf({}), /415/)
})

test('filters run in order until one has answered', async () => {
  const seen: string[] = []
  const filter = (name: string, answered: boolean, waits: boolean) => () => {
    seen.push(name)
    return waits ? Promise.resolve(answered) : answered
  }
  assert.equal(
    await walk([filter('a', false, false), filter('b', false, true), filter('c', true, false), filter('d', false, false)], {} as Exchange),
    true,
  )
  assert.deepEqual(seen, ['a', 'b', 'c'])
})
