// Admission requests of each verb. Reservations, such as of Service IPs, are released if the object is rejected.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as flushTurns } from 'node:timers/promises'
import { ApiError, forbidden, unavailable } from '@cluster-apiserver/api/api/api-error.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { readQuery } from '@cluster-apiserver/api/api/options/query.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import type { AdmissionRequest } from '../admission/admission-plugin.js'
import { createTestEngine } from '../controllers/framework/engine.fixture.js'
import { internalCall } from '../controllers/framework/internal-call.js'
import { create } from './create.js'
import { remove, removeCollection } from './delete.js'
import type { Engine } from './engine.js'
import { patch } from './patch.js'
import type { Reserver } from './reserve/reserver.js'
import { update } from './update.js'
import { withDefaults } from './version-conversion.js'
import { evict } from './virtual/eviction.js'
import { bind } from './virtual/pod-binding.js'
import { connect, performAction, performReview } from './virtual/virtual-requests.js'

const show = ({ operation, resource, subresource, name, object, old }: AdmissionRequest): string =>
  `${operation} ${resource.name}${subresource === '' ? '' : `/${subresource}`} ${name} ${describe(object)} ${describe(old)}`

const describe = (object: ApiObject | undefined): string => (object === undefined ? '-' : (object.kind ?? 'object'))

async function setUp() {
  const admitted: string[] = []
  const { engine: baseEngine, catalog } = await createTestEngine('cluster', systemClock)
  const engine: Engine = {
    ...baseEngine,
    admission: {
      mutate: async (request) => {
        admitted.push(show(request))
        return undefined
      },
      validate: async () => undefined,
    },
  }
  const find = (name: string, group = ''): Resource => catalog.find(group, 'v1', name) as Resource
  const pods = find('pods')
  const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const call = (subresource?: string, name = 'p') =>
    internalCall(engine, { resource: pods, namespace: 'n', name, ...(subresource === undefined ? {} : { subresource }) })
  await create(engine, call(), { object: withDefaults(call(), pod) })
  assert.deepEqual(admitted.splice(0), ['CREATE pods p object -'])
  return { engine, catalog, admitted, call, find, pod }
}

test('a binding is admitted as CREATE of pods/binding only', async () => {
  const { engine, catalog, admitted, call } = await setUp()
  const body = { kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'node' } } as ApiObject
  await performAction(engine, call('binding'), { action: bind, body, catalog })
  assert.deepEqual(admitted, ['CREATE pods/binding p Binding -'])
})

test('an eviction is admitted as CREATE of pods/eviction, not as DELETE', async () => {
  const { engine, catalog, admitted, call } = await setUp()
  await performAction(engine, call('eviction'), { action: evict, body: { kind: 'Eviction', metadata: { name: 'p' } }, catalog })
  assert.deepEqual(admitted, ['CREATE pods/eviction p Eviction -'])
})

test('DELETE of a collection admits each object', async () => {
  const { engine, admitted, call, pod } = await setUp()
  await create(engine, call(undefined, 'q'), { object: withDefaults(call(), { ...pod, metadata: { name: 'q' } } as ApiObject) })
  admitted.length = 0
  await removeCollection(engine, call(undefined, ''), {
    selection: { labels: undefined, fields: undefined },
    version: { mode: 'most-recent' },
    limit: 0,
  })
  assert.deepEqual(admitted.toSorted(), ['DELETE pods p - object', 'DELETE pods q - object'])
})

test('DELETE of a collection stops when one object is rejected, and no delete is in progress when it fails', async () => {
  const { engine, find } = await setUp()
  const resource = find('configmaps')
  const call = internalCall(engine, { resource, namespace: 'n', name: '' })
  const names = Array.from({ length: 100 }, (_, index) => `c${String(index).padStart(2, '0')}`)
  for (const name of names) await create(engine, call.with({ name }), { object: { metadata: { name } } })
  const rejectingEngine: Engine = {
    ...engine,
    admission: {
      mutate: async () => undefined,
      validate: async ({ name }) => {
        if (name === 'c03') throw forbidden(resource.subject, name, 'no')
        await flushTurns()
      },
    },
  }
  const all = { selection: { labels: undefined, fields: undefined }, version: { mode: 'most-recent' }, limit: 0 } as const
  await assert.rejects(removeCollection(rejectingEngine, call, all), /no/)
  const left = engine.store.count(resource, 'n')
  assert.ok(left > names.length / 2, `${left} are left`)
  for (let rounds = 0; rounds < 50; rounds++) await flushTurns()
  assert.equal(engine.store.count(resource, 'n'), left)
})

