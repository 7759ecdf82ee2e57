// Plugins that run by default and fill in what pods, claims, ingresses, nodes and volumes leave out: one test for each rule.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '../../api/identity.js'
import { mutatedBy, refusalOf, type Stage, stageOf } from '../stage.fixture.js'
import { defaultIngressClass, defaultStorageClass } from './default-classes.js'
import { defaultTolerationSeconds } from './default-toleration-seconds.js'
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.js'
import { priority } from './priority.js'
import { runtimeClass } from './runtime-class.js'
import { serviceAccount } from './service-account.js'
import { storageObjectInUseProtection } from './storage-object-in-use-protection.js'
import { taintNodesByCondition } from './taint-nodes-by-condition.js'

interface Shown {
  readonly metadata?: { readonly finalizers?: readonly string[] }
  readonly spec?: { readonly [field: string]: unknown }
}

const named = { name: 'x', namespace: 'a' }
const container = { name: 'c', image: 'i' }
const podOf = (spec: object = {}, metadata: object = {}) => ({
  metadata: { ...named, ...metadata },
  spec: { containers: [container], ...spec },
})
const pod = (stage: Stage, spec: object = {}, more: object = {}) =>
  stage.attempt({ resource: stage.find('pods'), object: podOf(spec), ...more })

test('DefaultTolerationSeconds: what is missing of the two, also when a pod changes', async () => {
  const stage = await stageOf()
  const plugin = defaultTolerationSeconds({ identity: identityOf('kubernetes'), notReadySeconds: 10, unreachableSeconds: 20 })
  const toleration = (word: string, tolerationSeconds: number) => ({
    key: `node.kubernetes.io/${word}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds,
  })
  const both = [toleration('not-ready', 10), toleration('unreachable', 20)]
  const ask = async (tolerations?: readonly object[], more: object = {}) =>
    (await mutatedBy<Shown>(plugin, pod(stage, tolerations === undefined ? {} : { tolerations }, more))).spec?.['tolerations']
  assert.deepEqual(await ask(), both)
  assert.deepEqual(await ask(undefined, { operation: 'UPDATE', old: podOf() }), both)
  assert.deepEqual(await ask([toleration('not-ready', 1)]), [toleration('not-ready', 1), both[1]])
  assert.deepEqual(await ask([{ operator: 'Exists' }]), [{ operator: 'Exists' }])
  assert.equal(await ask(undefined, { subresource: 'status', operation: 'UPDATE', old: podOf() }), undefined)
})

async function withPriorities() {
  const stage = await stageOf()
  const resource = stage.find('priorityclasses', 'scheduling.k8s.io')
  await stage.put(resource, { metadata: { name: 'high' }, value: 1000, preemptionPolicy: 'Never' })
  await stage.put(resource, { metadata: { name: 'usual' }, value: 7, globalDefault: true })
  return { stage, resource, plugin: priority(stage.lookup) }
}

test('Priority: that of the class, or of the one for pods that name none', async () => {
  const { stage, plugin } = await withPriorities()
  const ask = async (spec: object) => {
    const { priorityClassName, priority: value, preemptionPolicy } = (await mutatedBy<Shown>(plugin, pod(stage, spec))).spec ?? {}
    return [priorityClassName, value, preemptionPolicy]
  }
  assert.deepEqual(await ask({ priorityClassName: 'high' }), ['high', 1000, 'Never'])
  assert.deepEqual(await ask({}), ['usual', 7, 'PreemptLowerPriority'])
  assert.match(await refusalOf(plugin, pod(stage, { priorityClassName: 'none' })), /no PriorityClass with name none was found/)
  assert.match(
    await refusalOf(plugin, pod(stage, { priorityClassName: 'high', priority: 1 })),
    /the integer value of priority \(1\) must not be provided/,
  )
  assert.match(
    await refusalOf(plugin, pod(stage, { priorityClassName: 'high', preemptionPolicy: 'X' })),
    /the string value of PreemptionPolicy \(X\)/,
  )
})

test('Priority: an update that leaves it out keeps it, and there is one default', async () => {
  const { stage, resource, plugin } = await withPriorities()
  const old = podOf({ priority: 5, preemptionPolicy: 'Never' })
  const kept = await mutatedBy<Shown>(plugin, pod(stage, {}, { operation: 'UPDATE', old }))
  assert.deepEqual([kept.spec?.['priority'], kept.spec?.['preemptionPolicy']], [5, 'Never'])
  const ask = (name: string, globalDefault: boolean) =>
    refusalOf(plugin, stage.attempt({ resource, object: { metadata: { name }, globalDefault } }))
  const update = { resource, operation: 'UPDATE', object: { metadata: { name: 'usual' }, globalDefault: true } } as const
  assert.match(await ask('other', true), /PriorityClass usual is already marked as default/)
  assert.match(await ask('usual', true), /PriorityClass usual is already marked as default/)
  assert.equal(await refusalOf(plugin, stage.attempt(update)), '')
  assert.equal(await ask('other', false), '')
})

test('RuntimeClass: overhead, selector and tolerations of the class, and what is against it is refused', async () => {
  const stage = await stageOf()
  const scheduling = { nodeSelector: { vm: 'yes' }, tolerations: [{ key: 'vm', operator: 'Exists' }] }
  await stage.put(stage.find('runtimeclasses', 'node.k8s.io'), {
    metadata: { name: 'vm' },
    handler: 'vm',
    overhead: { podFixed: { cpu: '1' } },
    scheduling,
  })
  const plugin = runtimeClass(stage.lookup)
  const made = await mutatedBy<Shown>(plugin, pod(stage, { runtimeClassName: 'vm', nodeSelector: { a: 'b' } }))
  assert.deepEqual(made.spec?.['overhead'], { cpu: '1' })
  assert.deepEqual(made.spec?.['nodeSelector'], { a: 'b', vm: 'yes' })
  assert.deepEqual(made.spec?.['tolerations'], scheduling.tolerations)
  // One that the class includes goes; one that no wider one is there for stays, also where it leaves its operator out.
  const own = [{ key: 'vm', operator: 'Equal', value: 'x', effect: 'NoSchedule' }, { key: 'a' }]
  const merged = await mutatedBy<Shown>(plugin, pod(stage, { runtimeClassName: 'vm', tolerations: own }))
  assert.deepEqual(merged.spec?.['tolerations'], [{ key: 'a' }, ...scheduling.tolerations])
  assert.match(await refusalOf(plugin, pod(stage, { runtimeClassName: 'none' })), /RuntimeClass "none" not found/)
  assert.match(await refusalOf(plugin, pod(stage, { runtimeClassName: 'vm', overhead: { cpu: '2' } })), /Overhead doesn't match/)
  assert.match(
    await refusalOf(plugin, pod(stage, { runtimeClassName: 'vm', nodeSelector: { vm: 'no' } })),
    /conflict: runtimeClass.scheduling.nodeSelector\[vm\]/,
  )
  assert.match(await refusalOf(plugin, pod(stage, { overhead: { cpu: '2' } })), /Overhead set without corresponding RuntimeClass/)
})

test('DefaultStorageClass and DefaultIngressClass: the newest one that is marked, for those that name none', async () => {
  const stage = await stageOf()
  const marked = (word: string, value = 'true') => ({ annotations: { [`${word}.kubernetes.io/is-default-class`]: value } })
  const put = (resource: string, group: string, name: string, metadata: object) =>
    stage.put(stage.find(resource, group), { metadata: { name, ...metadata }, provisioner: 'p' })
  await put('storageclasses', 'storage.k8s.io', 'old', { ...marked('storageclass'), creationTimestamp: '2020-01-01T00:00:00Z' })
  await put('storageclasses', 'storage.k8s.io', 'new', { ...marked('storageclass'), creationTimestamp: '2021-01-01T00:00:00Z' })
  await put('storageclasses', 'storage.k8s.io', 'not', marked('storageclass', 'false'))
  await put('ingressclasses', 'networking.k8s.io', 'in', marked('ingressclass'))
  const claims = stage.find('persistentvolumeclaims')
  const claim = async (spec: object, metadata: object = {}) =>
    (
      await mutatedBy<Shown>(
        defaultStorageClass(stage.lookup),
        stage.attempt({ resource: claims, object: { metadata: { ...named, ...metadata }, spec } }),
      )
    ).spec?.['storageClassName']
  assert.equal(await claim({}), 'new')
  assert.equal(await claim({ storageClassName: '' }), '')
  assert.equal(await claim({}, { annotations: { 'volume.beta.kubernetes.io/storage-class': 'x' } }), undefined)
  const ingresses = stage.find('ingresses', 'networking.k8s.io')
  const ingress = async (spec: object, metadata: object = {}) =>
    (
      await mutatedBy<Shown>(
        defaultIngressClass(stage.lookup),
        stage.attempt({ resource: ingresses, object: { metadata: { ...named, ...metadata }, spec } }),
      )
    ).spec?.['ingressClassName']
  assert.equal(await ingress({}), 'in')
  assert.equal(await ingress({ ingressClassName: 'own' }), 'own')
  assert.equal(await ingress({}, { annotations: { 'kubernetes.io/ingress.class': 'x' } }), undefined)
})

test('PersistentVolumeClaimResize: claims grow where their class lets them', async () => {
  const stage = await stageOf()
  const classes = stage.find('storageclasses', 'storage.k8s.io')
  await stage.put(classes, { metadata: { name: 'grows' }, provisioner: 'p', allowVolumeExpansion: true })
  await stage.put(classes, { metadata: { name: 'stays' }, provisioner: 'p' })
  const claim = (storageClassName: string, storage: string) => ({
    metadata: named,
    spec: { storageClassName, resources: { requests: { storage } } },
  })
  const ask = (name: string, from: string, to: string) =>
    refusalOf(
      persistentVolumeClaimResize(stage.lookup),
      stage.attempt({
        resource: stage.find('persistentvolumeclaims'),
        operation: 'UPDATE',
        object: claim(name, to),
        old: claim(name, from),
      }),
    )
  assert.equal(await ask('grows', '1Gi', '2Gi'), '')
  assert.match(await ask('stays', '1Gi', '2Gi'), /must support resize/)
  assert.match(await ask('none', '1Gi', '2Gi'), /must support resize/)
  assert.equal(await ask('stays', '2Gi', '2048Mi'), '')
})

test('StorageObjectInUseProtection: new volumes and claims have the finalizer, once', async () => {
  const stage = await stageOf()
  const ask = async (resource: string, finalizers?: readonly string[]) =>
    (
      await mutatedBy<Shown>(
        storageObjectInUseProtection,
        stage.attempt({
          resource: stage.find(resource),
          object: { metadata: { ...named, ...(finalizers === undefined ? {} : { finalizers }) } },
        }),
      )
    ).metadata?.finalizers
  assert.deepEqual(await ask('persistentvolumes'), ['kubernetes.io/pv-protection'])
  assert.deepEqual(await ask('persistentvolumeclaims', ['a/b']), ['a/b', 'kubernetes.io/pvc-protection'])
  assert.deepEqual(await ask('persistentvolumeclaims', ['kubernetes.io/pvc-protection']), ['kubernetes.io/pvc-protection'])
})

test('TaintNodesByCondition: a new node takes no pods yet', async () => {
  const stage = await stageOf()
  const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }
  const ask = async (spec: object, more: object = {}) =>
    (
      await mutatedBy<Shown>(
        taintNodesByCondition,
        stage.attempt({ resource: stage.find('nodes'), object: { metadata: { name: 'n' }, spec }, ...more }),
      )
    ).spec?.['taints']
  assert.deepEqual(await ask({}), [taint])
  assert.deepEqual(await ask({ taints: [taint] }), [taint])
  assert.equal(await ask({}, { operation: 'UPDATE', old: {} }), undefined)
})

async function withAccount(account: object = {}) {
  const stage = await stageOf()
  await stage.put(stage.find('serviceaccounts'), { metadata: { name: 'default', namespace: 'a' }, ...account })
  return { stage, plugin: serviceAccount({ lookup: stage.lookup, randomSuffix: () => 'abcde' }) }
}

test('ServiceAccount: a pod runs as its account, with its token and its secrets for images', async () => {
  const { stage, plugin } = await withAccount({ imagePullSecrets: [{ name: 'pull' }] })
  const { spec = {} } = await mutatedBy<Shown>(plugin, pod(stage))
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

test('ServiceAccount: no token where pod or account say no, the pod first; none twice; own secrets stay', async () => {
  const { stage, plugin } = await withAccount({ automountServiceAccountToken: false, imagePullSecrets: [{ name: 'pull' }] })
  const volumes = async (spec: object) => (await mutatedBy<Shown>(plugin, pod(stage, spec))).spec?.['volumes']
  assert.equal(await volumes({}), undefined)
  assert.notEqual(await volumes({ automountServiceAccountToken: true }), undefined)
  const mounted = { ...container, volumeMounts: [{ name: 'own', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }] }
  assert.equal(await volumes({ automountServiceAccountToken: true, containers: [mounted] }), undefined)
  const own = await mutatedBy<Shown>(plugin, pod(stage, { imagePullSecrets: [{ name: 'own' }] }))
  assert.deepEqual(own.spec?.['imagePullSecrets'], [{ name: 'own' }])
})

test('ServiceAccount: an account that is not there is an error', async () => {
  const { stage, plugin } = await withAccount()
  assert.match(
    await refusalOf(plugin, pod(stage, { serviceAccountName: 'none' })),
    /error looking up service account a\/none: serviceaccount "none" not found/,
  )
})

test('ServiceAccount: where secrets are limited, others are refused wherever they are named', async () => {
  const annotations = { 'kubernetes.io/enforce-mountable-secrets': 'T' }
  const { stage, plugin } = await withAccount({
    metadata: { name: 'default', namespace: 'a', annotations },
    secrets: [{ name: 'mine' }],
    imagePullSecrets: [{ name: 'pull' }],
  })
  const env = (name: string) => [{ name: 'E', valueFrom: { secretKeyRef: { name, key: 'k' } } }]
  const ask = (spec: object, more: object = {}) => refusalOf(plugin, pod(stage, spec, more))
  assert.equal(
    await ask({ volumes: [{ name: 'v', secret: { secretName: 'mine' } }], containers: [{ ...container, env: env('mine') }] }),
    '',
  )
  assert.match(
    await ask({ volumes: [{ name: 'v', secret: { secretName: 'other' } }] }),
    /volume with secret.secretName="other" is not allowed/,
  )
  assert.match(
    await ask({ containers: [{ ...container, env: env('other') }] }),
    /container c with envVar E referencing secret.secretName="other"/,
  )
  assert.match(await ask({ initContainers: [{ ...container, env: env('other') }] }), /init container c with envVar E/)
  assert.match(await ask({ imagePullSecrets: [{ name: 'other' }] }), /imagePullSecrets\[0\].name="other" is not allowed/)
  const debugged = { serviceAccountName: 'default', ephemeralContainers: [{ ...container, env: env('other') }] }
  assert.match(
    await ask(debugged, { operation: 'UPDATE', subresource: 'ephemeralcontainers', old: podOf() }),
    /ephemeral container c with envVar E/,
  )
})

test('ServiceAccount: what an agent found on its node gets nothing', async () => {
  const { stage, plugin } = await withAccount()
  const annotations = { 'kubernetes.io/config.mirror': 'x' }
  const ask = (spec: object) => refusalOf(plugin, stage.attempt({ resource: stage.find('pods'), object: podOf(spec, { annotations }) }))
  const object = podOf({}, { annotations })
  assert.equal(await mutatedBy(plugin, stage.attempt({ resource: stage.find('pods'), object })), object)
  assert.match(await ask({ serviceAccountName: 'default' }), /a mirror pod may not reference service accounts/)
  assert.match(await ask({ volumes: [{ name: 'v', secret: { secretName: 's' } }] }), /a mirror pod may not reference secrets/)
  const projected = { sources: [{ serviceAccountToken: { path: 'token' } }] }
  assert.match(await ask({ volumes: [{ name: 'v', projected }] }), /may not use service account token volume projections/)
})
