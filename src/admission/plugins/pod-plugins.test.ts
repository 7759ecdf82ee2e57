// Plugins that are off unless somebody wants them, and look at pods: one test for each rule.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Plugin } from '../admission.js'
import { noNodeSelectors } from '../config/node-selectors.js'
import { noTolerationLists } from '../config/toleration-lists.js'
import { mutatedBy, refusalOf, type Stage, stageOf } from '../stage.fixture.js'
import { alwaysAdmit, alwaysDeny } from './always.js'
import { alwaysPullImages } from './always-pull-images.js'
import { extendedResourceToleration } from './extended-resource-toleration.js'
import { limitPodHardAntiAffinityTopology } from './limit-pod-hard-anti-affinity-topology.js'
import { podNodeSelector } from './pod-node-selector.js'
import { podTolerationRestriction } from './pod-toleration-restriction.js'
import { securityContextDeny } from './security-context-deny.js'

const container = { name: 'c', image: 'i' }
const podOf = (spec: object) => ({ metadata: { name: 'p', namespace: 'a' }, spec: { containers: [container], ...spec } })

interface Shown {
  readonly spec: {
    readonly containers: readonly { readonly imagePullPolicy?: string }[]
    readonly initContainers?: readonly { readonly imagePullPolicy?: string }[]
    readonly nodeSelector?: object
    readonly tolerations?: readonly object[]
  }
}

const attempt = (stage: Stage, spec: object, more: object = {}) =>
  stage.attempt({ resource: stage.find('pods'), object: podOf(spec), ...more })

async function withNamespace(annotations: { readonly [name: string]: string } = {}): Promise<Stage> {
  const stage = await stageOf()
  const named = Object.fromEntries(Object.entries(annotations).map(([name, value]) => [`scheduler.alpha.kubernetes.io/${name}`, value]))
  await stage.put(stage.find('namespaces'), { metadata: { name: 'a', annotations: named } })
  return stage
}

test('AlwaysAdmit lets everything pass, and AlwaysDeny nothing', async () => {
  const stage = await stageOf()
  assert.equal(await refusalOf(alwaysAdmit, attempt(stage, {})), '')
  assert.equal(await refusalOf(alwaysDeny, attempt(stage, {})), 'pods "p" is forbidden: admission control is denying all modifications')
})

test('AlwaysPullImages: every container, when it comes and when an image changes', async () => {
  const stage = await stageOf()
  const made = await mutatedBy<Shown>(alwaysPullImages, attempt(stage, { initContainers: [{ ...container, imagePullPolicy: 'Never' }] }))
  assert.deepEqual([made.spec.containers[0]?.imagePullPolicy, made.spec.initContainers?.[0]?.imagePullPolicy], ['Always', 'Always'])
  const old = podOf({})
  const update = (spec: object) => attempt(stage, spec, { operation: 'UPDATE', old })
  assert.equal((await mutatedBy<Shown>(alwaysPullImages, update({}))).spec.containers[0]?.imagePullPolicy, undefined)
  const changed = await mutatedBy<Shown>(alwaysPullImages, update({ containers: [{ ...container, image: 'j' }] }))
  assert.equal(changed.spec.containers[0]?.imagePullPolicy, 'Always')
  assert.throws(
    () => void alwaysPullImages.validate?.(attempt(stage, { containers: [{ ...container, imagePullPolicy: 'Never' }] })),
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
    assert.equal(await refusalOf(securityContextDeny, attempt(await stageOf(), spec)), `pods "p" is forbidden: ${field} is forbidden`))
}

test('SecurityContextDeny: other fields are nobody’s business', async () => {
  const spec = { securityContext: { runAsNonRoot: true }, containers: [{ ...container, securityContext: { privileged: true } }] }
  assert.equal(await refusalOf(securityContextDeny, attempt(await stageOf(), spec)), '')
})

test('LimitPodHardAntiAffinityTopology: by host only', async () => {
  const stage = await stageOf()
  const spec = (...keys: readonly string[]) => ({
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: keys.map((topologyKey) => ({ topologyKey })) } },
  })
  assert.equal(await refusalOf(limitPodHardAntiAffinityTopology, attempt(stage, spec('kubernetes.io/hostname'))), '')
  assert.match(
    await refusalOf(limitPodHardAntiAffinityTopology, attempt(stage, spec('kubernetes.io/hostname', 'zone'))),
    /has TopologyKey zone but only key kubernetes.io\/hostname is allowed/,
  )
})

test('ExtendedResourceToleration: one for each resource that others bring, once', async () => {
  const stage = await stageOf()
  const requests = { 'example.com/b': '1', 'example.com/a': '1', cpu: '1', 'hugepages-2Mi': '2Mi' }
  const toleration = (key: string) => ({ key, operator: 'Exists', effect: 'NoSchedule' })
  const spec = { containers: [{ ...container, resources: { requests } }], tolerations: [toleration('example.com/a')] }
  const pod = await mutatedBy<Shown>(extendedResourceToleration, attempt(stage, spec))
  assert.deepEqual(pod.spec.tolerations, [toleration('example.com/a'), toleration('example.com/b')])
})

