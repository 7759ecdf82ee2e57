// Admission: order of plugins, enabled plugins, NamespaceLifecycle, and metrics.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import { testCall } from '@cluster-apiserver/api/api/call.fixture.js'
import { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { parseRequest } from '@cluster-apiserver/api/api/request-info.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { definitions } from '@cluster-apiserver/api/resources/index.js'
import { allow } from '../auth/authorize.js'
import { ObjectStore } from '../objects/object-store.js'
import { openMemoryStorage } from '../storage/memory/memory-storage.js'
import { createAdmission } from './admission.js'
import type { AdmissionDurations } from './admission-counters.js'
import { AdmissionRequest, type Plugin } from './admission-plugin.js'
import { readAdmissionConfig } from './config/admission-config.js'
import { createPlugins } from './create-plugins.js'
import { enabledPlugins } from './plugin-table.js'

const catalog = new Catalog({ identity: identityOf('cluster'), definitions, isServed: () => true })
const configMaps = catalog.find('', 'v1', 'configmaps') as Resource
const namespaces = catalog.find('', 'v1', 'namespaces') as Resource
type RequestOptions = Partial<Pick<AdmissionRequest, 'operation' | 'resource' | 'namespace' | 'name'>>

const request = ({ operation = 'CREATE', ...target }: RequestOptions): AdmissionRequest =>
  new AdmissionRequest(testCall({ resource: configMaps, namespace: 'a', name: 'x', ...target }), operation, { object: {}, old: undefined })

const appending = (name: string): Plugin => ({
  name,
  mutate: async ({ object }) => ({ ...object, words: [...((object as { words?: string[] }).words ?? []), name] }) as ApiObject,
})

test('each plugin sees the object of the previous one; undefined keeps it', async () => {
  const unchanged: Plugin = { name: 'unchanged', mutate: async () => undefined }
  const admission = createAdmission([appending('one'), unchanged, appending('two'), appending('three'), unchanged])
  assert.deepEqual(await admission.mutate(request({})), { words: ['one', 'two', 'three'] })
})

test('requests of a deletecollection have no name', () => {
  const target = { resource: configMaps, namespace: 'a', name: 'x' }
  const nameIn = (path: string): string => {
    const call = testCall(target, { info: parseRequest('DELETE', path) })
    return new AdmissionRequest(call, 'DELETE', { object: undefined, old: {} }).name
  }
  assert.equal(nameIn('/api/v1/namespaces/a/configmaps'), '')
  assert.equal(nameIn('/api/v1/namespaces/a/configmaps/x'), 'x')
})

test('plugins run if on by default or enabled, and not disabled, in the order of the table', () => {
  const names = enabledPlugins({ enabled: ['AlwaysDeny', 'NodeRestriction'], disabled: ['Priority'] })
  assert.deepEqual(names.slice(0, 4), ['NamespaceLifecycle', 'LimitRanger', 'ServiceAccount', 'NodeRestriction'])
  assert.equal(names.at(-1), 'AlwaysDeny')
  assert.ok(!names.includes('Priority'))
  assert.ok(!names.includes('AlwaysPullImages'))
})

test('the first plugin that rejects ends validation', async () => {
  const calledPlugins: string[] = []
  const plugin = (name: string, refuses: boolean): Plugin => ({
    name,
    validate: async () => {
      calledPlugins.push(name)
      if (refuses) throw new Error(name)
    },
  })
  await assert.rejects(async () => createAdmission([plugin('a', false), plugin('b', true), plugin('c', false)]).validate(request({})), /b/)
  assert.deepEqual(calledPlugins, ['a', 'b'])
})

async function withNamespaces(step: 'mutate' | 'recheck' = 'mutate'): Promise<(options: RequestOptions) => Promise<number>> {
  const store = new ObjectStore({
    storage: await openMemoryStorage({ clock: systemClock }),
    clock: systemClock,
    readCacheBytes: 0,
    eventTtlSeconds: 60,
  })
  const put = (name: string, metadata: object, phase: string) =>
    store.put(
      { resource: namespaces, namespace: '', name },
      store.encode(namespaces, {
        metadata: { name, uid: name, creationTimestamp: '2020-01-01T00:00:00Z', ...metadata },
        status: { phase },
      } as ApiObject),
      { expect: 0 },
    )
  await put('a', {}, 'Active')
  await put('terminating', { deletionTimestamp: '2020-01-01T00:00:00Z' }, 'Terminating')
  const admission = createAdmission(
    createPlugins({
      gates: () => true,
      store,
      catalogs: { current: catalog },
      randomSuffix: () => 'abcde',
      config: readAdmissionConfig(new Map(), catalog.identity),
      checkPermission: async () => allow,
      createNamespace: () => Promise.resolve(),
      notReadyTolerationSeconds: 300,
      unreachableTolerationSeconds: 300,
      enabled: [],
      disabled: [],
    }),
  )
  return async (options) => {
    try {
      await admission[step]?.(request(options))
      return 200
    } catch (thrown) {
      return (thrown as ApiError).status.code
    }
  }
}

const lifecycle: readonly { name: string; options: RequestOptions; code: number }[] = [
  { name: 'creating in a namespace', options: {}, code: 200 },
  { name: 'creating in a missing namespace', options: { namespace: 'nowhere' }, code: 404 },
  { name: 'creating in a terminating namespace', options: { namespace: 'terminating' }, code: 403 },
  { name: 'updating in a terminating namespace', options: { namespace: 'terminating', operation: 'UPDATE' }, code: 200 },
  { name: 'connecting in a missing namespace', options: { namespace: 'nowhere', operation: 'CONNECT' }, code: 200 },
  { name: 'deleting in a missing namespace', options: { namespace: 'nowhere', operation: 'DELETE' }, code: 200 },
  {
    name: 'deleting the default namespace',
    options: { resource: namespaces, operation: 'DELETE', namespace: '', name: 'default' },
    code: 403,
  },
  {
    name: 'deleting the system namespace',
    options: { resource: namespaces, operation: 'DELETE', namespace: '', name: 'cluster-system' },
    code: 403,
  },
  { name: 'deleting another namespace', options: { resource: namespaces, operation: 'DELETE', namespace: '', name: 'a' }, code: 200 },
]

for (const row of lifecycle)
  test(`namespaces: ${row.name} returns ${row.code}`, async () => assert.equal(await (await withNamespaces())(row.options), row.code))

test('namespaces: recheck has the same results right before a new object is stored', async () => {
  const admit = await withNamespaces('recheck')
  for (const { options, code } of lifecycle.slice(0, 3)) assert.equal(await admit(options), code)
})

test('creating in a terminating namespace has the cause NamespaceTerminating', async () => {
  const store = new ObjectStore({
    storage: await openMemoryStorage({ clock: systemClock }),
    clock: systemClock,
    readCacheBytes: 0,
    eventTtlSeconds: 60,
  })
  const object = {
    metadata: { name: 'terminating', uid: 'u', creationTimestamp: '2020-01-01T00:00:00Z', deletionTimestamp: '2020-01-01T00:00:00Z' },
  }
  await store.put({ resource: namespaces, namespace: '', name: 'terminating' }, store.encode(namespaces, object), { expect: 0 })
  await assert.rejects(
    () =>
      createAdmission(
        createPlugins({
          gates: () => true,
          store,
          catalogs: { current: catalog },
          randomSuffix: () => 'abcde',
          config: readAdmissionConfig(new Map(), catalog.identity),
          checkPermission: async () => allow,
          createNamespace: () => Promise.resolve(),
          notReadyTolerationSeconds: 300,
          unreachableTolerationSeconds: 300,
          enabled: [],
          disabled: [],
        }),
      ).mutate(request({ namespace: 'terminating', name: '' })),
    (error) =>
      error instanceof ApiError &&
      error.status.details?.causes?.[0]?.reason === 'NamespaceTerminating' &&
      error.message.startsWith('configmaps "Unknown" is forbidden: unable to create'),
  )
})

test('durations are counted by plugin, operation and outcome', async () => {
  const refusing: Plugin = {
    name: 'refusing',
    validate: async () => {
      throw new Error('no')
    },
  }
  const admission = createAdmission([appending('one'), appending('two'), refusing])
  await admission.mutate(request({}))
  await assert.rejects(admission.validate(request({ operation: 'UPDATE' })))
  const counted = (rows: Iterable<AdmissionDurations> = []) =>
    Array.from(rows, ({ name, type, operation, rejected, durations }) => [name, type, operation, rejected, durations.changes].join(' '))
  assert.deepEqual(counted(admission.counters?.plugins()), [
    'one admit CREATE false 1',
    'two admit CREATE false 1',
    'refusing validate UPDATE true 1',
  ])
  assert.deepEqual(counted(admission.counters?.wholeSteps()), [' admit CREATE false 1', ' validate UPDATE true 1'])
})
