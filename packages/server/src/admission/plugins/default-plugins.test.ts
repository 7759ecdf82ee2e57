// Plugins that are on by default, for pods, claims, ingresses, nodes and volumes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { type AdmissionFixture, admissionFixture, mutatedBy, refusalOf } from '../admission.fixture.js'
import { taintNodesByCondition } from './node-restriction.js'
import { priority } from './priority.js'
import { runtimeClass } from './runtime-class.js'
import { serviceAccount } from './service-account.js'
import { defaultIngressClass, defaultStorageClass, persistentVolumeClaimResize, storageObjectInUseProtection } from './storage.js'
import { defaultTolerationSeconds } from './tolerations-and-node-selectors.js'

interface MutatedObject {
  readonly metadata?: { readonly finalizers?: readonly string[] }
  readonly spec?: { readonly [field: string]: unknown }
}

const baseMetadata = { name: 'x', namespace: 'a' }
const container = { name: 'c', image: 'i' }
const podOf = (spec: object = {}, metadata: object = {}) => ({
  metadata: { ...baseMetadata, ...metadata },
  spec: { containers: [container], ...spec },
})
const pod = (fixture: AdmissionFixture, spec: object = {}, requestFields: object = {}) =>
  fixture.request({ resource: fixture.find('pods'), object: podOf(spec), ...requestFields })