for (const deletionWorkers of [1, 3]) {
  test(`DELETE of a collection deletes ${deletionWorkers} objects in parallel`, async () => {
    const { engine, find } = await setUp()
    const call = internalCall(engine, { resource: find('configmaps'), namespace: 'n', name: '' })
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await create(engine, call.with({ name }), { object: { metadata: { name } } })
    let running = 0
    let maxRunning = 0
    const counting: Engine = {
      ...engine,
      deletionWorkers,
      admission: {
        mutate: async () => undefined,
        validate: async () => {
          maxRunning = Math.max(maxRunning, ++running)
          await flushTurns()
          running--
        },
      },
    }
    const all = { selection: { labels: undefined, fields: undefined }, version: { mode: 'most-recent' }, limit: 0 } as const
    await removeCollection(counting, call, all)
    assert.deepEqual([maxRunning, engine.store.count(find('configmaps'), 'n')], [deletionWorkers, 0])
  })
}

test('a connection is admitted with its options; pods/log is not admitted', async () => {
  const { engine, catalog, admitted, call } = await setUp()
  const request = { catalog, query: readQuery('container=c&command=ls&command=-l&stdin=true'), subpath: '' }
  const admittedObjects: unknown[] = []
  const recordingEngine: Engine = {
    ...engine,
    admission: { ...engine.admission, validate: async ({ object }) => void admittedObjects.push(object) },
  }
  await assert.rejects(connect(recordingEngine, call('exec'), { to: 'exec', ...request }), ApiError)
  assert.deepEqual(admitted, ['CONNECT pods/exec p PodExecOptions -'])
  assert.deepEqual(admittedObjects, [{ kind: 'PodExecOptions', apiVersion: 'v1', container: 'c', command: ['ls', '-l'], stdin: true }])
  await connect(recordingEngine, call('log'), { to: 'log', ...request })
  assert.equal(admitted.length, 1)
  const tried = connect(recordingEngine, call('exec'), { to: 'exec', ...request, query: readQuery('command=ls&dryRun=All') })
  await assert.rejects(tried, { message: 'dryRun is not supported' })
  assert.equal(admitted.length, 1)
})

test('a review is admitted as CREATE', async () => {
  const { engine, admitted, find } = await setUp()
  const resource = find('selfsubjectaccessreviews', 'authorization.cluster.io')
  const spec = { nonResourceAttributes: { path: '/', verb: 'get' } }
  await performReview(engine, internalCall(engine, { resource, name: '' }), { spec } as ApiObject)
  assert.deepEqual(admitted, ['CREATE selfsubjectaccessreviews  object -'])
})

test('a mutating plugin cannot set deletionTimestamp', async () => {
  const { engine: baseEngine, call, pod } = await setUp()
  const deletionFields = { deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 5, labels: { by: 'plugin' } }
  const engine: Engine = {
    ...baseEngine,
    admission: {
      mutate: async ({ object }) => ({ ...object, metadata: { ...object?.metadata, ...deletionFields } }),
      validate: async () => undefined,
    },
  }
  const createCall = call(undefined, 'q')
  const { result } = await create(engine, createCall, { object: withDefaults(createCall, { ...pod, metadata: { name: 'q' } }) })
  const { metadata = {} } = result.stored?.decode(createCall.resource) ?? {}
  assert.deepEqual(
    [metadata.labels, metadata.deletionTimestamp, metadata.deletionGracePeriodSeconds],
    [deletionFields.labels, undefined, undefined],
  )
})

