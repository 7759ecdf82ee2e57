// Limit ranges: defaults for containers; minimum, maximum and ratio for containers, pods and claims.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whileCounting } from '../../base/turn-count.fixture.js'
import { mutatedBy, refusalOf, type Stage, stageOf } from '../stage.fixture.js'
import { limitRanger } from './limit-ranger.js'

async function withRanges(...limits: readonly object[]): Promise<{ stage: Stage; plugin: ReturnType<typeof limitRanger> }> {
  const stage = await stageOf()
  const plugin = limitRanger(stage.store, stage.find('limitranges'))
  for (const [i, limit] of limits.entries())
    await stage.put(stage.find('limitranges'), { metadata: { name: `r${i}`, namespace: 'a' }, spec: { limits: [limit] } })
  return { stage, plugin }
}

const container = (requests?: object, limits?: object, name = 'c') => ({
  name,
  image: 'i',
  resources: { ...(requests === undefined ? {} : { requests }), ...(limits === undefined ? {} : { limits }) },
})

const podOf = (...containers: readonly object[]) => ({ metadata: { name: 'p', namespace: 'a' }, spec: { containers } })

interface Shown {
  readonly metadata: { readonly annotations?: { readonly [name: string]: string } }
  readonly spec: { readonly containers: readonly { readonly resources: object }[] }
}

test('what containers leave out they get, and a remark says so', async () => {
  const { stage, plugin } = await withRanges({ type: 'Container', default: { memory: '1Gi', cpu: '2' }, defaultRequest: { cpu: '1' } })
  const pod = await mutatedBy<Shown>(
    plugin,
    stage.attempt({ resource: stage.find('pods'), object: podOf(container({ cpu: '3' }), container(undefined, undefined, 'd')) }),
  )
  assert.deepEqual(pod.spec.containers[0]?.resources, { limits: { memory: '1Gi', cpu: '2' }, requests: { cpu: '3' } })
  assert.deepEqual(pod.spec.containers[1]?.resources, { limits: { memory: '1Gi', cpu: '2' }, requests: { cpu: '1' } })
  assert.equal(
    pod.metadata.annotations?.['kubernetes.io/limit-ranger'],
    'LimitRanger plugin set: cpu, memory limit for container c; cpu request for container d; cpu, memory limit for container d',
  )
})

test('a pod that lacks nothing stays as it is', async () => {
  const { stage, plugin } = await withRanges({ type: 'Container', default: { cpu: '2' } })
  const object = podOf(container({ cpu: '1' }, { cpu: '2' }))
  assert.equal(await mutatedBy(plugin, stage.attempt({ resource: stage.find('pods'), object })), object)
})

test('many ranges for many containers yield to the event loop', async () => {
  const amounts = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`example.com/r${i}`, '10']))
  const ranges = Array.from({ length: 40 }, () => ({ type: 'Container', default: amounts, max: amounts }))
  const { stage, plugin } = await withRanges(...ranges)
  const containers = Array.from({ length: 300 }, (_, i) => container(undefined, undefined, `c${i}`))
  const request = stage.attempt({ resource: stage.find('pods'), object: podOf(...containers) })
  await whileCounting(async (count) => {
    await plugin.mutate?.(request)
    assert.ok(count.turn > 2, `${count.turn} turns`)
  })
})

