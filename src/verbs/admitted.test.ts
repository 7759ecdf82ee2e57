// What admission is asked by each verb, and what becomes of what was reserved where it refuses.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as flushTurns } from 'node:timers/promises'
import type { AdmissionRequest } from '../admission/admission.js'
import { ApiError, forbidden, unavailable } from '../api/api-error.js'
import type { Resource } from '../api/catalog.js'
import type { ApiObject } from '../api/object.js'
import { readQuery } from '../api/options/query.js'
import { systemClock } from '../base/clock.js'
import { stageOf } from '../controllers/engine.fixture.js'
import { ownCall } from '../controllers/own-call.js'
import { perform } from './act.js'
import { connect } from './connect.js'
import { create } from './create.js'
import { remove } from './delete.js'
import { removeCollection } from './delete-collection.js'
import type { Engine } from './engine.js'
import { patch } from './patch.js'
import type { Reserver } from './reserve.js'
import { answerReview } from './review.js'
import { bind } from './special/binding.js'
import { evict } from './special/eviction.js'
import { update } from './update.js'
import { withDefaults } from './versions.js'

const show = ({ operation, resource, subresource, name, object, old }: AdmissionRequest): string =>
  `${operation} ${resource.name}${subresource === '' ? '' : `/${subresource}`} ${name} ${describe(object)} ${describe(old)}`

const describe = (object: ApiObject | undefined): string => (object === undefined ? '-' : (object.kind ?? 'object'))

async function stage() {
  const asked: string[] = []
  const { engine: plain, catalog } = await stageOf('cluster', systemClock)
  const engine: Engine = {
    ...plain,
    admission: {
      mutate: (request) => {
        asked.push(show(request))
        return undefined
      },
      validate: () => undefined,
    },
  }
  const find = (name: string, group = ''): Resource => catalog.find(group, 'v1', name) as Resource
  const pods = find('pods')
  const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const call = (subresource?: string, name = 'p') =>
    ownCall(engine, { resource: pods, namespace: 'n', name, ...(subresource === undefined ? {} : { subresource }) })
  await create(engine, call(), { object: withDefaults(call(), pod) })
  assert.deepEqual(asked.splice(0), ['CREATE pods p object -'])
  return { engine, catalog, asked, call, find, pod }
}

test('a binding is a new object of pods/binding, and nothing else', async () => {
  const { engine, catalog, asked, call } = await stage()
  const body = { kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'node' } } as ApiObject
  await perform(engine, call('binding'), { act: bind, body, catalog })
  assert.deepEqual(asked, ['CREATE pods/binding p Binding -'])
})

test('an eviction is a new object of pods/eviction, and no deletion', async () => {
  const { engine, catalog, asked, call } = await stage()
  await perform(engine, call('eviction'), { act: evict, body: { kind: 'Eviction', metadata: { name: 'p' } }, catalog })
  assert.deepEqual(asked, ['CREATE pods/eviction p Eviction -'])
})

test('a deletion of many is one for each', async () => {
  const { engine, asked, call, pod } = await stage()
  await create(engine, call(undefined, 'q'), { object: withDefaults(call(), { ...pod, metadata: { name: 'q' } } as ApiObject) })
  asked.length = 0
  await removeCollection(engine, call(undefined, ''), {
    selection: { labels: undefined, fields: undefined },
    version: { mode: 'most-recent' },
    limit: 0,
  })
  assert.deepEqual(asked.toSorted(), ['DELETE pods p - object', 'DELETE pods q - object'])
})

test('a deletion of many ends where one is refused: when that is told, nothing goes on', async () => {
  const { engine, find } = await stage()
  const resource = find('configmaps')
  const call = ownCall(engine, { resource, namespace: 'n', name: '' })
  const names = Array.from({ length: 100 }, (_, index) => `c${String(index).padStart(2, '0')}`)
  for (const name of names) await create(engine, call.with({ name }), { object: { metadata: { name } } })
  const refusing: Engine = {
    ...engine,
    admission: {
      mutate: () => undefined,
      validate: async ({ name }) => {
        if (name === 'c03') throw forbidden(resource.subject, name, 'no')
        await flushTurns()
      },
    },
  }
  const all = { selection: { labels: undefined, fields: undefined }, version: { mode: 'most-recent' }, limit: 0 } as const
  await assert.rejects(removeCollection(refusing, call, all), /no/)
  const left = engine.store.count(resource, 'n')
  assert.ok(left > names.length / 2, `${left} are left`)
  for (let turns = 0; turns < 50; turns++) await flushTurns()
  assert.equal(engine.store.count(resource, 'n'), left)
})

for (const deletionWorkers of [1, 3]) {
  test(`a deletion of many deletes ${deletionWorkers} at once where that is wanted`, async () => {
    const { engine, find } = await stage()
    const call = ownCall(engine, { resource: find('configmaps'), namespace: 'n', name: '' })
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await create(engine, call.with({ name }), { object: { metadata: { name } } })
    let running = 0
    let most = 0
    const watched: Engine = {
      ...engine,
      deletionWorkers,
      admission: {
        mutate: () => undefined,
        validate: async () => {
          most = Math.max(most, ++running)
          await flushTurns()
          running--
        },
      },
    }
    const all = { selection: { labels: undefined, fields: undefined }, version: { mode: 'most-recent' }, limit: 0 } as const
    await removeCollection(watched, call, all)
    assert.deepEqual([most, engine.store.count(find('configmaps'), 'n')], [deletionWorkers, 0])
  })
}

