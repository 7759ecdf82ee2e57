// LimitRanger: defaults of containers; minimum, maximum and ratio of containers, pods and PersistentVolumeClaims.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AdmissionFixture, admissionFixture, mutatedBy, refusalOf } from '../admission.fixture.js'
import { limitRanger } from './limit-ranger.js'

async function withRanges(...limits: readonly object[]): Promise<{ fixture: AdmissionFixture; plugin: ReturnType<typeof limitRanger> }> {
  const fixture = await admissionFixture()
  const plugin = limitRanger(fixture.store, fixture.find('limitranges'))
  for (const [i, limit] of limits.entries())
    await fixture.put(fixture.find('limitranges'), { metadata: { name: `r${i}`, namespace: 'a' }, spec: { limits: [limit] } })
  return { fixture, plugin }
}

const container = (requests?: object, limits?: object, name = 'c') => ({
  name,
  image: 'i',
  resources: { ...(requests === undefined ? {} : { requests }), ...(limits === undefined ? {} : { limits }) },
})

const podOf = (...containers: readonly object[]) => ({ metadata: { name: 'p', namespace: 'a' }, spec: { containers } })

interface MutatedPod {
  readonly metadata: { readonly annotations?: { readonly [name: string]: string } }
  readonly spec: { readonly containers: readonly { readonly resources: object }[] }
}

test('missing requests and limits get the defaults, with an annotation', async () => {
  const { fixture, plugin } = await withRanges({ type: 'Container', default: { memory: '1Gi', cpu: '2' }, defaultRequest: { cpu: '1' } })
  const pod = await mutatedBy<MutatedPod>(
    plugin,
    fixture.request({ resource: fixture.find('pods'), object: podOf(container({ cpu: '3' }), container(undefined, undefined, 'd')) }),
  )
  assert.deepEqual(pod.spec.containers[0]?.resources, { limits: { memory: '1Gi', cpu: '2' }, requests: { cpu: '3' } })
  assert.deepEqual(pod.spec.containers[1]?.resources, { limits: { memory: '1Gi', cpu: '2' }, requests: { cpu: '1' } })
  assert.equal(
    pod.metadata.annotations?.['kubernetes.io/limit-ranger'],
    'LimitRanger plugin set: cpu, memory limit for container c; cpu request for container d; cpu, memory limit for container d',
  )
})

test('a pod with all requests and limits is unchanged', async () => {
  const { fixture, plugin } = await withRanges({ type: 'Container', default: { cpu: '2' } })
  const object = podOf(container({ cpu: '1' }, { cpu: '2' }))
  assert.equal(await mutatedBy(plugin, fixture.request({ resource: fixture.find('pods'), object })), object)
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
  test(refusal === '' ? 'a pod within all bounds is admitted' : refusal, async () => {
    const { fixture, plugin } = await withRanges(range)
    const found = await refusalOf(plugin, fixture.request({ resource: fixture.find('pods'), object: podOf(...containers) }))
    assert.equal(found, refusal === '' ? '' : `pods "p" is forbidden: ${refusal}`)
  })
}

test('the largest init container counts for the pod', async () => {
  const { fixture, plugin } = await withRanges({ type: 'Pod', max: { cpu: '1' } })
  const object = {
    metadata: { name: 'p', namespace: 'a' },
    spec: { containers: [container({}, { cpu: '1' })], initContainers: [container({}, { cpu: '2' })] },
  }
  assert.match(await refusalOf(plugin, fixture.request({ resource: fixture.find('pods'), object })), /per Pod is 1, but limit is 2/)
})

test('PersistentVolumeClaims are checked on create and update; pods only on create', async () => {
  const { fixture, plugin } = await withRanges(
    { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '5Gi' } },
    { type: 'Container', min: { cpu: '1' } },
  )
  const claim = (storage: string) => ({ metadata: { name: 'x', namespace: 'a' }, spec: { resources: { requests: { storage } } } })
  const claims = fixture.find('persistentvolumeclaims')
  assert.match(
    await refusalOf(plugin, fixture.request({ resource: claims, object: claim('1023Mi') })),
    /minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1023Mi/,
  )
  assert.match(
    await refusalOf(plugin, fixture.request({ resource: claims, operation: 'UPDATE', object: claim('6Gi'), old: claim('1Gi') })),
    /maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 6Gi/,
  )
  assert.equal(await refusalOf(plugin, fixture.request({ resource: claims, object: claim('5Gi') })), '')
  const pod = podOf(container())
  assert.equal(await refusalOf(plugin, fixture.request({ resource: fixture.find('pods'), operation: 'UPDATE', object: pod, old: pod })), '')
})

test('a LimitRange applies from its creation to its deletion', async () => {
  const { fixture, plugin } = await withRanges()
  const admit = () => refusalOf(plugin, fixture.request({ resource: fixture.find('pods'), object: podOf(container()) }))
  assert.equal(await admit(), '')
  await fixture.put(fixture.find('limitranges'), {
    metadata: { name: 'r', namespace: 'a' },
    spec: { limits: [{ type: 'Container', min: { cpu: '1' } }] },
  })
  assert.notEqual(await admit(), '')
  const stored = fixture.store.read({ resource: fixture.find('limitranges'), namespace: 'a', name: 'r' })
  if (stored !== undefined) await fixture.store.remove(stored)
  assert.equal(await admit(), '')
})
