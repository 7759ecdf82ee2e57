// PodSecurity: enforce, audit and warn for pods, templates and namespaces; exemptions.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import { type AdmissionFixture, admissionFixture, refusalOf } from '../admission.fixture.js'
import { defaultPodSecurity } from '../config/pod-security-config.js'
import { podSecurity } from './pod-security.js'

type Labels = { readonly [mode: string]: string }

const labelsOf = (labels: Labels) => Object.fromEntries(Object.entries(labels).map(([k, v]) => [`pod-security.kubernetes.io/${k}`, v]))

async function withNamespace(labels: Labels, settings = defaultPodSecurity) {
  const fixture = await admissionFixture()
  await fixture.put(fixture.find('namespaces'), { metadata: { name: 'a', labels: labelsOf(labels) } })
  const plugin = podSecurity({ store: fixture.store, namespaces: fixture.find('namespaces'), pods: fixture.find('pods'), settings })
  return { fixture, plugin }
}

const container = { name: 'c', image: 'i' }
const restrictedSpec = {
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [{ ...container, securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } }],
}
const podWith = (spec: object, name = 'p') => ({ metadata: { name, namespace: 'a' }, spec: { containers: [container], ...spec } })

const podRequest = (fixture: AdmissionFixture, spec: object, requestFields: object = {}) =>
  fixture.request({ resource: fixture.find('pods'), object: podWith(spec), ...requestFields })

test('enforce rejects a pod and lists the violations', async () => {
  const { fixture, plugin } = await withNamespace({ enforce: 'baseline' })
  const refusal = await refusalOf(plugin, podRequest(fixture, { hostNetwork: true }))
  assert.equal(refusal, 'pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)')
  assert.equal(await refusalOf(plugin, podRequest(fixture, {})), '')
  assert.equal(fixture.annotations.get('pod-security.kubernetes.io/enforce-policy'), 'baseline:latest')
})

test('an older version does not have newer checks', async () => {
  const asRoot = { ...restrictedSpec, securityContext: { ...restrictedSpec.securityContext, runAsUser: 0 } }
  for (const [version, isRefused] of [
    ['v1.22', false],
    ['v1.23', true],
  ] as const) {
    const { fixture, plugin } = await withNamespace({ enforce: 'restricted', 'enforce-version': version })
    assert.equal((await refusalOf(plugin, podRequest(fixture, asRoot))) !== '', isRefused, version)
  }
})

test('without labels everything is allowed, with an audit annotation', async () => {
  const { fixture, plugin } = await withNamespace({})
  assert.equal(await refusalOf(plugin, podRequest(fixture, { hostPID: true })), '')
  assert.equal(fixture.annotations.get('pod-security.kubernetes.io/enforce-policy'), 'privileged:latest')
})

test('warn adds warnings and audit adds annotations; neither rejects', async () => {
  const { fixture, plugin } = await withNamespace({ warn: 'baseline', audit: 'baseline' })
  assert.equal(await refusalOf(plugin, podRequest(fixture, { hostPID: true })), '')
  const text = 'would violate PodSecurity "baseline:latest": host namespaces (hostPID=true)'
  assert.deepEqual(fixture.warnings, [text])
  assert.equal(fixture.annotations.get('pod-security.kubernetes.io/audit-violations'), text)
})

test('templates are never rejected; warnings follow enforce if it is the only label', async () => {
  const { fixture, plugin } = await withNamespace({ enforce: 'baseline' })
  const template = { spec: { containers: [container], hostIPC: true } }
  const deployment = { metadata: { name: 'd', namespace: 'a' }, spec: { template } }
  assert.equal(await refusalOf(plugin, fixture.request({ resource: fixture.find('deployments', 'apps'), object: deployment })), '')
  const cron = { metadata: { name: 'd', namespace: 'a' }, spec: { jobTemplate: { spec: { template } } } }
  assert.equal(await refusalOf(plugin, fixture.request({ resource: fixture.find('cronjobs', 'batch'), object: cron })), '')
  assert.equal(fixture.warnings.length, 2)
  assert.equal(fixture.annotations.get('pod-security.kubernetes.io/enforce-policy'), undefined)
})

test('updates are checked when an image changes; status updates are not', async () => {
  const { fixture, plugin } = await withNamespace({ enforce: 'restricted' })
  const old = podWith({})
  const update = (object: object, requestFields: object = {}) =>
    refusalOf(plugin, fixture.request({ resource: fixture.find('pods'), operation: 'UPDATE', object, old, ...requestFields }))
  assert.equal(await update({ ...old, metadata: { ...old.metadata, labels: { a: 'b' } } }), '')
  const withNewImage = podWith({ containers: [{ ...container, image: 'j' }] })
  assert.notEqual(await update(withNewImage), '')
  assert.equal(await update(withNewImage, { subresource: 'status' }), '')
  const withEphemeralContainer = podWith({ ephemeralContainers: [{ name: 'e', image: 'i' }] })
  assert.notEqual(await update(withEphemeralContainer, { subresource: 'ephemeralcontainers' }), '')
})

