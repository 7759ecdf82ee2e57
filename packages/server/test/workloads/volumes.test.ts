// Persistent volume binder of a whole server: the built-in class, static volumes, reclaim policies, claims that wait for a consumer.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { expectStatus, until } from '../../../../test/kit/fixtures.js'
import { startWithFlags } from './start-with-flags.js'

interface Stored {
  readonly metadata: { readonly name: string; readonly uid: string; readonly annotations?: { readonly [key: string]: string } }
  readonly provisioner: string
  readonly reason: string
  readonly message: string
  readonly items: readonly Stored[]
  readonly spec: {
    readonly volumeName?: string
    readonly storageClassName?: string
    readonly claimRef?: { readonly name: string; readonly uid?: string }
    readonly nodeAffinity?: object
    readonly local?: object
    readonly hostPath?: object
  }
  readonly status: { readonly phase?: string; readonly message?: string; readonly capacity?: { readonly storage: string } }
}

const merge = 'application/merge-patch+json'
const volumes = '/api/v1/persistentvolumes'
const classes = '/apis/storage.k8s.io/v1/storageclasses'

async function start(t: TestContext) {
  const { server, client, core, get, create } = await startWithFlags<Stored>(t, '--controllers=*,persistentvolume-binder')
  const claims = `${core}/persistentvolumeclaims`
  const addClaim = (name: string, spec: object = {}) =>
    create(claims, { metadata: { name }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec } })
  const addVolume = (name: string, spec: object = {}) =>
    create(volumes, {
      metadata: { name },
      spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: `/data/${name}` }, ...spec },
    })
  const untilPhase = (path: string, phase: string) =>
    until(
      () => get(path),
      ({ status }) => status?.phase === phase,
    )
  const untilEvent = (reason: string) =>
    until(
      () => get(`${core}/events`),
      ({ items }) => items.some((event) => event.reason === reason),
    )
  const untilClass = () =>
    until(
      () => get(`${classes}/standard`),
      ({ provisioner }) => provisioner !== undefined,
    )
  return { server, client, core, claims, get, addClaim, addVolume, create, untilPhase, untilEvent, untilClass }
}

test('a claim of the built-in default class gets a volume, which is deleted with the claim', async (t) => {
  const { client, claims, get, addClaim, untilPhase, untilEvent, untilClass } = await start(t)
  assert.equal((await untilClass()).metadata.annotations?.['storageclass.kubernetes.io/is-default-class'], 'true')
  const { metadata } = await addClaim('data')
  const claim = await untilPhase(`${claims}/data`, 'Bound')
  const volumeName = `pvc-${metadata.uid}`
  assert.deepEqual([claim.spec.storageClassName, claim.spec.volumeName, claim.status.capacity?.storage], ['standard', volumeName, '1Gi'])
  assert.equal(claim.metadata.annotations?.['volume.kubernetes.io/storage-provisioner'], 'cluster-apiserver/volumes')
  await untilEvent('ProvisioningSucceeded')
  const volume = await untilPhase(`${volumes}/${volumeName}`, 'Bound')
  assert.equal(volume.spec.nodeAffinity, undefined)
  expectStatus(await client.delete(`${claims}/data`), 200)
  await until(
    () => get(volumes),
    ({ items }) => items.length === 0,
  )
})

test('a claim of a class that waits for the first consumer gets a volume on the selected node', async (t) => {
  const { client, claims, get, addClaim, create, untilPhase, untilEvent } = await start(t)
  const mode = 'WaitForFirstConsumer'
  await create(classes, { metadata: { name: 'wait' }, provisioner: 'cluster-apiserver/volumes', volumeBindingMode: mode })
  await create('/api/v1/nodes', { metadata: { name: 'a', labels: { 'kubernetes.io/hostname': 'host-a' } } })
  await addClaim('data', { storageClassName: 'wait' })
  await untilEvent('WaitForFirstConsumer')
  assert.equal((await get(`${claims}/data`)).status.phase, 'Pending')
  const annotations = { 'volume.kubernetes.io/selected-node': 'a' }
  expectStatus(await client.patch(`${claims}/data`, merge, { metadata: { annotations } }), 200)
  const { spec } = await untilPhase(`${claims}/data`, 'Bound')
  const volume = await get(`${volumes}/${spec.volumeName}`)
  assert.notEqual(volume.spec.local, undefined)
  assert.match(JSON.stringify(volume.spec.nodeAffinity), /"key":"kubernetes.io\/hostname","operator":"In","values":\["host-a"\]/)
})

