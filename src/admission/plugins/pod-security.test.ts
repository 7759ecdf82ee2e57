// The policy of a namespace decides about its pods, and about templates only by words.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../api/api-error.js'
import { decodedWhole } from '../../objects/decoded-whole.fixture.js'
import { usualPodSecurity } from '../config/pod-security-settings.js'
import { refusalOf, type Stage, stageOf } from '../stage.fixture.js'
import { podSecurity } from './pod-security.js'

type Labels = { readonly [mode: string]: string }

const labelsOf = (labels: Labels) => Object.fromEntries(Object.entries(labels).map(([k, v]) => [`pod-security.kubernetes.io/${k}`, v]))

async function withNamespace(labels: Labels, settings = usualPodSecurity) {
  const stage = await stageOf()
  await stage.put(stage.find('namespaces'), { metadata: { name: 'a', labels: labelsOf(labels) } })
  const plugin = podSecurity({ store: stage.store, namespaces: stage.find('namespaces'), pods: stage.find('pods'), settings })
  return { stage, plugin }
}

const container = { name: 'c', image: 'i' }
const good = {
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [{ ...container, securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } }],
}
const podWith = (spec: object, name = 'p') => ({ metadata: { name, namespace: 'a' }, spec: { containers: [container], ...spec } })

const pod = (stage: Stage, spec: object, more: object = {}) =>
  stage.attempt({ resource: stage.find('pods'), object: podWith(spec), ...more })

test('what is enforced refuses, and names what is wrong', async () => {
  const { stage, plugin } = await withNamespace({ enforce: 'baseline' })
  const refusal = await refusalOf(plugin, pod(stage, { hostNetwork: true }))
  assert.equal(refusal, 'pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)')
  assert.equal(await refusalOf(plugin, pod(stage, {})), '')
  assert.equal(stage.remarks.get('pod-security.kubernetes.io/enforce-policy'), 'baseline:latest')
})

test('an older version does not know newer checks', async () => {
  const rooted = { ...good, securityContext: { ...good.securityContext, runAsUser: 0 } }
  for (const [version, isRefused] of [
    ['v1.22', false],
    ['v1.23', true],
  ] as const) {
    const { stage, plugin } = await withNamespace({ enforce: 'restricted', 'enforce-version': version })
    assert.equal((await refusalOf(plugin, pod(stage, rooted))) !== '', isRefused, version)
  }
})

test('without labels everything is allowed, and the log says so', async () => {
  const { stage, plugin } = await withNamespace({})
  assert.equal(await refusalOf(plugin, pod(stage, { hostPID: true })), '')
  assert.equal(stage.remarks.get('pod-security.kubernetes.io/enforce-policy'), 'privileged:latest')
})

test('warn warns and audit notes down, and neither refuses', async () => {
  const { stage, plugin } = await withNamespace({ warn: 'baseline', audit: 'baseline' })
  assert.equal(await refusalOf(plugin, pod(stage, { hostPID: true })), '')
  const text = 'would violate PodSecurity "baseline:latest": host namespaces (hostPID=true)'
  assert.deepEqual(stage.warnings, [text])
  assert.equal(stage.remarks.get('pod-security.kubernetes.io/audit-violations'), text)
})

test('templates are never refused; where only enforce is set they are warned of by it', async () => {
  const { stage, plugin } = await withNamespace({ enforce: 'baseline' })
  const template = { spec: { containers: [container], hostIPC: true } }
  const deployment = { metadata: { name: 'd', namespace: 'a' }, spec: { template } }
  assert.equal(await refusalOf(plugin, stage.attempt({ resource: stage.find('deployments', 'apps'), object: deployment })), '')
  const cron = { metadata: { name: 'd', namespace: 'a' }, spec: { jobTemplate: { spec: { template } } } }
  assert.equal(await refusalOf(plugin, stage.attempt({ resource: stage.find('cronjobs', 'batch'), object: cron })), '')
  assert.equal(stage.warnings.length, 2)
  assert.equal(stage.remarks.get('pod-security.kubernetes.io/enforce-policy'), undefined)
})

test('an update counts when it changes an image, and a status never does', async () => {
  const { stage, plugin } = await withNamespace({ enforce: 'restricted' })
  const old = podWith({})
  const update = (object: object, more: object = {}) =>
    refusalOf(plugin, stage.attempt({ resource: stage.find('pods'), operation: 'UPDATE', object, old, ...more }))
  assert.equal(await update({ ...old, metadata: { ...old.metadata, labels: { a: 'b' } } }), '')
  const other = podWith({ containers: [{ ...container, image: 'j' }] })
  assert.notEqual(await update(other), '')
  assert.equal(await update(other, { subresource: 'status' }), '')
  const debugged = podWith({ ephemeralContainers: [{ name: 'e', image: 'i' }] })
  assert.notEqual(await update(debugged, { subresource: 'ephemeralcontainers' }), '')
})

