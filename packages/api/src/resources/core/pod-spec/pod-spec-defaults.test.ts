// What specs of pods say when they say nothing; features that are off; names of images.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../../api/rule-context.fixture.js'
import { usualContext } from '../../expect-errors.fixture.js'
import { pod } from '../pod.js'
import type { PodSpec, Volume } from '../v1.schema.js'
import { templateWithoutGatedFields, withoutGatedFields } from './gated-fields.js'
import { pullPolicyOf } from './images.js'
import { container } from './pod-spec.fixture.js'
import { withPodDefaults, withPodSpecDefaults, withTemplateDefaults } from './pod-spec-defaults.js'

const rich: PodSpec = frozen({
  hostNetwork: true,
  serviceAccount: 'old',
  overhead: { cpu: '100u' },
  initContainers: [{ name: 'init', image: 'repo/x:1.0' }],
  containers: [
    container({
      image: 'x:latest',
      ports: [{ containerPort: 80 }],
      resources: { limits: { cpu: '500m', memory: '1Gi' }, requests: { memory: '1e9' } },
      livenessProbe: { httpGet: { port: 80 } },
      readinessProbe: { tcpSocket: { port: 'http' }, periodSeconds: 5 },
      startupProbe: { grpc: { port: 1 } },
      lifecycle: { preStop: { httpGet: { port: 1 } } },
      env: [
        { name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        { name: 'B', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
      ],
    }),
  ],
  ephemeralContainers: [{ name: 'e', image: 'i' }],
})

test('a rich pod is completed', () => {
  const { containers, initContainers, ephemeralContainers, ...spec } = withPodDefaults(rich)
  assert.deepEqual(spec, {
    hostNetwork: true,
    serviceAccount: 'old',
    serviceAccountName: 'old',
    overhead: { cpu: '1m' },
    enableServiceLinks: true,
    dnsPolicy: 'ClusterFirst',
    restartPolicy: 'Always',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
    schedulerName: 'default-scheduler',
  })
  const probe = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 }
  const message = { terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' }
  assert.deepEqual(containers, [
    {
      name: 'c',
      image: 'x:latest',
      imagePullPolicy: 'Always',
      ...message,
      ports: [{ containerPort: 80, hostPort: 80, protocol: 'TCP' }],
      resources: { limits: { cpu: '500m', memory: '1Gi' }, requests: { cpu: '500m', memory: '1e9' } },
      livenessProbe: { ...probe, httpGet: { port: 80, path: '/', scheme: 'HTTP' } },
      readinessProbe: { ...probe, tcpSocket: { port: 'http' }, periodSeconds: 5 },
      startupProbe: { ...probe, grpc: { port: 1, service: '' } },
      lifecycle: { preStop: { httpGet: { port: 1, path: '/', scheme: 'HTTP' } } },
      env: [
        { name: 'A', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
        { name: 'B', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '0' } } },
      ],
    },
  ])
  assert.deepEqual(initContainers, [{ name: 'init', image: 'repo/x:1.0', imagePullPolicy: 'IfNotPresent', ...message }])
  assert.deepEqual(ephemeralContainers, [{ name: 'e', image: 'i', imagePullPolicy: 'Always', ...message }])
})

test('what is complete stays the same object', () => {
  const volumes: readonly Volume[] = [
    { name: 'e', ephemeral: { volumeClaimTemplate: { spec: {} } } },
    { name: 'd', downwardAPI: {} },
  ]
  const complete = frozen(withPodDefaults({ ...rich, volumes }))
  assert.equal(withPodDefaults(complete), complete)
  const { identity } = usualContext()
  const template = withTemplateDefaults(undefined, identity)
  assert.equal(withTemplateDefaults(template, identity), template)
})

test('annotations of old that described init containers are dropped', () => {
  const { identity } = usualContext()
  const old = { 'pod.alpha.cluster.io/init-containers': '[]', 'pod.beta.cluster.io/init-container-statuses': '[]' }
  const bare = { metadata: { annotations: old, labels: { a: 'b' } } }
  assert.deepEqual(withTemplateDefaults(bare, identity).metadata, { labels: { a: 'b' } })
  const more = { metadata: { annotations: { ...old, 'pod.beta.example.com/init-containers': 'x' } } }
  assert.deepEqual(withTemplateDefaults(more, identity).metadata, { annotations: { 'pod.beta.example.com/init-containers': 'x' } })
  const kept = pod.defaults?.(frozen(more), usualContext())
  assert.deepEqual(kept?.metadata, { annotations: { 'pod.beta.example.com/init-containers': 'x' } })
})

test('in a template, nothing is asked for on behalf of limits', () => {
  const spec = withPodSpecDefaults({ containers: [container({ resources: { limits: { cpu: '1' } } })] })
  assert.deepEqual(spec.containers?.[0]?.resources, { limits: { cpu: '1' } })
  assert.equal(spec.enableServiceLinks, undefined)
})

const volumes: readonly { readonly title: string; readonly given: Volume; readonly filled: Volume }[] = [
  { title: 'no source', given: {}, filled: { emptyDir: {} } },
  { title: 'a path', given: { hostPath: { path: '/x' } }, filled: { hostPath: { path: '/x', type: '' } } },
  { title: 'a secret', given: { secret: { secretName: 's' } }, filled: { secret: { secretName: 's', defaultMode: 420 } } },
  { title: 'a mode of zero', given: { configMap: { name: 'c', defaultMode: 0 } }, filled: { configMap: { name: 'c', defaultMode: 0 } } },
  {
    title: 'a token and a file',
    given: {
      projected: {
        sources: [
          { serviceAccountToken: { path: 't' } },
          { downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } },
        ],
      },
    },
    filled: {
      projected: {
        defaultMode: 420,
        sources: [
          { serviceAccountToken: { path: 't', expirationSeconds: 3600 } },
          { downwardAPI: { items: [{ path: 'l', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.labels' } }] } },
        ],
      },
    },
  },
  { title: 'a target', given: { iscsi: { iqn: 'x' } }, filled: { iscsi: { iqn: 'x', iscsiInterface: 'default' } } },
  {
    title: 'an image',
    given: { rbd: { image: 'x' } },
    filled: { rbd: { image: 'x', pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' } },
  },
  {
    title: 'a cloud disk',
    given: { azureDisk: { diskName: 'x' } },
    filled: { azureDisk: { diskName: 'x', cachingMode: 'ReadWrite', kind: 'Shared', fsType: 'ext4', readOnly: false } },
  },
  {
    title: 'a store',
    given: { scaleIO: { system: 'x' } },
    filled: { scaleIO: { system: 'x', storageMode: 'ThinProvisioned', fsType: 'xfs' } },
  },
  {
    title: 'a claim to be made',
    given: { ephemeral: { volumeClaimTemplate: {} } },
    filled: { ephemeral: { volumeClaimTemplate: { spec: { volumeMode: 'Filesystem' } } } },
  },
]
for (const { title, given, filled } of volumes) {
  test(`a volume with ${title} is completed`, () =>
    assert.deepEqual(withPodSpecDefaults({ volumes: [{ name: 'v', ...given }] }).volumes, [{ name: 'v', ...filled }]))
}

const images: readonly { readonly image: string; readonly policy: string }[] = [
  { image: 'i', policy: 'Always' },
  { image: 'i:latest', policy: 'Always' },
  { image: 'i:1', policy: 'IfNotPresent' },
  { image: 'repo/sub/i', policy: 'Always' },
  { image: 'localhost/i', policy: 'Always' },
  { image: 'example.com:5000/i', policy: 'Always' },
  { image: 'example.com:5000/i:2', policy: 'IfNotPresent' },
  { image: `i@sha256:${'a'.repeat(64)}`, policy: 'IfNotPresent' },
  { image: `i:latest@sha256:${'a'.repeat(64)}`, policy: 'Always' },
  { image: 'Upper/case', policy: 'IfNotPresent' },
  { image: 'a'.repeat(64), policy: 'IfNotPresent' },
  { image: 'i:not ok', policy: 'IfNotPresent' },
  { image: '', policy: 'IfNotPresent' },
]
test('a name that is too long, with what it leaves out, is not pulled anew', () => {
  assert.equal(pullPolicyOf('i'.repeat(237)), 'Always')
  assert.equal(pullPolicyOf('i'.repeat(238)), 'IfNotPresent')
  assert.equal(pullPolicyOf(`r.example/${'i'.repeat(245)}:latest`), 'Always')
  assert.equal(pullPolicyOf(`r.example/${'i'.repeat(246)}:latest`), 'IfNotPresent')
})

for (const { image, policy } of images) test(`${image || 'no image'} is pulled ${policy}`, () => assert.equal(pullPolicyOf(image), policy))

const gated: PodSpec = frozen({
  hostUsers: false,
  schedulingGates: [{ name: 'g' }],
  resourceClaims: [{ name: 'r', source: {} }],
  topologySpreadConstraints: [{ maxSkew: 1, minDomains: 2, nodeTaintsPolicy: 'Honor', matchLabelKeys: ['a'] }],
  containers: [
    container({
      resources: { limits: { cpu: '1' }, claims: [{ name: 'r' }] },
      securityContext: { procMount: 'Unmasked' },
      livenessProbe: { grpc: { port: 1 }, terminationGracePeriodSeconds: 5 },
    }),
  ],
})

test('fields of features that are off are dropped', () => {
  assert.deepEqual(
    withoutGatedFields(gated, undefined, () => false),
    {
      topologySpreadConstraints: [{ maxSkew: 1 }],
      containers: [container({ resources: { limits: { cpu: '1' } }, securityContext: { procMount: 'Default' }, livenessProbe: {} })],
    },
  )
})

test('they stay where the feature is on or the object has them already', () => {
  assert.equal(
    withoutGatedFields(gated, undefined, () => true),
    gated,
  )
  assert.equal(
    withoutGatedFields(gated, gated, () => false),
    gated,
  )
  const template = frozen({ spec: gated })
  assert.equal(
    templateWithoutGatedFields(template, template, () => false),
    template,
  )
})