test('claims wait for volumes and classes that come later', async (t) => {
  const { client, claims, addClaim, addVolume, create, untilPhase, untilEvent, untilClass } = await start(t)
  await untilClass()
  expectStatus(await client.delete(`${classes}/standard`), 200)
  await addClaim('early', { storageClassName: 'later' })
  await untilEvent('ProvisioningFailed')
  await addVolume('late', { storageClassName: 'later' })
  await untilPhase(`${claims}/early`, 'Bound')
  await addClaim('classless')
  await untilEvent('FailedBinding')
  const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' }
  await create(classes, { metadata: { name: 'ours', annotations }, provisioner: 'cluster-apiserver/volumes' })
  assert.equal((await untilPhase(`${claims}/classless`, 'Bound')).spec.storageClassName, 'ours')
  await create(classes, { metadata: { name: 'theirs' }, provisioner: 'csi.example.com' })
  await addClaim('external', { storageClassName: 'theirs' })
  await untilEvent('ExternalProvisioning')
})

test('reclaim policies: retained, recycled and undeletable volumes; a volume that is named but does not fit', async (t) => {
  const { client, claims, get, core, addClaim, addVolume, untilPhase, untilEvent } = await start(t)
  const policies = { Retain: 'Released', Recycle: 'Released', Delete: 'Failed' }
  for (const [policy, phase] of Object.entries(policies)) {
    const name = policy.toLowerCase()
    await addVolume(name, { storageClassName: name, persistentVolumeReclaimPolicy: policy })
    await addClaim(name, { storageClassName: name, volumeName: name })
    await untilPhase(`${claims}/${name}`, 'Bound')
    expectStatus(await client.delete(`${claims}/${name}`), 200)
    await untilPhase(`${volumes}/${name}`, phase)
  }
  await until(
    () => get('/api/v1/namespaces/default/pods'),
    ({ items }) => items.some(({ metadata }) => metadata.name === 'recycler-for-recycle'),
  )
  await addVolume('small', { storageClassName: 'x' })
  await addClaim('large', { storageClassName: 'x', volumeName: 'small', resources: { requests: { storage: '2Gi' } } })
  await untilEvent('VolumeMismatch')
  const { items } = await get(`${core}/events`)
  const { message } = items.find(({ reason }) => reason === 'VolumeMismatch') as Stored
  assert.equal(message, 'Cannot bind to requested volume "small": requested PV is too small')
})

test('claims and volumes in random order: each volume has one claim, as many are bound as fit', async (t) => {
  const { client, claims, get, addClaim, addVolume } = await start(t)
  let seed = 7
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return seed % below
  }
  const steps: (() => Promise<unknown>)[] = []
  for (let i = 0; i < 20; i++) {
    steps.push(() => addVolume(`v${i}`, { storageClassName: 'c', persistentVolumeReclaimPolicy: 'Retain' }))
    steps.push(() => addClaim(`c${i}`, { storageClassName: 'c' }))
  }
  while (steps.length > 0) await Promise.all(steps.splice(random(steps.length), 1 + random(4)).map((step) => step()))
  const isBound = ({ status }: Stored): boolean => status.phase === 'Bound'
  const bound = async () => {
    const { items } = await until(
      () => get(claims),
      (list) => list.items.every(isBound),
    )
    const byVolume = new Map(items.map(({ metadata, spec }) => [spec.volumeName, metadata]))
    assert.equal(byVolume.size, items.length)
    for (const { metadata, spec } of (await get(volumes)).items)
      if (byVolume.has(metadata.name)) assert.equal(spec.claimRef?.uid, byVolume.get(metadata.name)?.uid)
    return items
  }
  assert.equal((await bound()).length, 20)
  for (let i = 0; i < 5; i++) expectStatus(await client.delete(`${claims}/c${i}`), 200)
  await until(
    () => get(volumes),
    ({ items }) => items.filter(({ status }) => status.phase === 'Released').length === 5,
  )
  for (let i = 0; i < 3; i++) await addVolume(`w${i}`, { storageClassName: 'c' })
  for (let i = 0; i < 3; i++) await addClaim(`d${i}`, { storageClassName: 'c' })
  assert.equal((await bound()).length, 18)
})
