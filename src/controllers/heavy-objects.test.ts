// What loops write to heavy objects is carried out elsewhere, whichever loop it is: anybody can hang thousands of labels on an object.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '../api/catalog.js'
import type { ApiObject } from '../api/object.js'
import { systemClock } from '../base/clock.js'
import { silentLogger } from '../base/logger.js'
import type { Engine, OwnRequest } from '../verbs/engine.js'
import { disruptionBudgets } from './disruption/disruption.js'
import { stageOf } from './engine.fixture.js'
import { finishedJobs } from './finished-jobs.js'
import type { LoopParts } from './kit/loop.js'
import { FakeTimers } from './kit/timers.fixture.js'
import type { Loop } from './leader-election.js'
import { claimProtection } from './protection/claim-protection.js'
import { volumeProtection } from './protection/volume-protection.js'

const labels = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`label-${i}`, 'x']))
const long = '2020-01-01T00:00:00Z'

interface Case {
  readonly loop: (parts: LoopParts) => Loop
  readonly place: readonly [group: string, resource: string]
  readonly object: object
  readonly metadata?: object
  readonly expected: { readonly method: string; readonly path: string; readonly body: RegExp }
}

const cases: readonly Case[] = [
  {
    loop: disruptionBudgets,
    place: ['policy', 'poddisruptionbudgets'],
    object: { spec: { minAvailable: 1, selector: { matchLabels: { a: 'b' } } } },
    metadata: { generation: 7 },
    expected: {
      method: 'PATCH',
      path: '/apis/policy/v1/namespaces/n/poddisruptionbudgets/heavy/status',
      body: /^\{"metadata":\{"uid":"u","resourceVersion":"\d+"\},"status":\{.*"observedGeneration":7/,
    },
  },
  {
    loop: finishedJobs,
    place: ['batch', 'jobs'],
    object: {
      spec: { ttlSecondsAfterFinished: 1, template: { spec: {} } },
      status: { conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: long }] },
    },
    expected: { method: 'DELETE', path: '/apis/batch/v1/namespaces/n/jobs/heavy', body: /"uid":"u".*"Foreground"/ },
  },
  {
    loop: claimProtection,
    place: ['', 'persistentvolumeclaims'],
    object: { spec: {} },
    metadata: { deletionTimestamp: long, finalizers: ['kubernetes.io/pvc-protection', 'cluster.io/pvc-protection', 'other'] },
    expected: {
      method: 'PATCH',
      path: '/api/v1/namespaces/n/persistentvolumeclaims/heavy',
      body: /^\{"metadata":\{"uid":"u","resourceVersion":"\d+","finalizers":\[.*"other"\]\}\}$/,
    },
  },
  {
    loop: volumeProtection,
    place: ['', 'persistentvolumes'],
    object: { spec: {} },
    expected: { method: 'PATCH', path: '/api/v1/persistentvolumes/heavy', body: /"finalizers":\["[a-z.]+\/pv-protection"\]/ },
  },
]

for (const { loop: make, place, object, metadata, expected } of cases)
  test(`${place[1]}: ${expected.method}`, async () => {
    const { engine: stage, catalog, catalogs } = await stageOf('cluster', systemClock)
    const requests: OwnRequest[] = []
    const carryOut = (request: OwnRequest) => {
      requests.push(request)
      return Promise.resolve({ code: 200, body: Buffer.from('{}') })
    }
    const engine: Engine = { ...stage, elsewhere: { carryOut } }
    const resource = catalog.find(place[0], 'v1', place[1]) as Resource
    const namespace = resource.namespaced ? 'n' : ''
    const address = { resource, namespace, name: 'heavy' }
    const own = { name: 'heavy', ...(namespace === '' ? {} : { namespace }), uid: 'u', creationTimestamp: long, labels, ...metadata }
    await stage.store.put(address, stage.store.encode(resource, { metadata: own, ...object } as ApiObject), { expect: 0 })
    const timers = new FakeTimers()
    const loop = make({ engine, catalogs, logger: silentLogger, timers })
    for (let i = 0; i < 20 && requests.length === 0; i++) await timers.advance(500)
    await loop.close()
    const [{ method, path, body } = { method: '', path: '', body: '' }] = requests
    assert.deepEqual([method, path], [expected.method, expected.path])
    assert.match(body, expected.body)
  })