test('PodNodeSelector: that of the namespace, or else of the cluster; conflicts and what is not allowed are refused', async () => {
  const selectors = { clusterDefault: { pool: 'general' }, allowed: new Map([['a', { pool: 'general', x: 'y', zone: 'z' }]]) }
  const plain = await withNamespace()
  const plugin = podNodeSelector(plain.lookup, selectors)
  assert.deepEqual((await mutatedBy<Shown>(plugin, attempt(plain, { nodeSelector: { x: 'y' } }))).spec.nodeSelector, {
    pool: 'general',
    x: 'y',
  })
  assert.match(
    await refusalOf(plugin, attempt(plain, { nodeSelector: { pool: 'other' } })),
    /conflicts with its namespace node label selector/,
  )
  assert.match(await refusalOf(plugin, attempt(plain, { nodeSelector: { other: 'y' } })), /conflict with its namespace whitelist/)
  const unnamed = { metadata: { generateName: 'p-', namespace: 'a' }, spec: { nodeSelector: { pool: 'other' } } }
  assert.match(await refusalOf(plugin, attempt(plain, {}, { object: unnamed })), /^pods is forbidden: pod node label selector conflicts/)
  const zoned = await withNamespace({ 'node-selector': 'zone=z' })
  assert.deepEqual((await mutatedBy<Shown>(podNodeSelector(zoned.lookup, selectors), attempt(zoned, {}))).spec.nodeSelector, { zone: 'z' })
  const broken = await withNamespace({ 'node-selector': 'zone' })
  assert.match(await refusalOf(podNodeSelector(broken.lookup, noNodeSelectors), attempt(broken, {})), /invalid selector: zone/)
})

const exists = (key: string, more: object = {}) => ({ key, operator: 'Exists', effect: 'NoSchedule', ...more })
const tolerations = async (plugin: Plugin, request: ReturnType<typeof attempt>) =>
  (await mutatedBy<Shown>(plugin, request)).spec.tolerations

test('PodTolerationRestriction: defaults of the namespace, or else of the cluster, without those that others include', async () => {
  const lists = { defaults: [exists('cluster')], allowed: [] }
  const plain = await withNamespace()
  const plugin = podTolerationRestriction(plain.lookup, lists)
  assert.deepEqual(await tolerations(plugin, attempt(plain, { tolerations: [exists('mine')] })), [exists('mine'), exists('cluster')])
  assert.deepEqual(await tolerations(plugin, attempt(plain, { tolerations: [exists('cluster', { operator: 'Equal', value: 'x' })] })), [
    exists('cluster'),
  ])
  const own = await withNamespace({ defaultTolerations: JSON.stringify([exists('team')]) })
  assert.deepEqual(await tolerations(podTolerationRestriction(own.lookup, lists), attempt(own, {})), [exists('team')])
  const none = await withNamespace({ defaultTolerations: '' })
  assert.equal(await tolerations(podTolerationRestriction(none.lookup, lists), attempt(none, {})), undefined)
})

test('PodTolerationRestriction: pods that were promised something bear scarce memory', async () => {
  const stage = await withNamespace()
  const spec = { containers: [{ ...container, resources: { requests: { cpu: '1' } } }] }
  const found = await tolerations(podTolerationRestriction(stage.lookup, noTolerationLists), attempt(stage, spec))
  assert.deepEqual(found, [exists('node.kubernetes.io/memory-pressure')])
})

test('PodTolerationRestriction: what the list of the namespace does not include is refused', async () => {
  const stage = await withNamespace({
    tolerationsWhitelist: JSON.stringify([exists('ok', { effect: 'NoExecute', tolerationSeconds: 60 })]),
  })
  const plugin = podTolerationRestriction(stage.lookup, noTolerationLists)
  const ask = (toleration: object) => refusalOf(plugin, attempt(stage, { tolerations: [toleration] }))
  assert.equal(await ask(exists('ok', { effect: 'NoExecute', tolerationSeconds: 30 })), '')
  for (const other of [
    exists('other'),
    exists('ok'),
    exists('ok', { effect: 'NoExecute' }),
    exists('ok', { effect: 'NoExecute', tolerationSeconds: 90 }),
  ])
    assert.match(await ask(other), /conflict with its namespace whitelist/)
  const plain = await withNamespace()
  const limited = podTolerationRestriction(plain.lookup, { defaults: [], allowed: [exists('ok')] })
  assert.match(await refusalOf(limited, attempt(plain, { tolerations: [exists('x')] })), /conflict with its cluster whitelist/)
})

test('PodTolerationRestriction: an annotation that is no list is told of', async () => {
  for (const [text, wanted] of [
    ['{}', /is not a list of tolerations/],
    ['[', /is not JSON/],
    ['[{"operator":"X"}]', /Unsupported value|operator/],
  ] as const) {
    const stage = await withNamespace({ defaultTolerations: text })
    assert.match(await refusalOf(podTolerationRestriction(stage.lookup, noTolerationLists), attempt(stage, {})), wanted)
  }
})