const rows: readonly { readonly range: object; readonly containers: readonly object[]; readonly refusal: string }[] = [
  {
    range: { type: 'Container', min: { cpu: '50m' } },
    containers: [container({ cpu: '10m' })],
    refusal: 'minimum cpu usage per Container is 50m, but request is 10m',
  },
  {
    range: { type: 'Container', min: { cpu: '50m' } },
    containers: [container({ cpu: '50m' }, { cpu: '20m' })],
    refusal: 'minimum cpu usage per Container is 50m, but limit is 20m',
  },
  {
    range: { type: 'Container', min: { cpu: '50m' } },
    containers: [container()],
    refusal: 'minimum cpu usage per Container is 50m.  No request is specified',
  },
  {
    range: { type: 'Container', max: { cpu: '1' } },
    containers: [container({}, { cpu: '1.5' })],
    refusal: 'maximum cpu usage per Container is 1, but limit is 1500m',
  },
  {
    range: { type: 'Container', max: { cpu: '1' } },
    containers: [container({ cpu: '2' }, { cpu: '1' })],
    refusal: 'maximum cpu usage per Container is 1, but request is 2',
  },
  {
    range: { type: 'Container', max: { cpu: '1' } },
    containers: [container()],
    refusal: 'maximum cpu usage per Container is 1.  No limit is specified',
  },
  {
    range: { type: 'Container', maxLimitRequestRatio: { cpu: '4' } },
    containers: [container({ cpu: '100m' }, { cpu: '500m' })],
    refusal: 'cpu max limit to request ratio per Container is 4, but provided ratio is 5.000000',
  },
  {
    range: { type: 'Container', maxLimitRequestRatio: { cpu: '4' } },
    containers: [container()],
    refusal: 'cpu max limit to request ratio per Container is 4, but no request is specified or request is 0',
  },
  {
    range: { type: 'Pod', max: { cpu: '1200m' } },
    containers: [container({}, { cpu: '700m' }), container({}, { cpu: '600m' })],
    refusal: 'maximum cpu usage per Pod is 1200m, but limit is 1300m',
  },
  {
    range: { type: 'Pod', min: { memory: '64Mi' } },
    containers: [container({ memory: '8Mi' }), container({ memory: '9Mi' })],
    refusal: 'minimum memory usage per Pod is 64Mi, but request is 17825792',
  },
  {
    range: { type: 'Pod', min: { memory: '1Mi' } },
    containers: [container({ memory: '8Mi' }), container()],
    refusal: 'minimum memory usage per Pod is 1Mi.  No request is specified',
  },
  {
    range: { type: 'Container', min: { cpu: '1' }, max: { memory: '1' } },
    containers: [container({ cpu: '1m' }, { memory: '2' })],
    refusal: '[minimum cpu usage per Container is 1, but request is 1m, maximum memory usage per Container is 1, but limit is 2]',
  },
  {
    range: { type: 'Container', min: { cpu: '1m' }, max: { cpu: '2' }, maxLimitRequestRatio: { cpu: '4' } },
    containers: [container({ cpu: '500m' }, { cpu: '2' })],
    refusal: '',
  },
]

for (const { range, containers, refusal } of rows) {
  test(refusal === '' ? 'within all bounds' : refusal, async () => {
    const { stage, plugin } = await withRanges(range)
    const found = await refusalOf(plugin, stage.attempt({ resource: stage.find('pods'), object: podOf(...containers) }))
    assert.equal(found, refusal === '' ? '' : `pods "p" is forbidden: ${refusal}`)
  })
}

test('of containers that run first the largest counts for the pod', async () => {
  const { stage, plugin } = await withRanges({ type: 'Pod', max: { cpu: '1' } })
  const object = {
    metadata: { name: 'p', namespace: 'a' },
    spec: { containers: [container({}, { cpu: '1' })], initContainers: [container({}, { cpu: '2' })] },
  }
  assert.match(await refusalOf(plugin, stage.attempt({ resource: stage.find('pods'), object })), /per Pod is 1, but limit is 2/)
})

test('claims keep within theirs, also when they change; pods that are there are not looked at', async () => {
  const { stage, plugin } = await withRanges(
    { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '5Gi' } },
    { type: 'Container', min: { cpu: '1' } },
  )
  const claim = (storage: string) => ({ metadata: { name: 'x', namespace: 'a' }, spec: { resources: { requests: { storage } } } })
  const claims = stage.find('persistentvolumeclaims')
  assert.match(
    await refusalOf(plugin, stage.attempt({ resource: claims, object: claim('1023Mi') })),
    /minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1023Mi/,
  )
  assert.match(
    await refusalOf(plugin, stage.attempt({ resource: claims, operation: 'UPDATE', object: claim('6Gi'), old: claim('1Gi') })),
    /maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 6Gi/,
  )
  assert.equal(await refusalOf(plugin, stage.attempt({ resource: claims, object: claim('5Gi') })), '')
  const pod = podOf(container())
  assert.equal(await refusalOf(plugin, stage.attempt({ resource: stage.find('pods'), operation: 'UPDATE', object: pod, old: pod })), '')
})

test('a limit range counts as soon as it is there, and no longer when it is gone', async () => {
  const { stage, plugin } = await withRanges()
  const attempt = () => refusalOf(plugin, stage.attempt({ resource: stage.find('pods'), object: podOf(container()) }))
  assert.equal(await attempt(), '')
  await stage.put(stage.find('limitranges'), {
    metadata: { name: 'r', namespace: 'a' },
    spec: { limits: [{ type: 'Container', min: { cpu: '1' } }] },
  })
  assert.notEqual(await attempt(), '')
  const stored = stage.store.read({ resource: stage.find('limitranges'), namespace: 'a', name: 'r' })
  if (stored !== undefined) await stage.store.remove(stored)
  assert.equal(await attempt(), '')
})
