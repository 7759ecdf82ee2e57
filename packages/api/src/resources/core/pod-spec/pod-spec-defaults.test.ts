// Tests of pod spec defaults, feature-gated fields and image pull policies.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../../api/rule-context.fixture.js'
import { usualContext } from '../../expect-errors.fixture.js'
import { pod } from '../pod/pod.js'
import type { PodSpec, Volume } from '../v1.schema.js'
import { templateWithoutGatedFields, withoutGatedFields } from './feature-gated-fields.js'
import { container } from './pod-spec.fixture.js'
import { pullPolicyOf, withPodDefaults, withPodSpecDefaults, withTemplateDefaults } from './pod-spec-defaults.js'

const specWithManyFields: PodSpec = frozen({
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

test('defaults of a pod with many fields', () => {
  const { containers, initContainers, ephemeralContainers, ...spec } = withPodDefaults(specWithManyFields)
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

test('a complete object is returned unchanged', () => {
  const volumes: readonly Volume[] = [
    { name: 'e', ephemeral: { volumeClaimTemplate: { spec: {} } } },
    { name: 'd', downwardAPI: {} },
  ]
  const complete = frozen(withPodDefaults({ ...specWithManyFields, volumes }))
  assert.equal(withPodDefaults(complete), complete)
  const { identity } = usualContext()
  const template = withTemplateDefaults(undefined, identity)
  assert.equal(withTemplateDefaults(template, identity), template)
})

test('deprecated init container annotations are dropped', () => {
  const { identity } = usualContext()
  const old = { 'pod.alpha.cluster.io/init-containers': '[]', 'pod.beta.cluster.io/init-container-statuses': '[]' }
  const bare = { metadata: { annotations: old, labels: { a: 'b' } } }
  assert.deepEqual(withTemplateDefaults(bare, identity).metadata, { labels: { a: 'b' } })
  const more = { metadata: { annotations: { ...old, 'pod.beta.example.com/init-containers': 'x' } } }
  assert.deepEqual(withTemplateDefaults(more, identity).metadata, { annotations: { 'pod.beta.example.com/init-containers': 'x' } })
  const kept = pod.defaults?.(frozen(more), usualContext())
  assert.deepEqual(kept?.metadata, { annotations: { 'pod.beta.example.com/init-containers': 'x' } })
})

test('in a template, requests do not default to limits', () => {
  const spec = withPodSpecDefaults({ containers: [container({ resources: { limits: { cpu: '1' } } })] })
  assert.deepEqual(spec.containers?.[0]?.resources, { limits: { cpu: '1' } })
  assert.equal(spec.enableServiceLinks, undefined)
})

const volumeRows: readonly (readonly [title: string, given: Volume, filled: Volume])[] = [
  ['no source', {}, { emptyDir: {} }],
  ['a hostPath', { hostPath: { path: '/x' } }, { hostPath: { path: '/x', type: '' } }],
  ['a secret', { secret: { secretName: 's' } }, { secret: { secretName: 's', defaultMode: 420 } }],
  ['a defaultMode of zero', { configMap: { name: 'c', defaultMode: 0 } }, { configMap: { name: 'c', defaultMode: 0 } }],
  [
    'a projected token and a downward API file',
    {
      projected: {
        sources: [
          { serviceAccountToken: { path: 't' } },
          { downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } },
        ],
      },
    },
    {
      projected: {
        defaultMode: 420,
        sources: [
          { serviceAccountToken: { path: 't', expirationSeconds: 3600 } },
          { downwardAPI: { items: [{ path: 'l', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.labels' } }] } },
        ],
      },
    },
  ],
  ['an iSCSI source', { iscsi: { iqn: 'x' } }, { iscsi: { iqn: 'x', iscsiInterface: 'default' } }],
  ['an RBD source', { rbd: { image: 'x' } }, { rbd: { image: 'x', pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' } }],
  [
    'an azureDisk',
    { azureDisk: { diskName: 'x' } },
    { azureDisk: { diskName: 'x', cachingMode: 'ReadWrite', kind: 'Shared', fsType: 'ext4', readOnly: false } },
  ],
  ['a ScaleIO source', { scaleIO: { system: 'x' } }, { scaleIO: { system: 'x', storageMode: 'ThinProvisioned', fsType: 'xfs' } }],
  [
    'an ephemeral claim template',
    { ephemeral: { volumeClaimTemplate: {} } },
    { ephemeral: { volumeClaimTemplate: { spec: { volumeMode: 'Filesystem' } } } },
  ],
]
for (const [title, given, filled] of volumeRows) {
  test(`defaults of a volume with ${title}`, () =>
    assert.deepEqual(withPodSpecDefaults({ volumes: [{ name: 'v', ...given }] }).volumes, [{ name: 'v', ...filled }]))
}

const images: readonly (readonly [image: string, policy: string])[] = [
  ['i', 'Always'],
  ['i:latest', 'Always'],
  ['i:1', 'IfNotPresent'],
  ['repo/sub/i', 'Always'],
  ['localhost/i', 'Always'],
  ['example.com:5000/i', 'Always'],
  ['example.com:5000/i:2', 'IfNotPresent'],
  [`i@sha256:${'a'.repeat(64)}`, 'IfNotPresent'],
  [`i:latest@sha256:${'a'.repeat(64)}`, 'Always'],
  ['Upper/case', 'IfNotPresent'],
  ['a'.repeat(64), 'IfNotPresent'],
  ['i:not ok', 'IfNotPresent'],
  ['', 'IfNotPresent'],
]
test('an image name above 255 characters is pulled IfNotPresent', () => {
  assert.equal(pullPolicyOf('i'.repeat(237)), 'Always')
  assert.equal(pullPolicyOf('i'.repeat(238)), 'IfNotPresent')
  assert.equal(pullPolicyOf(`r.example/${'i'.repeat(245)}:latest`), 'Always')
  assert.equal(pullPolicyOf(`r.example/${'i'.repeat(246)}:latest`), 'IfNotPresent')
})

for (const [image, policy] of images) test(`${image || 'no image'} is pulled ${policy}`, () => assert.equal(pullPolicyOf(image), policy))

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

test('fields of disabled feature gates are dropped', () => {
  assert.deepEqual(
    withoutGatedFields(gated, undefined, () => false),
    {
      topologySpreadConstraints: [{ maxSkew: 1 }],
      containers: [container({ resources: { limits: { cpu: '1' } }, securityContext: { procMount: 'Default' }, livenessProbe: {} })],
    },
  )
})

test('gated fields are kept if the gate is on or the old object has them', () => {
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