test('admission of /scale sees and mutates the Scale', async () => {
  const { engine: baseEngine, find } = await setUp()
  const resource = find('deployments', 'apps')
  const target = { resource, namespace: 'n', name: 'd' }
  const labels = { app: 'a' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const deployment = { metadata: { name: 'd' }, spec: { selector: { matchLabels: labels }, template, replicas: 1 } } as ApiObject
  const createCall = internalCall(baseEngine, target)
  await create(baseEngine, createCall, { object: withDefaults(createCall, deployment) })
  const admittedObjects: string[] = []
  const replicasOf = (object: ApiObject | undefined): number => (object as { spec: { replicas: number } }).spec.replicas
  const engine: Engine = {
    ...baseEngine,
    admission: {
      mutate: async ({ object, old }) => {
        admittedObjects.push(`${Object.keys((object as { spec: object }).spec)} ${replicasOf(old)} to ${replicasOf(object)}`)
        return { ...object, spec: { replicas: 7 } } as ApiObject
      },
      validate: async ({ object }) => void admittedObjects.push(`${replicasOf(object)}`),
    },
  }
  const scale = { metadata: { name: 'd', namespace: 'n' }, spec: { replicas: 3 } } as ApiObject
  await update(engine, internalCall(engine, { ...target, subresource: 'scale' }), { object: scale })
  assert.deepEqual(admittedObjects, ['replicas 1 to 3', '7'])
  assert.equal(replicasOf(engine.store.read(target)?.decode(resource)), 7)
})

for (const [condition, ending] of [
  ['without a resourceVersion', 'is computed again after a conflict with another writer'],
  ['with a resourceVersion', 'is a conflict'],
] as const) {
  test(`a patch that removes the last finalizer ${condition} ${ending}`, async () => {
    const { engine, find } = await setUp()
    const resource = find('configmaps')
    const call = internalCall(engine, { resource, namespace: 'n', name: 'c' })
    await create(engine, call, { object: { metadata: { name: 'c', finalizers: ['example.com/f'] } } })
    await remove(engine, call)
    const version = engine.store.read({ resource, namespace: 'n', name: 'c' })?.resourceVersion
    let races = 0
    const racing: Engine = {
      ...engine,
      admission: {
        mutate: async () => undefined,
        validate: async () => {
          if (races++ > 0) return
          await patch(engine, call, { type: 'merge', patch: { data: { a: 'b' } }, duplicates: [] })
        },
      },
    }
    const metadata = { finalizers: null, ...(condition === 'with a resourceVersion' ? { resourceVersion: version } : {}) }
    const patching = patch(racing, call, { type: 'merge', patch: { metadata }, duplicates: [] })
    if (condition === 'with a resourceVersion') await assert.rejects(patching, /has been modified/)
    else assert.deepEqual((await patching).result.object?.['data' as never], { a: 'b' })
    assert.equal(engine.store.count(resource, 'n'), condition === 'with a resourceVersion' ? 1 : 0)
  })
}

const reserver = (log: string[], name: string, errors: readonly never[] = []): Reserver => ({
  collection: 'configmaps',
  reserve: async ({ next }) => {
    log.push(`reserve ${name}`)
    const { data = {} } = next as { data?: Record<string, string> }
    return {
      object: { ...next, data: { ...data, [name]: '' } } as ApiObject,
      gained: [],
      errors,
      release: async () => void log.push(`release ${name}`),
    }
  },
  uniqueKeysOf: () => [],
})

for (const isRefused of [false, true]) {
  test(`reservations are made in order${isRefused ? ' and released in reverse if the object is rejected' : ' and kept'}`, async () => {
    const { engine: baseEngine, find } = await setUp()
    const log: string[] = []
    const resource = find('configmaps')
    const engine: Engine = {
      ...baseEngine,
      reservers: [reserver(log, 'one'), reserver(log, 'two')],
      admission: {
        mutate: async () => undefined,
        validate: async () => {
          if (isRefused) throw forbidden(resource.subject, 'c', 'no')
        },
      },
    }
    const call = internalCall(engine, { resource, namespace: 'n', name: 'c' })
    const creating = create(engine, call, { object: { metadata: { name: 'c' } } })
    if (isRefused) await assert.rejects(creating, /no/)
    else assert.deepEqual(Object.keys((await creating).result.stored?.decode(resource) ?? {}).includes('data'), true)
    assert.deepEqual(
      log.splice(0),
      isRefused ? ['reserve one', 'reserve two', 'release two', 'release one'] : ['reserve one', 'reserve two'],
    )
    if (isRefused) return
    await update(engine, call.with({ options: { dryRun: ['All'] } }), { object: { metadata: { name: 'c' } } })
    assert.deepEqual(log, ['reserve one', 'reserve two', 'release two', 'release one'], 'a dry run releases all reservations')
  })
}

test('a kind that is removed while a write waits for its quota stores nothing', async () => {
  const { engine, find } = await setUp()
  const configMaps = find('configmaps')
  let isRemoved = false
  let released = 0
  const checkCreatable = (): void => {
    if (isRemoved) throw unavailable('gone')
  }
  const resource: Resource = { ...configMaps, definition: { ...configMaps.definition, checkCreatable } }
  const waiting: Engine = {
    ...engine,
    reservers: [
      {
        reserve: async ({ next }) => ({ object: next, gained: [], errors: [], release: async () => void released++ }),
        uniqueKeysOf: () => [],
      },
    ],
    accounts: {
      accountFor: () => async (commit) => {
        isRemoved = true
        return commit([])
      },
    },
  }
  const call = internalCall(waiting, { resource, namespace: 'n', name: 'x' })
  await assert.rejects(create(waiting, call, { object: { metadata: { name: 'x' } } }), ApiError)
  assert.deepEqual([engine.store.count(configMaps, 'n'), released], [0, 1])
})

test('reservations stay if it is unknown whether the object was written', async () => {
  const { engine: baseEngine, find } = await setUp()
  const log: string[] = []
  const resource = find('configmaps')
  const store = Object.create(baseEngine.store, {
    put: {
      value: async (...written: Parameters<typeof baseEngine.store.put>) => {
        await baseEngine.store.put(...written)
        throw unavailable('the response was lost')
      },
    },
  }) as Engine['store']
  const engine: Engine = { ...baseEngine, store, reservers: [reserver(log, 'one')] }
  const call = internalCall(engine, { resource, namespace: 'n', name: 'c' })
  await assert.rejects(create(engine, call, { object: { metadata: { name: 'c' } } }), /lost/)
  assert.equal(baseEngine.store.count(resource, 'n'), 1)
  assert.deepEqual(log.splice(0), ['reserve one'])
  await assert.rejects(update(engine, call, { object: { metadata: { name: 'c', labels: { a: 'b' } } } }), /lost/)
  assert.deepEqual(log, ['reserve one'])
})

for (const { title, waitedMs, isCreated } of [
  { title: 'repeats the namespace check', waitedMs: 40_000, isCreated: false },
  { title: 'does not repeat it if little time has passed', waitedMs: 20, isCreated: true },
]) {
  test(`a write that waited for webhooks ${title}, right before it is stored`, async () => {
    const { engine, find } = await setUp()
    let now = Date.now()
    let isRemoved = false
    const slow: Engine = {
      ...engine,
      clock: { now: () => now },
      admission: {
        mutate: async () => undefined,
        validate: async () => {
          await flushTurns()
          now += waitedMs
          isRemoved = true
        },
        recheck: ({ resource, operation, name }) => {
          if (isRemoved) throw forbidden(resource.subject, name, `no namespace for ${operation}`)
        },
      },
    }
    const resource = find('configmaps')
    const readIndexes: unknown[] = []
    engine.store.readIndex = (call) => readIndexes.push(call)
    const created = create(slow, internalCall(slow, { resource, namespace: 'n', name: 'c' }), { object: { metadata: { name: 'c' } } })
    if (isCreated) await created
    else await assert.rejects(created, /no namespace for CREATE/)
    assert.equal(engine.store.count(resource, 'n'), isCreated ? 1 : 0)
    // The repetition must see what other processes wrote since the request arrived, so it is not on behalf of the request.
    assert.deepEqual(
      readIndexes.map((call) => call === undefined),
      isCreated ? [false] : [false, true],
    )
  })
}