test('labels that are no policy are refused when they come, and enforced strictly while they are there', async () => {
  const { stage, plugin } = await withNamespace({ enforce: 'Baseline' })
  assert.match(await refusalOf(plugin, pod(stage, {})), /restricted:latest/)
  const namespaces = stage.find('namespaces')
  const labelled = (labels: Labels) => ({ metadata: { name: 'b', labels: labelsOf(labels) } })
  const bad = await refusalOf(plugin, stage.attempt({ resource: namespaces, object: labelled({ enforce: 'x', 'warn-version': '1.2' }) }))
  assert.match(bad, /enforce\]: Invalid value: "x": must be one of privileged, baseline, restricted/)
  assert.match(bad, /warn-version\]: Invalid value: "1.2": must be "latest" or "v1.x"/)
  const same = stage.attempt({ resource: namespaces, operation: 'UPDATE', object: labelled({ warn: 'x' }), old: labelled({ warn: 'x' }) })
  assert.equal(await refusalOf(plugin, same), '')
})

test('whoever tightens a namespace is told of the pods that are there', async (t) => {
  const { stage, plugin } = await withNamespace({})
  await stage.put(stage.find('pods'), podWith({ hostPID: true }, 'p1'))
  const ports = [{ containerPort: 80, hostPort: 80 }]
  await stage.put(stage.find('pods'), podWith({ hostPID: true, containers: [{ ...container, ports }] }, 'p2'))
  await stage.put(stage.find('pods'), podWith({ hostIPC: true }, 'other'))
  await stage.put(stage.find('pods'), podWith(good, 'fine'))
  const { metadata, ...heavy } = podWith({ hostIPC: true }, 'heavy')
  const labels = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`label-${i}`, 'x']))
  await stage.put(stage.find('pods'), { ...heavy, metadata: { ...metadata, labels } })
  const decoded = decodedWhole(t)
  const namespace = (labels: Labels) => ({ metadata: { name: 'a', labels: labelsOf(labels) } })
  const change = async (from: Labels, to: Labels): Promise<readonly string[]> => {
    stage.warnings.length = 0
    const attempt = stage.attempt({ resource: stage.find('namespaces'), operation: 'UPDATE', object: namespace(to), old: namespace(from) })
    assert.equal(await refusalOf(plugin, attempt), '')
    return [...stage.warnings]
  }
  assert.deepEqual(await change({}, { enforce: 'baseline' }), [
    'existing pods in namespace "a" violate the new PodSecurity enforce level "baseline:latest"',
    'heavy (and 2 other pods): host namespaces',
    'p2: host namespaces, hostPort',
  ])
  assert.deepEqual(decoded, [])
  assert.deepEqual(await change({ enforce: 'restricted' }, { enforce: 'baseline' }), [])
  assert.deepEqual(await change({ enforce: 'baseline' }, { enforce: 'privileged' }), [])
})

test('users, namespaces and runtime classes can be exempt', async () => {
  const exempt = (name: 'usernames' | 'namespaces' | 'runtimeClasses', value: string) => ({
    ...usualPodSecurity,
    exemptions: { ...usualPodSecurity.exemptions, [name]: new Set([value]) },
  })
  const rows = [
    { settings: exempt('usernames', 'somebody'), why: 'user' },
    { settings: exempt('namespaces', 'a'), why: 'namespace' },
    { settings: exempt('runtimeClasses', 'vm'), why: 'runtimeClass' },
  ]
  for (const { settings, why } of rows) {
    const { stage, plugin } = await withNamespace({ enforce: 'restricted' }, settings)
    assert.equal(await refusalOf(plugin, pod(stage, { hostPID: true, runtimeClassName: 'vm' })), '')
    assert.equal(stage.remarks.get('pod-security.kubernetes.io/exempt'), why)
  }
})

test('an exempt namespace that gets a policy is warned that it is ignored', async () => {
  const settings = { ...usualPodSecurity, exemptions: { ...usualPodSecurity.exemptions, namespaces: new Set(['b']) } }
  const { stage, plugin } = await withNamespace({}, settings)
  const object = { metadata: { name: 'b', labels: labelsOf({ enforce: 'baseline' }) } }
  assert.equal(await refusalOf(plugin, stage.attempt({ resource: stage.find('namespaces'), object })), '')
  assert.match(
    stage.warnings[0] ?? '',
    /namespace "b" is exempt from Pod Security, and the policy \(enforce=baseline:latest\) will be ignored/,
  )
})

test('the refusal of a label is an error of validation', async () => {
  const { stage, plugin } = await withNamespace({})
  const object = { metadata: { name: 'b', labels: labelsOf({ enforce: '' }) } }
  const attempt = stage.attempt({ resource: stage.find('namespaces'), object })
  await assert.rejects(
    async () => plugin.validate?.(attempt),
    (error) => error instanceof ApiError && error.status.code === 422,
  )
})