test('a connection is asked for with its options; a log is read', async () => {
  const { engine, catalog, asked, call } = await stage()
  const request = { catalog, query: readQuery('container=c&command=ls&command=-l&stdin=true'), subpath: '' }
  const seen: unknown[] = []
  const looking: Engine = { ...engine, admission: { ...engine.admission, validate: ({ object }) => void seen.push(object) } }
  await assert.rejects(connect(looking, call('exec'), { to: 'exec', ...request }), ApiError)
  assert.deepEqual(asked, ['CONNECT pods/exec p PodExecOptions -'])
  assert.deepEqual(seen, [{ kind: 'PodExecOptions', apiVersion: 'v1', container: 'c', command: ['ls', '-l'], stdin: true }])
  await connect(looking, call('log'), { to: 'log', ...request })
  assert.equal(asked.length, 1)
  const tried = connect(looking, call('exec'), { to: 'exec', ...request, query: readQuery('command=ls&dryRun=All') })
  await assert.rejects(tried, { message: 'dryRun is not supported' })
  assert.equal(asked.length, 1)
})

test('a question is a new object', async () => {
  const { engine, asked, find } = await stage()
  const resource = find('selfsubjectaccessreviews', 'authorization.cluster.io')
  const spec = { nonResourceAttributes: { path: '/', verb: 'get' } }
  await answerReview(engine, ownCall(engine, { resource, name: '' }), { spec } as ApiObject)
  assert.deepEqual(asked, ['CREATE selfsubjectaccessreviews  object -'])
})

test('a plugin cannot make an object that is being deleted', async () => {
  const { engine: plain, call, pod } = await stage()
  const mark = { deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 5, labels: { by: 'plugin' } }
  const engine: Engine = {
    ...plain,
    admission: { mutate: ({ object }) => ({ ...object, metadata: { ...object?.metadata, ...mark } }), validate: () => undefined },
  }
  const making = call(undefined, 'q')
  const { result } = await create(engine, making, { object: withDefaults(making, { ...pod, metadata: { name: 'q' } }) })
  const { metadata = {} } = result.stored?.decode(making.resource) ?? {}
  assert.deepEqual([metadata.labels, metadata.deletionTimestamp, metadata.deletionGracePeriodSeconds], [mark.labels, undefined, undefined])
})

