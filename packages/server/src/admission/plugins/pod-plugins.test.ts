// Plugins that are off by default: AlwaysAdmit, AlwaysDeny and plugins for pods.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { markSentEmpty } from '@cluster-apiserver/api/schema/json/sent-empty.js'
import { type AdmissionFixture, admissionFixture, mutatedBy, refusalOf } from '../admission.fixture.js'
import type { Plugin } from '../admission-plugin.js'
import { noNodeSelectors, noTolerationLists } from '../config/plugin-configs.js'
import { alwaysAdmit, alwaysDeny, alwaysPullImages, limitPodHardAntiAffinityTopology, securityContextDeny } from './fixed-rules.js'
import { extendedResourceToleration, podNodeSelector, podTolerationRestriction } from './tolerations-and-node-selectors.js'

const container = { name: 'c', image: 'i' }
const podOf = (spec: object) => ({ metadata: { name: 'p', namespace: 'a' }, spec: { containers: [container], ...spec } })

interface MutatedPod {
  readonly spec: {
    readonly containers: readonly { readonly imagePullPolicy?: string }[]
    readonly initContainers?: readonly { readonly imagePullPolicy?: string }[]
    readonly nodeSelector?: object
    readonly tolerations?: readonly object[]
  }
}

const podRequest = (fixture: AdmissionFixture, spec: object, requestFields: object = {}) =>
  fixture.request({ resource: fixture.find('pods'), object: podOf(spec), ...requestFields })

async function withNamespace(annotations: { readonly [name: string]: string } = {}): Promise<AdmissionFixture> {
  const fixture = await admissionFixture()
  const prefixed = Object.fromEntries(Object.entries(annotations).map(([name, value]) => [`scheduler.alpha.kubernetes.io/${name}`, value]))
  await fixture.put(fixture.find('namespaces'), { metadata: { name: 'a', annotations: prefixed } })
  return fixture
}

test('AlwaysAdmit admits everything, AlwaysDeny nothing', async () => {
  const fixture = await admissionFixture()
  assert.equal(await refusalOf(alwaysAdmit, podRequest(fixture, {})), '')
  assert.equal(
    await refusalOf(alwaysDeny, podRequest(fixture, {})),
    'pods "p" is forbidden: admission control is denying all modifications',
  )
})

test('AlwaysPullImages: sets the pull policy of every container on create and when an image changes', async () => {
  const fixture = await admissionFixture()
  const mutated = await mutatedBy<MutatedPod>(
    alwaysPullImages,
    podRequest(fixture, { initContainers: [{ ...container, imagePullPolicy: 'Never' }] }),
  )
  assert.deepEqual([mutated.spec.containers[0]?.imagePullPolicy, mutated.spec.initContainers?.[0]?.imagePullPolicy], ['Always', 'Always'])
  const old = podOf({})
  const update = (spec: object) => podRequest(fixture, spec, { operation: 'UPDATE', old })
  assert.equal((await mutatedBy<MutatedPod>(alwaysPullImages, update({}))).spec.containers[0]?.imagePullPolicy, undefined)
  const changed = await mutatedBy<MutatedPod>(alwaysPullImages, update({ containers: [{ ...container, image: 'j' }] }))
  assert.equal(changed.spec.containers[0]?.imagePullPolicy, 'Always')
  await assert.rejects(
    async () => alwaysPullImages.validate?.(podRequest(fixture, { containers: [{ ...container, imagePullPolicy: 'Never' }] })),
    /spec\.containers\[0\]\.imagePullPolicy: Unsupported value: "Never"/,
  )
})

const contexts: readonly [object, string][] = [
  [{ securityContext: { supplementalGroups: [1] } }, 'pod.Spec.SecurityContext.SupplementalGroups'],
  [{ securityContext: { seLinuxOptions: {} } }, 'pod.Spec.SecurityContext.SELinuxOptions'],
  [{ securityContext: { runAsUser: 0 } }, 'pod.Spec.SecurityContext.RunAsUser'],
  [{ securityContext: { fsGroup: 1 } }, 'pod.Spec.SecurityContext.FSGroup'],
  [{ containers: [{ ...container, securityContext: { seLinuxOptions: {} } }] }, 'SecurityContext.SELinuxOptions'],
  [{ initContainers: [{ ...container, securityContext: { runAsUser: 1 } }] }, 'SecurityContext.RunAsUser'],
]