test('invalid labels are rejected when set, and enforced as restricted while stored', async () => {
  const { fixture, plugin } = await withNamespace({ enforce: 'Baseline' })
  assert.match(await refusalOf(plugin, podRequest(fixture, {})), /restricted:latest/)
  const namespaces = fixture.find('namespaces')
  const labelled = (labels: Labels) => ({ metadata: { name: 'b', labels: labelsOf(labels) } })
  const refusal = await refusalOf(
    plugin,
    fixture.request({ resource: namespaces, object: labelled({ enforce: 'x', 'warn-version': '1.2' }) }),
  )
  assert.match(refusal, /enforce\]: Invalid value: "x": must be one of privileged, baseline, restricted/)
  assert.match(refusal, /warn-version\]: Invalid value: "1.2": must be "latest" or "v1.x"/)
  const unchanged = fixture.request({
    resource: namespaces,
    operation: 'UPDATE',
    object: labelled({ warn: 'x' }),
    old: labelled({ warn: 'x' }),
  })
  assert.equal(await refusalOf(plugin, unchanged), '')
})

test('a stricter enforce label warns about violating pods of the namespace', async () => {
  const { fixture, plugin } = await withNamespace({})
  await fixture.put(fixture.find('pods'), podWith({ hostPID: true }, 'p1'))
  const ports = [{ containerPort: 80, hostPort: 80 }]
  await fixture.put(fixture.find('pods'), podWith({ hostPID: true, containers: [{ ...container, ports }] }, 'p2'))
  await fixture.put(fixture.find('pods'), podWith({ hostIPC: true }, 'other'))
  await fixture.put(fixture.find('pods'), podWith(restrictedSpec, 'fine'))
  await fixture.put(fixture.find('pods'), podWith({ hostIPC: true }, 'host-ipc'))
  const namespace = (labels: Labels) => ({ metadata: { name: 'a', labels: labelsOf(labels) } })
  const change = async (from: Labels, to: Labels): Promise<readonly string[]> => {
    fixture.warnings.length = 0
    const input = fixture.request({
      resource: fixture.find('namespaces'),
      operation: 'UPDATE',
      object: namespace(to),
      old: namespace(from),
    })
    assert.equal(await refusalOf(plugin, input), '')
    return [...fixture.warnings]
  }
  assert.deepEqual(await change({}, { enforce: 'baseline' }), [
    'existing pods in namespace "a" violate the new PodSecurity enforce level "baseline:latest"',
    'host-ipc (and 2 other pods): host namespaces',
    'p2: host namespaces, hostPort',
  ])
  assert.deepEqual(await change({ enforce: 'restricted' }, { enforce: 'baseline' }), [])
  assert.deepEqual(await change({ enforce: 'baseline' }, { enforce: 'privileged' }), [])
})

test('users, namespaces and runtime classes can be exempt', async () => {
  const exempt = (name: 'usernames' | 'namespaces' | 'runtimeClasses', value: string) => ({
    ...defaultPodSecurity,
    exemptions: { ...defaultPodSecurity.exemptions, [name]: new Set([value]) },
  })
  const rows = [
    { settings: exempt('usernames', 'somebody'), why: 'user' },
    { settings: exempt('namespaces', 'a'), why: 'namespace' },
    { settings: exempt('runtimeClasses', 'vm'), why: 'runtimeClass' },
  ]
  for (const { settings, why } of rows) {
    const { fixture, plugin } = await withNamespace({ enforce: 'restricted' }, settings)
    assert.equal(await refusalOf(plugin, podRequest(fixture, { hostPID: true, runtimeClassName: 'vm' })), '')
    assert.equal(fixture.annotations.get('pod-security.kubernetes.io/exempt'), why)
  }
})

test('setting a policy on an exempt namespace warns that it is ignored', async () => {
  const settings = { ...defaultPodSecurity, exemptions: { ...defaultPodSecurity.exemptions, namespaces: new Set(['b']) } }
  const { fixture, plugin } = await withNamespace({}, settings)
  const object = { metadata: { name: 'b', labels: labelsOf({ enforce: 'baseline' }) } }
  assert.equal(await refusalOf(plugin, fixture.request({ resource: fixture.find('namespaces'), object })), '')
  assert.match(
    fixture.warnings[0] ?? '',
    /namespace "b" is exempt from Pod Security, and the policy \(enforce=baseline:latest\) will be ignored/,
  )
})

test('an invalid label is a validation error', async () => {
  const { fixture, plugin } = await withNamespace({})
  const object = { metadata: { name: 'b', labels: labelsOf({ enforce: '' }) } }
  const input = fixture.request({ resource: fixture.find('namespaces'), object })
  await assert.rejects(
    async () => plugin.validate?.(input),
    (error) => error instanceof ApiError && error.status.code === 422,
  )
})