test('of a view admission sees the view, and what it makes of that is written', async () => {
  const { engine: plain, find } = await stage()
  const resource = find('deployments', 'apps')
  const target = { resource, namespace: 'n', name: 'd' }
  const labels = { app: 'a' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const deployment = { metadata: { name: 'd' }, spec: { selector: { matchLabels: labels }, template, replicas: 1 } } as ApiObject
  const making = ownCall(plain, target)
  await create(plain, making, { object: withDefaults(making, deployment) })
  const seen: string[] = []
  const replicasOf = (object: ApiObject | undefined): number => (object as { spec: { replicas: number } }).spec.replicas
  const engine: Engine = {
    ...plain,
    admission: {
      mutate: ({ object, old }) => {
        seen.push(`${Object.keys((object as { spec: object }).spec)} ${replicasOf(old)} to ${replicasOf(object)}`)
        return { ...object, spec: { replicas: 7 } } as ApiObject
      },
      validate: ({ object }) => void seen.push(`${replicasOf(object)}`),
    },
  }
  const scale = { metadata: { name: 'd', namespace: 'n' }, spec: { replicas: 3 } } as ApiObject
  await update(engine, ownCall(engine, { ...target, subresource: 'scale' }), { object: scale })
  assert.deepEqual(seen, ['replicas 1 to 3', '7'])
  assert.equal(replicasOf(engine.store.read(target)?.decode(resource)), 7)
})

for (const [condition, ending] of [
  ['without a version', 'is computed again where somebody else was quicker'],
  ['with one', 'is a conflict'],
] as const) {
  test(`a patch of the last finalizer ${condition} ${ending}`, async () => {
    const { engine, find } = await stage()
    const resource = find('configmaps')
    const call = ownCall(engine, { resource, namespace: 'n', name: 'c' })
    await create(engine, call, { object: { metadata: { name: 'c', finalizers: ['example.com/f'] } } })
    await remove(engine, call)
    const version = engine.store.read({ resource, namespace: 'n', name: 'c' })?.resourceVersion
    let races = 0
    const racing: Engine = {
      ...engine,
      admission: {
        mutate: () => undefined,
        validate: async () => {
          if (races++ > 0) return
          await patch(engine, call, { type: 'merge', patch: { data: { a: 'b' } }, duplicates: [] })
        },
      },
    }
    const metadata = { finalizers: null, ...(condition === 'with one' ? { resourceVersion: version } : {}) }
    const patching = patch(racing, call, { type: 'merge', patch: { metadata }, duplicates: [] })
    if (condition === 'with one') await assert.rejects(patching, /has been modified/)
    else assert.deepEqual((await patching).result.object?.['data' as never], { a: 'b' })
    assert.equal(engine.store.count(resource, 'n'), condition === 'with one' ? 1 : 0)
  })
}

const reserver = (log: string[], word: string, errors: readonly never[] = []): Reserver => ({
  collection: 'configmaps',
  reserve: async ({ next }) => {
    log.push(`take ${word}`)
    const { data = {} } = next as { data?: Record<string, string> }
    return {
      object: { ...next, data: { ...data, [word]: '' } } as ApiObject,
      gained: [],
      errors,
      release: () => void log.push(`give ${word}`),
    }
  },
  holds: () => [],
})

for (const isRefused of [false, true]) {
  test(`reservations are taken in order${isRefused ? ', and given back in reverse where the object is refused' : ' and kept'}`, async () => {
    const { engine: plain, find } = await stage()
    const log: string[] = []
    const resource = find('configmaps')
    const engine: Engine = {
      ...plain,
      reservers: [reserver(log, 'one'), reserver(log, 'two')],
      admission: {
        mutate: () => undefined,
        validate: () => {
          if (isRefused) throw forbidden(resource.subject, 'c', 'no')
        },
      },
    }
    const call = ownCall(engine, { resource, namespace: 'n', name: 'c' })
    const making = create(engine, call, { object: { metadata: { name: 'c' } } })
    if (isRefused) await assert.rejects(making, /no/)
    else assert.deepEqual(Object.keys((await making).result.stored?.decode(resource) ?? {}).includes('data'), true)
    assert.deepEqual(log.splice(0), isRefused ? ['take one', 'take two', 'give two', 'give one'] : ['take one', 'take two'])
    if (isRefused) return
    await update(engine, call.with({ options: { dryRun: ['All'] } }), { object: { metadata: { name: 'c' } } })
    assert.deepEqual(log, ['take one', 'take two', 'give two', 'give one'], 'a dry run keeps nothing')
  })
}

test('a kind that goes while others are waited for at a quota takes nothing any more', async () => {
  const { engine, find } = await stage()
  const plain = find('configmaps')
  let isGone = false
  let released = 0
  const checkCreatable = (): void => {
    if (isGone) throw unavailable('gone')
  }
  const resource: Resource = { ...plain, definition: { ...plain.definition, checkCreatable } }
  const waiting: Engine = {
    ...engine,
    reservers: [{ reserve: ({ next }) => ({ object: next, gained: [], errors: [], release: () => void released++ }), holds: () => [] }],
    accounts: {
      accountFor: () => async (commit) => {
        isGone = true
        return commit([])
      },
    },
  }
  const call = ownCall(waiting, { resource, namespace: 'n', name: 'x' })
  await assert.rejects(create(waiting, call, { object: { metadata: { name: 'x' } } }), ApiError)
  assert.deepEqual([engine.store.count(plain, 'n'), released], [0, 1])
})

test('what was reserved stays so where nobody knows whether the object was written', async () => {
  const { engine: plain, find } = await stage()
  const log: string[] = []
  const resource = find('configmaps')
  const store = Object.create(plain.store, {
    put: {
      value: async (...written: Parameters<typeof plain.store.put>) => {
        await plain.store.put(...written)
        throw unavailable('the answer was lost')
      },
    },
  }) as Engine['store']
  const engine: Engine = { ...plain, store, reservers: [reserver(log, 'one')] }
  const call = ownCall(engine, { resource, namespace: 'n', name: 'c' })
  await assert.rejects(create(engine, call, { object: { metadata: { name: 'c' } } }), /lost/)
  assert.equal(plain.store.count(resource, 'n'), 1)
  assert.deepEqual(log.splice(0), ['take one'])
  await assert.rejects(update(engine, call, { object: { metadata: { name: 'c', labels: { a: 'b' } } } }), /lost/)
  assert.deepEqual(log, ['take one'])
})

for (const { title, waitedMs, isMade } of [
  { title: 'is asked for its place once more', waitedMs: 40_000, isMade: false },
  { title: 'is not, where little time has passed', waitedMs: 20, isMade: true },
]) {
  test(`what waited for hooks ${title}, right before it is stored`, async () => {
    const { engine, find } = await stage()
    let now = Date.now()
    let isGone = false
    const slow: Engine = {
      ...engine,
      clock: { now: () => now },
      admission: {
        mutate: () => undefined,
        validate: async () => {
          await flushTurns()
          now += waitedMs
          isGone = true
        },
        recheck: ({ resource, operation, name }) => {
          if (isGone) throw forbidden(resource.subject, name, `no place for ${operation}`)
        },
      },
    }
    const resource = find('configmaps')
    const made = create(slow, ownCall(slow, { resource, namespace: 'n', name: 'c' }), { object: { metadata: { name: 'c' } } })
    if (isMade) await made
    else await assert.rejects(made, /no place for CREATE/)
    assert.equal(engine.store.count(resource, 'n'), isMade ? 1 : 0)
  })
}