test('DefaultTolerationSeconds: adds missing tolerations, also on update', async () => {
  const fixture = await admissionFixture()
  const plugin = defaultTolerationSeconds({ identity: identityOf('kubernetes'), notReadySeconds: 10, unreachableSeconds: 20 })
  const toleration = (word: string, tolerationSeconds: number) => ({
    key: `node.kubernetes.io/${word}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds,
  })
  const both = [toleration('not-ready', 10), toleration('unreachable', 20)]
  const admit = async (tolerations?: readonly object[], requestFields: object = {}) =>
    (await mutatedBy<MutatedObject>(plugin, pod(fixture, tolerations === undefined ? {} : { tolerations }, requestFields))).spec?.[
      'tolerations'
    ]
  assert.deepEqual(await admit(), both)
  assert.deepEqual(await admit(undefined, { operation: 'UPDATE', old: podOf() }), both)
  assert.deepEqual(await admit([toleration('not-ready', 1)]), [toleration('not-ready', 1), both[1]])
  assert.deepEqual(await admit([{ operator: 'Exists' }]), [{ operator: 'Exists' }])
  assert.equal(await admit(undefined, { subresource: 'status', operation: 'UPDATE', old: podOf() }), undefined)
})

async function withPriorities() {
  const fixture = await admissionFixture()
  const resource = fixture.find('priorityclasses', 'scheduling.k8s.io')
  await fixture.put(resource, { metadata: { name: 'high' }, value: 1000, preemptionPolicy: 'Never' })
  await fixture.put(resource, { metadata: { name: 'usual' }, value: 7, globalDefault: true })
  return { fixture, resource, plugin: priority(fixture.lookup) }
}

test('Priority: from the PriorityClass, or from the global default', async () => {
  const { fixture, plugin } = await withPriorities()
  const admit = async (spec: object) => {
    const { priorityClassName, priority: value, preemptionPolicy } = (await mutatedBy<MutatedObject>(plugin, pod(fixture, spec))).spec ?? {}
    return [priorityClassName, value, preemptionPolicy]
  }
  assert.deepEqual(await admit({ priorityClassName: 'high' }), ['high', 1000, 'Never'])
  assert.deepEqual(await admit({}), ['usual', 7, 'PreemptLowerPriority'])
  assert.match(await refusalOf(plugin, pod(fixture, { priorityClassName: 'none' })), /no PriorityClass with name none was found/)
  assert.match(
    await refusalOf(plugin, pod(fixture, { priorityClassName: 'high', priority: 1 })),
    /the integer value of priority \(1\) must not be provided/,
  )
  assert.match(
    await refusalOf(plugin, pod(fixture, { priorityClassName: 'high', preemptionPolicy: 'X' })),
    /the string value of PreemptionPolicy \(X\)/,
  )
})

test('Priority: an update without priority keeps it; only one global default is allowed', async () => {
  const { fixture, resource, plugin } = await withPriorities()
  const old = podOf({ priority: 5, preemptionPolicy: 'Never' })
  const updated = await mutatedBy<MutatedObject>(plugin, pod(fixture, {}, { operation: 'UPDATE', old }))
  assert.deepEqual([updated.spec?.['priority'], updated.spec?.['preemptionPolicy']], [5, 'Never'])
  const admit = (name: string, globalDefault: boolean) =>
    refusalOf(plugin, fixture.request({ resource, object: { metadata: { name }, globalDefault } }))
  const update = { resource, operation: 'UPDATE', object: { metadata: { name: 'usual' }, globalDefault: true } } as const
  assert.match(await admit('other', true), /PriorityClass usual is already marked as default/)
  assert.match(await admit('usual', true), /PriorityClass usual is already marked as default/)
  assert.equal(await refusalOf(plugin, fixture.request(update)), '')
  assert.equal(await admit('other', false), '')
})

test('RuntimeClass: sets overhead, node selector and tolerations; rejects conflicts', async () => {
  const fixture = await admissionFixture()
  const scheduling = { nodeSelector: { vm: 'yes' }, tolerations: [{ key: 'vm', operator: 'Exists' }] }
  await fixture.put(fixture.find('runtimeclasses', 'node.k8s.io'), {
    metadata: { name: 'vm' },
    handler: 'vm',
    overhead: { podFixed: { cpu: '1' } },
    scheduling,
  })
  const plugin = runtimeClass(fixture.lookup)
  const mutated = await mutatedBy<MutatedObject>(plugin, pod(fixture, { runtimeClassName: 'vm', nodeSelector: { a: 'b' } }))
  assert.deepEqual(mutated.spec?.['overhead'], { cpu: '1' })
  assert.deepEqual(mutated.spec?.['nodeSelector'], { a: 'b', vm: 'yes' })
  assert.deepEqual(mutated.spec?.['tolerations'], scheduling.tolerations)
  // A toleration that the class covers is dropped; other tolerations stay, also without an operator.
  const podTolerations = [{ key: 'vm', operator: 'Equal', value: 'x', effect: 'NoSchedule' }, { key: 'a' }]
  const merged = await mutatedBy<MutatedObject>(plugin, pod(fixture, { runtimeClassName: 'vm', tolerations: podTolerations }))
  assert.deepEqual(merged.spec?.['tolerations'], [{ key: 'a' }, ...scheduling.tolerations])
  assert.match(await refusalOf(plugin, pod(fixture, { runtimeClassName: 'none' })), /RuntimeClass "none" not found/)
  assert.match(await refusalOf(plugin, pod(fixture, { runtimeClassName: 'vm', overhead: { cpu: '2' } })), /Overhead doesn't match/)
  assert.match(
    await refusalOf(plugin, pod(fixture, { runtimeClassName: 'vm', nodeSelector: { vm: 'no' } })),
    /conflict: runtimeClass.scheduling.nodeSelector\[vm\]/,
  )
  assert.match(await refusalOf(plugin, pod(fixture, { overhead: { cpu: '2' } })), /Overhead set without corresponding RuntimeClass/)
})

test('DefaultStorageClass and DefaultIngressClass: the newest annotated class, if none is named', async () => {
  const fixture = await admissionFixture()
  const defaultClass = (word: string, value = 'true') => ({ annotations: { [`${word}.kubernetes.io/is-default-class`]: value } })
  const put = (resource: string, group: string, name: string, metadata: object) =>
    fixture.put(fixture.find(resource, group), { metadata: { name, ...metadata }, provisioner: 'p' })
  await put('storageclasses', 'storage.k8s.io', 'old', { ...defaultClass('storageclass'), creationTimestamp: '2020-01-01T00:00:00Z' })
  await put('storageclasses', 'storage.k8s.io', 'new', { ...defaultClass('storageclass'), creationTimestamp: '2021-01-01T00:00:00Z' })
  await put('storageclasses', 'storage.k8s.io', 'not', defaultClass('storageclass', 'false'))
  await put('ingressclasses', 'networking.k8s.io', 'in', defaultClass('ingressclass'))
  const claims = fixture.find('persistentvolumeclaims')
  const claim = async (spec: object, metadata: object = {}) =>
    (
      await mutatedBy<MutatedObject>(
        defaultStorageClass(fixture.lookup),
        fixture.request({ resource: claims, object: { metadata: { ...baseMetadata, ...metadata }, spec } }),
      )
    ).spec?.['storageClassName']
  assert.equal(await claim({}), 'new')
  assert.equal(await claim({ storageClassName: '' }), '')
  assert.equal(await claim({}, { annotations: { 'volume.beta.kubernetes.io/storage-class': 'x' } }), undefined)
  const ingresses = fixture.find('ingresses', 'networking.k8s.io')
  const ingress = async (spec: object, metadata: object = {}) =>
    (
      await mutatedBy<MutatedObject>(
        defaultIngressClass(fixture.lookup),
        fixture.request({ resource: ingresses, object: { metadata: { ...baseMetadata, ...metadata }, spec } }),
      )
    ).spec?.['ingressClassName']
  assert.equal(await ingress({}), 'in')
  assert.equal(await ingress({ ingressClassName: 'own' }), 'own')
  assert.equal(await ingress({}, { annotations: { 'kubernetes.io/ingress.class': 'x' } }), undefined)
})

test('PersistentVolumeClaimResize: claims grow only if the class allows expansion', async () => {
  const fixture = await admissionFixture()
  const classes = fixture.find('storageclasses', 'storage.k8s.io')
  await fixture.put(classes, { metadata: { name: 'grows' }, provisioner: 'p', allowVolumeExpansion: true })
  await fixture.put(classes, { metadata: { name: 'stays' }, provisioner: 'p' })
  const claim = (storageClassName: string, storage: string) => ({
    metadata: baseMetadata,
    spec: { storageClassName, resources: { requests: { storage } } },
  })
  const admit = (name: string, from: string, to: string) =>
    refusalOf(
      persistentVolumeClaimResize(fixture.lookup),
      fixture.request({
        resource: fixture.find('persistentvolumeclaims'),
        operation: 'UPDATE',
        object: claim(name, to),
        old: claim(name, from),
      }),
    )
  assert.equal(await admit('grows', '1Gi', '2Gi'), '')
  assert.match(await admit('stays', '1Gi', '2Gi'), /must support resize/)
  assert.match(await admit('none', '1Gi', '2Gi'), /must support resize/)
  assert.equal(await admit('stays', '2Gi', '2048Mi'), '')
})

test('StorageObjectInUseProtection: adds the finalizer once to new volumes and claims', async () => {
  const fixture = await admissionFixture()
  const admit = async (resource: string, finalizers?: readonly string[]) =>
    (
      await mutatedBy<MutatedObject>(
        storageObjectInUseProtection,
        fixture.request({
          resource: fixture.find(resource),
          object: { metadata: { ...baseMetadata, ...(finalizers === undefined ? {} : { finalizers }) } },
        }),
      )
    ).metadata?.finalizers
  assert.deepEqual(await admit('persistentvolumes'), ['kubernetes.io/pv-protection'])
  assert.deepEqual(await admit('persistentvolumeclaims', ['a/b']), ['a/b', 'kubernetes.io/pvc-protection'])
  assert.deepEqual(await admit('persistentvolumeclaims', ['kubernetes.io/pvc-protection']), ['kubernetes.io/pvc-protection'])
})

test('TaintNodesByCondition: a new node gets the not-ready taint', async () => {
  const fixture = await admissionFixture()
  const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }
  const admit = async (spec: object, requestFields: object = {}) =>
    (
      await mutatedBy<MutatedObject>(
        taintNodesByCondition,
        fixture.request({ resource: fixture.find('nodes'), object: { metadata: { name: 'n' }, spec }, ...requestFields }),
      )
    ).spec?.['taints']
  assert.deepEqual(await admit({}), [taint])
  assert.deepEqual(await admit({ taints: [taint] }), [taint])
  assert.equal(await admit({}, { operation: 'UPDATE', old: {} }), undefined)
})

async function withAccount(account: object = {}) {
  const fixture = await admissionFixture()
  await fixture.put(fixture.find('serviceaccounts'), { metadata: { name: 'default', namespace: 'a' }, ...account })
  return { fixture, plugin: serviceAccount({ lookup: fixture.lookup, randomSuffix: () => 'abcde' }) }
}

test('ServiceAccount: sets the account, mounts its token and sets its imagePullSecrets', async () => {
  const { fixture, plugin } = await withAccount({ imagePullSecrets: [{ name: 'pull' }] })
  const { spec = {} } = await mutatedBy<MutatedObject>(plugin, pod(fixture))
  assert.equal(spec['serviceAccountName'], 'default')
  assert.deepEqual(spec['imagePullSecrets'], [{ name: 'pull' }])
  const [volume] = spec['volumes'] as readonly { name: string; projected: { sources: readonly object[] } }[]
  assert.equal(volume?.name, 'kube-api-access-abcde')
  assert.deepEqual(volume?.projected.sources[0], { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } })
  const [first] = spec['containers'] as readonly { volumeMounts: readonly object[] }[]
  assert.deepEqual(first?.volumeMounts, [
    { name: 'kube-api-access-abcde', readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
  ])
})

test('ServiceAccount: automountServiceAccountToken of the pod, then of the account; existing mounts and secrets stay', async () => {
  const { fixture, plugin } = await withAccount({ automountServiceAccountToken: false, imagePullSecrets: [{ name: 'pull' }] })
  const volumes = async (spec: object) => (await mutatedBy<MutatedObject>(plugin, pod(fixture, spec))).spec?.['volumes']
  assert.equal(await volumes({}), undefined)
  assert.notEqual(await volumes({ automountServiceAccountToken: true }), undefined)
  const mounted = { ...container, volumeMounts: [{ name: 'own', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }] }
  assert.equal(await volumes({ automountServiceAccountToken: true, containers: [mounted] }), undefined)
  const withOwnSecret = await mutatedBy<MutatedObject>(plugin, pod(fixture, { imagePullSecrets: [{ name: 'own' }] }))
  assert.deepEqual(withOwnSecret.spec?.['imagePullSecrets'], [{ name: 'own' }])
})

test('ServiceAccount: a missing account is an error', async () => {
  const { fixture, plugin } = await withAccount()
  assert.match(
    await refusalOf(plugin, pod(fixture, { serviceAccountName: 'none' })),
    /error looking up service account a\/none: serviceaccount "none" not found/,
  )
  assert.match(
    await refusalOf(plugin, pod(fixture, { serviceAccountName: 'x/%' })),
    /error looking up service account a\/x\/%: invalid resource name "x\/%": \[may not contain '\/' may not contain '%'\]/,
  )
})

test('ServiceAccount: with enforce-mountable-secrets, other secrets are rejected in every field', async () => {
  const annotations = { 'kubernetes.io/enforce-mountable-secrets': 'T' }
  const { fixture, plugin } = await withAccount({
    metadata: { name: 'default', namespace: 'a', annotations },
    secrets: [{ name: 'mine' }],
    imagePullSecrets: [{ name: 'pull' }],
  })
  const env = (name: string) => [{ name: 'E', valueFrom: { secretKeyRef: { name, key: 'k' } } }]
  const admit = (spec: object, requestFields: object = {}) => refusalOf(plugin, pod(fixture, spec, requestFields))
  assert.equal(
    await admit({ volumes: [{ name: 'v', secret: { secretName: 'mine' } }], containers: [{ ...container, env: env('mine') }] }),
    '',
  )
  assert.match(
    await admit({ volumes: [{ name: 'v', secret: { secretName: 'other' } }] }),
    /volume with secret.secretName="other" is not allowed/,
  )
  assert.match(
    await admit({ containers: [{ ...container, env: env('other') }] }),
    /container c with envVar E referencing secret.secretName="other"/,
  )
  assert.match(await admit({ initContainers: [{ ...container, env: env('other') }] }), /init container c with envVar E/)
  const unlisted = { imagePullSecrets: [{ name: 'other' }] }
  assert.match(await admit(unlisted), /imagePullSecrets\[0\].name="other" is not allowed/)
  await assert.rejects(mutatedBy(plugin, pod(fixture, unlisted)), /imagePullSecrets\[0\]/, 'the mutating step rejects it, too')
  const debugged = { serviceAccountName: 'default', ephemeralContainers: [{ ...container, env: env('other') }] }
  assert.match(
    await admit(debugged, { operation: 'UPDATE', subresource: 'ephemeralcontainers', old: podOf() }),
    /ephemeral container c with envVar E/,
  )
})

test('ServiceAccount: mirror pods get no account and no token', async () => {
  const { fixture, plugin } = await withAccount()
  const annotations = { 'kubernetes.io/config.mirror': 'x' }
  const admit = (spec: object) =>
    refusalOf(plugin, fixture.request({ resource: fixture.find('pods'), object: podOf(spec, { annotations }) }))
  const object = podOf({}, { annotations })
  assert.equal(await mutatedBy(plugin, fixture.request({ resource: fixture.find('pods'), object })), object)
  assert.match(await admit({ serviceAccountName: 'default' }), /a mirror pod may not reference service accounts/)
  assert.match(await admit({ volumes: [{ name: 'v', secret: { secretName: 's' } }] }), /a mirror pod may not reference secrets/)
  const projected = { sources: [{ serviceAccountToken: { path: 'token' } }] }
  assert.match(await admit({ volumes: [{ name: 'v', projected }] }), /may not use service account token volume projections/)
})
