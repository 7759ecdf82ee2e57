// Tests of pod annotations, seccomp annotations and fields, and warnings.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '../../../api/identity.js'
import { frozen } from '../../../api/rule-context.fixture.js'
import { expectErrors, rowTitle } from '../../expect-errors.fixture.js'
import type { PodSpec } from '../v1.schema.js'
import { type Annotations, validateAnnotationUpdate, validatePodAnnotations } from './pod-annotations.js'
import { container, contextWith, type Row } from './pod-spec.fixture.js'
import { podWarnings, templateWarnings } from './pod-warnings.js'
import { profileOfAnnotation, validateSeccompAgreement } from './security-context.js'

const context = contextWith({ identity: identityOf('kubernetes') })
const spec: PodSpec = frozen({ containers: [container()] })
const appArmor = 'container.apparmor.security.beta.kubernetes.io/'
const seccomp = 'container.seccomp.security.alpha.kubernetes.io/'
const podSeccomp = 'seccomp.security.alpha.kubernetes.io/pod'

const rows: readonly Row<Annotations>[] = [
  [{ 'example.com/x': 'y' }],
  [{ 'kubernetes.io/config.mirror': 'x' }, 'a[kubernetes.io/config.mirror]: Invalid value: "x": must set spec.nodeName'],
  [{ 'controller.kubernetes.io/pod-deletion-cost': '-2147483648' }],
  [
    { 'controller.kubernetes.io/pod-deletion-cost': '+5' },
    'a[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "+5": must be a 32bit integer',
  ],
  [{ 'controller.kubernetes.io/pod-deletion-cost': '2147483648' }, 'a[controller.kubernetes.io/pod-deletion-cost]: Invalid value'],
  [
    { 'scheduler.alpha.kubernetes.io/tolerations': '{' },
    'a: Invalid value: "scheduler.alpha.kubernetes.io/tolerations": unexpected end of JSON input',
  ],
  [
    { 'scheduler.alpha.kubernetes.io/tolerations': '[{"key":5}]' },
    'a: Invalid value: "scheduler.alpha.kubernetes.io/tolerations": [0].key: cannot read number as string',
  ],
  [
    { 'scheduler.alpha.kubernetes.io/tolerations': '[null]' },
    'a.scheduler.alpha.kubernetes.io/tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty',
  ],
  [
    { 'scheduler.alpha.kubernetes.io/tolerations': '[{"key":"a","operator":"Near"}]' },
    'a.scheduler.alpha.kubernetes.io/tolerations[0].operator: Unsupported value: "Near"',
  ],
  [
    { [podSeccomp]: 'loose', [`${seccomp}c`]: 'localhost/../x', [`${seccomp}d`]: 'runtime/default' },
    `a.${podSeccomp}: Invalid value: "loose": must be a valid seccomp profile`,
    `a.${seccomp}c: Invalid value: "../x": must not contain '..'`,
  ],
  [
    { [`${appArmor}gone`]: 'unconfined', [`${appArmor}c`]: 'tight' },
    `a[${appArmor}gone]: Invalid value: "gone": container not found`,
    `a[${appArmor}c]: Invalid value: "tight": invalid AppArmor profile name`,
  ],
]
for (const [given, ...expected] of rows) {
  test(`annotations: ${rowTitle(given, expected)}`, () =>
    expectErrors(validatePodAnnotations({ annotations: given, spec }, 'a', context), expected))
}

test('the deletion cost is not validated without the feature gate', () => {
  const annotations = { 'controller.kubernetes.io/pod-deletion-cost': 'x' }
  expectErrors(validatePodAnnotations({ annotations, spec }, 'a', { ...context, gates: () => false }), [])
})

test('AppArmor and mirror pod annotations are immutable', () => {
  const pod = (annotations: Annotations) => frozen({ metadata: { annotations }, spec })
  const [old, next] = [pod({ [`${appArmor}c`]: 'unconfined', x: '1' }), pod({ 'kubernetes.io/config.mirror': 'x', x: '2' })]
  expectErrors(validateAnnotationUpdate(next, old, context), [
    `metadata.annotations[${appArmor}c]: Forbidden: may not remove or update AppArmor annotations`,
    'metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not add mirror pod annotation',
    'metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must set spec.nodeName',
  ])
})

