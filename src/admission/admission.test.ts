// Plugins run in their order, and a namespace must be there and stay there.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../api/api-error.js'
import { testCall } from '../api/call.fixture.js'
import { Catalog, type Resource } from '../api/catalog.js'
import { identityOf } from '../api/identity.js'
import type { ApiObject } from '../api/object.js'
import { parseRequest } from '../api/request-info.js'
import { allow } from '../auth/authorize.js'
import { systemClock } from '../base/clock.js'
import { ObjectStore } from '../objects/object-store.js'
import { definitions } from '../resources/index.js'
import { openMemoryStorage } from '../storage/memory.js'
import { AdmissionRequest, admissionOf, type Plugin } from './admission.js'
import type { TalliedDurations } from './admission-tallies.js'
import { readAdmissionConfig } from './config/admission-config.js'
import { pluginsInOrder } from './order.js'
import { chosenPlugins } from './plugin-table.js'

const catalog = new Catalog({ identity: identityOf('cluster'), definitions, isServed: () => true })
const configMaps = catalog.find('', 'v1', 'configmaps') as Resource
const namespaces = catalog.find('', 'v1', 'namespaces') as Resource
type Tried = Partial<Pick<AdmissionRequest, 'operation' | 'resource' | 'namespace' | 'name'>>

const request = ({ operation = 'CREATE', ...target }: Tried): AdmissionRequest =>
  new AdmissionRequest(testCall({ resource: configMaps, namespace: 'a', name: 'x', ...target }), operation, { object: {}, old: undefined })

const appending = (word: string, delayed: boolean): Plugin => ({
  name: word,
  mutate: ({ object }) => {
    const next = { ...object, words: [...((object as { words?: string[] }).words ?? []), word] } as ApiObject
    return delayed ? Promise.resolve(next) : next
  },
})

test('each plugin sees what the one before it left, waiting or not', async () => {
  const admission = admissionOf([appending('one', false), appending('two', true), appending('three', false)])
  assert.deepEqual(await admission.mutate(request({})), { words: ['one', 'two', 'three'] })
})

for (const delayed of [false, true]) {
  test(`a plugin that says nothing leaves what others did, ${delayed ? 'later' : 'at once'}`, async () => {
    const silent: Plugin = { name: 'silent', mutate: () => (delayed ? Promise.resolve(undefined) : undefined) }
    const admission = admissionOf([appending('one', false), silent, appending('two', delayed), silent])
    assert.deepEqual(await admission.mutate(request({})), { words: ['one', 'two'] })
  })
}

test('plugins see the collections that they name, and of all others there is one plan, however many come and go', async () => {
  let looked = 0
  const seen: string[] = []
  const plugin: Plugin = {
    name: 'maps',
    get collections() {
      looked++
      return ['configmaps']
    },
    mutate: ({ resource }) => {
      seen.push(resource.collection)
      return undefined
    },
  }
  const admission = admissionOf([plugin])
  const before = looked
  for (let i = 0; i < 20; i++) await admission.mutate(request({ resource: { ...configMaps, collection: `things.group-${i}.example.com` } }))
  await admission.mutate(request({}))
  assert.deepEqual(seen, ['configmaps'])
  assert.ok(looked - before <= 4, `${looked - before}`)
})

test('plugins see options, the signal and the audit log of the request', () => {
  const remarks: string[] = []
  const { signal } = new AbortController()
  const call = testCall(
    { resource: configMaps, options: { dryRun: ['All'], fieldManager: 'm' } },
    { signal, annotate: (key, value) => remarks.push(`${key}=${value}`) },
  )
  const plugin: Plugin = {
    name: 'looking',
    validate: (asked) => {
      assert.equal(asked.signal, signal)
      assert.equal(asked.dryRun, true)
      assert.equal(asked.options.fieldManager, 'm')
      asked.annotate('a', 'b')
    },
  }
  admissionOf([plugin]).validate(new AdmissionRequest(call, 'CREATE', { object: {}, old: undefined }))
  assert.deepEqual(remarks, ['a=b'])
})

test('of a collection that goes no object is named', () => {
  const target = { resource: configMaps, namespace: 'a', name: 'x' }
  const nameIn = (path: string): string => {
    const call = testCall(target, { info: parseRequest('DELETE', path) })
    return new AdmissionRequest(call, 'DELETE', { object: undefined, old: {} }).name
  }
  assert.equal(nameIn('/api/v1/namespaces/a/configmaps'), '')
  assert.equal(nameIn('/api/v1/namespaces/a/configmaps/x'), 'x')
})

test('what runs is what is on by default or enabled, and not disabled, in the order of the table', () => {
  const chosen = chosenPlugins({ enabled: ['AlwaysDeny', 'NodeRestriction'], disabled: ['Priority'] })
  assert.deepEqual(chosen.slice(0, 4), ['NamespaceLifecycle', 'LimitRanger', 'ServiceAccount', 'NodeRestriction'])
  assert.equal(chosen.at(-1), 'AlwaysDeny')
  assert.ok(!chosen.includes('Priority'))
  assert.ok(!chosen.includes('AlwaysPullImages'))
})

test('without a plugin that waits nothing waits', () => {
  assert.ok(!(admissionOf([appending('one', false)]).mutate(request({})) instanceof Promise))
})