for (const [spec, field] of contexts) {
  test(`SecurityContextDeny: ${field}`, async () =>
    assert.equal(
      await refusalOf(securityContextDeny, podRequest(await admissionFixture(), spec)),
      `pods "p" is forbidden: ${field} is forbidden`,
    ))
}

test('SecurityContextDeny: an empty list of supplementalGroups is rejected', async () => {
  const securityContext = {}
  markSentEmpty(securityContext, 'supplementalGroups')
  assert.match(
    await refusalOf(securityContextDeny, podRequest(await admissionFixture(), { securityContext })),
    /SupplementalGroups is forbidden/,
  )
})

test('SecurityContextDeny: an update that does not change the spec is allowed', async () => {
  const fixture = await admissionFixture()
  const old = podOf({ securityContext: { runAsUser: 0 } })
  const update = (user: number) =>
    refusalOf(securityContextDeny, podRequest(fixture, { securityContext: { runAsUser: user } }, { operation: 'UPDATE', old }))
  assert.equal(await update(0), '')
  assert.match(await update(1), /RunAsUser is forbidden/)
})

test('SecurityContextDeny: other fields are allowed', async () => {
  const spec = { securityContext: { runAsNonRoot: true }, containers: [{ ...container, securityContext: { privileged: true } }] }
  assert.equal(await refusalOf(securityContextDeny, podRequest(await admissionFixture(), spec)), '')
})

test('LimitPodHardAntiAffinityTopology: only the hostname topology key is allowed', async () => {
  const fixture = await admissionFixture()
  const spec = (...keys: readonly string[]) => ({
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: keys.map((topologyKey) => ({ topologyKey })) } },
  })
  assert.equal(await refusalOf(limitPodHardAntiAffinityTopology, podRequest(fixture, spec('kubernetes.io/hostname'))), '')
  assert.match(
    await refusalOf(limitPodHardAntiAffinityTopology, podRequest(fixture, spec('kubernetes.io/hostname', 'zone'))),
    /has TopologyKey zone but only key kubernetes.io\/hostname is allowed/,
  )
})

test('ExtendedResourceToleration: adds one toleration per extended resource', async () => {
  const fixture = await admissionFixture()
  const requests = { 'example.com/b': '1', 'example.com/a': '1', cpu: '1', 'hugepages-2Mi': '2Mi' }
  const toleration = (key: string) => ({ key, operator: 'Exists', effect: 'NoSchedule' })
  const spec = { containers: [{ ...container, resources: { requests } }], tolerations: [toleration('example.com/a')] }
  const pod = await mutatedBy<MutatedPod>(extendedResourceToleration, podRequest(fixture, spec))
  assert.deepEqual(pod.spec.tolerations, [toleration('example.com/a'), toleration('example.com/b')])
})

test('PodNodeSelector: selector of the namespace or the cluster; conflicts and labels that are not allowed are rejected', async () => {
  const selectors = { clusterDefault: { pool: 'general' }, allowed: new Map([['a', { pool: 'general', x: 'y', zone: 'z' }]]) }
  const withoutAnnotations = await withNamespace()
  const plugin = podNodeSelector(withoutAnnotations.lookup, selectors)
  assert.deepEqual((await mutatedBy<MutatedPod>(plugin, podRequest(withoutAnnotations, { nodeSelector: { x: 'y' } }))).spec.nodeSelector, {
    pool: 'general',
    x: 'y',
  })
  assert.match(
    await refusalOf(plugin, podRequest(withoutAnnotations, { nodeSelector: { pool: 'other' } })),
    /conflicts with its namespace node label selector/,
  )
  const unlisted = podRequest(withoutAnnotations, { nodeSelector: { other: 'y' } })
  assert.match(await refusalOf(plugin, unlisted), /conflict with its namespace whitelist/)
  await assert.rejects(mutatedBy(plugin, unlisted), /namespace whitelist/, 'the mutating step rejects it, too')
  const unnamed = { metadata: { generateName: 'p-', namespace: 'a' }, spec: { nodeSelector: { pool: 'other' } } }
  assert.match(
    await refusalOf(plugin, podRequest(withoutAnnotations, {}, { object: unnamed })),
    /^pods is forbidden: pod node label selector conflicts/,
  )
  const zoned = await withNamespace({ 'node-selector': 'zone=z' })
  assert.deepEqual((await mutatedBy<MutatedPod>(podNodeSelector(zoned.lookup, selectors), podRequest(zoned, {}))).spec.nodeSelector, {
    zone: 'z',
  })
  const broken = await withNamespace({ 'node-selector': 'zone' })
  assert.match(await refusalOf(podNodeSelector(broken.lookup, noNodeSelectors), podRequest(broken, {})), /invalid selector: zone/)
})