const agreements: readonly (readonly [annotation: string, type: string, local: string | undefined, ...expected: readonly string[]])[] = [
  ['unconfined', 'Unconfined', undefined],
  ['docker/default', 'RuntimeDefault', undefined],
  ['localhost/a', 'Localhost', 'a'],
  ['localhost/a', 'Localhost', 'b', 'spec.securityContext.seccompProfile.localhostProfile: Forbidden'],
  ['unconfined', 'RuntimeDefault', undefined, 'spec.securityContext.seccompProfile.type: Forbidden: seccomp type in annotation'],
]
for (const [annotation, type, local, ...expected] of agreements) {
  test(`seccomp annotation ${annotation} and field ${type} ${local ?? ''} ${expected.length === 0 ? 'agree' : 'differ'}`, () => {
    const seccompProfile = { type, ...(local === undefined ? {} : { localhostProfile: local }) }
    const pod = { metadata: { annotations: { [podSeccomp]: annotation } }, spec: { ...spec, securityContext: { seccompProfile } } }
    expectErrors(validateSeccompAgreement(pod, 'spec', context.identity), expected)
  })
}

test('a seccomp annotation becomes a field', () => {
  assert.deepEqual(profileOfAnnotation('localhost/x'), { type: 'Localhost', localhostProfile: 'x' })
  assert.equal(profileOfAnnotation('localhost/'), undefined)
})

test('warnings for deprecated, duplicate and fractional values', () => {
  const warned: PodSpec = {
    nodeSelector: { 'beta.kubernetes.io/os': 'linux' },
    affinity: {
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 1, preference: { matchExpressions: [{ key: 'failure-domain.beta.kubernetes.io/zone', operator: 'Exists' }] } },
        ],
      },
    },
    topologySpreadConstraints: [{ topologyKey: 'failure-domain.beta.kubernetes.io/region' }],
    volumes: [
      { name: 'g', gitRepo: { repository: 'x' } },
      { name: 's', storageos: {} },
    ],
    hostAliases: [{ ip: '1.1.1.1' }, { ip: '1.1.1.1' }],
    imagePullSecrets: [{ name: 'a' }, { name: 'a' }, {}],
    containers: [container({ env: [{ name: 'A' }, { name: 'A' }], resources: { limits: { memory: '100m' } } })],
  }
  const annotations = { 'scheduler.alpha.kubernetes.io/critical-pod': '', [podSeccomp]: 'unconfined' }
  assert.deepEqual(podWarnings({ metadata: { annotations }, spec: warned }, 'spec.template', context.identity), [
    'spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
    'spec.template.spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].key: failure-domain.beta.kubernetes.io/zone is deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    'spec.template.spec.topologySpreadConstraints[0].topologyKey: failure-domain.beta.kubernetes.io/region is deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    'spec.template.metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead',
    'spec.template.spec.volumes[0].gitRepo: deprecated in v1.11',
    'spec.template.spec.volumes[1].storageOS: deprecated in v1.22, support removal is planned in v1.26',
    'spec.template.spec.hostAliases[1].ip: duplicate ip "1.1.1.1"',
    'spec.template.spec.imagePullSecrets[1].name: duplicate name "a"',
    'spec.template.spec.imagePullSecrets[2].name: invalid empty name ""',
    `spec.template.metadata.annotations[${podSeccomp}]: deprecated since v1.19, non-functional in a future release; use the "seccompProfile" field instead`,
    'spec.template.spec.containers[0].resources.limits[memory]: fractional byte value "100m" is invalid, must be an integer',
    'spec.template.spec.containers[0].env[1].name: duplicate name "A"',
  ])
})

test('a template gets warnings when it is new or changed', () => {
  const template = { spec: { volumes: [{ name: 'g', gitRepo: {} }] } }
  const object = (generation: number) => ({ metadata: { generation } })
  const warningCount = (next: number, old?: number): number =>
    templateWarnings({
      next: object(next),
      old: old === undefined ? undefined : object(old),
      template,
      path: 'spec.template',
      identity: context.identity,
    }).length
  assert.deepEqual([warningCount(1), warningCount(2, 1), warningCount(1, 1)], [1, 1, 0])
})