test('the first plugin that refuses ends validation', async () => {
  const seen: string[] = []
  const plugin = (name: string, refuses: boolean): Plugin => ({
    name,
    validate: async () => {
      seen.push(name)
      if (refuses) throw new Error(name)
    },
  })
  await assert.rejects(async () => admissionOf([plugin('a', false), plugin('b', true), plugin('c', false)]).validate(request({})), /b/)
  assert.deepEqual(seen, ['a', 'b'])
})

async function withNamespaces(step: 'mutate' | 'recheck' = 'mutate'): Promise<(tried: Tried) => number> {
  const store = new ObjectStore({
    storage: await openMemoryStorage({ clock: systemClock }),
    clock: systemClock,
    readCacheBytes: 0,
    eventTtlSeconds: 60,
  })
  const put = (name: string, more: object, phase: string) =>
    store.put(
      { resource: namespaces, namespace: '', name },
      store.encode(namespaces, {
        metadata: { name, uid: name, creationTimestamp: '2020-01-01T00:00:00Z', ...more },
        status: { phase },
      } as ApiObject),
      { expect: 0 },
    )
  await put('a', {}, 'Active')
  await put('going', { deletionTimestamp: '2020-01-01T00:00:00Z' }, 'Terminating')
  const admission = admissionOf(
    pluginsInOrder({
      store,
      catalogs: { current: catalog },
      randomSuffix: () => 'abcde',
      config: readAdmissionConfig(new Map(), catalog.identity),
      ask: () => allow,
      createNamespace: () => Promise.resolve(),
      notReadyTolerationSeconds: 300,
      unreachableTolerationSeconds: 300,
      enabled: [],
      disabled: [],
    }),
  )
  return (tried) => {
    try {
      admission[step]?.(request(tried))
      return 200
    } catch (thrown) {
      return (thrown as ApiError).status.code
    }
  }
}

const lifecycle: readonly { name: string; tried: Tried; code: number }[] = [
  { name: 'creating in a namespace', tried: {}, code: 200 },
  { name: 'creating in a missing one', tried: { namespace: 'nowhere' }, code: 404 },
  { name: 'creating in one that is going', tried: { namespace: 'going' }, code: 403 },
  { name: 'updating in one that is going', tried: { namespace: 'going', operation: 'UPDATE' }, code: 200 },
  { name: 'connecting in a missing one', tried: { namespace: 'nowhere', operation: 'CONNECT' }, code: 200 },
  { name: 'deleting in a missing one', tried: { namespace: 'nowhere', operation: 'DELETE' }, code: 200 },
  {
    name: 'deleting the default namespace',
    tried: { resource: namespaces, operation: 'DELETE', namespace: '', name: 'default' },
    code: 403,
  },
  {
    name: 'deleting the system namespace',
    tried: { resource: namespaces, operation: 'DELETE', namespace: '', name: 'cluster-system' },
    code: 403,
  },
  { name: 'deleting another', tried: { resource: namespaces, operation: 'DELETE', namespace: '', name: 'a' }, code: 200 },
]

for (const row of lifecycle) test(`namespaces: ${row.name}`, async () => assert.equal((await withNamespaces())(row.tried), row.code))

test('namespaces: the same is found out right before a new object is stored', async () => {
  const ask = await withNamespaces('recheck')
  for (const { tried, code } of lifecycle.slice(0, 3)) assert.equal(ask(tried), code)
})

test('the refusal says that the namespace is going', async () => {
  const store = new ObjectStore({
    storage: await openMemoryStorage({ clock: systemClock }),
    clock: systemClock,
    readCacheBytes: 0,
    eventTtlSeconds: 60,
  })
  const object = {
    metadata: { name: 'going', uid: 'u', creationTimestamp: '2020-01-01T00:00:00Z', deletionTimestamp: '2020-01-01T00:00:00Z' },
  }
  await store.put({ resource: namespaces, namespace: '', name: 'going' }, store.encode(namespaces, object), { expect: 0 })
  assert.throws(
    () =>
      admissionOf(
        pluginsInOrder({
          store,
          catalogs: { current: catalog },
          randomSuffix: () => 'abcde',
          config: readAdmissionConfig(new Map(), catalog.identity),
          ask: () => allow,
          createNamespace: () => Promise.resolve(),
          notReadyTolerationSeconds: 300,
          unreachableTolerationSeconds: 300,
          enabled: [],
          disabled: [],
        }),
      ).mutate(request({ namespace: 'going', name: '' })),
    (error) =>
      error instanceof ApiError &&
      error.status.details?.causes?.[0]?.reason === 'NamespaceTerminating' &&
      error.message.startsWith('configmaps "Unknown" is forbidden: unable to create'),
  )
})

test('how long plugins take is counted by name, operation and outcome', async () => {
  const refusing: Plugin = {
    name: 'refusing',
    validate: () => {
      throw new Error('no')
    },
  }
  const admission = admissionOf([appending('one', false), appending('two', true), refusing])
  await admission.mutate(request({}))
  assert.throws(() => admission.validate(request({ operation: 'UPDATE' })))
  const tallied = (rows: Iterable<TalliedDurations> = []) =>
    Array.from(rows, ({ name, type, operation, rejected, durations }) => [name, type, operation, rejected, durations.changes].join(' '))
  assert.deepEqual(tallied(admission.tallies?.plugins()), [
    'one admit CREATE false 1',
    'two admit CREATE false 1',
    'refusing validate UPDATE true 1',
  ])
  assert.deepEqual(tallied(admission.tallies?.wholeSteps()), [' admit CREATE false 1', ' validate UPDATE true 1'])
})