const exists = (key: string, fields: object = {}) => ({ key, operator: 'Exists', effect: 'NoSchedule', ...fields })
const tolerations = async (plugin: Plugin, request: ReturnType<typeof podRequest>) =>
  (await mutatedBy<MutatedPod>(plugin, request)).spec.tolerations

test('PodTolerationRestriction: default tolerations of the namespace or the cluster, merged', async () => {
  const lists = { defaults: [exists('cluster')], allowed: [] }
  const withoutAnnotations = await withNamespace()
  const plugin = podTolerationRestriction(withoutAnnotations.lookup, lists)
  assert.deepEqual(await tolerations(plugin, podRequest(withoutAnnotations, { tolerations: [exists('mine')] })), [
    exists('mine'),
    exists('cluster'),
  ])
  assert.deepEqual(
    await tolerations(plugin, podRequest(withoutAnnotations, { tolerations: [exists('cluster', { operator: 'Equal', value: 'x' })] })),
    [exists('cluster')],
  )
  const withDefaults = await withNamespace({ defaultTolerations: JSON.stringify([exists('team')]) })
  assert.deepEqual(await tolerations(podTolerationRestriction(withDefaults.lookup, lists), podRequest(withDefaults, {})), [exists('team')])
  const withEmptyDefaults = await withNamespace({ defaultTolerations: '' })
  assert.equal(await tolerations(podTolerationRestriction(withEmptyDefaults.lookup, lists), podRequest(withEmptyDefaults, {})), undefined)
})

test('PodTolerationRestriction: pods that are not BestEffort tolerate memory pressure', async () => {
  const fixture = await withNamespace()
  const spec = { containers: [{ ...container, resources: { requests: { cpu: '1' } } }] }
  const found = await tolerations(podTolerationRestriction(fixture.lookup, noTolerationLists), podRequest(fixture, spec))
  assert.deepEqual(found, [exists('node.kubernetes.io/memory-pressure')])
})

test('PodTolerationRestriction: tolerations outside the whitelist are rejected', async () => {
  const fixture = await withNamespace({
    tolerationsWhitelist: JSON.stringify([exists('ok', { effect: 'NoExecute', tolerationSeconds: 60 })]),
  })
  const plugin = podTolerationRestriction(fixture.lookup, noTolerationLists)
  const admit = (toleration: object) => refusalOf(plugin, podRequest(fixture, { tolerations: [toleration] }))
  assert.equal(await admit(exists('ok', { effect: 'NoExecute', tolerationSeconds: 30 })), '')
  for (const other of [
    exists('other'),
    exists('ok'),
    exists('ok', { effect: 'NoExecute' }),
    exists('ok', { effect: 'NoExecute', tolerationSeconds: 90 }),
  ])
    assert.match(await admit(other), /conflict with its namespace whitelist/)
  const withoutAnnotations = await withNamespace()
  const limited = podTolerationRestriction(withoutAnnotations.lookup, { defaults: [], allowed: [exists('ok')] })
  assert.match(
    await refusalOf(limited, podRequest(withoutAnnotations, { tolerations: [exists('x')] })),
    /conflict with its cluster whitelist/,
  )
  await assert.rejects(
    mutatedBy(limited, podRequest(withoutAnnotations, { tolerations: [exists('x')] })),
    /whitelist/,
    'the mutating step rejects it, too',
  )
})

test('PodTolerationRestriction: an annotation that is not a list is reported', async () => {
  for (const [text, expected] of [
    ['{}', /is not a list of tolerations/],
    ['[', /is not JSON/],
    ['[{"operator":"X"}]', /Unsupported value|operator/],
  ] as const) {
    const fixture = await withNamespace({ defaultTolerations: text })
    assert.match(await refusalOf(podTolerationRestriction(fixture.lookup, noTolerationLists), podRequest(fixture, {})), expected)
  }
})
